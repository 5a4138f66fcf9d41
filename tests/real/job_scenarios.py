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

# The name of a Pod, with what the server made up at its end.
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
            [each.type, each.status, each.reason, _anonymous(each.message or "", job.namespace)]
            for each in status.conditions or ()
        ],
        "has started": status.start_time is not None,
        "has completed": status.completion_time is not None,
    }


KINDS: dict[type[Resource], Read | None] = {Job: state}


def job(**spec: Any) -> Job:
    """A Job called work, whose Pods are never restarted."""
    template = core_v1.PodTemplateSpec(
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="work:1"),), restart_policy="Never"
        )
    )
    return Job(
        metadata=meta_v1.ObjectMeta(name=WORK), spec=batch_v1.JobSpec(template=template, **spec)
    )


async def is_caught_up(stage: Stage) -> bool:
    """Whether the statuses of all Jobs agree with their Pods, and what has ended is counted."""
    pods = await stage.list(Pod)
    active = [pod for pod in pods if is_active(pod)]
    for each in await stage.list(Job):
        status = each.status or batch_v1.JobStatus()
        if (status.active or 0, status.ready) != (len(active), sum(map(is_ready, active))):
            return False
        ending = [pod for pod in pods if pod.metadata.deletion_timestamp and not is_ended(pod)]
        if (status.terminating or 0) != len(ending):
            return False
        is_over = any(c.type in ("Complete", "Failed") for c in status.conditions or ())
        is_decided = any(
            c.type in ("SuccessCriteriaMet", "FailureTarget") for c in status.conditions or ()
        )
        if is_decided and not is_over:
            return False
        is_asleep = any(
            c.type == "Suspended" and c.status == "True" for c in status.conditions or ()
        )
        if each.spec is not None and bool(each.spec.suspend) != is_asleep:
            return False
    return not any(is_ended(pod) and TRACKING in (pod.metadata.finalizers or ()) for pod in pods)


# Standing in for kubelets


async def running(stage: Stage) -> list[Pod]:
    """The Pods that are to run, when there are some again; none once the Job is over."""
    while True:
        await stage.quiet()
        active = [pod for pod in await stage.list(Pod) if is_active(pod)]
        status = (await stage.get(Job, WORK)).status or batch_v1.JobStatus()
        is_over = any(each.type in ("Complete", "Failed") for each in status.conditions or ())
        if active or is_over:
            return sorted(active, key=lambda pod: pod.labels.get(COMPLETION_INDEX, pod.name))
        await stage.client.clock.sleep(0.5)


async def all_ready(stage: Stage) -> None:
    """All Pods that are to run do."""
    for pod in await running(stage):
        await stage.set_pod_status(pod, "Running", is_ready=True)
    await stage.quiet()


async def end(stage: Stage, pod: Pod, *, exit_code: int = 0) -> None:
    """A Pod comes to its end."""
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


async def end_all(stage: Stage, *, exit_code: int = 0) -> None:
    """All that are to run come to their ends."""
    for pod in await running(stage):
        await end(stage, pod, exit_code=exit_code)
    await stage.quiet()


# Scenarios


async def succeeding(stage: Stage) -> None:
    """Five completions, two in parallel."""
    await stage.create(job(parallelism=2, completions=5))
    await all_ready(stage)
    for _ in range(3):
        await end_all(stage)


async def failing(stage: Stage) -> None:
    """To its limit, with a wait before the second try."""
    await stage.create(job(backoff_limit=1))
    await end_all(stage, exit_code=1)
    await end_all(stage, exit_code=1)


async def indexed(stage: Stage) -> None:
    """Each index once."""
    await stage.create(job(parallelism=2, completions=3, completion_mode="Indexed"))
    await end_all(stage)
    await end_all(stage)


async def failing_index(stage: Stage) -> None:
    """One of three indexes fails permanently."""
    await stage.create(
        job(parallelism=3, completions=3, completion_mode="Indexed", backoff_limit_per_index=0)
    )
    first, second, third = await running(stage)
    await end(stage, second, exit_code=1)
    await stage.quiet()
    await end(stage, first)
    await end(stage, third)
    await stage.quiet()


async def suspended(stage: Stage) -> None:
    """Stopped, and begun again."""
    await stage.create(job(parallelism=2, completions=2))
    await all_ready(stage)
    await stage.patch(Job, WORK, {"spec": {"suspend": True}})
    await stage.quiet()
    await stage.patch(Job, WORK, {"spec": {"suspend": False}})
    await end_all(stage)


async def smaller(stage: Stage) -> None:
    """A lower parallelism than before."""
    await stage.create(job(parallelism=3, completions=6))
    await all_ready(stage)
    await stage.patch(Job, WORK, {"spec": {"parallelism": 1}})
    await stage.quiet()


async def too_long(stage: Stage) -> None:
    """Active for longer than it may be."""
    await stage.create(job(parallelism=2, active_deadline_seconds=4))
    await running(stage)
    while await running(stage):
        await stage.client.clock.sleep(0.5)


async def failed_by_rule(stage: Stage) -> None:
    """A code that is not worth a second try."""
    codes = batch_v1.PodFailurePolicyOnExitCodesRequirement(operator="In", values=(42,))
    rule = batch_v1.PodFailurePolicyRule(action="FailJob", on_exit_codes=codes)
    policy = batch_v1.PodFailurePolicy(rules=(rule,))
    await stage.create(job(parallelism=2, completions=2, pod_failure_policy=policy))
    first, _ = await running(stage)
    await end(stage, first, exit_code=42)
    await stage.quiet()


async def succeeded_by_rule(stage: Stage) -> None:
    """One index is enough."""
    rule = batch_v1.SuccessPolicyRule(succeeded_indexes="1")
    policy = batch_v1.SuccessPolicy(rules=(rule,))
    await stage.create(
        job(parallelism=2, completions=2, completion_mode="Indexed", success_policy=policy)
    )
    _, second = await running(stage)
    await end(stage, second)
    await stage.quiet()


async def deleted_pod(stage: Stage) -> None:
    """A client deletes a Pod, and another takes its place after a while."""
    await stage.create(job(completions=1))
    (first,) = await running(stage)
    await stage.delete(first)
    await stage.quiet()
    await end_all(stage)


SCENARIOS: tuple[Scenario, ...] = (
    succeeding,
    failing,
    indexed,
    failing_index,
    suspended,
    smaller,
    too_long,
    failed_by_rule,
    succeeded_by_rule,
    deleted_pod,
)


async def final_state(stage: Stage) -> dict[str, Any]:
    """The steps that were taken, what is left, and what was events."""
    names = sorted(pod.name for pod in await stage.list(Pod))
    events: Counter[str] = Counter()
    for event in await stage.list(events_v1.Event):
        source = event.deprecated_source.component if event.deprecated_source else None
        source = source or event.reporting_controller
        if source == "job-controller":
            count = event.series.count if event.series else event.deprecated_count or 1
            note = _anonymous(event.note or "", stage.namespace)
            events[f"{event.type} {event.reason} {note}"] += count or 1
    return {
        "steps": [value for _, value in stage.steps.of(Job)],
        "pods": Counter(_anonymous(name, stage.namespace) for name in names),
        "events": dict(sorted(events.items())),
    }


def _anonymous(text: str, namespace: str | None) -> str:
    return _POD.sub(r"\1?", text.replace(f"{namespace}/", "NAMESPACE/"))
