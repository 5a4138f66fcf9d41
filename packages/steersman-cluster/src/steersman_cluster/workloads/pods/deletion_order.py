"""The order in which surplus Pods are deleted, as in kube-controller-manager. No I/O.

The following Pods come first, in this order of importance: Pods without a node, Pods that are not
running, Pods that are not ready, Pods with a lower deletion cost, Pods on a node with other Pods of
the owner, Pods that have been ready for less time, Pods that restarted more often, and younger
Pods. Times are compared by their order of magnitude. If two Pods are equal in all these respects,
the Pod with the lower uid comes first. Uids are random, so the remaining Pods are not all of one
age.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cmp_to_key
from math import log2
from typing import TypeAlias

from steersman.kinds import core_v1
from steersman_cluster.workloads.pods.pod_status import is_active, is_ready, phase, ready_since

Pod = core_v1.Pod

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_MAX_COST = 2**31


def deletion_order(
    pods: Sequence[Pod], now: datetime, *, related: Iterable[Pod] | None = None
) -> list[Pod]:
    """Return ``pods`` in the order in which surplus Pods are deleted.

    ``related`` are the Pods that should be spread over nodes, by default ``pods``. For a
    ReplicaSet, these are the Pods of all ReplicaSets of the same Deployment.
    """
    on_node: dict[str, int] = {}
    for pod in pods if related is None else related:
        node = node_of(pod)
        if node and is_active(pod):
            on_node[node] = on_node.get(node, 0) + 1
    worths = [(_worth(pod, on_node.get(node_of(pod), 0)), pod) for pod in pods]

    def by_rank(one: tuple[_Worth, Pod], other: tuple[_Worth, Pod]) -> int:
        return _compare(one, other, now)

    return [pod for _, pod in sorted(worths, key=cmp_to_key(by_rank))]


def node_of(pod: Pod) -> str:
    """Return the name of the node of ``pod``, or ``""`` if the Pod is not bound to a node."""
    return (pod.spec.node_name if pod.spec is not None else None) or ""


def deletion_cost(pod: Pod) -> int:
    """Return the deletion cost of ``pod``, from its ``pod-deletion-cost`` annotation.

    The result is 0 if the annotation is missing or invalid.
    """
    said = pod.annotations.get(DELETION_COST, "")
    digits = said.removeprefix("-")
    # As in the API server: no plus sign, no leading zero.
    if not (digits.isascii() and digits.isdigit()) or (digits[0] == "0" and said != "0"):
        return 0
    cost = int(said)
    return cost if -_MAX_COST <= cost < _MAX_COST else 0


def restarts(pod: Pod) -> tuple[int, int]:
    """Return the highest restart count of the containers of ``pod``, and of its sidecars."""
    if pod.status is None or pod.spec is None:
        return 0, 0
    sidecars = [
        each.name for each in pod.spec.init_containers or () if each.restart_policy == "Always"
    ]
    return (
        max((each.restart_count for each in pod.status.container_statuses or ()), default=0),
        max(
            (
                each.restart_count
                for each in pod.status.init_container_statuses or ()
                if each.name in sidecars
            ),
            default=0,
        ),
    )


# What is known of one Pod alone, and the times.
_Worth: TypeAlias = tuple[
    tuple[bool, int, bool, int, int], datetime | None, tuple[int, int], datetime | None, str
]


def _worth(pod: Pod, beside: int) -> _Worth:
    return (
        (
            node_of(pod) != "",
            _PHASES.get(phase(pod), 0),
            is_ready(pod),
            deletion_cost(pod),
            -beside,
        ),
        ready_since(pod),
        restarts(pod),
        pod.metadata.creation_timestamp,
        pod.uid,
    )


def _compare(one: tuple[_Worth, Pod], other: tuple[_Worth, Pod], now: datetime) -> int:
    worth, ready, restarted, created, uid = one[0]
    worth2, ready2, restarted2, created2, uid2 = other[0]
    if worth != worth2:
        return -1 if worth < worth2 else 1
    # Here both are ready, or neither is.
    if worth[2] and ready != ready2:
        return _younger(ready, ready2, now) or _lower(uid, uid2)
    if restarted != restarted2:
        return -1 if restarted > restarted2 else 1
    if created != created2:
        return _younger(created, created2, now) or _lower(uid, uid2)
    return 0


def _younger(one: datetime | None, other: datetime | None, now: datetime) -> int:
    """Return a negative number if the first time is later, and 0 if both are of similar age."""
    if one is None or other is None:
        return -1 if one is None else 1
    return _magnitude(one, now) - _magnitude(other, now)


def _magnitude(moment: datetime, now: datetime) -> int:
    age = now - moment
    nanoseconds = (age.days * 86_400 + age.seconds) * 1_000_000_000 + age.microseconds * 1000
    return int(log2(nanoseconds)) if nanoseconds > 0 else -1


def _lower(uid: str, other: str) -> int:
    return -1 if uid < other else 1
