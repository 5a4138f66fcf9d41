"""The last scheduled time of a CronJob, and the time until the next one. No I/O."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Final

from steersman.kinds import batch_v1
from steersman.units import Schedule, parse_schedule, time_zone

CronJob = batch_v1.CronJob

# With more missed times than this, a wrong clock is more likely than a stopped controller.
TOO_MANY_MISSED: Final = 100
# A timer may fire a little early.
_MARGIN_SECONDS: Final = 0.1


class NeverDue(Exception):
    """The error for a CronJob schedule that is valid but matches no date, such as February 31."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The last scheduled time of a CronJob, and an estimate of how many were missed.

    ``since`` is the start of the interval in which the scheduled times were searched; the interval
    ends now. ``last`` is the last scheduled time in this interval, or ``None`` if there is none.
    ``missed`` estimates the number of scheduled times in the interval, from the time between the
    first two of them; it is 0 if the interval contains at most one scheduled time.
    """

    since: datetime
    last: datetime | None = None
    missed: int = 0


def schedule_of(cron_job: CronJob) -> Schedule:
    """Return the schedule of ``cron_job`` in its time zone.

    Raise ``BadValue`` if the schedule is invalid.
    """
    return parse_schedule(cron_job.spec.schedule, zone=cron_job.spec.time_zone)


def due(
    cron_job: CronJob, schedule: Schedule, now: datetime, *, within_deadline: bool = True
) -> Due:
    """Return the last scheduled time that has passed since ``cron_job`` last started a Job.

    If the CronJob has never started a Job, the search begins at its creation. With
    ``within_deadline``, a scheduled time does not count if its starting deadline has passed. Raise
    ``NeverDue`` if the schedule matches no date.
    """
    since = _since(cron_job, now, within_deadline=within_deadline)
    first = schedule.after(since)
    if first is None:
        raise NeverDue("time difference between two schedules is less than 1 second")
    if now < first:
        return Due(since=since)
    second = schedule.after(first)
    if second is None:
        raise NeverDue("time difference between two schedules is less than 1 second")
    if now < second:
        return Due(since=since, last=first)
    between_seconds = int((second - first).total_seconds())
    missed = int((now - first).total_seconds()) // between_seconds + 1
    # From shortly before the last: the intervals of a schedule can differ.
    last, at = None, schedule.after(first + timedelta(seconds=(missed - 2) * between_seconds))
    while at is not None and at <= now:
        last, at = at, schedule.after(at)
    return Due(since=since, last=last, missed=missed)


def next_seconds(cron_job: CronJob, schedule: Schedule, now: datetime) -> float | None:
    """Return the seconds until ``cron_job`` is due next, or ``None`` if it is never due."""
    try:
        found = due(cron_job, schedule, now, within_deadline=False)
    except NeverDue:
        return None
    after = found.last
    if after is None:
        after = now if found.missed else found.since
    upcoming = schedule.after(after)
    if upcoming is None:
        return None
    return max((upcoming - now).total_seconds(), 0.0) + _MARGIN_SECONDS


def is_too_late(cron_job: CronJob, moment: datetime, now: datetime) -> bool:
    """Return whether the starting deadline for the scheduled time ``moment`` has passed."""
    deadline_seconds = cron_job.spec.starting_deadline_seconds
    return deadline_seconds is not None and moment + timedelta(seconds=deadline_seconds) < now


def job_name(cron_job: CronJob, moment: datetime) -> str:
    """Return the name of the Job of ``cron_job`` for the scheduled time ``moment``.

    The name depends only on the CronJob's name and on ``moment``, so repeated attempts cannot
    create a second Job.
    """
    return f"{cron_job.name}-{int(moment.timestamp()) // 60}"


def zoned(moment: datetime, zone: str | None) -> str:
    """Return ``moment`` in ISO 8601 format, in the time zone ``zone`` or by default in UTC."""
    local = moment.astimezone(time_zone(zone or ""))
    text = local.isoformat(timespec="seconds")
    return text if local.utcoffset() else f"{text[:19]}Z"


def rfc_2822(moment: datetime) -> str:
    """Return ``moment`` as events show it, for example ``Mon, 02 Jan 2006 15:04:05 +0000``."""
    return format_datetime(moment)


def _since(cron_job: CronJob, now: datetime, *, within_deadline: bool) -> datetime:
    status = cron_job.status
    since = status.last_schedule_time if status is not None else None
    since = since or cron_job.metadata.creation_timestamp or now
    deadline_seconds = cron_job.spec.starting_deadline_seconds
    if within_deadline and deadline_seconds is not None:
        since = max(since, now - timedelta(seconds=deadline_seconds))
    return since
