"""The plan for the Pods of a Job: create some, delete some, or wait. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads.jobs.accessors import (
    NO_INDEX,
    index_of,
    is_indexed,
    replaces_only_failed,
)
from steersman_cluster.workloads.jobs.backoff import index_wait_seconds, wait_seconds
from steersman_cluster.workloads.jobs.completion_indexes import Indexes
from steersman_cluster.workloads.jobs.state import JobState
from steersman_cluster.workloads.pods import deletion_order, is_terminating

Pod = core_v1.Pod

# In one reconcile, as in kube-controller-manager.
MAX_PODS_PER_RECONCILE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """The next actions for the Pods of a Job.

    The plan contains either Pods to ``delete``, or Pods to ``make``, or the time ``wait_seconds``
    until a Pod can be created, or nothing. ``make`` contains the completion index of each Pod to
    create, or ``NO_INDEX`` for a Job without indexes.
    """

    delete: tuple[Pod, ...] = ()
    make: tuple[int, ...] = ()
    wait_seconds: float | None = None


def make_plan(job_state: JobState, *, vanished: Mapping[str, datetime]) -> JobPlan:
    """Return the plan for an unfinished Job in the state ``job_state``.

    ``vanished`` contains the failure times of deleted Pods, by the Pod's uid.
    """
    active = len(job_state.active)
    if job_state.is_suspended:
        return JobPlan(delete=tuple(_pods_to_delete(job_state, active)))
    wanted = _desired_pods(job_state)
    removed = _pods_to_delete(job_state, max(0, active - wanted))
    if removed:
        # Deletions first: a duplicate index would otherwise have three Pods.
        return JobPlan(delete=tuple(removed[:MAX_PODS_PER_RECONCILE]))
    terminating = job_state.terminating if replaces_only_failed(job_state.spec) else 0
    return _creations(
        job_state, min(wanted - terminating - active, MAX_PODS_PER_RECONCILE), vanished
    )


def _creations(job_state: JobState, count: int, vanished: Mapping[str, datetime]) -> JobPlan:
    if count <= 0:
        return JobPlan()
    spec = job_state.spec
    if spec.backoff_limit_per_index is None:
        seconds = wait_seconds(job_state.pods, spec, job_state.now, vanished=vanished)
        if seconds > 0:
            return JobPlan(wait_seconds=seconds)
    if not is_indexed(spec):
        return JobPlan(make=(NO_INDEX,) * count)
    indexes = _blocked_indexes(job_state).missing(count, below=spec.completions or 0)
    if spec.backoff_limit_per_index is None:
        return JobPlan(make=tuple(indexes))
    waits = {
        each: index_wait_seconds(job_state.replaced.get(each), job_state.now) for each in indexes
    }
    due = tuple(each for each, seconds in waits.items() if seconds <= 0)
    if due or not waits:
        return JobPlan(make=due)
    return JobPlan(wait_seconds=min(waits.values()))


def _desired_pods(job_state: JobState) -> int:
    """Return how many Pods should run."""
    parallelism, completions = job_state.spec.parallelism or 0, job_state.spec.completions
    if completions is None:
        # After one success, the others end by themselves, and none is created.
        return len(job_state.active) if job_state.succeeded else parallelism
    return max(0, min(completions - job_state.succeeded, parallelism))


def _blocked_indexes(job_state: JobState) -> Indexes:
    """Return the indexes for which no Pod may be created now."""
    taken = [*job_state.active]
    if replaces_only_failed(job_state.spec):
        taken += filter(is_terminating, job_state.pods)
    indexes = Indexes.of(each for each in map(index_of, taken) if each != NO_INDEX)
    return job_state.done_indexes | indexes | (job_state.failed_indexes or Indexes())


def _pods_to_delete(job_state: JobState, at_least: int) -> list[Pod]:
    """Return the active Pods to delete.

    In an indexed Job, these always include the Pods without a valid and unique index.
    """
    left, removed = list(job_state.active), list[Pod]()
    if is_indexed(job_state.spec):
        left, removed = _one_of_each(job_state)
    more = at_least - len(removed)
    if more > 0:
        removed += deletion_order(left, job_state.now)[:more]
    return removed


def _one_of_each(job_state: JobState) -> tuple[list[Pod], list[Pod]]:
    by_index: dict[int, list[Pod]] = {}
    for pod in sorted(job_state.active, key=index_of):
        by_index.setdefault(index_of(pod), []).append(pod)
    left: list[Pod] = []
    removed: list[Pod] = []
    for index, pods in by_index.items():
        if not NO_INDEX < index < (job_state.spec.completions or 0):
            removed += pods
        else:
            *others, best = _ranked(pods, job_state)
            removed += others
            left.append(best)
    return left, removed


def _ranked(pods: Sequence[Pod], job_state: JobState) -> Sequence[Pod]:
    return pods if len(pods) == 1 else deletion_order(pods, job_state.now)
