"""Completion indexes and their text format."""

import pytest

from steersman_cluster.workloads.jobs.completion_indexes import Indexes


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((), ""),
        ((3,), "3"),
        ((4, 3), "3,4"),
        ((5, 3, 4), "3-5"),
        ((0, 1, 3, 5, 6, 7, 9), "0,1,3,5-7,9"),
    ],
)
def test_indexes_are_written_as_intervals_of_three_or_more(
    numbers: tuple[int, ...], text: str
) -> None:
    assert str(Indexes.of(numbers)) == text
    assert Indexes.read(text, 100) == Indexes.of(numbers)
    assert len(Indexes.read(text, 100)) == len(numbers)


def test_indexes_beyond_the_completions_are_not_read() -> None:
    assert str(Indexes.read("1,3-8,11", 5)) == "1,3,4"


def test_invalid_intervals_are_ignored() -> None:
    assert str(Indexes.read("1,x,3-y,5", 10)) == "1,5"


def test_an_interval_contains_its_indexes() -> None:
    some = Indexes.read("1,3-5,9", 10)

    assert [each for each in range(11) if each in some] == [1, 3, 4, 5, 9]


def test_adjacent_indexes_form_one_interval() -> None:
    assert str(Indexes.read("0,4-6", 10) | Indexes.read("1-3,8", 10)) == "0-6,8"


def test_common_indexes_are_counted() -> None:
    some, others = Indexes.read("0-3,6,8-9", 10), Indexes.read("2-6,9", 10)

    assert some.common(others) == others.common(some) == 4


@pytest.mark.parametrize(
    ("text", "count", "missing"),
    [
        ("", 2, [0, 1]),
        ("0,2-4", 3, [1, 5, 6]),
        ("0-9", 3, []),
        ("1-7", 5, [0, 8, 9]),
        ("0", 0, []),
    ],
)
def test_the_first_missing_indexes_are_found(text: str, count: int, missing: list[int]) -> None:
    assert Indexes.read(text, 10).missing(count, below=10) == missing
