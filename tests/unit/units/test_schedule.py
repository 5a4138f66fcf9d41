"""Cron schedules, as the CronJob controller of Kubernetes evaluates them."""

from datetime import UTC, datetime

import pytest

from steersman.errors import BadValue
from steersman.units import format_time, parse_schedule
from tests.unit.units.facts import known


def moments(schedule: str, after: datetime, *, zone: str | None = None) -> list[str]:
    """The next three times, or fewer if there are no more."""
    read, found, moment = parse_schedule(schedule, zone=zone), list[str](), after
    while len(found) < 3 and (upcoming := read.after(moment)) is not None:
        found.append(format_time(upcoming))
        moment = upcoming
    return found


@pytest.mark.parametrize(("schedule", "after", "expected"), known("schedules"))
def test_a_schedule_is_due_at_the_same_times_as_in_go(
    schedule: str, after: str, expected: list[str]
) -> None:
    assert moments(schedule, datetime.fromisoformat(after)) == expected


def test_a_schedule_skips_no_day_when_clocks_change_at_midnight() -> None:
    # Go's library skips the whole of April: its first of April begins an hour late.
    after = datetime(2012, 3, 20, tzinfo=UTC)

    assert moments("30 10 1 * *", after, zone="America/Havana") == [
        "2012-04-01T14:30:00Z",
        "2012-05-01T14:30:00Z",
        "2012-06-01T14:30:00Z",
    ]


def test_a_schedule_uses_the_given_time_zone() -> None:
    after = datetime(2026, 6, 1, tzinfo=UTC)

    assert moments("0 9 * * *", after, zone="Asia/Tokyo")[0] == "2026-06-02T00:00:00Z"


def test_a_time_zone_in_the_schedule_overrides_the_given_one() -> None:
    after = datetime(2026, 6, 1, tzinfo=UTC)

    assert moments("TZ=Asia/Tokyo 0 9 * * *", after, zone="UTC")[0] == "2026-06-02T00:00:00Z"


def test_an_unknown_time_zone_is_an_invalid_schedule() -> None:
    with pytest.raises(BadValue) as caught:
        parse_schedule("* * * * *", zone="Middle/Earth")

    assert caught.value.rule == "provided bad location Middle/Earth: unknown time zone Middle/Earth"


def test_an_interval_beyond_the_last_year_is_never_due_again() -> None:
    assert moments("@every 2562047h", datetime(9900, 1, 1, tzinfo=UTC)) == []


def test_an_interval_that_go_cannot_represent_has_the_error_of_go() -> None:
    with pytest.raises(BadValue) as caught:
        parse_schedule("@every 9223372036854775808ns")

    assert caught.value.rule == (
        "failed to parse duration @every 9223372036854775808ns:"
        ' time: invalid duration "9223372036854775808ns"'
    )
