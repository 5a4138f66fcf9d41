"""The state of a Job: the results of its Pods, and whether the Job is finished. No I/O.

Three facts record which Pods have ended, and each is stored in the cluster, so it survives a crash
of the controller. The tracking finalizer of a Pod means that the Pod is not counted yet. The uid of
a Pod in the Job's status means that the Pod is being counted. The counters in the Job's status
include the Pods that have been counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.jobs.accessors import (
    NO_INDEX,
    finished_time,
    has_failed,
    ignored_index_failures,
    index_failures,
    index_of,
    is_indexed,
    is_tracked,
    spec_of,
    status_of,
    true_condition,
)
from steersman_cluster.workloads.jobs.completion_indexes import Indexes
from steersman_cluster.workloads.jobs.policies import failure_effect, success
from steersman_cluster.workloads.pods import is_active, is_ready, is_terminating, phase

Job = batch_v1.Job
Pod = core_v1.Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishReason:
    """The reason why a Job completes or fails.

    ``is_new`` is true until the status of the Job contains the reason.
    """

    is_success: bool
    reason: str
    message: str
    is_new: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A snapshot of a Job and its Pods at one time."""

    job: Job
    pods: tuple[Pod, ...]
    now: datetime
    active: tuple[Pod, ...]
    terminating: int
    #: All Pods that have ended, counted or not.
    succeeded: int
    failed: int
    start_time: datetime | None
    #: Of an indexed Job: the completed indexes in its status, those now, and those that have
    #: failed.
    counted_indexes: Indexes
    done_indexes: Indexes
    failed_indexes: Indexes | None
    #: The last failed Pod of each index that will be retried.
    replaced: Mapping[int, Pod]
    finish_reason: FinishReason | None

    @property
    def spec(self) -> batch_v1.JobSpec:
        """Return the spec of the Job."""
        return spec_of(self.job)

    @property
    def is_suspended(self) -> bool:
        """Return whether the Job is suspended."""
        return bool(self.spec.suspend)

    @property
    def ready(self) -> int:
        """Return how many active Pods of the Job are ready."""
        return sum(map(is_ready, self.active))

    @property
    def deadline_seconds(self) -> float | None:
        """Return the seconds until the Job's active deadline.

        Return ``None`` if the Job has no deadline, has not started, or is suspended.
        """
        return _deadline_seconds(self.spec, self.start_time, self.now)


def compute_state(job: Job, pods: Sequence[Pod], now: datetime) -> JobState:
    """Return the state of ``job`` at the time ``now``; ``pods`` are the Pods that the Job owns."""
    spec, status = spec_of(job), status_of(job)
    uncounted = status.uncounted_terminated_pods or batch_v1.UncountedTerminatedPods()
    counting = dict.fromkeys(uncounted.succeeded or ()), dict.fromkeys(uncounted.failed or ())
    valid = [pod for pod in pods if is_tracked(pod) and _is_valid(pod, spec)]
    failures = [pod for pod in valid if pod.uid not in counting[1] and has_failed(pod, spec)]
    failed = (
        (status.failed or 0)
        + sum(failure_effect(spec.pod_failure_policy, pod).counts for pod in failures)
        + len(counting[1])
    )
    start_time = status.start_time
    if start_time is None and not spec.suspend:
        start_time = now.replace(microsecond=0)
    active = tuple(pod for pod in pods if is_active(pod))
    finish_reason = (
        _earlier_reason(job)
        or _policy_reason(spec, pods)
        or _limit_reason(spec, pods, failed)
        or _deadline_reason(spec, start_time, now)
    )
    before = done = Indexes()
    lost: Indexes | None = None
    if is_indexed(spec):
        before = Indexes.read(status.completed_indexes, spec.completions or 0)
        done = before | Indexes.of(index_of(pod) for pod in valid if phase(pod) == "Succeeded")
        succeeded = len(done)
        if spec.backoff_limit_per_index is not None:
            lost = Indexes.read(status.failed_indexes, spec.completions or 0)
            lost |= Indexes.of(index_of(pod) for pod in valid if _fails_index(pod, spec))
            finish_reason = finish_reason or _index_reason(spec, done, lost)
        finish_reason = finish_reason or _success_reason(spec, done)
    else:
        new = [pod for pod in valid if phase(pod) == "Succeeded" and pod.uid not in counting[0]]
        succeeded = (status.succeeded or 0) + len(new) + len(counting[0])
    return JobState(
        job=job,
        pods=tuple(pods),
        now=now,
        active=active,
        terminating=sum(map(is_terminating, pods)),
        succeeded=succeeded,
        failed=failed,
        start_time=start_time,
        counted_indexes=before,
        done_indexes=done,
        failed_indexes=lost,
        replaced={} if lost is None else _replaced(valid, active, spec, done, lost),
        finish_reason=finish_reason,
    )


def is_complete(job_state: JobState, active: int) -> bool:
    """Return whether enough Pods have succeeded and ``active``, the number of active Pods, is 0."""
    if active:
        return False
    completions = job_state.spec.completions
    return job_state.succeeded > 0 if completions is None else job_state.succeeded >= completions


def completed() -> FinishReason:
    """Return the finish reason of a Job that completes because enough Pods have succeeded."""
    return FinishReason(
        is_success=True,
        reason="CompletionsReached",
        message="Reached expected number of succeeded pods",
    )


def _earlier_reason(job: Job) -> FinishReason | None:
    """Return the finish reason that the status already contains; this reason is final."""
    met = true_condition(job, "SuccessCriteriaMet")
    said = met or true_condition(job, "FailureTarget")
    if said is None:
        return None
    return FinishReason(
        is_success=met is not None,
        reason=said.reason or "",
        message=said.message or "",
        is_new=False,
    )


def _policy_reason(spec: batch_v1.JobSpec, pods: Sequence[Pod]) -> FinishReason | None:
    if spec.pod_failure_policy is None:
        return None
    for pod in pods:
        if has_failed(pod, spec):
            failure = failure_effect(spec.pod_failure_policy, pod).failure
            if failure is not None:
                return FinishReason(is_success=False, reason="PodFailurePolicy", message=failure)
    return None


def _limit_reason(spec: batch_v1.JobSpec, pods: Sequence[Pod], failed: int) -> FinishReason | None:
    limit = spec.backoff_limit
    if limit is None or (failed <= limit and not _restarted_too_often(spec, pods, limit)):
        return None
    return FinishReason(
        is_success=False,
        reason="BackoffLimitExceeded",
        message="Job has reached the specified backoff limit",
    )


def _restarted_too_often(spec: batch_v1.JobSpec, pods: Sequence[Pod], limit: int) -> bool:
    """Return whether container restarts exceed the limit.

    With ``restartPolicy: OnFailure``, container restarts count instead of failed Pods.
    """
    template = spec.template.spec
    if template is None or template.restart_policy != "OnFailure":
        return False
    restarts = sum(
        each.restart_count
        for pod in pods
        if pod.status is not None and phase(pod) in ("Running", "Pending")
        for each in (
            *(pod.status.init_container_statuses or ()),
            *(pod.status.container_statuses or ()),
        )
    )
    return restarts >= max(limit, 1)


def _deadline_seconds(
    spec: batch_v1.JobSpec, start_time: datetime | None, now: datetime
) -> float | None:
    if spec.active_deadline_seconds is None or start_time is None or spec.suspend:
        return None
    return spec.active_deadline_seconds - (now - start_time).total_seconds()


def _deadline_reason(
    spec: batch_v1.JobSpec, start_time: datetime | None, now: datetime
) -> FinishReason | None:
    left_seconds = _deadline_seconds(spec, start_time, now)
    if left_seconds is None or left_seconds > 0:
        return None
    return FinishReason(
        is_success=False,
        reason="DeadlineExceeded",
        message="Job was active longer than specified deadline",
    )


def _index_reason(spec: batch_v1.JobSpec, done: Indexes, lost: Indexes) -> FinishReason | None:
    if spec.max_failed_indexes is not None and len(lost) > spec.max_failed_indexes:
        return FinishReason(
            is_success=False,
            reason="MaxFailedIndexesExceeded",
            message="Job has exceeded the specified maximal number of failed indexes",
        )
    if lost.intervals and len(lost) + len(done) >= (spec.completions or 0):
        return FinishReason(
            is_success=False, reason="FailedIndexes", message="Job has failed indexes"
        )
    return None


def _success_reason(spec: batch_v1.JobSpec, done: Indexes) -> FinishReason | None:
    message = success(spec.success_policy, done, spec.completions or 0)
    if message is None:
        return None
    return FinishReason(is_success=True, reason="SuccessPolicy", message=message)


def _is_valid(pod: Pod, spec: batch_v1.JobSpec) -> bool:
    """Return whether the Pod counts; a Pod of an indexed Job counts only with a valid index."""
    return not is_indexed(spec) or NO_INDEX < index_of(pod) < (spec.completions or 0)


def _fails_index(pod: Pod, spec: batch_v1.JobSpec) -> bool:
    if not has_failed(pod, spec):
        return False
    what = failure_effect(spec.pod_failure_policy, pod)
    if what.action == "FailIndex":
        return True
    return what.counts and index_failures(pod) >= (spec.backoff_limit_per_index or 0)


def _replaced(
    valid: Sequence[Pod],
    active: Sequence[Pod],
    spec: batch_v1.JobSpec,
    done: Indexes,
    lost: Indexes,
) -> dict[int, Pod]:
    """Return, by index, the last failed Pod of each index that still needs a replacement.

    Such a Pod is kept until its replacement exists, because the failure count of the replacement is
    computed from this Pod.
    """
    settled = done | lost | Indexes.of(i for i in map(index_of, active) if i != NO_INDEX)
    last: dict[int, Pod] = {}
    for pod in valid:
        index = index_of(pod)
        if has_failed(pod, spec) and index not in settled:
            other = last.get(index)
            if other is None or _is_later(pod, other):
                last[index] = pod
    return last


def _is_later(pod: Pod, other: Pod) -> bool:
    failures, before = (
        index_failures(each) + ignored_index_failures(each) for each in (pod, other)
    )
    return failures >= before and finished_time(pod) >= finished_time(other)
