"""Changes of Jobs, and the resulting state."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from steersman.client import MergePatch
from steersman.kinds import Resource, batch_v1, core_v1, events_v1, meta_v1
from steersman.units import format_time
from steersman_cluster.workloads.jobs.accessors import COMPLETION_INDEX, TRACKING
from steersman_cluster.workloads.pods import is_active, is_ended, is_ready
from tests.real.workload_steps import Read, Stage

Job = batch_v1.Job
Pod = core_v1.Pod
Scenario: TypeAlias = Callable[[Stage], Awaitable[None]]

WORK = "work"

# The name of a Pod with its generated suffix.
_POD = re.compile(r"\b(work-(?:\d+-)?)[a-z0-9]{5}\b")


def state(job: Job) -> Any:
    """The state of a Job without times."""
    status = job.status or batch_v1.JobStatus()
    pods = status.uncounted_terminated_pods or batch_v1.UncountedTerminatedPods()
    return {
        "active": status.active,
        "ready": status.ready,
        "terminating": status.terminating,
        "succeeded": status.succeeded,
        "failed": status.failed,
        "uncounted": [len(pods.succeeded or ()), len(pods.failed or ())],
        "indexes": [status.completed_indexes, status.failed_indexes],
        "conditions": [
            [
                each.type,
                each.status,
                each.reason,
                _without_random_names(each.message or "", job.namespace),
            ]
            for each in status.conditions or ()
        ],
        "has started": status.start_time is not None,
        "has completed": status.completion_time is not None,
    }


KINDS: dict[type[Resource], Read | None] = {Job: state}


def job(**spec: Any) -> Job:
    """A Job with the name ``work``, whose Pods are never restarted."""
    template = core_v1.PodTemplateSpec(
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="work:1"),), restart_policy="Never"
        )
    )
    return Job(
        metadata=meta_v1.ObjectMeta(name=WORK), spec=batch_v1.JobSpec(template=template, **spec)
    )


async def is_caught_up(stage: Stage) -> bool:
    """Whether the statuses of all Jobs count their Pods, and no terminated Pod is uncounted."""
    pods = await stage.list(Pod)
    active = [pod for pod in pods if is_active(pod)]
    for each in await stage.list(Job):
        status = each.status or batch_v1.JobStatus()
        if (status.active or 0, status.ready) != (len(active), sum(map(is_ready, active))):
            return False
        ending = [pod for pod in pods if pod.metadata.deletion_timestamp and not is_ended(pod)]
        if (status.terminating or 0) != len(ending):
            return False
        is_finished = any(c.type in ("Complete", "Failed") for c in status.conditions or ())
        is_finishing = any(
            c.type in ("SuccessCriteriaMet", "FailureTarget") for c in status.conditions or ()
        )
        if is_finishing and not is_finished:
            return False
        is_suspended = any(
            c.type == "Suspended" and c.status == "True" for c in status.conditions or ()
        )
        if each.spec is not None and bool(each.spec.suspend) != is_suspended:
            return False
    return not any(is_ended(pod) and TRACKING in (pod.metadata.finalizers or ()) for pod in pods)


# What a kubelet does


async def wait_for_active_pods(stage: Stage) -> list[Pod]:
    """Wait for active Pods; there are none if the Job is finished."""
    while True:
        await stage.quiet()
        active = [pod for pod in await stage.list(Pod) if is_active(pod)]
        status = (await stage.get(Job, WORK)).status or batch_v1.JobStatus()
        is_finished = any(each.type in ("Complete", "Failed") for each in status.conditions or ())
        if active or is_finished:
            return sorted(active, key=lambda pod: pod.labels.get(COMPLETION_INDEX, pod.name))
        await stage.client.clock.sleep(0.5)


async def make_pods_ready(stage: Stage) -> None:
    """Make all active Pods ready."""
    for pod in await wait_for_active_pods(stage):
        await stage.set_pod_status(pod, "Running", is_ready=True)
    await stage.quiet()


async def terminate_pod(stage: Stage, pod: Pod, *, exit_code: int = 0) -> None:
    """Set the phase of a Pod to Succeeded or Failed."""
    now = format_time(stage.client.clock.now())
    ended = {"exitCode": exit_code, "finishedAt": now, "startedAt": now}
    container = {
        "name": "main",
        "image": "work:1",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": ended},
    }
    status = {
        "phase": "Failed" if exit_code else "Succeeded",
        "containerStatuses": [container],
        "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": now}],
    }
    target = stage.client.status(Pod, pod.name, namespace=stage.namespace)
    await target.patch(MergePatch({"status": status}))


async def terminate_pods(stage: Stage, *, exit_code: int = 0) -> None:
    """Terminate all active Pods."""
    for pod in await wait_for_active_pods(stage):
        await terminate_pod(stage, pod, exit_code=exit_code)
    await stage.quiet()


# Scenarios


async def succeeding(stage: Stage) -> None:
    """Five completions, two in parallel."""
    await stage.create(job(parallelism=2, completions=5))
    await make_pods_ready(stage)
    for _ in range(3):
        await terminate_pods(stage)


async def failing(stage: Stage) -> None:
    """The Pods fail up to the backoff limit."""
    await stage.create(job(backoff_limit=1))
    await terminate_pods(stage, exit_code=1)
    await terminate_pods(stage, exit_code=1)


async def indexed(stage: Stage) -> None:
    """Each index completes."""
    await stage.create(job(parallelism=2, completions=3, completion_mode="Indexed"))
    await terminate_pods(stage)
    await terminate_pods(stage)


async def failing_index(stage: Stage) -> None:
    """One of three indexes fails permanently."""
    await stage.create(
        job(parallelism=3, completions=3, completion_mode="Indexed", backoff_limit_per_index=0)
    )
    first, second, third = await wait_for_active_pods(stage)
    await terminate_pod(stage, second, exit_code=1)
    await stage.quiet()
    await terminate_pod(stage, first)
    await terminate_pod(stage, third)
    await stage.quiet()


async def suspended(stage: Stage) -> None:
    """The Job is suspended and resumed."""
    await stage.create(job(parallelism=2, completions=2))
    await make_pods_ready(stage)
    await stage.patch(Job, WORK, {"spec": {"suspend": True}})
    await stage.quiet()
    await stage.patch(Job, WORK, {"spec": {"suspend": False}})
    await terminate_pods(stage)


async def lower_parallelism(stage: Stage) -> None:
    """The parallelism is reduced."""
    await stage.create(job(parallelism=3, completions=6))
    await make_pods_ready(stage)
    await stage.patch(Job, WORK, {"spec": {"parallelism": 1}})
    await stage.quiet()


async def active_deadline(stage: Stage) -> None:
    """The Job exceeds its active deadline."""
    await stage.create(job(parallelism=2, active_deadline_seconds=4))
    await wait_for_active_pods(stage)
    while await wait_for_active_pods(stage):
        await stage.client.clock.sleep(0.5)


async def pod_failure_policy(stage: Stage) -> None:
    """A Pod fails with an exit code for which the policy fails the Job."""
    codes = batch_v1.PodFailurePolicyOnExitCodesRequirement(operator="In", values=(42,))
    rule = batch_v1.PodFailurePolicyRule(action="FailJob", on_exit_codes=codes)
    policy = batch_v1.PodFailurePolicy(rules=(rule,))
    await stage.create(job(parallelism=2, completions=2, pod_failure_policy=policy))
    first, _ = await wait_for_active_pods(stage)
    await terminate_pod(stage, first, exit_code=42)
    await stage.quiet()


async def success_policy(stage: Stage) -> None:
    """The policy completes the Job after one index."""
    rule = batch_v1.SuccessPolicyRule(succeeded_indexes="1")
    policy = batch_v1.SuccessPolicy(rules=(rule,))
    await stage.create(
        job(parallelism=2, completions=2, completion_mode="Indexed", success_policy=policy)
    )
    _, second = await wait_for_active_pods(stage)
    await terminate_pod(stage, second)
    await stage.quiet()


async def deleted_pod(stage: Stage) -> None:
    """A client deletes a Pod, and the controller replaces it after a delay."""
    await stage.create(job(completions=1))
    (first,) = await wait_for_active_pods(stage)
    await stage.delete(first)
    await stage.quiet()
    await terminate_pods(stage)


SCENARIOS: tuple[Scenario, ...] = (
    succeeding,
    failing,
    indexed,
    failing_index,
    suspended,
    lower_parallelism,
    active_deadline,
    pod_failure_policy,
    success_policy,
    deleted_pod,
)


async def final_state(stage: Stage) -> dict[str, Any]:
    """The steps, the remaining Pods, and the counts of events."""
    names = sorted(pod.name for pod in await stage.list(Pod))
    events: Counter[str] = Counter()
    for event in await stage.list(events_v1.Event):
        source = event.deprecated_source.component if event.deprecated_source else None
        source = source or event.reporting_controller
        if source == "job-controller":
            count = event.series.count if event.series else event.deprecated_count or 1
            note = _without_random_names(event.note or "", stage.namespace)
            events[f"{event.type} {event.reason} {note}"] += count or 1
    return {
        "steps": [value for _, value in stage.steps.of(Job)],
        "pods": Counter(_without_random_names(name, stage.namespace) for name in names),
        "events": dict(sorted(events.items())),
    }


def _without_random_names(text: str, namespace: str | None) -> str:
    return _POD.sub(r"\1?", text.replace(f"{namespace}/", "NAMESPACE/"))
