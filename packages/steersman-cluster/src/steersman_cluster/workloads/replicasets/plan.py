"""The number of Pods that a ReplicaSet has to create or delete, and its status. No I/O.

The functions also work for a ReplicationController, whose selector is a map of labels.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TypeAlias, TypeVar

from steersman.kinds import Condition, apps_v1, core_v1
from steersman_cluster.workloads.pods import is_available, is_ready

Pod = core_v1.Pod
Replicated: TypeAlias = apps_v1.ReplicaSet | core_v1.ReplicationController
ReplicatedStatus: TypeAlias = apps_v1.ReplicaSetStatus | core_v1.ReplicationControllerStatus
ReplicatedCondition: TypeAlias = (
    apps_v1.ReplicaSetCondition | core_v1.ReplicationControllerCondition
)

C = TypeVar("C", bound=Condition)

# The maximum number of Pods in one reconcile, so that no object floods the server.
BURST = 500

# As in kube-controller-manager's slow start, batches double from one: what fails is tried once, and
# not a thousand times.
_FIRST_BATCH = 1

_FAILURE = "ReplicaFailure"
# A failure is retried after as long as it has lasted: the backoff doubles.
_MIN_WAIT_SECONDS = 1.0
_MAX_WAIT_SECONDS = 300.0


def wanted_replicas(rs: Replicated) -> int:
    """Return ``spec.replicas`` of ``rs``, or 1 if it is not set."""
    replicas = rs.spec.replicas if rs.spec is not None else None
    return 1 if replicas is None else replicas


def difference(rs: Replicated, active: int) -> int:
    """Return how many Pods to create in this reconcile, if ``rs`` has ``active`` Pods.

    A negative result means that this number of Pods has to be deleted.
    """
    return max(-BURST, min(BURST, wanted_replicas(rs) - active))


def batches(count: int) -> Iterator[int]:
    """Yield the sizes of the batches in which ``count`` Pods are created."""
    size = min(count, _FIRST_BATCH)
    while size > 0:
        yield size
        count -= size
        size = min(count, 2 * size)


def status_of(
    rs: Replicated,
    *,
    active: Sequence[Pod],
    terminating: int,
    failure: tuple[str, str] | None,
    now: datetime,
) -> ReplicatedStatus:
    """Return the new status of ``rs``.

    ``active`` are its active Pods, and ``terminating`` is the number of its terminating Pods.
    ``failure`` is the reason and the message of a failure to create or delete Pods.
    """
    spec = rs.spec
    template = spec.template if spec is not None else None
    labels = (template.metadata.labels if template and template.metadata else None) or {}
    min_ready_seconds = (spec.min_ready_seconds if spec is not None else None) or 0
    ready = [pod for pod in active if is_ready(pod)]
    available = len(ready)
    if min_ready_seconds:
        available = sum(is_available(pod, min_ready_seconds, now) for pod in ready)
    fully_labeled = sum(pod.labels.items() >= labels.items() for pod in active)
    if isinstance(rs, core_v1.ReplicationController):
        return core_v1.ReplicationControllerStatus(
            replicas=len(active),
            fully_labeled_replicas=fully_labeled or None,
            ready_replicas=len(ready) or None,
            available_replicas=available or None,
            observed_generation=rs.generation or None,
            conditions=_conditions(rs, core_v1.ReplicationControllerCondition, failure, now),
        )
    return apps_v1.ReplicaSetStatus(
        replicas=len(active),
        fully_labeled_replicas=fully_labeled or None,
        ready_replicas=len(ready) or None,
        available_replicas=available or None,
        terminating_replicas=terminating,
        observed_generation=rs.generation or None,
        conditions=_conditions(rs, apps_v1.ReplicaSetCondition, failure, now),
    )


def failing_since(rs: Replicated) -> datetime | None:
    """Return when the creation or deletion of the Pods of ``rs`` began to fail.

    Return ``None`` if there is no failure.
    """
    failure = _failure(rs)
    return failure.last_transition_time if failure is not None else None


def retry_seconds(since: datetime | None, now: datetime) -> float:
    """Return the seconds until the next retry, if the requests have failed since ``since``."""
    lasted_seconds = (now - since).total_seconds() if since is not None else 0.0
    return max(_MIN_WAIT_SECONDS, min(_MAX_WAIT_SECONDS, lasted_seconds))


def _failure(rs: Replicated) -> ReplicatedCondition | None:
    conditions = (rs.status.conditions if rs.status is not None else None) or ()
    return next((each for each in conditions if each.type == _FAILURE), None)


def _conditions(
    rs: Replicated, kind: type[C], failure: tuple[str, str] | None, now: datetime
) -> tuple[C, ...] | None:
    there = (rs.status.conditions if rs.status is not None else None) or ()
    kept: tuple[C, ...] = tuple(each for each in there if isinstance(each, kind))
    if failure is None:
        return tuple(each for each in kept if each.type != _FAILURE) or None
    if any(each.type == _FAILURE for each in kept):
        return kept  # the condition of the first failure stays
    reason, message = failure
    new = kind(
        type=_FAILURE,
        status="True",
        reason=reason,
        message=message,
        last_transition_time=now.replace(microsecond=0),
    )
    return (*kept, new)
