"""Selectors: their text, the objects that they match, and invalid ones."""

import re
from collections.abc import Callable
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.client import Fields, Labels
from steersman.errors import BadValue

KEYS = st.sampled_from(["a", "A-b_c.9", "in", "notin", "example.com/a", "k8s-1.io/in", "x" * 63])
VALUES = st.sampled_from(["", "a", "9", "10", "A-b_c.9", "in", "notin", "x" * 63])
NUMBERS = st.sampled_from([0, 9, 2**63 - 1])
SELECTORS = st.lists(
    st.one_of(
        st.builds(Labels.equal, st.dictionaries(KEYS, VALUES, max_size=3)),
        st.builds(Labels.one_of, KEYS, st.lists(VALUES, min_size=1, max_size=3)),
        st.builds(Labels.none_of, KEYS, st.lists(VALUES, min_size=1, max_size=3)),
        st.builds(Labels.has, KEYS),
        st.builds(Labels.lacks, KEYS),
        st.builds(Labels.greater_than, KEYS, NUMBERS),
        st.builds(Labels.less_than, KEYS, NUMBERS),
    ),
    max_size=3,
).map(lambda parts: reduce(Labels.__and__, parts, Labels()))


@given(SELECTORS)
def test_a_selector_round_trips_through_text(selector: Labels) -> None:
    assert Labels.parse(str(selector)) == selector


@given(SELECTORS, st.dictionaries(KEYS, VALUES, max_size=3))
def test_a_selector_matches_if_all_its_terms_match(
    selector: Labels, labels: dict[str, str]
) -> None:
    parts = [Labels((each,)) for each in selector.requirements]

    assert selector.matches(labels) == all(part.matches(labels) for part in parts)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (Labels(), ""),
        (Labels.equal({"app": "web", "tier": ""}), "app=web,tier="),
        (Labels.one_of("app", ["web", "api", "web"]), "app in (api,web)"),
        (Labels.one_of("app", ["web"]), "app=web"),
        (Labels.none_of("app", ["web"]), "app notin (web)"),
        (Labels.none_of("app", ["", "web"]), "app notin (,web)"),
        (Labels.has("example.com/app"), "example.com/app"),
        (Labels.lacks("app"), "!app"),
        (Labels.greater_than("size", 3), "size>3"),
        (Labels.less_than("size", 3), "size<3"),
        (Labels.has("a") & Labels.lacks("b"), "a,!b"),
    ],
)
def test_a_label_selector_is_written_as_the_server_reads_it(selector: Labels, text: str) -> None:
    assert str(selector) == text


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("", Labels()),
        ("  ", Labels()),
        (" app == web , tier ", Labels.equal({"app": "web"}) & Labels.has("tier")),
        ("app!=web", Labels.none_of("app", ["web"])),
        ("app=", Labels.equal({"app": ""})),
        ("app in ()", Labels.equal({"app": ""})),
        ("app in(b, a),tier", Labels.one_of("app", ["a", "b"]) & Labels.has("tier")),
        ("a,app notin (b,c),d", Labels.has("a") & Labels.none_of("app", "bc") & Labels.has("d")),
        ("! app", Labels.lacks("app")),
        ("size > 3,size<10", Labels.greater_than("size", 3) & Labels.less_than("size", 10)),
    ],
)
def test_a_label_selector_is_parsed_with_optional_whitespace(text: str, selector: Labels) -> None:
    assert Labels.parse(text) == selector


@pytest.mark.parametrize(
    "text",
    [
        ",",
        "a,",
        ",a",
        "a b",
        "a in b",
        "a in (b",
        "a in (b))",
        "a in (b c)",
        "a in ((b))",
        "!a=b",
        "!a in (b)",
        "a===b",
        "a=b=c",
        "a!b",
        "a=!b",
        "=b",
        "(a)",
        "a>b",
        "a>",
        "a>9223372036854775808",
        "-a",
        "a=-b",
        "/a",
        "A.com/a",
        f"{'a' * 64}",
        "a=é",
        "a\x00",
    ],
)
def test_a_malformed_label_selector_is_rejected(text: str) -> None:
    with pytest.raises(BadValue):
        Labels.parse(text)


# Quadratic time would exceed the time limit of a test.
@pytest.mark.parametrize("letter", [",", "(", "a,", "a in (", " ", "(,", "),"])
def test_a_very_long_malformed_selector_is_rejected_quickly(letter: str) -> None:
    with pytest.raises(BadValue):
        Labels.parse(letter * 100_000 + "(")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Labels.equal({"a b": "c"}),
        lambda: Labels.equal({"a": "b,c"}),
        lambda: Labels.one_of("a", []),
        lambda: Labels.none_of("a", []),
        lambda: Labels.has(""),
        lambda: Labels.lacks("!a"),
        lambda: Labels.greater_than("a", -1),
        lambda: Labels.less_than("a", 2**63),
    ],
)
def test_an_invalid_label_selector_cannot_be_created(
    make: Callable[[], Labels],
) -> None:
    with pytest.raises(BadValue):
        make()


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        (Labels(), {}, True),
        (Labels.equal({"a": "1"}), {"a": "1", "b": "2"}, True),
        (Labels.equal({"a": "1"}), {"a": "2"}, False),
        (Labels.equal({"a": "1"}), {}, False),
        (Labels.equal({"a": ""}), {}, False),
        (Labels.equal({"a": ""}), {"a": ""}, True),
        (Labels.one_of("a", ["1", "2"]), {"a": "2"}, True),
        (Labels.none_of("a", ["1"]), {"a": "1"}, False),
        (Labels.none_of("a", ["1"]), {"a": "2"}, True),
        (Labels.none_of("a", ["1"]), {}, True),
        (Labels.has("a"), {"a": ""}, True),
        (Labels.has("a"), {}, False),
        (Labels.lacks("a"), {"a": ""}, False),
        (Labels.lacks("a"), {}, True),
        (Labels.greater_than("a", 9), {"a": "10"}, True),
        (Labels.greater_than("a", 9), {"a": "9"}, False),
        (Labels.greater_than("a", 9), {"a": "many"}, False),
        (Labels.greater_than("a", 9), {"a": "9223372036854775808"}, False),
        (Labels.greater_than("a", 9), {}, False),
        (Labels.less_than("a", 9), {"a": "8"}, True),
        (Labels.less_than("a", 9), {"a": "9"}, False),
        (Labels.less_than("a", 9), {}, False),
        (Labels.has("a") & Labels.has("b"), {"a": ""}, False),
    ],
)
def test_a_selector_matches_as_it_does_on_the_server(
    selector: Labels, labels: dict[str, str], matches: bool
) -> None:
    assert selector.matches(labels) is matches


def test_terms_in_another_order_make_an_equal_selector() -> None:
    assert Labels.one_of("a", ["2", "1", "2"]) == Labels.one_of("a", ["1", "2"])
    assert len({Labels.has("a"), Labels.has("a")}) == 1


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (Fields(), ""),
        (Fields.equal({"status.phase": "Running"}), "status.phase=Running"),
        (Fields.differ({"metadata.name": "a"}), "metadata.name!=a"),
        (Fields.equal({"a": "1"}) & Fields.differ({"b": "2"}), "a=1,b!=2"),
        (Fields.equal({"a": r"x,y=z\!"}), r"a=x\,y\=z\\!"),
        (Fields.equal({"a": ""}), "a="),
    ],
)
def test_a_field_selector_is_written_as_the_server_reads_it(selector: Fields, text: str) -> None:
    assert str(selector) == text


@given(st.text())
def test_no_field_value_can_inject_another_term(value: str) -> None:
    written = str(Fields.equal({"a": value})).removeprefix("a=")

    # Without the escaped characters, no separator is left.
    assert not set(re.sub(r"\\[\\,=]", "", written)) & set("\\,=")
    assert re.sub(r"\\([\\,=])", r"\1", written) == value


@pytest.mark.parametrize("path", ["", "a=b", "a,b", "a b", "a!", "é"])
def test_a_field_selector_with_a_malformed_path_cannot_be_created(path: str) -> None:
    with pytest.raises(BadValue):
        Fields.equal({path: "x"})
    with pytest.raises(BadValue):
        Fields(((path, "!=", "x"),))
