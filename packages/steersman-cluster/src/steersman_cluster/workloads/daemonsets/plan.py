"""The plan for the Pods of a DaemonSet: which to create and which to delete. No I/O."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from steersman_cluster.workloads.daemonsets.node_fit import Fit, Pod, target_of
from steersman_cluster.workloads.daemonsets.template_version import HASH_LABEL, Version
from steersman_cluster.workloads.pods import is_available, is_ended, is_ready, phase

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEvent:
    """A Kubernetes event to record when the plan is executed."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSetPlan:
    """The next actions for the Pods of a DaemonSet.

    Create a Pod on each node in ``make_on``, delete the Pods in ``delete``, record the events in
    ``notes``, and reconcile again after ``wait_seconds``, unless it is ``None``.
    """

    make_on: tuple[str, ...] = ()
    delete: tuple[Pod, ...] = ()
    notes: tuple[PlannedEvent, ...] = ()
    wait_seconds: float | None = None

    @property
    def is_idle(self) -> bool:
        """Return whether the plan neither creates nor deletes a Pod."""
        return not self.make_on and not self.delete


def by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Return ``pods`` grouped by the name of the node that they are bound to or created for.

    The Pods of a node are sorted: bound Pods before unbound Pods, and within each group, the oldest
    first. Terminating Pods that have already ended are left out, because they need no action.
    """
    placed: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=_age):
        if pod.metadata.deletion_timestamp is not None and is_ended(pod):
            continue
        node = target_of(pod)
        if node is not None:
            placed.setdefault(node, []).append(pod)
    return placed


def make_plan(
    placed: Mapping[str, Sequence[Pod]],
    fits: Mapping[str, Fit],
    version: Version,
    *,
    min_ready_seconds: int,
    surges: bool,
    now: datetime,
    wait_for: Callable[[str], float],
) -> DaemonSetPlan:
    """Return the plan for each node in ``fits``, and for Pods whose node no longer exists.

    ``placed`` contains the existing Pods by node. ``surges`` permits an old and a new Pod on one
    node until the new Pod is available. ``wait_for`` returns how many seconds to wait before the
    failed Pod on a node is deleted.
    """
    make_on: list[str] = []
    delete: list[Pod] = []
    notes: list[PlannedEvent] = []
    waits: list[float] = []
    for node, (should_run, may_stay) in fits.items():
        pods = placed.get(node)
        if pods is None:
            if should_run:
                make_on.append(node)
            continue
        here = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
        if not may_stay:
            delete += here
            continue
        running: list[Pod] = []
        for pod in here:
            match phase(pod):
                case "Failed":
                    wait_seconds = wait_for(node)
                    if wait_seconds > 0:
                        waits.append(wait_seconds)
                    else:
                        delete.append(pod)
                        notes.append(_failed(pod, node))
                case "Succeeded":
                    delete.append(pod)
                    notes.append(_succeeded(pod, node))
                case _:
                    running.append(pod)
        if not surges:
            delete += running[1:]
        elif running:
            delete += _too_many(running, version, min_ready_seconds, now)
        elif should_run:
            # Terminating Pods do not delay the plan.
            make_on.append(node)
    # No other controller deletes a Pod that waits for a node that is gone.
    delete += [
        pod
        for node, pods in placed.items()
        if node not in fits
        for pod in pods
        if pod.spec is not None and not pod.spec.node_name
    ]
    return DaemonSetPlan(
        make_on=tuple(make_on),
        delete=tuple(delete),
        notes=tuple(notes),
        wait_seconds=min(waits, default=None),
    )


def _too_many(
    running: Sequence[Pod], version: Version, min_ready_seconds: int, now: datetime
) -> list[Pod]:
    """Return the surplus Pods of a node.

    The oldest Pod of this version is not surplus. During a surge, neither is the oldest Pod of
    other versions.
    """
    new = [pod for pod in running if pod.labels.get(HASH_LABEL) == version.hash]
    old = [pod for pod in running if pod.labels.get(HASH_LABEL) != version.hash]
    kept = (*new[:1], *old[:1])
    excess = [pod for pod in running if pod not in kept]
    if new and old:
        # The old one stays only until the new one is available.
        is_replaced = is_available(new[0], min_ready_seconds, now)
        if is_replaced or not is_ready(old[0]):
            excess.append(old[0])
    return excess


def _age(pod: Pod) -> tuple[bool, datetime, str]:
    is_waiting = pod.spec is None or not pod.spec.node_name
    return is_waiting, pod.metadata.creation_timestamp or _LONG_AGO, pod.name


def _failed(pod: Pod, node: str) -> PlannedEvent:
    note = f"Found failed daemon pod {pod.namespace}/{pod.name} on node {node}, will try to kill it"
    return PlannedEvent(type="Warning", reason="FailedDaemonPod", note=note)


def _succeeded(pod: Pod, node: str) -> PlannedEvent:
    note = (
        f"Found succeeded daemon pod {pod.namespace}/{pod.name} on node {node},"
        f" will try to delete it"
    )
    return PlannedEvent(type="Normal", reason="SucceededDaemonPod", note=note)
