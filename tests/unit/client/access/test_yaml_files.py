"""YAML files from untrusted sources: what is read, what is rejected, and what a rejection costs."""

import re
import resource
import sys
import traceback
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from steersman.client.access.yaml_files import (
    YamlLimits,
    _parse,
    parse_yaml_mapping,
    read_yaml_mapping,
)
from steersman.errors import ConfigError

# PyYAML's own parser, and that of libyaml, which PyYAML may be built without.
PARSERS = [getattr(yaml, name) for name in ("SafeLoader", "CSafeLoader") if hasattr(yaml, name)]

CANARY = "c4n4ry-s3cr3t"

MEGABYTE = 2**20

# Each level repeats the previous one nine times: 9 ** 9 words from a few hundred bytes.
LAUGHS = b"a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (level, level, b", ".join([b"*a%d" % (level - 1)] * 9))
    for level in range(1, 9)
)

MERGED_LAUGHS = b"a0: &a0 {k: v}\n" + b"".join(
    b"a%d: &a%d {<<: [%s], k%d: v}\n"
    % (level, level, b", ".join([b"*a%d" % (level - 1)] * 9), level)
    for level in range(1, 9)
)

TOWER = b"a0: &a0 [x]\n" + b"".join(
    b"a%d: &a%d [*a%d]\n" % (level, level, level - 1) for level in range(1, 200)
)

HOSTILE = {
    "an alias bomb": LAUGHS,
    "an alias bomb of merges": MERGED_LAUGHS,
    "a tower of aliases": TOWER,
    "something that contains itself": b"a: &a [*a]",
    "a Python object": b"a: !!python/object/apply:os.system [ls]",
    "a Python object as a mapping": b"!!python/object:os.system {a: b}",
    "a custom tag": b"a: !mine b",
    "binary data": b"a: !!binary aGE=",
    "a huge file": b"a: " + b"x" * 10 * MEGABYTE,
    "a deep flow": b"[" * MEGABYTE,
    "a deep block": b"- " * (MEGABYTE // 2),
    "deep keys": b"? " * (MEGABYTE // 2),
    "a deep mapping": b"{a: " * (MEGABYTE // 4),
    "a great many items": b"a: [" + b"x," * (MEGABYTE // 2 - 8) + b"]",
    "a great many keys": b"".join(b"k%d: v\n" % number for number in range(100_000)),
    "a great many documents": b"---\n" * (MEGABYTE // 4),
    "anchors without end": b"&a " * (MEGABYTE // 3),
    "a tag without end": b"!<" + b"a" * MEGABYTE,
    "a quotation without end": b"a: '" + b"\n" * MEGABYTE,
    "control characters": b"a: \x00\x01",
    "text that is not UTF-8": b"a: \xff\xfe\xff",
    "a key twice": b"a: 1\nb: 2\na: 3",
    "a number as a key": b"1: a",
    "a mapping as a key": b"{a: b}: c",
    "a merge of a word": b"a: {<<: b}",
    "an alias of nothing": b"a: *b",
    "a list": b"- a",
    "a word": b"hello",
    "no YAML": b"a: [b",
    "a tab": b"a:\n\tb: c",
    "two documents": b"a: 1\n---\nb: 2",
    "nothing": b"",
    "nothing but comments": b"# hello\n---\n",
}


slow_without_libyaml = pytest.mark.skipif(
    not hasattr(yaml, "CSafeLoader"),
    reason="PyYAML was built without libyaml, and its own parser is slow",
)
HOSTILE_FILES = [
    pytest.param(
        content, id=name, marks=slow_without_libyaml if len(content) > MEGABYTE // 10 else ()
    )
    for name, content in HOSTILE.items()
]


@pytest.mark.parametrize("content", HOSTILE_FILES)
def test_the_error_for_a_hostile_or_invalid_file_has_its_name(content: bytes) -> None:
    with pytest.raises(ConfigError, match=r"^config\.yaml: .+\. .+\.$"):
        parse_yaml_mapping(content, source="config.yaml")


@pytest.mark.parametrize("content", HOSTILE_FILES)
def test_a_rejection_takes_under_a_tenth_of_a_second(content: bytes) -> None:
    def rejection_seconds() -> float:
        before_seconds = cpu_seconds()
        with pytest.raises(ConfigError):
            parse_yaml_mapping(content, source="config.yaml")
        return cpu_seconds() - before_seconds

    # The shortest of a few runs: other processes can only make one longer.
    assert min(rejection_seconds() for _ in range(3)) < 0.1


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux can reset the peak memory of a process"
)
@pytest.mark.parametrize("content", HOSTILE_FILES)
def test_a_rejection_takes_under_50_megabytes(content: bytes) -> None:
    Path("/proc/self/clear_refs").write_text("5")
    before_kilobytes = peak_kilobytes()

    with pytest.raises(ConfigError):
        parse_yaml_mapping(content, source="config.yaml")

    assert peak_kilobytes() - before_kilobytes < 50 * 1024


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: 1\nb: [\n", "line 3 is not YAML"),
        (b"a: 1\nb: 2\na: 3", "line 3 contains 'a' a second time. Remove one."),
        (b"\n\n1: a", "line 3 has a key that is not a string. Put it in quotes."),
        (b"a: 1\n---\nb: 2", "line 2 starts a second document"),
        (b"a: !mine b", "line 1 has a tag"),
        (b"", "is empty"),
        (b"- a", "is not a mapping"),
    ],
)
def test_an_error_has_the_position_and_the_reason(content: bytes, words: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_yaml_mapping(content, source="config.yaml")

    assert words in str(refusal.value)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    "content",
    [
        f"token: {CANARY}: x".encode(),
        f"token: '{CANARY}".encode(),
        f"token: &a {CANARY}\n*a : b\n[".encode(),
        f"token: {CANARY}\n\x00".encode(),
        f"{CANARY}".encode(),
        f"- {CANARY}".encode(),
        f"token: !!binary {CANARY}".encode(),
    ],
)
def test_a_rejection_quotes_no_value(content: bytes, parser: type[yaml.SafeLoader]) -> None:
    with pytest.raises(ConfigError) as refusal:
        _parse(content, source="config.yaml", limits=YamlLimits(), parser=parser)

    assert CANARY not in "".join(traceback.format_exception(refusal.value))


def test_values_are_parsed_as_in_kubectl() -> None:
    content = b"""
    nothing: [~, null, ]
    truth: [true, yes, Off]
    numbers: [1, -7, 0644, 0x1F, 1_000, 1.5, 1e3]
    text: ['1', "true", 2026-01-01, 12:30:45, 1.2.3, v1, !!str 5, -, +]
    folded: >-
      two
      lines
    """

    values = parse_yaml_mapping(content, source="config.yaml")

    assert values == {
        "nothing": [None, None],
        "truth": [True, True, False],
        "numbers": [1, -7, 420, 31, 1000, 1.5, 1000.0],
        "text": ["1", "true", "2026-01-01", "12:30:45", "1.2.3", "v1", "5", "-", "+"],
        "folded": "two lines",
    }


def test_a_number_of_thousands_of_digits_is_text() -> None:
    values = parse_yaml_mapping(b"a: " + b"9" * 5000, source="config.yaml")

    assert values == {"a": "9" * 5000}


def test_aliases_and_merges_are_accepted_within_the_limits() -> None:
    content = b"""
    base: &base {a: 1, b: 2}
    same: *base
    more: {<<: *base, b: 3}
    both: {<<: [{a: 0}, *base]}
    """

    values = parse_yaml_mapping(content, source="config.yaml")

    assert values["same"] == {"a": 1, "b": 2}
    assert values["more"] == {"a": 1, "b": 3}
    assert values["both"] == {"a": 0, "b": 2}


def test_a_caller_may_set_other_limits() -> None:
    small = YamlLimits(max_bytes=100, max_nodes=3, max_depth=2)

    assert parse_yaml_mapping(b"a: b", source="config.yaml", limits=small) == {"a": "b"}
    for content in (b"a: b\nc: d", b"a: {b: c}", b"a: " + b"b" * 100):
        with pytest.raises(ConfigError):
            parse_yaml_mapping(content, source="config.yaml", limits=small)


@pytest.mark.parametrize("parser", PARSERS)
def test_results_are_the_same_with_and_without_libyaml(parser: type[yaml.SafeLoader]) -> None:
    content = b"a: &a [1, {b: c}]\nd: *a\ne: |\n  text\n"

    values = _parse(content, source="config.yaml", limits=YamlLimits(), parser=parser)

    assert values == {"a": [1, {"b": "c"}], "d": [1, {"b": "c"}], "e": "text\n"}


@given(
    st.binary(max_size=300) | st.text("ab:-[]{}&*!|>'\" \n\t#,?<%@01~", max_size=80).map(str.encode)
)
def test_any_bytes_are_parsed_or_rejected(content: bytes) -> None:
    try:
        values = parse_yaml_mapping(content, source="config.yaml")
    except ConfigError:
        return
    assert isinstance(values, dict)


def test_an_error_names_the_file(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("a: [")

    for path in (wrong, tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(ConfigError, match=re.escape(f"{path}: ")):
            read_yaml_mapping(path)


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_kilobytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])
