"""A rule that no value can satisfy is rejected where it is declared."""

from typing import Any

import pytest

from steersman.kinds import Rule


@pytest.mark.parametrize(
    "constraints",
    [
        {"ge": 2, "le": 1},
        {"gt": 2, "lt": 1},
        {"ge": 2, "lt": 1},
        {"gt": 2, "le": 1},
        {"gt": 1, "lt": 1},
        {"ge": 1, "lt": 1},
        {"gt": 1, "le": 1},
        {"min_length": 2, "max_length": 1},
        {"list_type": "map"},
        {"list_type": "set", "list_map_keys": ("name",)},
        {"list_map_keys": ("name",)},
        {"list_type": "map", "list_map_keys": "name"},
        {"ge": 1, "gt": 0},
        {"le": 1, "lt": 2},
        {"multiple_of": 0},
        {"min_length": -1},
        {"opaque": True, "preserve_unknown_fields": True},
        {"ge": float("-inf")},
        {"lt": float("nan")},
        {"multiple_of": float("inf")},
    ],
)
def test_a_rule_that_no_value_satisfies_is_rejected(constraints: dict[str, Any]) -> None:
    with pytest.raises(
        ValueError,
        match=r"together|can satisfy|exclude each other|positive|negative|preserve|finite|a tuple",
    ):
        Rule(**constraints)


@pytest.mark.parametrize("pattern", ["a(?=b)", "(?!b)a", "(?<=a)b", "(?<!a)b", r"(a)\1", r"\\\1"])
def test_a_pattern_with_lookaround_is_rejected(pattern: str) -> None:
    with pytest.raises(ValueError, match="lookaround or backreference"):
        Rule(pattern=pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a",
        "a)",
        "[a",
        "a[]",
        "a\\",
        r"a\Z",
        "a++",
        "a*+",
        "(?>a)",
        "(?#a)",
        "(a)(?(1)b)",
        "a{1001}",
    ],
)
def test_a_pattern_that_is_not_valid_re2_is_rejected(pattern: str) -> None:
    with pytest.raises(ValueError, match="RE2"):
        Rule(pattern=pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            r"\(?=b",
            r"\\1",
            "(?:a|b)+",
            "(?i)a",
            "(?P<name>a)",
            "[(?=]",
            r"[\]*+)]",
            "[]a]",
            "[^]a]",
        ),
        *(
            r"\pL",
            r"\p{Greek}",
            "[[:alpha:]_]+",
            r"a\z",
            r"\x{10FFFF}",
            r"\Q(a++\E",
            "a+?",
            "(?U:a)",
        ),
        *("a{2,}", "a{1000}", "{", "a{b}+", r"\Aa", "(?s).", "a(?i)b"),
    ],
)
def test_a_pattern_without_lookaround_is_accepted(pattern: str) -> None:
    assert Rule(pattern=pattern).pattern == pattern


def test_a_rule_can_allow_a_single_value() -> None:
    assert Rule(ge=1, le=1) == Rule(ge=1, le=1)
    assert Rule(list_type="map", list_map_keys=("name",)).list_map_keys == ("name",)


def test_the_repr_of_a_rule_has_only_the_given_constraints() -> None:
    assert repr(Rule()) == "Rule()"
    assert repr(Rule(ge=0, nullable=True)) == "Rule(ge=0, nullable=True)"
