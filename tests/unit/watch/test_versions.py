"""Which of two versions came first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.watch import is_newer, is_older

NUMBERS = st.integers(min_value=0, max_value=2**130)


@given(NUMBERS, NUMBERS)
def test_numbers_are_compared_as_numbers(a: int, b: int) -> None:
    assert is_newer(str(a), str(b)) is (a > b)
    assert is_older(str(a), str(b)) is (a < b)


@given(NUMBERS, NUMBERS, st.integers(0, 3))
def test_zeros_in_front_make_no_difference(a: int, b: int, zeros: int) -> None:
    assert is_newer("0" * zeros + str(a), str(b)) is (a > b)
    assert is_older("0" * zeros + str(a), str(b)) is (a < b)


@pytest.mark.parametrize("word", ["", "abc", "-1", "1.5", "²", "٣", "12/7"])
def test_what_is_not_a_number_is_newer_than_anything_and_never_older(word: str) -> None:
    assert is_newer(word, "5")
    assert is_newer(word, "another")
    assert not is_newer(word, word)
    assert not is_newer("5", word)
    assert not is_older(word, "5")
    assert not is_older("5", word)


def test_a_number_of_thousands_of_digits_is_still_a_number() -> None:
    assert is_newer("1" * 10_000, "9" * 9_999)
