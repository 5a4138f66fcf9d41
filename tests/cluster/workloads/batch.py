"""Jobs and CronJobs on a simulated cluster."""

from collections.abc import Mapping
from typing import Any

from steersman.client import MergePatch
from steersman.kinds import batch_v1, core_v1, events_v1, meta_v1
from steersman_cluster.simulation import Cluster
from steersman_cluster.workloads import WorkloadSettings

Job = batch_v1.Job
Pod = core_v1.Pod
CronJob = batch_v1.CronJob

#: Jobs, and all parts that run and delete their Pods.
BATCH = WorkloadSettings(
    parts=("namespaces", "garbagecollector", "nodes", "scheduler", "jobs", "cronjobs")
)
#: For tests that write the statuses of the Pods themselves.
BY_HAND = WorkloadSettings(parts=("jobs",))


def job(
    name: str = "work",
    *,
    runs: Mapping[str, str] | None = None,
    restart_policy: str = "Never",
    **spec: Any,
) -> Job:
    """A Job whose Pods have the script ``runs``: ``{"run-seconds": "5", "exit-code": "1"}``."""
    template = job_template(runs, restart_policy)
    return Job(
        metadata=meta_v1.ObjectMeta(name=name), spec=batch_v1.JobSpec(template=template, **spec)
    )


def cron_job(schedule: str, *, runs: Mapping[str, str] | None = None, **spec: Any) -> CronJob:
    """A CronJob of such Jobs."""
    inner = batch_v1.JobSpec(template=job_template(runs, "Never"))
    return CronJob(
        metadata=meta_v1.ObjectMeta(name="tick"),
        spec=batch_v1.CronJobSpec(
            schedule=schedule, job_template=batch_v1.JobTemplateSpec(spec=inner), **spec
        ),
    )


def job_template(runs: Mapping[str, str] | None, restart_policy: str) -> core_v1.PodTemplateSpec:
    run_steps = {f"nodes.steersman.dev/{what}": how for what, how in (runs or {}).items()}
    return core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(annotations=run_steps or None),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="work:1"),),
            restart_policy=restart_policy,
        ),
    )


async def status_of(cluster: Cluster, name: str = "work") -> batch_v1.JobStatus:
    found = await cluster.get(Job, name)
    return found.status or batch_v1.JobStatus()


async def counts(cluster: Cluster, name: str = "work") -> tuple[int, int, int]:
    """The counts of active, succeeded and failed Pods."""
    status = await status_of(cluster, name)
    return status.active or 0, status.succeeded or 0, status.failed or 0


async def conditions(cluster: Cluster, name: str = "work") -> list[tuple[str, str, str | None]]:
    """The type, status and reason of each condition."""
    status = await status_of(cluster, name)
    return [(each.type, each.status, each.reason) for each in status.conditions or ()]


async def ended(cluster: Cluster, pod: Pod, phase: str, *, exit_code: int = 0) -> None:
    """Write the final status of a Pod."""
    moment = cluster.clock.now().isoformat(timespec="seconds").replace("+00:00", "Z")
    state = {"terminated": {"exitCode": exit_code, "finishedAt": moment}}
    container = {
        "name": "main",
        "image": "work:1",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": state,
    }
    status = {"phase": phase, "containerStatuses": [container]}
    await cluster.patch(Pod, pod.name, MergePatch({"status": status}), subresource="status")


async def pods(cluster: Cluster, *phases: str) -> list[Pod]:
    """The Pods in these phases, or all Pods."""
    found = await cluster.list(Pod)
    return [
        pod
        for pod in sorted(found, key=lambda each: each.name)
        if not phases or (pod.status is not None and pod.status.phase in phases)
    ]


async def events(cluster: Cluster, about: str = "work") -> list[tuple[str, str, str]]:
    """The events of an object from the controllers of Jobs, in order."""
    found = [
        each
        for each in await cluster.list(events_v1.Event)
        if each.regarding is not None
        and each.regarding.name == about
        and "job-controller" in (each.reporting_controller or "")
    ]
    found.sort(key=lambda each: str(each.event_time))
    return [(each.type or "", each.reason or "", each.note or "") for each in found]
