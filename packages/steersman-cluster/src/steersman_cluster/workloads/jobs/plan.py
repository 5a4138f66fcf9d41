"""What is to be done about a Job's Pods: some made, some deleted, or some time waited. Pure."""

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
from steersman_cluster.workloads.jobs.state import Look
from steersman_cluster.workloads.pods import deletion_order, is_terminating

Pod = core_v1.Pod

# In one look, as the real controller: others are waiting too.
MOST_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One thing to do, or nothing.

    Either Pods to ``delete``, or Pods to ``make``, each given by its index (``NO_INDEX`` in a Job
    without), or a wait until one may be made.
    """

    delete: tuple[Pod, ...] = ()
    make: tuple[int, ...] = ()
    wait_seconds: float | None = None


def planned(look: Look, *, vanished: Mapping[str, datetime]) -> Plan:
    """What to do for a Job that goes on; ``vanished`` are failures that cannot be seen."""
    active = len(look.active)
    if look.is_suspended:
        return Plan(delete=tuple(_removed(look, active)))
    wanted = _wanted(look)
    removed = _removed(look, max(0, active - wanted))
    if removed:
        # Deletions first: one that has an index twice would otherwise have it three times.
        return Plan(delete=tuple(removed[:MOST_AT_ONCE]))
    terminating = look.terminating if replaces_only_failed(look.spec) else 0
    return _making(look, min(wanted - terminating - active, MOST_AT_ONCE), vanished)


def _making(look: Look, count: int, vanished: Mapping[str, datetime]) -> Plan:
    if count <= 0:
        return Plan()
    spec = look.spec
    if spec.backoff_limit_per_index is None:
        seconds = wait_seconds(look.pods, spec, look.now, vanished=vanished)
        if seconds > 0:
            return Plan(wait_seconds=seconds)
    if not is_indexed(spec):
        return Plan(make=(NO_INDEX,) * count)
    indexes = _pending(look).missing(count, below=spec.completions or 0)
    if spec.backoff_limit_per_index is None:
        return Plan(make=tuple(indexes))
    waits = {each: index_wait_seconds(look.replaced.get(each), look.now) for each in indexes}
    due = tuple(each for each, seconds in waits.items() if seconds <= 0)
    if due or not waits:
        return Plan(make=due)
    return Plan(wait_seconds=min(waits.values()))


def _wanted(look: Look) -> int:
    """How many Pods should run."""
    parallelism, completions = look.spec.parallelism or 0, look.spec.completions
    if completions is None:
        # Once one has succeeded, the others are to come to their ends, and no more begin.
        return len(look.active) if look.succeeded else parallelism
    return max(0, min(completions - look.succeeded, parallelism))


def _pending(look: Look) -> Indexes:
    """The indexes for which no Pod is to be made now."""
    taken = [*look.active]
    if replaces_only_failed(look.spec):
        taken += filter(is_terminating, look.pods)
    indexes = Indexes.of(each for each in map(index_of, taken) if each != NO_INDEX)
    return look.done_indexes | indexes | (look.failed_indexes or Indexes())


def _removed(look: Look, at_least: int) -> list[Pod]:
    """What goes of the active Pods: of an indexed Job, those that have no index of their own."""
    left, removed = list(look.active), list[Pod]()
    if is_indexed(look.spec):
        left, removed = _one_of_each(look)
    more = at_least - len(removed)
    if more > 0:
        removed += deletion_order(left, look.now)[:more]
    return removed


def _one_of_each(look: Look) -> tuple[list[Pod], list[Pod]]:
    by_index: dict[int, list[Pod]] = {}
    for pod in sorted(look.active, key=index_of):
        by_index.setdefault(index_of(pod), []).append(pod)
    left: list[Pod] = []
    removed: list[Pod] = []
    for index, pods in by_index.items():
        if not NO_INDEX < index < (look.spec.completions or 0):
            removed += pods
        else:
            *others, best = _ranked(pods, look)
            removed += others
            left.append(best)
    return left, removed


def _ranked(pods: Sequence[Pod], look: Look) -> Sequence[Pod]:
    return pods if len(pods) == 1 else deletion_order(pods, look.now)
