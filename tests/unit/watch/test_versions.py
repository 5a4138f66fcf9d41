"""The order of resourceVersions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.watch import is_far_ahead, is_older, newest_first

NUMBERS = st.integers(min_value=0, max_value=2**130)


@given(NUMBERS, NUMBERS)
def test_numbers_are_compared_as_numbers(a: int, b: int) -> None:
    assert is_older(str(a), str(b)) is (a < b)


@given(NUMBERS, NUMBERS, st.integers(0, 3))
def test_leading_zeros_make_no_difference(a: int, b: int, zeros: int) -> None:
    assert is_older("0" * zeros + str(a), str(b)) is (a < b)


@pytest.mark.parametrize("word", ["", "abc", "-1", "1.5", "²", "٣", "12/7"])
def test_a_version_that_is_not_a_number_is_never_older_or_newer(word: str) -> None:
    assert not is_older(word, "5")
    assert not is_older("5", word)


@pytest.mark.parametrize(
    ("version", "of", "is_far"),
    [
        ("101", "100", False),
        ("100", "101", False),
        ("10000100", "100", False),
        ("10000101", "100", True),
        ("30000000", "20000000", False),
        ("30000001", "20000000", True),
        ("20000000", "30000001", False),
        (str(2**63 - 1), "1234", True),
        ("9" * 10_000, "1234", True),
        ("later", "1234", False),
        ("1234", "", False),
        ("99999999999", "later", False),
    ],
)
def test_ten_million_writes_between_two_events_are_too_many(
    version: str, of: str, is_far: bool
) -> None:
    assert is_far_ahead(version, of) is is_far


def test_a_number_of_thousands_of_digits_is_still_a_number() -> None:
    assert is_older("9" * 9_999, "1" * 10_000)


@given(st.lists(st.integers(min_value=1, max_value=2**64 - 1)))
def test_items_with_the_latest_versions_come_first(versions: list[int]) -> None:
    assert newest_first(versions, map(str, versions)) == sorted(versions, reverse=True)


def test_other_versions_are_sorted_in_some_order_and_none_is_lost() -> None:
    words = ["b", "", "a/1", "10"]

    assert sorted(newest_first(words, words)) == sorted(words)
