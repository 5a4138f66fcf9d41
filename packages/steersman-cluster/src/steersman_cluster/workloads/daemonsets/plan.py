"""One Pod on each node where one belongs: what is missing, and what is too much. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from steersman_cluster.workloads.daemonsets.node_fit import Fit, Pod, target_of
from steersman_cluster.workloads.daemonsets.template_version import HASH_LABEL, Version
from steersman_cluster.workloads.pods import is_available, is_ended, is_ready, phase

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to tell people about."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """On which nodes to make Pods, which Pods to delete, what to tell, and when to look again."""

    make_on: tuple[str, ...] = ()
    delete: tuple[Pod, ...] = ()
    notes: tuple[Note, ...] = ()
    wait_seconds: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to make or delete."""
        return not self.make_on and not self.delete


def by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """The Pods by the node where they are or will be, oldest first, placed ones before others.

    Not those that have ended and are being deleted: there is nothing left to do about them.
    """
    placed: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=_age):
        if pod.metadata.deletion_timestamp is not None and is_ended(pod):
            continue
        node = target_of(pod)
        if node is not None:
            placed.setdefault(node, []).append(pod)
    return placed


def planned(
    placed: Mapping[str, Sequence[Pod]],
    fits: Mapping[str, Fit],
    version: Version,
    *,
    min_ready_seconds: int,
    surges: bool,
    now: datetime,
    wait_for: Callable[[str], float],
) -> Plan:
    """What is to be done on each of the nodes in ``fits``, and about Pods for nodes that are gone.

    ``surges`` says whether an old and a new Pod may be on one node while the new one becomes
    available. ``wait_for`` says how long a Pod that failed on a node is to be left there.
    """
    make_on: list[str] = []
    delete: list[Pod] = []
    notes: list[Note] = []
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
            # Those that are on their way out need not be waited for.
            make_on.append(node)
    # Nobody else deletes what waits for a node that is gone.
    delete += [
        pod
        for node, pods in placed.items()
        if node not in fits
        for pod in pods
        if pod.spec is not None and not pod.spec.node_name
    ]
    return Plan(
        make_on=tuple(make_on),
        delete=tuple(delete),
        notes=tuple(notes),
        wait_seconds=min(waits, default=None),
    )


def _too_many(
    running: Sequence[Pod], version: Version, min_ready_seconds: int, now: datetime
) -> list[Pod]:
    """Of the Pods on one node: all but the oldest of this version and, for a while, of others."""
    new = [pod for pod in running if pod.labels.get(HASH_LABEL) == version.hash]
    old = [pod for pod in running if pod.labels.get(HASH_LABEL) != version.hash]
    kept = (*new[:1], *old[:1])
    excess = [pod for pod in running if pod not in kept]
    if new and old:
        # The old one stays only as long as it does the work alone.
        is_replaced = is_available(new[0], min_ready_seconds, now)
        if is_replaced or not is_ready(old[0]):
            excess.append(old[0])
    return excess


def _age(pod: Pod) -> tuple[bool, datetime, str]:
    is_waiting = pod.spec is None or not pod.spec.node_name
    return is_waiting, pod.metadata.creation_timestamp or _LONG_AGO, pod.name


def _failed(pod: Pod, node: str) -> Note:
    note = f"Found failed daemon pod {pod.namespace}/{pod.name} on node {node}, will try to kill it"
    return Note(type="Warning", reason="FailedDaemonPod", note=note)


def _succeeded(pod: Pod, node: str) -> Note:
    note = (
        f"Found succeeded daemon pod {pod.namespace}/{pod.name} on node {node},"
        f" will try to delete it"
    )
    return Note(type="Normal", reason="SucceededDaemonPod", note=note)
