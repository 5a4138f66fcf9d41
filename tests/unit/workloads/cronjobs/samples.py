"""CronJobs and their Jobs."""

from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.kinds import batch_v1, core_v1, meta_v1

CREATED = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)


def cron_job(
    schedule: str = "*/10 * * * *", *, last: datetime | None = None, **spec: Any
) -> batch_v1.CronJob:
    """A CronJob that was created shortly after noon."""
    template = core_v1.PodTemplateSpec(
        spec=core_v1.PodSpec(containers=(core_v1.Container(name="main", image="work:1"),))
    )
    job_template = batch_v1.JobTemplateSpec(
        metadata=meta_v1.ObjectMeta(labels={"a": "b"}, annotations={"c": "d"}),
        spec=batch_v1.JobSpec(template=template),
    )
    return batch_v1.CronJob(
        metadata=meta_v1.ObjectMeta(
            name="tick", namespace="here", uid="cron-uid", creation_timestamp=CREATED
        ),
        spec=batch_v1.CronJobSpec(schedule=schedule, job_template=job_template, **spec),
        status=batch_v1.CronJobStatus(last_schedule_time=last),
    )


def ended(name: str, type: str | None, *, minutes: int | None = 0) -> batch_v1.Job:
    """A Job that started so many minutes after noon, with its finished condition, if any."""
    started = None if minutes is None else CREATED + timedelta(minutes=minutes)
    condition = batch_v1.JobCondition(type=type or "Suspended", status="True")
    return batch_v1.Job(
        metadata=meta_v1.ObjectMeta(name=name, namespace="here", uid=name),
        status=batch_v1.JobStatus(
            start_time=started,
            completion_time=started if type == "Complete" else None,
            conditions=(condition,),
        ),
    )
