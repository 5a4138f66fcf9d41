"""Which Pods have ended, counted once each, whatever happens in between. Pure.

    ended, with finalizer ──▶ uid in the status ──▶ finalizer gone ──▶ counted, uid gone
              └── succeeded, of an indexed Job: its index in the status ──▶ finalizer gone

After a crash between any two of these, the next look finds what has been done, and goes on there.
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
from steersman_cluster.workloads.jobs.policies import judged
from steersman_cluster.workloads.jobs.state import Look, Verdict
from steersman_cluster.workloads.pods import phase

Pod = core_v1.Pod
Status = batch_v1.JobStatus
Uncounted = batch_v1.UncountedTerminatedPods

# So many uids fit into a status; the rest has to wait for the next look.
MOST_UNCOUNTED: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A status to be written, and the Pods that lose their finalizer after that.

    ``is_all``: whether these are all that have ended.
    """

    status: Status
    release: tuple[Pod, ...]
    is_all: bool


def counted(status: Status, tracked: dict[str, None]) -> Status:
    """The status, with the uids counted whose Pods have no finalizer any more."""
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


def account(look: Look, status: Status, verdict: Verdict | None) -> Account:
    """What is to be said of the Pods that have ended before they are let go."""
    spec = look.spec
    tracked = {pod.uid: None for pod in look.pods if is_tracked(pod)}
    status = counted(status, tracked)
    uncounted = status.uncounted_terminated_pods or Uncounted()
    succeeded = dict.fromkeys(uncounted.succeeded or ())
    failed = dict.fromkeys(uncounted.failed or ())
    indexes: list[int] = []
    release: list[Pod] = []
    is_all = True
    for pod in sorted(look.pods, key=index_of) if is_indexed(spec) else look.pods:
        if pod.uid not in tracked or not (verdict or _is_done_with(pod, look)):
            continue
        release.append(pod)
        is_valid = not is_indexed(spec) or NO_INDEX < index_of(pod) < (spec.completions or 0)
        if phase(pod) == "Succeeded" and pod.uid not in failed:
            if not is_indexed(spec):
                succeeded.setdefault(pod.uid)
            elif is_valid and index_of(pod) not in look.counted_indexes:
                indexes.append(index_of(pod))
        # What still runs when a Job fails has failed with it.
        elif (
            (has_failed(pod, spec) or (verdict is not None and not verdict.is_success))
            and is_valid
            and pod.uid not in failed
            and judged(spec.pod_failure_policy, pod).counts
        ):
            failed[pod.uid] = None
        if len(indexes) + len(succeeded) + len(failed) >= MOST_UNCOUNTED:
            is_all = False
            break
    status = replace(
        status,
        uncounted_terminated_pods=Uncounted(
            succeeded=tuple(succeeded) or None, failed=tuple(failed) or None
        ),
    )
    if is_indexed(spec):
        status = _with_indexes(status, look, Indexes.of(indexes))
    return Account(status=status, release=tuple(release), is_all=is_all)


def _is_done_with(pod: Pod, look: Look) -> bool:
    """Whether nobody needs it any more once it is counted."""
    if look.job.deletion_time is not None or phase(pod) == "Succeeded":
        return True
    return has_failed(pod, look.spec) and look.replaced.get(index_of(pod)) is not pod


def released(status: Status, look: Look, gone: dict[str, None]) -> Status:
    """The status after these have lost their finalizers."""
    tracked = {p.uid: None for p in look.pods if is_tracked(p) and p.uid not in gone}
    return counted(status, tracked)


def with_verdict(status: Status, verdict: Verdict | None, now: datetime) -> Status:
    """The status, saying where it goes from here, before it is there."""
    if verdict is None or not verdict.is_new:
        return status
    type_ = "SuccessCriteriaMet" if verdict.is_success else "FailureTarget"
    said = condition(type_, "True", verdict.reason, verdict.message, now)
    return replace(status, conditions=(*(status.conditions or ()), said))


def finished(status: Status, verdict: Verdict, now: datetime) -> Status | None:
    """The status of a Job that is over; ``None`` while there are Pods to count or to wait for."""
    uncounted = status.uncounted_terminated_pods or Uncounted()
    if uncounted.succeeded or uncounted.failed or status.terminating:
        return None
    type_ = "Complete" if verdict.is_success else "Failed"
    said = condition(type_, "True", verdict.reason, verdict.message, now)
    return replace(
        status,
        conditions=(*(status.conditions or ()), said),
        completion_time=said.last_transition_time if verdict.is_success else None,
    )


def condition(
    type: str, status: str, reason: str, message: str, now: datetime
) -> batch_v1.JobCondition:
    """A condition that has become so now."""
    moment = now.replace(microsecond=0)
    return batch_v1.JobCondition(
        type=type,
        status="True" if status == "True" else "False",
        reason=reason,
        message=message,
        last_probe_time=moment,
        last_transition_time=moment,
    )


def with_suspension(look: Look, status: Status) -> tuple[Status, bool]:
    """The status, saying whether the Job is suspended; and whether that is news.

    From when on it runs is counted anew each time that it is resumed.
    """
    before = next((each for each in status.conditions or () if each.type == "Suspended"), None)
    if look.is_suspended:
        said = condition("Suspended", "True", "JobSuspended", "Job suspended", look.now)
    else:
        said = condition("Suspended", "False", "JobResumed", "Job resumed", look.now)
    if before is None and not look.is_suspended:
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
    start_time = None if look.is_suspended else said.last_transition_time
    return replace(status, conditions=tuple(others), start_time=start_time), True


def with_counts(look: Look, *, active: int, ready: int, terminating: int) -> Status:
    """The status as far as it can be seen at once."""
    return replace(
        status_of(look.job),
        active=active or None,
        ready=ready,
        terminating=terminating,
        start_time=look.start_time,
    )


def _with_indexes(status: Status, look: Look, new: Indexes) -> Status:
    done = look.done_indexes | new
    lost = look.failed_indexes
    return replace(
        status,
        succeeded=len(done) or None,
        completed_indexes=str(done) or None,
        failed_indexes=None if lost is None else str(lost),
    )
