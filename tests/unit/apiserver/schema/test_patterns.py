"""Regular expressions, as Go reads them."""

import pytest

from steersman.apiserver.schema.patterns import BadPattern, compile_pattern


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
def test_what_go_finds_is_found(pattern: str, text: str) -> None:
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
def test_what_go_does_not_find_is_not_found(pattern: str, text: str) -> None:
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
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<!a)b", "invalid named capture: `(?<!a)b`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        (r"a\Z", r"invalid escape sequence: `\Z`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        (r"\p{Nothing}", r"invalid character class range: `\p{Nothing}`"),
    ],
)
def test_what_go_refuses_is_refused_in_its_words(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern) as caught:
        compile_pattern(pattern)

    assert str(caught.value) == f"error parsing regexp: {why}"
