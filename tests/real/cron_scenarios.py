"""Changes of CronJobs, and the resulting state.

The Jobs are suspended, so only the scenario changes them. A schedule is due because its last run
was long ago, so no test waits for the next run.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import Resource, batch_v1, core_v1, events_v1, meta_v1
from steersman.units import format_time
from steersman_cluster.workloads.jobs import end_of
from tests.real.workload_steps import Read, Stage

CronJob = batch_v1.CronJob
Job = batch_v1.Job

TICK = "tick"
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_MINUTE = re.compile(r"\btick-\d+\b")


def state(cron_job: CronJob) -> Any:
    """The state of a CronJob without times."""
    status = cron_job.status or batch_v1.CronJobStatus()
    return {
        "active": [
            [each.api_version, each.kind, _MINUTE.sub("tick-?", each.name or "")]
            for each in status.active or ()
        ],
        "has run": status.last_schedule_time is not None,
        "has succeeded": status.last_successful_time is not None,
    }


KINDS: dict[type[Resource], Read | None] = {CronJob: state, Job: None}


def cron_job(schedule: str, **spec: Any) -> CronJob:
    """A suspended CronJob with the name ``tick``."""
    template = core_v1.PodTemplateSpec(
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="work:1"),), restart_policy="Never"
        )
    )
    metadata = meta_v1.ObjectMeta(labels={"of": TICK}, annotations={"why": "because"})
    inner = batch_v1.JobSpec(template=template, suspend=True)
    return CronJob(
        metadata=meta_v1.ObjectMeta(name=TICK),
        spec=batch_v1.CronJobSpec(
            schedule=schedule,
            suspend=True,
            job_template=batch_v1.JobTemplateSpec(metadata=metadata, spec=inner),
            **spec,
        ),
    )


async def is_caught_up(stage: Stage) -> bool:
    """Whether the status lists exactly the running Jobs."""
    jobs = await stage.list(Job)
    for each in await stage.list(CronJob):
        status = each.status or batch_v1.CronJobStatus()
        known = [one.name for one in status.active or ()]
        running = [job.name for job in jobs if end_of(job) is None and SCHEDULED in job.annotations]
        if sorted(running) != sorted(name or "" for name in known):
            return False
        if not each.spec.suspend and status.last_schedule_time is None:
            return each.spec.schedule == NEVER
        limit = each.spec.successful_jobs_history_limit
        if limit is not None and sum(end_of(job) is not None for job in jobs) > limit:
            return False
    return True


async def resume_after_years(stage: Stage, **spec: Any) -> None:
    """Resume the CronJob as if its last run were two years ago."""
    long_ago = format_time(stage.client.clock.now() - timedelta(days=800))
    target = stage.client.status(CronJob, TICK, namespace=stage.namespace)
    await target.patch(MergePatch({"status": {"lastScheduleTime": long_ago}}))
    await stage.quiet()
    await stage.patch(CronJob, TICK, {"spec": {"suspend": False, **spec}})
    await stage.quiet()


async def started_cron_job(stage: Stage, schedule: str, **spec: Any) -> list[Job]:
    """Create a CronJob, and wait until it has started a Job."""
    await stage.create(cron_job(schedule, **spec))
    await resume_after_years(stage)
    return await stage.list(Job)


async def complete_job(stage: Stage, job: Job) -> None:
    """Mark a Job as succeeded."""
    now = format_time(stage.client.clock.now())
    conditions = [
        {"type": type_, "status": "True", "lastProbeTime": now, "lastTransitionTime": now}
        for type_ in ("SuccessCriteriaMet", "Complete")
    ]
    status = {"startTime": now, "completionTime": now, "conditions": conditions}
    target = stage.client.status(Job, job.name, namespace=stage.namespace)
    await target.patch(MergePatch({"status": status}))


async def create_unlisted_job(stage: Stage, name: str) -> Job:
    """Create a Job that the CronJob owns, and that its status does not list."""
    owner = await stage.get(CronJob, TICK)
    reference = meta_v1.OwnerReference(
        api_version="batch/v1", kind="CronJob", name=TICK, uid=owner.uid, controller=True
    )
    metadata = meta_v1.ObjectMeta(name=name, owner_references=(reference,))
    return await stage.create(Job(metadata=metadata, spec=owner.spec.job_template.spec))


NEVER = "59 23 31 2 *"


async def job_completes(stage: Stage) -> None:
    """A Job is started, and completes."""
    (started,) = await started_cron_job(stage, "@yearly")
    await complete_job(stage, started)
    await stage.quiet()


async def too_many_missed_runs(stage: Stage) -> None:
    """More than a hundred runs were missed, which indicates a wrong clock."""
    await started_cron_job(stage, "@weekly")


async def concurrency_forbid(stage: Stage) -> None:
    """A run is due while the last Job still runs, with the policy Forbid."""
    await started_cron_job(stage, "@yearly", concurrency_policy="Forbid")
    await stage.patch(CronJob, TICK, {"spec": {"suspend": True, "schedule": "@weekly"}})
    await resume_after_years(stage)


async def concurrency_replace(stage: Stage) -> None:
    """A run is due while the last Job still runs, with the policy Replace."""
    await started_cron_job(stage, "@yearly", concurrency_policy="Replace")
    await stage.patch(CronJob, TICK, {"spec": {"suspend": True, "schedule": "@weekly"}})
    await resume_after_years(stage)


async def never_due(stage: Stage) -> None:
    """The schedule has a date that never occurs."""
    await stage.create(cron_job(NEVER))
    await stage.patch(CronJob, TICK, {"spec": {"suspend": False}})
    await stage.quiet()


async def active_job_is_deleted(stage: Stage) -> None:
    """A client deletes the running Job."""
    (started,) = await started_cron_job(stage, "@yearly")
    await stage.client.delete(
        Job, started.name, namespace=stage.namespace, propagation="Background"
    )
    await stage.quiet()


async def unlisted_jobs(stage: Stage) -> None:
    """A client creates Jobs of the CronJob, more than the history limit allows."""
    await started_cron_job(stage, "@yearly", successful_jobs_history_limit=1)
    made = [await create_unlisted_job(stage, f"stray-{number}") for number in (1, 2)]
    await stage.quiet()
    for each in made:
        await complete_job(stage, each)
        await stage.quiet()


SCENARIOS = (
    job_completes,
    too_many_missed_runs,
    concurrency_forbid,
    concurrency_replace,
    never_due,
    active_job_is_deleted,
    unlisted_jobs,
)


async def final_state(stage: Stage) -> dict[str, Any]:
    """The steps, the final state, and the events without their counts."""
    return {
        "steps": [value for _, value in stage.steps.of(CronJob)],
        "jobs": [_job_state(each) for each in await stage.list(Job)],
        "events": sorted(_event_lines(await stage.list(events_v1.Event))),
    }


def _job_state(job: Job) -> list[Any]:
    times = [
        re.sub(r"^\d{4}-\d\d-\d\d", "DATE", value) if name == SCHEDULED else value
        for name, value in sorted(job.annotations.items())
    ]
    if SCHEDULED not in job.annotations:
        return [job.name]
    owners = [
        [each.kind, each.name, each.controller, each.block_owner_deletion]
        for each in job.metadata.owner_references or ()
    ]
    return [_MINUTE.sub("tick-?", job.name), sorted(job.labels.items()), times, owners]


def _event_lines(events: Sequence[events_v1.Event]) -> set[str]:
    found = set[str]()
    for event in events:
        source = event.deprecated_source.component if event.deprecated_source else None
        if (source or event.reporting_controller) == "cronjob-controller":
            note = _MINUTE.sub("tick-?", event.note or "")
            found.add(f"{event.type} {event.reason} {note}")
    return found
