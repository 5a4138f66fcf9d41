"""Jobs and their Pods."""

from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.kinds import batch_v1, core_v1, meta_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.jobs.accessors import COMPLETION_INDEX, INDEX_FAILURES, TRACKING
from steersman_cluster.workloads.jobs.state import JobState, compute_state

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def job(*, status: batch_v1.JobStatus | None = None, **spec: Any) -> batch_v1.Job:
    """A Job with the server's defaults."""
    policy = spec.get("pod_failure_policy")
    template = core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(labels={"job": "work"}),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", image="work:1"),),
            restart_policy=spec.pop("restart_policy", "Never"),
        ),
    )
    wanted: dict[str, Any] = {
        "parallelism": 1,
        "backoff_limit": 6,
        "completion_mode": "NonIndexed",
        "pod_replacement_policy": "TerminatingOrFailed" if policy is None else "Failed",
        "selector": meta_v1.LabelSelector(match_labels={"job": "work"}),
        "template": template,
        **spec,
    }
    return batch_v1.Job(
        metadata=meta_v1.ObjectMeta(name="work", namespace="here", uid="job-uid"),
        spec=batch_v1.JobSpec(**wanted),
        status=status,
    )


def indexed(**spec: Any) -> batch_v1.Job:
    """A Job with an index for each completion."""
    return job(completion_mode="Indexed", **spec)


def pod(
    name: str,
    phase: str = "Running",
    *,
    index: int | None = None,
    failures: int | None = None,
    exit_code: int | None = None,
    ended_seconds_ago: float = 0.0,
    is_ready: bool = False,
    is_going: bool = False,
    is_tracked: bool = True,
    restarts: int = 0,
    conditions: tuple[tuple[str, str], ...] = (),
) -> core_v1.Pod:
    """One of the Job's Pods; its uid is its name."""
    annotations = {}
    if index is not None:
        annotations[COMPLETION_INDEX] = str(index)
    if failures is not None:
        annotations[INDEX_FAILURES] = str(failures)
    if exit_code is None and phase in ("Succeeded", "Failed"):
        exit_code = 0 if phase == "Succeeded" else 1
    terminated = None
    if exit_code is not None:
        ended = NOW - timedelta(seconds=ended_seconds_ago)
        terminated = core_v1.ContainerStateTerminated(exit_code=exit_code, finished_at=ended)
    return core_v1.Pod(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace="here",
            uid=name,
            annotations=annotations or None,
            creation_timestamp=NOW - timedelta(hours=1),
            deletion_timestamp=NOW if is_going else None,
            finalizers=(TRACKING,) if is_tracked else None,
        ),
        spec=core_v1.PodSpec(containers=(), node_name="node-1"),
        status=core_v1.PodStatus(
            phase=phase,
            conditions=tuple(
                core_v1.PodCondition(type=type_, status=status)
                for type_, status in (("Ready", "True" if is_ready else "False"), *conditions)
            ),
            container_statuses=(
                core_v1.ContainerStatus(
                    name="main",
                    image="work:1",
                    image_id="",
                    ready=is_ready,
                    restart_count=restarts,
                    state=core_v1.ContainerState(terminated=terminated),
                ),
            ),
        ),
    )


def state_of(job: batch_v1.Job, *pods: core_v1.Pod) -> JobState:
    """The state of the Job now."""
    return compute_state(job, pods, NOW)


def with_status(job: batch_v1.Job, status: batch_v1.JobStatus) -> batch_v1.Job:
    """The Job, after its status was written."""
    return replace(job, status=status)


def released(pod: core_v1.Pod) -> core_v1.Pod:
    """The Pod without its finalizer."""
    return replace(pod, metadata=replace(pod.metadata, finalizers=None))


def names(pods: tuple[core_v1.Pod, ...] | list[core_v1.Pod]) -> list[str]:
    return [each.name for each in pods]
