"""The active Jobs of a CronJob, and the finished Jobs beyond its history limits. No I/O."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from steersman.kinds import batch_v1, core_v1, meta_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.cronjobs.schedule import job_name, zoned
from steersman_cluster.workloads.jobs import end_of

CronJob = batch_v1.CronJob
Job = batch_v1.Job
Status = batch_v1.CronJobStatus

SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"

_LAST: Final = datetime.max.replace(tzinfo=UTC)


def job_for(cron_job: CronJob, moment: datetime) -> Job:
    """Return the Job that ``cron_job`` creates for the scheduled time ``moment``."""
    template = cron_job.spec.job_template
    inner = template.metadata or meta_v1.ObjectMeta()
    scheduled = {SCHEDULED: zoned(moment, cron_job.spec.time_zone)}
    return Job(
        metadata=meta_v1.ObjectMeta(
            name=job_name(cron_job, moment),
            namespace=cron_job.namespace,
            labels=inner.labels,
            annotations={**(inner.annotations or {}), **scheduled},
        ),
        spec=template.spec,
    )


def surplus(cron_job: CronJob, jobs: Sequence[Job]) -> list[Job]:
    """Return the finished ``jobs`` beyond the history limits of ``cron_job``.

    Completed Jobs come before failed Jobs; within each group, the oldest Job is first.
    """
    spec = cron_job.spec
    found: list[Job] = []
    for type_, limit in (
        ("Complete", spec.successful_jobs_history_limit),
        ("Failed", spec.failed_jobs_history_limit),
    ):
        over = sorted((job for job in jobs if _ended_as(job) == type_), key=_started)
        if limit is not None and len(over) > limit:
            found += over[: len(over) - limit]
    return found


def is_active(status: Status, job: Job) -> bool:
    """Return whether the CronJob status ``status`` lists ``job`` as active."""
    return any(each.uid == job.uid for each in status.active or ())


def without(status: Status, uids: Iterable[str]) -> Status:
    """Return the CronJob status ``status`` without the active Jobs whose uid is in ``uids``."""
    gone = dict.fromkeys(uids)
    active = tuple(each for each in status.active or () if each.uid not in gone)
    return replace(status, active=active or None)


def with_started(status: Status, job: Job, moment: datetime) -> Status:
    """Return ``status`` with ``job`` as an active Job, and ``moment`` as the last schedule time."""
    reference = core_v1.ObjectReference(
        api_version="batch/v1",
        kind="Job",
        namespace=job.namespace,
        name=job.name,
        uid=job.uid,
        resource_version=job.resource_version,
    )
    return replace(status, active=(*(status.active or ()), reference), last_schedule_time=moment)


def with_success(status: Status, job: Job) -> Status:
    """Return ``status`` with the completion time of ``job`` as the last successful time.

    The status does not change if ``job`` has not succeeded, or if ``job`` completed no later than
    the last successful time in ``status``.
    """
    ended = job.status.completion_time if job.status is not None else None
    before = status.last_successful_time
    if _ended_as(job) != "Complete" or ended is None or (before is not None and ended <= before):
        return status
    return replace(status, last_successful_time=ended)


def _ended_as(job: Job) -> str:
    end = end_of(job)
    return "" if end is None else end.type


def _started(job: Job) -> tuple[datetime, str]:
    started = job.status.start_time if job.status is not None else None
    return started or _LAST, job.name
