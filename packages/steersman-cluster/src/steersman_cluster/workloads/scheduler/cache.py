"""What runs where, kept up change by change: the nodes, their Pods, and the room that is left.

All in memory; whoever follows the cluster tells it. Nothing in it asks for more than a look at one
node or one namespace.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.pods import selected_under
from steersman_cluster.workloads.scheduler.plugins.node_ports import HostPort, host_ports
from steersman_cluster.workloads.scheduler.plugins.node_resources_fit import (
    Amounts,
    allocatable,
    requests,
)

# What is counted, when nodes are compared, for a Pod that asks for nothing, as the scheduler does.
UNASKED: Final[Amounts] = {"cpu": 100, "memory": 200 * 1024 * 1024}

Terms = tuple[core_v1.PodAffinityTerm, ...]


class Guest(NamedTuple):
    """A Pod on a node, as far as others have to reckon with it."""

    uid: str
    namespace: str
    labels: Mapping[str, str]
    node: str
    needs: Amounts
    ports: tuple[HostPort, ...]
    owner: str
    keeps_away: Terms
    is_ending: bool


class Room:
    """A node and what is on it; Pods may be on one that nobody has heard of."""

    __slots__ = ("guests", "has", "is_known", "node", "owners", "ports", "used", "weighed")

    def __init__(self) -> None:
        self.is_known = False
        self.node = core_v1.Node()
        self.has: Amounts = {}
        self.used: dict[str, int] = {}
        self.weighed = dict.fromkeys(UNASKED, 0)
        self.guests: dict[str, Guest] = {}
        self.ports: dict[str, tuple[HostPort, ...]] = {}
        self.owners: dict[str, int] = {}

    def enter(self, guest: Guest) -> None:
        """One more is there."""
        self.guests[guest.uid] = guest
        self._count(guest, 1)
        if guest.ports:
            self.ports[guest.uid] = guest.ports

    def leave(self, guest: Guest) -> None:
        """One is gone."""
        del self.guests[guest.uid]
        self._count(guest, -1)
        self.ports.pop(guest.uid, None)

    def _count(self, guest: Guest, sign: int) -> None:
        used = self.used
        for name, amount in guest.needs.items():
            used[name] = used.get(name, 0) + sign * amount
        for name, unasked in UNASKED.items():
            self.weighed[name] += sign * (guest.needs.get(name, 0) or unasked)
        if guest.owner:
            left = self.owners.get(guest.owner, 0) + sign
            if left:
                self.owners[guest.owner] = left
            else:
                del self.owners[guest.owner]


class Board:
    """All rooms, and where everybody is."""

    def __init__(self) -> None:
        self._rooms: dict[str, Room] = {}
        self._guests: dict[str, Guest] = {}
        # By namespace and label: whoever is looked for by a selector is under one of its labels.
        self._under: dict[str, dict[str, Guest]] = {}
        # Those who keep others away, by whom; "" is whoever in whichever namespace.
        self._guards: dict[str, dict[str, Guest]] = {}
        self._known: list[Room] | None = None

    def __repr__(self) -> str:
        return f"<Board {len(self._guests)} Pods on {len(self.rooms)} nodes>"

    @property
    def rooms(self) -> list[Room]:
        """The rooms of all nodes, by name."""
        if self._known is None:
            found = [room for room in self._rooms.values() if room.is_known]
            self._known = sorted(found, key=_order)
        return self._known

    @property
    def is_guarded(self) -> bool:
        """Whether there is anybody who keeps others away."""
        return bool(self._guards)

    def room(self, name: str) -> Room | None:
        """The room of this node, if there is one."""
        found = self._rooms.get(name)
        return found if found is not None and found.is_known else None

    def guests(
        self, namespaces: Iterable[str] | None, selector: meta_v1.LabelSelector | None
    ) -> Iterable[Guest]:
        """Whom a selector can match in these namespaces, or in any; not all of them do."""
        if namespaces is None:
            return self._guests.values()
        places = (selected_under(name, selector) for name in namespaces)
        return (each for place in places for each in self._under.get(place, {}).values())

    def guards(self, pod: core_v1.Pod) -> Iterable[Guest]:
        """Who may keep this Pod away."""
        found: dict[str, Guest] = {}
        for place in ("", *_places(pod.namespace or "", pod.labels)):
            found.update(self._guards.get(place, {}))
        return found.values()

    def where(self, uid: str) -> str | None:
        """On which node a Pod is."""
        guest = self._guests.get(uid)
        return guest.node if guest is not None else None

    def put_node(self, node: core_v1.Node) -> None:
        """The node is there, and like this."""
        room = self._rooms.setdefault(node.name, Room())
        if not room.is_known:
            room.is_known = True
            self._known = None
        room.node = node
        room.has = allocatable(node)

    def drop_node(self, name: str) -> None:
        """The node is gone; its Pods may not be."""
        room = self._rooms.get(name)
        if room is not None:
            room.is_known = False
            self._known = None
            self._clear(name, room)

    def put_pod(self, pod: core_v1.Pod, node: str) -> None:
        """The Pod is on this node."""
        guest = _guest(pod, node)
        before = self._guests.get(guest.uid)
        if before == guest:
            return
        if before is not None:
            self.drop_pod(guest.uid)
        self._guests[guest.uid] = guest
        for place in _places(guest.namespace, guest.labels):
            self._under.setdefault(place, {})[guest.uid] = guest
        for place in _guarded_places(guest):
            self._guards.setdefault(place, {})[guest.uid] = guest
        self._rooms.setdefault(node, Room()).enter(guest)

    def drop_pod(self, uid: str) -> None:
        """The Pod is on no node any more."""
        guest = self._guests.pop(uid, None)
        if guest is None:
            return
        for place in _places(guest.namespace, guest.labels):
            _take_out(self._under, place, uid)
        for place in _guarded_places(guest):
            _take_out(self._guards, place, uid)
        room = self._rooms[guest.node]
        room.leave(guest)
        self._clear(guest.node, room)

    def _clear(self, name: str, room: Room) -> None:
        if not room.is_known and not room.guests:
            del self._rooms[name]


def _places(namespace: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """Where a Pod is looked for: in its namespace, by each of its labels."""
    return (f"{namespace}/", *(f"{namespace}/{key}={value}" for key, value in labels.items()))


def _guarded_places(guest: Guest) -> list[str]:
    """Where those whom it keeps away would be."""
    places: dict[str, None] = {}
    for term in guest.keeps_away:
        is_wide = term.namespaces or term.namespace_selector is not None
        places["" if is_wide else selected_under(guest.namespace, term.label_selector)] = None
    return list(places)


def _take_out(index: dict[str, dict[str, Guest]], place: str, uid: str) -> None:
    found = index.get(place)
    if found is not None:
        found.pop(uid, None)
        if not found:
            del index[place]


def owner_of(pod: core_v1.Pod) -> str:
    """The uid of what controls the Pod."""
    for each in pod.metadata.owner_references or ():
        if each.controller:
            return each.uid
    return ""


def _order(room: Room) -> tuple[int, str]:
    # node-2 before node-10.
    return len(room.node.name), room.node.name


def _guest(pod: core_v1.Pod, node: str) -> Guest:
    spec = pod.spec or core_v1.PodSpec(containers=())
    keeping = spec.affinity.pod_anti_affinity if spec.affinity is not None else None
    keeps_away = (
        keeping.required_during_scheduling_ignored_during_execution if keeping is not None else None
    )
    return Guest(
        uid=pod.uid,
        namespace=pod.namespace or "",
        labels=pod.labels,
        node=node,
        needs=requests(spec),
        ports=host_ports(spec),
        owner=owner_of(pod),
        keeps_away=keeps_away or (),
        is_ending=pod.metadata.deletion_timestamp is not None,
    )
