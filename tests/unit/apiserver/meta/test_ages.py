"""Durations in the format of kubectl."""

from datetime import timedelta

import pytest

from steersman_cluster.apiserver.meta.ages import Ages, between, human_duration
from tests.unit.apiserver.tables.table_samples import NOW

LENGTHS: dict[str, dict[str, float]] = {
    "<invalid>": {"seconds": -2},
    "0s": {"seconds": -1.5},
    "1s": {"seconds": 1.9},
    "119s": {"seconds": 119},
    "2m": {"minutes": 2},
    "2m1s": {"minutes": 2, "seconds": 1},
    "9m59s": {"minutes": 9, "seconds": 59},
    "10m": {"minutes": 10, "seconds": 59},
    "179m": {"minutes": 179},
    "3h": {"hours": 3},
    "3h1m": {"hours": 3, "minutes": 1, "seconds": 59},
    "7h59m": {"hours": 7, "minutes": 59},
    "8h": {"hours": 8, "minutes": 59},
    "47h": {"hours": 47},
    "2d": {"days": 2},
    "2d1h": {"days": 2, "hours": 1},
    "7d23h": {"days": 7, "hours": 23},
    "8d": {"days": 8, "hours": 23},
    "729d": {"days": 729},
    "2y": {"days": 730},
    "2y1d": {"days": 731},
    "7y364d": {"days": 8 * 365 - 1},
    "8y": {"days": 8 * 365 + 100},
}


@pytest.mark.parametrize("text", LENGTHS)
def test_a_duration_is_printed_with_two_or_three_digits(text: str) -> None:
    assert human_duration(timedelta(**LENGTHS[text])) == text


@pytest.mark.parametrize(
    ("moment", "age"),
    [
        ("2026-06-15T11:59:30Z", "30s"),
        ("2026-06-15T13:59:30.5+02:00", "29s"),
        ("2026-06-15T12:00:30Z", "<invalid>"),
        ("1000-01-01T00:00:00Z", "292y"),
        ("0001-01-01T00:00:00Z", "<unknown>"),
        ("yesterday", "<invalid>"),
        ("", "<unknown>"),
        (None, "<unknown>"),
    ],
)
def test_an_age_is_computed_from_the_time_of_the_request(moment: str | None, age: str) -> None:
    ages = Ages(NOW)

    assert (ages.since(moment), ages.since(moment)) == (age, age)


def test_between_returns_the_duration_between_two_times() -> None:
    assert between("2020-01-01T00:00:00Z", "2020-01-01T00:07:12Z") == "7m12s"
