"""The status of a Job: each ended Pod is counted exactly once. No I/O.

    ended, with finalizer ──▶ uid in the status ──▶ finalizer removed ──▶ counted, uid removed
              └── succeeded, of an indexed Job: index in the status ──▶ finalizer removed

After a crash between two steps, the next reconcile continues with the next step.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from steersman.kinds import batch_v1, core_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.jobs.accessors import (
    NO_INDEX,
    has_failed,
    index_of,
    is_indexed,
    is_tracked,
    status_of,
)
from steersman_cluster.workloads.jobs.completion_indexes import Indexes
from steersman_cluster.workloads.jobs.policies import failure_effect
from steersman_cluster.workloads.jobs.state import FinishReason, JobState
from steersman_cluster.workloads.pods import phase

Pod = core_v1.Pod
Status = batch_v1.JobStatus
Uncounted = batch_v1.UncountedTerminatedPods

# A status has room for so many uids; the rest waits for the next reconcile.
MAX_UNCOUNTED: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedStatus:
    """The status of a Job to write, and the Pods whose finalizers are removed after that write.

    ``is_all`` is true if the status accounts for all Pods that have ended.
    """

    status: Status
    release: tuple[Pod, ...]
    is_all: bool


def counted(status: Status, tracked: dict[str, None]) -> Status:
    """Return ``status`` with the Pods counted that no longer have the tracking finalizer.

    The uids of these Pods move from the uncounted uids to the counters. ``tracked`` contains the
    uids of the Pods that still have the finalizer.
    """
    uncounted = status.uncounted_terminated_pods or Uncounted()
    succeeded, failed = uncounted.succeeded or (), uncounted.failed or ()
    kept = Uncounted(
        succeeded=tuple(uid for uid in succeeded if uid in tracked) or None,
        failed=tuple(uid for uid in failed if uid in tracked) or None,
    )
    more = len(succeeded) - len(kept.succeeded or ())
    worse = len(failed) - len(kept.failed or ())
    return replace(
        status,
        uncounted_terminated_pods=kept,
        succeeded=(status.succeeded or 0) + more or None,
        failed=(status.failed or 0) + worse or None,
    )


def count_ended(
    job_state: JobState, status: Status, finish_reason: FinishReason | None
) -> CountedStatus:
    """Return the Job's status to write before the finalizers of ended Pods are removed.

    If ``finish_reason`` is a failure, Pods that are still running count as failed.
    """
    spec = job_state.spec
    tracked = {pod.uid: None for pod in job_state.pods if is_tracked(pod)}
    status = counted(status, tracked)
    uncounted = status.uncounted_terminated_pods or Uncounted()
    succeeded = dict.fromkeys(uncounted.succeeded or ())
    failed = dict.fromkeys(uncounted.failed or ())
    indexes: list[int] = []
    release: list[Pod] = []
    is_all = True
    for pod in sorted(job_state.pods, key=index_of) if is_indexed(spec) else job_state.pods:
        if pod.uid not in tracked or not (finish_reason or _can_release(pod, job_state)):
            continue
        release.append(pod)
        is_valid = not is_indexed(spec) or NO_INDEX < index_of(pod) < (spec.completions or 0)
        if phase(pod) == "Succeeded" and pod.uid not in failed:
            if not is_indexed(spec):
                succeeded.setdefault(pod.uid)
            elif is_valid and index_of(pod) not in job_state.counted_indexes:
                indexes.append(index_of(pod))
        # What still runs when a Job fails has failed with it.
        elif (
            (has_failed(pod, spec) or (finish_reason is not None and not finish_reason.is_success))
            and is_valid
            and pod.uid not in failed
            and failure_effect(spec.pod_failure_policy, pod).counts
        ):
            failed[pod.uid] = None
        if len(indexes) + len(succeeded) + len(failed) >= MAX_UNCOUNTED:
            is_all = False
            break
    status = replace(
        status,
        uncounted_terminated_pods=Uncounted(
            succeeded=tuple(succeeded) or None, failed=tuple(failed) or None
        ),
    )
    if is_indexed(spec):
        status = _with_indexes(status, job_state, Indexes.of(indexes))
    return CountedStatus(status=status, release=tuple(release), is_all=is_all)


def _can_release(pod: Pod, job_state: JobState) -> bool:
    """Return whether the Pod is not needed after it is counted."""
    if job_state.job.deletion_time is not None or phase(pod) == "Succeeded":
        return True
    return has_failed(pod, job_state.spec) and job_state.replaced.get(index_of(pod)) is not pod


def released(status: Status, job_state: JobState, gone: dict[str, None]) -> Status:
    """Return ``status`` after the finalizers of the Pods in ``gone`` were removed.

    ``gone`` contains the uids of these Pods.
    """
    tracked = {p.uid: None for p in job_state.pods if is_tracked(p) and p.uid not in gone}
    return counted(status, tracked)


def with_finish_reason(status: Status, finish_reason: FinishReason | None, now: datetime) -> Status:
    """Return ``status`` with the condition that announces ``finish_reason``, if it is new."""
    if finish_reason is None or not finish_reason.is_new:
        return status
    type_ = "SuccessCriteriaMet" if finish_reason.is_success else "FailureTarget"
    said = condition(type_, "True", finish_reason.reason, finish_reason.message, now)
    return replace(status, conditions=(*(status.conditions or ()), said))


def finished(status: Status, finish_reason: FinishReason, now: datetime) -> Status | None:
    """Return ``status`` with the condition that marks the Job as complete or failed.

    Return ``None`` while Pods of the Job are uncounted or terminating.
    """
    uncounted = status.uncounted_terminated_pods or Uncounted()
    if uncounted.succeeded or uncounted.failed or status.terminating:
        return None
    type_ = "Complete" if finish_reason.is_success else "Failed"
    said = condition(type_, "True", finish_reason.reason, finish_reason.message, now)
    return replace(
        status,
        conditions=(*(status.conditions or ()), said),
        completion_time=said.last_transition_time if finish_reason.is_success else None,
    )


def condition(
    type: str, status: str, reason: str, message: str, now: datetime
) -> batch_v1.JobCondition:
    """Return a Job condition of type ``type``, with the transition time ``now``."""
    moment = now.replace(microsecond=0)
    return batch_v1.JobCondition(
        type=type,
        status="True" if status == "True" else "False",
        reason=reason,
        message=message,
        last_probe_time=moment,
        last_transition_time=moment,
    )


def with_suspension(job_state: JobState, status: Status) -> tuple[Status, bool]:
    """Return ``status`` with the ``Suspended`` condition, and whether this condition has changed.

    The Job's start time is reset each time the Job is resumed.
    """
    before = next((each for each in status.conditions or () if each.type == "Suspended"), None)
    if job_state.is_suspended:
        said = condition("Suspended", "True", "JobSuspended", "Job suspended", job_state.now)
    else:
        said = condition("Suspended", "False", "JobResumed", "Job resumed", job_state.now)
    if before is None and not job_state.is_suspended:
        return status, False
    if before is not None and (before.status, before.reason, before.message) == (
        said.status,
        said.reason,
        said.message,
    ):
        return status, False
    others = list(status.conditions or ())
    if before is None:
        others.append(said)
    else:
        others[others.index(before)] = said
    start_time = None if job_state.is_suspended else said.last_transition_time
    return replace(status, conditions=tuple(others), start_time=start_time), True


def with_counts(job_state: JobState, *, active: int, ready: int, terminating: int) -> Status:
    """Return the Job's status with its start time and the numbers of Pods.

    ``active``, ``ready`` and ``terminating`` are the numbers of Pods in these states.
    """
    return replace(
        status_of(job_state.job),
        active=active or None,
        ready=ready,
        terminating=terminating,
        start_time=job_state.start_time,
    )


def _with_indexes(status: Status, job_state: JobState, new: Indexes) -> Status:
    done = job_state.done_indexes | new
    lost = job_state.failed_indexes
    return replace(
        status,
        succeeded=len(done) or None,
        completed_indexes=str(done) or None,
        failed_indexes=None if lost is None else str(lost),
    )
