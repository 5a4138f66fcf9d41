"""When a CronJob is due, when it was last, and when it is next. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Final

from steersman.kinds import batch_v1
from steersman.units import Schedule, parse_schedule, time_zone

CronJob = batch_v1.CronJob

# After so many, a clock is more likely to be wrong than a controller to have slept.
MANY: Final = 100
# A timer that is a little early would find that it is not time yet.
_MARGIN_SECONDS: Final = 0.1


class NeverDue(Exception):
    """A schedule that can be read, and has no moments: the 31st of February."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The last moment at which a CronJob should have run, and how many were missed until then.

    ``since`` is from when on nothing has run. ``missed`` is counted roughly, by the time between
    two.
    """

    since: datetime
    last: datetime | None = None
    missed: int = 0


def schedule_of(cron_job: CronJob) -> Schedule:
    """Its schedule, by the clocks of its zone; ``BadValue`` if it cannot be read."""
    return parse_schedule(cron_job.spec.schedule, zone=cron_job.spec.time_zone)


def due(
    cron_job: CronJob, schedule: Schedule, now: datetime, *, within_deadline: bool = True
) -> Due:
    """What has become due since it last ran, or since it is there.

    ``within_deadline``: what is too late to be started by now does not count.
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
    # From shortly before the last: a schedule need not have the same time between any two.
    last, at = None, schedule.after(first + timedelta(seconds=(missed - 2) * between_seconds))
    while at is not None and at <= now:
        last, at = at, schedule.after(at)
    return Due(since=since, last=last, missed=missed)


def next_seconds(cron_job: CronJob, schedule: Schedule, now: datetime) -> float | None:
    """How long until it is due again; ``None`` if it never is."""
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
    """Whether what was due then is not to be started any more."""
    deadline_seconds = cron_job.spec.starting_deadline_seconds
    return deadline_seconds is not None and moment + timedelta(seconds=deadline_seconds) < now


def job_name(cron_job: CronJob, moment: datetime) -> str:
    """What the Job of a moment is called: one moment has one Job, however often it is tried."""
    return f"{cron_job.name}-{int(moment.timestamp()) // 60}"


def zoned(moment: datetime, zone: str | None) -> str:
    """A moment as people in the zone write it."""
    local = moment.astimezone(time_zone(zone or ""))
    text = local.isoformat(timespec="seconds")
    return text if local.utcoffset() else f"{text[:19]}Z"


def mailed(moment: datetime) -> str:
    """A moment as it stands in letters and events: ``Mon, 02 Jan 2006 15:04:05 +0000``."""
    return format_datetime(moment)


def _since(cron_job: CronJob, now: datetime, *, within_deadline: bool) -> datetime:
    status = cron_job.status
    since = status.last_schedule_time if status is not None else None
    since = since or cron_job.metadata.creation_timestamp or now
    deadline_seconds = cron_job.spec.starting_deadline_seconds
    if within_deadline and deadline_seconds is not None:
        since = max(since, now - timedelta(seconds=deadline_seconds))
    return since
