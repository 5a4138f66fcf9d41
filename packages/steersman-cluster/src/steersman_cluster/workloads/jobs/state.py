"""How a Job stands: what its Pods have come to, and whether that is the end of it. Pure.

What has ended is known by three things, each of which outlives a crash: a Pod's finalizer (it has
not been counted), its uid in the status (it is being counted) and the counters (it has been).
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
from steersman_cluster.workloads.jobs.policies import judged, success
from steersman_cluster.workloads.pods import is_active, is_ready, is_terminating, phase

Job = batch_v1.Job
Pod = core_v1.Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """That a Job is to end, how, and why; ``is_new`` until its status says so."""

    is_success: bool
    reason: str
    message: str
    is_new: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A Job and its Pods at one moment."""

    job: Job
    pods: tuple[Pod, ...]
    now: datetime
    active: tuple[Pod, ...]
    terminating: int
    #: What has ended in all, counted or not.
    succeeded: int
    failed: int
    start_time: datetime | None
    #: Of an indexed Job: what its status has as done, what is done, and what has failed for good.
    counted_indexes: Indexes
    done_indexes: Indexes
    failed_indexes: Indexes | None
    #: The last failed Pod of each index that waits for another.
    replaced: Mapping[int, Pod]
    verdict: Verdict | None

    @property
    def spec(self) -> batch_v1.JobSpec:
        """What is wanted."""
        return spec_of(self.job)

    @property
    def is_suspended(self) -> bool:
        """Whether nothing of it is to run."""
        return bool(self.spec.suspend)

    @property
    def ready(self) -> int:
        """How many of the active Pods are ready."""
        return sum(map(is_ready, self.active))

    @property
    def deadline_seconds(self) -> float | None:
        """How long until it has been active for too long; ``None`` if that never is."""
        return _deadline_seconds(self.spec, self.start_time, self.now)


def look_at(job: Job, pods: Sequence[Pod], now: datetime) -> Look:
    """How the Job stands with these Pods, all of which are its own."""
    spec, status = spec_of(job), status_of(job)
    uncounted = status.uncounted_terminated_pods or batch_v1.UncountedTerminatedPods()
    counting = dict.fromkeys(uncounted.succeeded or ()), dict.fromkeys(uncounted.failed or ())
    valid = [pod for pod in pods if is_tracked(pod) and _is_valid(pod, spec)]
    failures = [pod for pod in valid if pod.uid not in counting[1] and has_failed(pod, spec)]
    failed = (
        (status.failed or 0)
        + sum(judged(spec.pod_failure_policy, pod).counts for pod in failures)
        + len(counting[1])
    )
    start_time = status.start_time
    if start_time is None and not spec.suspend:
        start_time = now.replace(microsecond=0)
    active = tuple(pod for pod in pods if is_active(pod))
    verdict = (
        _earlier_verdict(job)
        or _policy_verdict(spec, pods)
        or _limit_verdict(spec, pods, failed)
        or _deadline_verdict(spec, start_time, now)
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
            verdict = verdict or _index_verdict(spec, done, lost)
        verdict = verdict or _success_verdict(spec, done)
    else:
        new = [pod for pod in valid if phase(pod) == "Succeeded" and pod.uid not in counting[0]]
        succeeded = (status.succeeded or 0) + len(new) + len(counting[0])
    return Look(
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
        verdict=verdict,
    )


def is_complete(look: Look, active: int) -> bool:
    """Whether enough has succeeded and nothing is left running."""
    if active:
        return False
    completions = look.spec.completions
    return look.succeeded > 0 if completions is None else look.succeeded >= completions


def completed() -> Verdict:
    """What is said of a Job that is complete."""
    return Verdict(
        is_success=True,
        reason="CompletionsReached",
        message="Reached expected number of succeeded pods",
    )


def _earlier_verdict(job: Job) -> Verdict | None:
    """What was found out by whoever looked last, and is so for ever."""
    met = true_condition(job, "SuccessCriteriaMet")
    said = met or true_condition(job, "FailureTarget")
    if said is None:
        return None
    return Verdict(
        is_success=met is not None,
        reason=said.reason or "",
        message=said.message or "",
        is_new=False,
    )


def _policy_verdict(spec: batch_v1.JobSpec, pods: Sequence[Pod]) -> Verdict | None:
    if spec.pod_failure_policy is None:
        return None
    for pod in pods:
        if has_failed(pod, spec):
            failure = judged(spec.pod_failure_policy, pod).failure
            if failure is not None:
                return Verdict(is_success=False, reason="PodFailurePolicy", message=failure)
    return None


def _limit_verdict(spec: batch_v1.JobSpec, pods: Sequence[Pod], failed: int) -> Verdict | None:
    limit = spec.backoff_limit
    if limit is None or (failed <= limit and not _restarted_too_often(spec, pods, limit)):
        return None
    return Verdict(
        is_success=False,
        reason="BackoffLimitExceeded",
        message="Job has reached the specified backoff limit",
    )


def _restarted_too_often(spec: batch_v1.JobSpec, pods: Sequence[Pod], limit: int) -> bool:
    """Where containers are started again and Pods do not fail, restarts are what is counted."""
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


def _deadline_verdict(
    spec: batch_v1.JobSpec, start_time: datetime | None, now: datetime
) -> Verdict | None:
    left_seconds = _deadline_seconds(spec, start_time, now)
    if left_seconds is None or left_seconds > 0:
        return None
    return Verdict(
        is_success=False,
        reason="DeadlineExceeded",
        message="Job was active longer than specified deadline",
    )


def _index_verdict(spec: batch_v1.JobSpec, done: Indexes, lost: Indexes) -> Verdict | None:
    if spec.max_failed_indexes is not None and len(lost) > spec.max_failed_indexes:
        return Verdict(
            is_success=False,
            reason="MaxFailedIndexesExceeded",
            message="Job has exceeded the specified maximal number of failed indexes",
        )
    if lost.intervals and len(lost) + len(done) >= (spec.completions or 0):
        return Verdict(is_success=False, reason="FailedIndexes", message="Job has failed indexes")
    return None


def _success_verdict(spec: batch_v1.JobSpec, done: Indexes) -> Verdict | None:
    message = success(spec.success_policy, done, spec.completions or 0)
    if message is None:
        return None
    return Verdict(is_success=True, reason="SuccessPolicy", message=message)


def _is_valid(pod: Pod, spec: batch_v1.JobSpec) -> bool:
    """Whether it counts at all: in an indexed Job, if it has one of its indexes."""
    return not is_indexed(spec) or NO_INDEX < index_of(pod) < (spec.completions or 0)


def _fails_index(pod: Pod, spec: batch_v1.JobSpec) -> bool:
    if not has_failed(pod, spec):
        return False
    what = judged(spec.pod_failure_policy, pod)
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
    """They are kept until another one has been made, which is told how often its index failed."""
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
