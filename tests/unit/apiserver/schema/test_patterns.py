"""Regular expressions in Go syntax."""

from importlib.util import find_spec
from random import Random

import pytest

from steersman_cluster.apiserver.schema import patterns
from steersman_cluster.apiserver.schema.patterns import (
    BadPattern,
    compile_finder,
    compile_pattern,
    compiled,
)

needs_re2 = pytest.mark.skipif(find_spec("re2") is None, reason="google-re2 is not installed")

ATOMS = ("a", "b", ".", "[a-c]", "[^b]", r"\d", r"\W", "(?i:A)", r"\bb", "$", "^", "é")
REPEATS = ("", "", "*", "+", "?", "{2}", "{1,3}", "*?")
LETTERS = "abcA1_ \néß-"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("b", "abc"),
        ("^a+$", "aaa"),
        ("(?i)^abc$", "ABC"),
        ("a(?i)b|c", "C"),
        ("(?m)^b$", "a\nb\nc"),
        ("(?s)^a.c$", "a\nc"),
        ("^[[:alpha:]]+$", "abc"),
        (r"^\p{Lu}\pL*$", "Éa"),
        (r"^\p{Greek}+$", "αβγ"),
        (r"^\Qa.b\E$", "a.b"),
        ("^a{,3}$", "a{,3}"),
        ("^[]a]$", "]"),
        (r"^\x41\x{1F600}$", "A😀"),
        (r"^[^\W_]+$", "a1"),
        ("^(?<x>a)$", "a"),
        (r"^\z", ""),
        (r"^\101$", "A"),
    ],
)
def test_a_pattern_matches_the_same_text_as_in_go(pattern: str, text: str) -> None:
    assert compile_pattern(pattern)(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^a+$", "aaa\n"),
        (r"^\d+$", "١٢٣"),
        (r"^\w+$", "über"),
        ("a(?i)b|c", "Ab"),
        ("^a.c$", "a\nc"),
        (r"^\Qa.b\E$", "axb"),
        ("^a{,3}$", "aa"),
        ("^[a-c&&b]+$", "d"),
        (r"^[^\W_]+$", "a_"),
        (r"^[\p{L}-]+$", "a_b"),
    ],
)
def test_a_pattern_does_not_match_what_go_does_not_match(pattern: str, text: str) -> None:
    assert not compile_pattern(pattern)(text)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing closing ): `(`"),
        (")", "unexpected ): `)`"),
        ("[a", "missing closing ]: `[a`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a*+", "invalid nested repetition operator: `*+`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        pytest.param("(a{1,1000}){1,2}", "invalid repeat count: `{1,2}`", marks=needs_re2),
        ("(" * 1000, f"expression nests too deeply: `{'(' * 1000}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<!a)b", "invalid named capture: `(?<!a)b`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        (r"a\Z", r"invalid escape sequence: `\Z`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        (r"\p{Nothing}", r"invalid character class range: `\p{Nothing}`"),
    ],
)
def test_an_invalid_pattern_is_rejected_with_the_message_of_go(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern) as caught:
        compile_pattern(pattern)

    assert str(caught.value) == f"error parsing regexp: {why}"


@needs_re2
def test_matching_takes_linear_time() -> None:
    nested = compile_pattern("^(a+)+$")
    options = compile_pattern(f"^{'a?' * 40}{'a' * 40}$")
    choices = compile_pattern("^(a|aa)*$")

    assert not nested("a" * 5000 + "!")
    assert options("a" * 40)
    assert not choices("a" * 5000 + "!")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("b*", ["", "b", ""]),
        ("[äc]", ["ä", "c"]),
        pytest.param("(?U)ä.+", ["äb"], marks=needs_re2),
        ("x", []),
        ("(ä|äb)+$", []),
    ],
)
def test_a_finder_finds_the_same_matches_as_go(pattern: str, found: list[str]) -> None:
    assert list(compile_finder(pattern)("äbc")) == found


@needs_re2
def test_finding_takes_linear_time() -> None:
    assert list(compile_finder("(a+)+$")("a" * 5000 + "!")) == []


@needs_re2
@pytest.mark.parametrize("seed", range(20))
def test_all_engines_return_the_same_result(seed: int) -> None:
    rng = Random(seed)
    written = [random_pattern(rng) for _ in range(10)]
    texts = ["".join(rng.choices(LETTERS, k=rng.randrange(8))) for _ in range(10)]

    for pattern in written:
        by_re2 = patterns._linear_search(pattern)
        assert by_re2 is not None
        found = {text: bool(by_re2(text)) for text in texts}
        assert found == {text: bool(compiled(pattern).search(text)) for text in texts}, pattern


def random_pattern(rng: Random, depth: int = 2) -> str:
    """Return a random pattern with a few parts."""
    parts = []
    for _ in range(rng.randrange(1, 4)):
        if depth and rng.random() < 0.3:
            inner = "|".join(random_pattern(rng, depth - 1) for _ in range(rng.randrange(1, 3)))
            parts.append(f"({inner}){rng.choice(REPEATS)}")
        else:
            atom = rng.choice(ATOMS)
            repeat = "" if atom in ("$", "^", r"\bb") else rng.choice(REPEATS)
            parts.append(atom + repeat)
    return "".join(parts)
