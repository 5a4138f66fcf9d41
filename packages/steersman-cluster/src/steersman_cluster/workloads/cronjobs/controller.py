"""The CronJob controller: it starts a Job at each scheduled time, and deletes old Jobs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from steersman.controller import Context, Done, Later, Outcome, controller_of
from steersman.errors import AlreadyExists, ApiError, BadValue, NotFound, Unreachable
from steersman.kinds import batch_v1
from steersman.units import Schedule, quoted, time_zone
from steersman_cluster.workloads.api_errors import error_message, is_namespace_terminating
from steersman_cluster.workloads.cronjobs.job_history import (
    is_active,
    job_for,
    surplus,
    with_started,
    with_success,
    without,
)
from steersman_cluster.workloads.cronjobs.schedule import (
    TOO_MANY_MISSED,
    NeverDue,
    due,
    is_too_late,
    job_name,
    next_seconds,
    rfc_2822,
    schedule_of,
)
from steersman_cluster.workloads.jobs import end_of
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.status_writer import put_status

CronJob = batch_v1.CronJob
Job = batch_v1.Job
Status = batch_v1.CronJobStatus


# Deletions are not tracked: the entry that was not used for the longest time is dropped.
_MAX_SCHEDULES: Final = 10_000


class SeenSchedules:
    """The schedule and time zone of each CronJob at its last reconcile, by the CronJob's uid."""

    def __init__(self, *, most: int = _MAX_SCHEDULES) -> None:
        self._most = most
        self._known: dict[str, tuple[str, str | None]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def is_new(self, cron_job: CronJob) -> bool:
        """Return whether the schedule or time zone of ``cron_job`` differs from the stored values.

        The result is ``False`` if no values are stored for this CronJob.
        """
        known = self._known.get(cron_job.uid)
        return known is not None and known != (cron_job.spec.schedule, cron_job.spec.time_zone)

    def note(self, cron_job: CronJob) -> None:
        """Store the schedule and time zone of ``cron_job``."""
        self._known.pop(cron_job.uid, None)
        self._known[cron_job.uid] = cron_job.spec.schedule, cron_job.spec.time_zone
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]


async def reconcile(cron_job: CronJob, ctx: Context, *, memories: PerRun[SeenSchedules]) -> Outcome:
    """Start the Job of ``cron_job`` that is due, delete old Jobs, and update the status."""
    schedules = memories.of(ctx.rng)
    jobs = sorted(ctx.owned(Job), key=_by_name)
    status = cron_job.status or Status()
    status = await _delete_surplus(ctx, cron_job, jobs, status)
    status = await _with_active_jobs(ctx, jobs, status)
    # A new schedule starts no Job for times before the change.
    is_new = schedules.is_new(cron_job)
    moment = None if is_new else _time_to_start(ctx, cron_job, status)
    if moment is not None:
        try:
            status = await _start(ctx, cron_job, status, moment)
        except (ApiError, Unreachable):
            await put_status(ctx, cron_job, status, if_unchanged=True)
            raise
    cron_job = await put_status(ctx, cron_job, status, if_unchanged=True)
    schedules.note(cron_job)
    return _until_next(cron_job, ctx)


def cron_job_matters(old: CronJob | None, new: CronJob) -> bool:
    """Return whether a CronJob must be reconciled after the change from ``old`` to ``new``.

    Changes of the status need no reconcile, because only this controller writes the status.
    """
    return old is None or old.generation != new.generation or old.deletion_time != new.deletion_time


def job_matters(old: Job | None, new: Job) -> bool:
    """Return whether the change of a Job from ``old`` to ``new`` affects its CronJob."""
    return old is None or end_of(old) != end_of(new)


async def _delete_surplus(
    ctx: Context, cron_job: CronJob, jobs: Sequence[Job], status: Status
) -> Status:
    for job in surplus(cron_job, jobs):
        if job.deletion_time is None and await _try_delete(ctx, job):
            status = without(status, (job.uid,))
    return status


async def _with_active_jobs(ctx: Context, jobs: Sequence[Job], status: Status) -> Status:
    """Return the status, updated with the state of each Job of the CronJob.

    An active Job that the status does not list causes a warning event. A Job that the status lists
    and that no longer exists is removed from the list.
    """
    for job in jobs:
        if end_of(job) is not None:
            status = _with_finished_job(ctx, status, job)
        elif not is_active(status, job):
            note = f"Saw a job that the controller did not create or forgot: {job.name}"
            ctx.record("UnexpectedJob", note, type="Warning")
    there = {job.uid: None for job in jobs}
    for each in status.active or ():
        if each.uid not in there and not await _is_there(ctx, each.name or ""):
            ctx.record("MissingJob", f"Active job went missing: {each.name}")
            status = without(status, (each.uid or "",))
    return status


def _with_finished_job(ctx: Context, status: Status, job: Job) -> Status:
    """Return the status after a Job has finished.

    If the status lists the Job as active, also record an event.
    """
    end = end_of(job)
    if end is not None and is_active(status, job):
        status = without(status, (job.uid,))
        ctx.record("SawCompletedJob", f"Saw completed job: {job.name}, condition: {end.type}")
    return with_success(status, job)


def _time_to_start(ctx: Context, cron_job: CronJob, status: Status) -> datetime | None:
    """Return the scheduled time for which to start a Job now, or ``None`` if no Job is to be
    started.
    """
    if cron_job.deletion_time is not None or cron_job.spec.suspend:
        return None
    schedule = _schedule(ctx, cron_job)
    if schedule is None:
        return None
    now = ctx.now
    try:
        found = due(cron_job, schedule, now)
    except NeverDue as error:
        note = f"invalid schedule: {cron_job.spec.schedule} : {error}"
        ctx.record("InvalidSchedule", note, type="Warning")
        return None
    if found.last is None:
        return None
    if found.missed > TOO_MANY_MISSED:
        note = (
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check"
            " clock skew"
        )
        ctx.record("TooManyMissedTimes", note, type="Warning")
    if is_too_late(cron_job, found.last, now):
        note = f"Missed scheduled time to start a job: {rfc_2822(found.last)}"
        ctx.record("MissSchedule", note, type="Warning")
        return None
    name = job_name(cron_job, found.last)
    if status.last_schedule_time == found.last or any(
        each.name == name for each in status.active or ()
    ):
        return None
    if cron_job.spec.concurrency_policy == "Forbid" and status.active:
        note = (
            "Not starting job because prior execution is running and concurrency policy is Forbid"
        )
        ctx.record("JobAlreadyActive", note)
        return None
    return found.last


async def _start(ctx: Context, cron_job: CronJob, status: Status, moment: datetime) -> Status:
    if cron_job.spec.concurrency_policy == "Replace":
        status = await _replace(ctx, status)
    wanted = job_for(cron_job, moment)
    try:
        job = await ctx.create_owned(wanted)
    except AlreadyExists:
        # The name contains the time: the Job exists already, perhaps from before a crash.
        job = await ctx.live.get(Job, wanted.name)
        owner = controller_of(job)
        if owner is None or owner.uid != cron_job.uid or is_active(status, job):
            return status
        if end_of(job) is not None:
            status = with_started(status, job, moment)
            return _with_finished_job(ctx, status, job)
    except (ApiError, Unreachable) as error:
        if not is_namespace_terminating(error):
            ctx.record(
                "FailedCreate", f"Error creating job: {error_message(error)}", type="Warning"
            )
        raise
    else:
        ctx.record("SuccessfulCreate", f"Created job {job.name}")
    return with_started(status, job, moment)


async def _replace(ctx: Context, status: Status) -> Status:
    """Delete the active Jobs, and return the status without these Jobs."""
    for each in status.active or ():
        name = each.name or ""
        job = ctx.get(Job, name)
        if job is None:
            try:
                job = await ctx.live.get(Job, name)
            except (ApiError, Unreachable) as error:
                ctx.record("FailedGet", f"Get job: {error_message(error)}", type="Warning")
                raise
        await _delete(ctx, job)
        status = without(status, (job.uid,))
    return status


async def _try_delete(ctx: Context, job: Job) -> bool:
    try:
        await _delete(ctx, job)
    except (ApiError, Unreachable):
        return False  # an event reports it, and the next reconcile retries
    return True


async def _delete(ctx: Context, job: Job) -> None:
    try:
        await ctx.delete(job)
    except (ApiError, Unreachable) as error:
        ctx.record("FailedDelete", f"Deleted job: {error_message(error)}", type="Warning")
        raise
    ctx.record("SuccessfulDelete", f"Deleted job {job.name}")


async def _is_there(ctx: Context, name: str) -> bool:
    try:
        await ctx.live.get(Job, name)
    except NotFound:
        return False
    return True


def _schedule(ctx: Context, cron_job: CronJob) -> Schedule | None:
    """Return the parsed schedule of the CronJob; if the schedule is invalid, record an event and
    return ``None``.
    """
    spec = cron_job.spec
    try:
        time_zone(spec.time_zone or "")
    except BadValue as error:
        note = f"invalid timeZone: {quoted(spec.time_zone or '')}: {error.rule}"
        ctx.record("UnknownTimeZone", note, type="Warning")
        return None
    try:
        return schedule_of(cron_job)
    except BadValue as error:
        note = f"unparseable schedule: {quoted(spec.schedule)} : {error.rule}"
        ctx.record("UnparseableSchedule", note, type="Warning")
        return None


def _until_next(cron_job: CronJob, ctx: Context) -> Outcome:
    if cron_job.spec.suspend or cron_job.deletion_time is not None:
        return Done()
    try:
        wait_seconds = next_seconds(cron_job, schedule_of(cron_job), ctx.now)
    except BadValue:
        return Done()
    return Done() if wait_seconds is None else Later(after_seconds=wait_seconds)


def _by_name(job: Job) -> str:
    return job.name
