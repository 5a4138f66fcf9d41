"""The times at which a CronJob is due."""

from datetime import UTC, datetime, timedelta

import pytest

from steersman_cluster.workloads.cronjobs.schedule import (
    TOO_MANY_MISSED,
    Due,
    NeverDue,
    due,
    is_too_late,
    job_name,
    next_seconds,
    rfc_2822,
    schedule_of,
    zoned,
)
from tests.unit.workloads.cronjobs.samples import CREATED, cron_job


def at(hour: int, minute: int, second: int = 0, *, day: int = 1) -> datetime:
    return datetime(2026, 1, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "last", "missed"),
    [
        (at(12, 9, 59), None, 0),
        (at(12, 10), at(12, 10), 0),
        (at(12, 19, 59), at(12, 10), 0),
        (at(12, 20), at(12, 20), 2),
        (at(13, 5), at(13, 0), 6),
    ],
)
def test_only_the_last_missed_time_starts_a_job(
    now: datetime, last: datetime | None, missed: int
) -> None:
    given = cron_job()

    found = due(given, schedule_of(given), now)

    assert found == Due(since=CREATED, last=last, missed=missed)


def test_a_time_with_a_job_is_not_due_again() -> None:
    given = cron_job(last=at(12, 20))

    assert due(given, schedule_of(given), at(12, 25)).last is None
    assert due(given, schedule_of(given), at(12, 30)).last == at(12, 30)


def test_a_schedule_with_uneven_intervals_is_due_at_its_last_time() -> None:
    given = cron_job("30 6-16/4 * * 1-5")

    assert due(given, schedule_of(given), at(9, 0, day=8)).last == at(6, 30, day=8)


def test_a_time_missed_before_a_long_interval_is_skipped_as_in_kubernetes() -> None:
    given = cron_job("30 6-16/4 * * 1-5")

    found = due(given, schedule_of(given), at(9, 0, day=11))

    assert (found.last, found.missed) == (None, 15)
    assert next_seconds(given, schedule_of(given), at(9, 0, day=11)) == pytest.approx(77_400.1)


def test_times_before_the_starting_deadline_are_ignored() -> None:
    given = cron_job("0 * * * *", starting_deadline_seconds=60)

    assert due(given, schedule_of(given), at(15, 0, 59)).last == at(15, 0)
    assert due(given, schedule_of(given), at(15, 1, 1)).last is None


def test_more_than_a_hundred_missed_times_count_as_too_many() -> None:
    given = cron_job("* * * * *")

    assert (
        due(given, schedule_of(given), CREATED + timedelta(minutes=TOO_MANY_MISSED)).missed
        == TOO_MANY_MISSED
    )
    assert (
        due(given, schedule_of(given), CREATED + timedelta(minutes=TOO_MANY_MISSED + 1)).missed
        > TOO_MANY_MISSED
    )


def test_decades_of_missed_times_are_counted_in_one_step() -> None:
    given = cron_job("* * * * *")
    now = datetime(2126, 1, 1, tzinfo=UTC)

    found = due(given, schedule_of(given), now)

    assert (found.last, found.missed) == (now, 36_524 * 24 * 60 - 12 * 60)


def test_a_date_that_does_not_exist_is_never_due() -> None:
    given = cron_job("59 23 31 2 *")

    with pytest.raises(NeverDue, match="time difference between two schedules is less than 1"):
        due(given, schedule_of(given), at(13, 0))
    assert next_seconds(given, schedule_of(given), at(13, 0)) is None


@pytest.mark.parametrize(
    ("now", "seconds"),
    [(at(12, 1), 540.1), (at(12, 10), 600.1), (at(12, 19, 59), 1.1), (at(13, 5), 300.1)],
)
def test_the_requeue_is_a_little_after_the_next_time(now: datetime, seconds: float) -> None:
    given = cron_job()

    assert next_seconds(given, schedule_of(given), now) == pytest.approx(seconds)


def test_a_schedule_uses_its_time_zone() -> None:
    given = cron_job("0 9 * * *", time_zone="Asia/Tokyo")

    assert due(given, schedule_of(given), at(0, 0, day=2)).last == at(0, 0, day=2)


def test_a_start_is_too_late_only_after_the_deadline() -> None:
    given = cron_job(starting_deadline_seconds=10)

    assert not is_too_late(given, at(12, 0), at(12, 0, 10))
    assert is_too_late(given, at(12, 0), at(12, 0, 11))
    assert not is_too_late(cron_job(), at(12, 0), at(23, 0))


def test_a_job_name_contains_its_scheduled_minute() -> None:
    assert job_name(cron_job(), datetime(1970, 1, 1, 2, 3, 59, tzinfo=UTC)) == "tick-123"


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        (None, "2026-01-01T12:00:00Z"),
        ("Europe/London", "2026-01-01T12:00:00Z"),
        ("Europe/Berlin", "2026-01-01T13:00:00+01:00"),
        ("America/St_Johns", "2026-01-01T08:30:00-03:30"),
    ],
)
def test_a_time_is_formatted_in_its_zone(zone: str | None, text: str) -> None:
    assert zoned(at(12, 0), zone) == text


def test_a_missed_time_is_formatted_as_in_go() -> None:
    assert rfc_2822(at(12, 0)) == "Thu, 01 Jan 2026 12:00:00 +0000"
