"""Which node a Pod goes to, or why to none. Pure.

Among the nodes that will do, the one that the most speaks for; where nothing makes a difference,
the one that comes first by name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from steersman.kinds import Codec, Part, core_v1
from steersman_cluster.workloads.scheduler.cache import UNASKED, Board, Room, owner_of
from steersman_cluster.workloads.scheduler.plugins.inter_pod_affinity import (
    LabelsOf,
    Neighbours,
    has_neighbours,
)
from steersman_cluster.workloads.scheduler.plugins.node_affinity import (
    NOT_SELECTED,
    matches_node,
    preference,
)
from steersman_cluster.workloads.scheduler.plugins.node_ports import (
    PORTS_TAKEN,
    HostPort,
    clashes,
    host_ports,
)
from steersman_cluster.workloads.scheduler.plugins.node_resources_fit import (
    TOO_MANY_PODS,
    Amounts,
    insufficient,
    requests,
)
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import (
    TAINTED,
    tolerates,
    unpreferred,
    untolerated,
)

NO_NODES: Final = "no nodes available to schedule pods"
NO_VICTIMS: Final = "No preemption victims found for incoming pod"
NO_HELP: Final = "Preemption is not helpful for scheduling"
CORDONED: Final = "node(s) were unschedulable"
OTHER_NAME: Final = "node(s) didn't match the requested node name"
NOT_NAMED: Final = "node(s) didn't satisfy plugin(s) [NodeAffinity]"

UNSCHEDULABLE_TAINT: Final = core_v1.Taint(
    key="node.kubernetes.io/unschedulable", effect="NoSchedule"
)

_ENCODE = Codec().encode


@dataclass(frozen=True, slots=True)
class Placed:
    """It goes to this node."""

    node: str


@dataclass(frozen=True, slots=True)
class Refused:
    """It fits nowhere, and this is what is said of it."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a Pod needs of a node; two with the same ``shape`` fit in the same places."""

    pod: core_v1.Pod
    needs: Amounts
    ports: tuple[HostPort, ...]
    shape: bytes
    has_neighbours: bool

    @property
    def priority(self) -> int:
        """The higher, the sooner its turn."""
        return (self.pod.spec.priority if self.pod.spec is not None else None) or 0


def wish(pod: core_v1.Pod) -> Wish:
    """What this Pod needs."""
    spec = pod.spec or core_v1.PodSpec(containers=())
    needs, ports = requests(spec), host_ports(spec)
    is_social = has_neighbours(spec)
    # Whatever decides where it may go. Labels and namespace only do where it has neighbours; others
    # who keep it away are asked for each Pod.
    said = (
        sorted(needs.items()),
        ports,
        sorted((spec.node_selector or {}).items()),
        _plain(spec.affinity),
        [_plain(each) for each in spec.tolerations or ()],
        [_plain(each) for each in spec.topology_spread_constraints or ()],
        spec.preemption_policy,
        (pod.namespace, sorted(pod.labels.items())) if is_social else None,
    )
    return Wish(
        pod=pod,
        needs=needs,
        ports=ports,
        shape=msgspec.json.encode(said),
        has_neighbours=is_social,
    )


def placed(wanted: Wish, board: Board, *, labels_of: LabelsOf) -> Placed | Refused:
    """Where it goes."""
    rooms = board.rooms
    if not rooms:
        return Refused(NO_NODES)
    pod, spec = wanted.pod, wanted.pod.spec
    named = _named(spec) if spec is not None else None
    candidates = rooms if named is None else [r for r in map(board.room, named) if r is not None]
    is_asked = wanted.has_neighbours or board.is_guarded
    neighbours = Neighbours(pod, board, labels_of) if is_asked else None
    fitting: list[Room] = []
    refusals = _Refusals(len(rooms))
    for room in candidates:
        reasons, is_curable = _refusal(wanted, room, neighbours)
        if reasons:
            refusals.add(reasons, is_curable)
        else:
            fitting.append(room)
    if fitting:
        return Placed(_best(wanted, fitting, neighbours))
    refusals.add_absent(len(rooms) - len(candidates))
    return Refused(refusals.message(spec))


def may_run(pod: core_v1.Pod, node: core_v1.Node) -> str | None:
    """Why the Pod may not be on the node, whatever room there is; ``None`` if it may."""
    spec = pod.spec
    if spec is None:
        return NOT_SELECTED
    tolerations = spec.tolerations
    is_cordoned = node.spec is not None and node.spec.unschedulable
    if is_cordoned and not any(tolerates(each, UNSCHEDULABLE_TAINT) for each in tolerations or ()):
        return CORDONED
    if spec.node_name and spec.node_name != node.name:
        return OTHER_NAME
    if untolerated(node, tolerations) is not None:
        return TAINTED
    if not matches_node(spec, node):
        return NOT_SELECTED
    return None


def _refusal(wanted: Wish, room: Room, neighbours: Neighbours | None) -> tuple[Iterable[str], bool]:
    """Why not this room, and whether it would do if others left it."""
    node = room.node
    reason = may_run(wanted.pod, node)
    if reason is not None:
        return (reason,), False
    if wanted.ports and any(
        clashes(ours, theirs)
        for ours in wanted.ports
        for taken in room.ports.values()
        for theirs in taken
    ):
        return (PORTS_TAKEN,), True
    short = insufficient(wanted.needs, used=room.used, has=room.has, pods=len(room.guests))
    if short:
        return short, _is_large_enough(wanted.needs, room.has, short)
    if neighbours is not None:
        refused = neighbours.refusal(node)
        if refused is not None:
            return (refused[0],), refused[1]
    return (), True


def _is_large_enough(needs: Amounts, has: Amounts, short: Iterable[str]) -> bool:
    """Whether the node could hold it if it were empty."""
    return all(
        reason == TOO_MANY_PODS or needs[name] <= has.get(name, 0)
        for reason in short
        for name in (reason.removeprefix("Insufficient "),)
    )


class _Refusals:
    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._reasons: dict[str, int] = {}
        self._curable = 0

    def add(self, reasons: Iterable[str], is_curable: bool) -> None:
        for reason in reasons:
            self._reasons[reason] = self._reasons.get(reason, 0) + 1
        self._curable += is_curable

    def add_absent(self, nodes: int) -> None:
        if nodes:
            self._reasons[NOT_NAMED] = nodes

    def message(self, spec: core_v1.PodSpec | None) -> str:
        curable = self._curable
        return f"{_counted(self._reasons, self._nodes)} {_hopes(spec, self._nodes, curable)}"


def unplaceable(pod: core_v1.Pod, board: Board, reason: str) -> Refused:
    """What is said of a Pod that no node would help."""
    nodes = len(board.rooms)
    if not nodes:
        return Refused(NO_NODES)
    return Refused(f"0/{nodes} nodes are available: {reason}. {_hopes(pod.spec, nodes, 0)}")


def _hopes(spec: core_v1.PodSpec | None, nodes: int, curable: int) -> str:
    """What is said of the nodes on which others would have to make room."""
    if spec is not None and spec.preemption_policy == "Never":
        return "preemption: not eligible due to preemptionPolicy=Never."
    return f"preemption: {_counted({NO_VICTIMS: curable, NO_HELP: nodes - curable}, nodes)}"


def _counted(reasons: Mapping[str, int], nodes: int) -> str:
    counted = sorted(f"{count} {reason}" for reason, count in reasons.items() if count)
    return f"0/{nodes} nodes are available: {', '.join(counted)}."


# Choosing


def _best(wanted: Wish, rooms: list[Room], neighbours: Neighbours | None) -> str:
    spec = wanted.pod.spec
    if len(rooms) == 1 or spec is None:
        return rooms[0].node.name
    owner, affinity = owner_of(wanted.pod), spec.affinity
    cpu = wanted.needs.get("cpu", 0) or UNASKED["cpu"]
    memory = wanted.needs.get("memory", 0) or UNASKED["memory"]
    marks = [_emptiness(room, cpu, memory) for room in rooms]
    if affinity is not None and affinity.node_affinity is not None:
        _weigh(marks, [preference(spec, room.node) for room in rooms], weight=2)
    _weigh(marks, [-unpreferred(room.node, spec.tolerations) for room in rooms], weight=3)
    if owner:
        _weigh(marks, [-room.owners.get(owner, 0) for room in rooms], weight=2)
    if neighbours is not None:
        _weigh(marks, [neighbours.liking(room.node) for room in rooms], weight=2)
        _weigh(marks, [-neighbours.crowding(room.node) for room in rooms], weight=2)
    best = max(
        range(len(rooms)), key=lambda index: (marks[index], -len(rooms[index].guests), -index)
    )
    return rooms[best].node.name


def _emptiness(room: Room, cpu: int, memory: int) -> int:
    """How much of the node would be left, in hundredths, of cpu and memory on average.

    In whole ones, as the scheduler counts: a node is no better for less than that.
    """
    return (
        _left(room.has.get("cpu", 0), room.weighed["cpu"] + cpu)
        + _left(room.has.get("memory", 0), room.weighed["memory"] + memory)
    ) // 2


def _left(has: int, used: int) -> int:
    return (has - used) * 100 // has if has > used else 0


def _weigh(marks: list[int], said: list[int], *, weight: int) -> None:
    """Add what is said of each, spread out from 0 to 100, with this weight."""
    least, most = min(said), max(said)
    if least == most:
        return
    for index, value in enumerate(said):
        marks[index] += weight * 100 * (value - least) // (most - least)


def _named(spec: core_v1.PodSpec) -> list[str] | None:
    """The only nodes that it can go to, if it names them, as the Pods of a DaemonSet do."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity is not None
        else None
    )
    if required is None:
        return None
    names: dict[str, None] = {}
    for term in required.node_selector_terms:
        chosen: list[str] | None = None
        for each in term.match_fields or ():
            if each.key == "metadata.name" and each.operator == "In":
                values = each.values or ()
                chosen = [v for v in (values if chosen is None else chosen) if v in values]
        if chosen is None:
            return None
        names.update(dict.fromkeys(chosen))
    return list(names)


def _plain(part: Part | None) -> str:
    return "" if part is None else _ENCODE(part).decode()
