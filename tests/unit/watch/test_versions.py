"""Which of two versions came first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.watch import is_older

NUMBERS = st.integers(min_value=0, max_value=2**130)


@given(NUMBERS, NUMBERS)
def test_numbers_are_compared_as_numbers(a: int, b: int) -> None:
    assert is_older(str(a), str(b)) is (a < b)


@given(NUMBERS, NUMBERS, st.integers(0, 3))
def test_zeros_in_front_make_no_difference(a: int, b: int, zeros: int) -> None:
    assert is_older("0" * zeros + str(a), str(b)) is (a < b)


@pytest.mark.parametrize("word", ["", "abc", "-1", "1.5", "²", "٣", "12/7"])
def test_what_is_not_a_number_is_older_than_nothing_and_nothing_than_it(word: str) -> None:
    assert not is_older(word, "5")
    assert not is_older("5", word)


def test_a_number_of_thousands_of_digits_is_still_a_number() -> None:
    assert is_older("9" * 9_999, "1" * 10_000)
