"""The graph of owners: who belongs to whom, and whom to look at when something changes. Pure.

Objects come in as their kinds tell of them, in any order. An owner that somebody names and nobody
has told of yet is *virtual*: it is there until somebody has asked the server, and found it absent.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from steersman.kinds.meta_v1 import ObjectMeta, OwnerReference
from steersman_cluster.workloads.garbagecollector.absent_owner_cache import AbsentOwners
from steersman_cluster.workloads.garbagecollector.identity import Identity, is_named, named_by

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"


class Work(NamedTuple):
    """What to look at: whether an object is garbage, to free its dependents, whether it exists."""

    what: Literal["collect", "orphan", "verify"]
    uid: str


class Misplaced(NamedTuple):
    """An object that names an owner in another namespace."""

    dependent: Identity
    owner: OwnerReference


class Node:
    """What is known of an object, and who names it as an owner."""

    __slots__ = (
        "dependents",
        "finalizers",
        "identity",
        "is_condemned",
        "is_ending",
        "is_virtual",
        "owners",
        "resource_version",
    )

    def __init__(self, identity: Identity, *, is_virtual: bool) -> None:
        self.identity = identity
        self.is_virtual = is_virtual
        self.is_ending = False
        self.is_condemned = False  # whether we have asked for its end, which nobody has told of yet
        self.resource_version = ""
        self.owners: tuple[OwnerReference, ...] = ()
        self.finalizers: tuple[str, ...] = ()
        self.dependents: dict[str, Node] = {}

    def __repr__(self) -> str:
        state = ", virtual" if self.is_virtual else ", ending" if self.is_ending else ""
        return f"<Node {self.identity}{state}, {len(self.dependents)} dependents>"

    @property
    def is_waiting(self) -> bool:
        """Whether it goes once its dependents have gone."""
        return self.is_ending and FOREGROUND in self.finalizers

    @property
    def is_orphaning(self) -> bool:
        """Whether it goes once its dependents no longer name it."""
        return self.is_ending and ORPHAN in self.finalizers

    @property
    def is_blocked(self) -> bool:
        """Whether a dependent holds it until that is gone."""
        uid = self.identity.uid
        # Mostly the first one does; all are looked at only when nearly none is left.
        for each in self.dependents.values():
            for owner in each.owners:
                if owner.block_owner_deletion and owner.uid == uid:
                    return True
        return False


class Graph:
    """All objects by uid; ``take_*`` give what has to be looked at since they were last asked."""

    def __init__(self, *, absent: AbsentOwners) -> None:
        self.absent = absent
        self._nodes: dict[str, Node] = {}
        self._work: dict[Work, None] = {}
        self._again: list[Work] = []
        self._misplaced: list[Misplaced] = []

    def __repr__(self) -> str:
        virtual = sum(node.is_virtual for node in self._nodes.values())
        return f"<Graph {len(self._nodes)} objects, {virtual} virtual>"

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, uid: str) -> Node | None:
        """The object with this uid, if anybody has told of it or names it."""
        return self._nodes.get(uid)

    def told_of(self, api_version: str, kind: str) -> Sequence[Identity]:
        """All objects of a kind that somebody has told of."""
        return [
            node.identity
            for node in self._nodes.values()
            if not node.is_virtual
            and node.identity.kind == kind
            and node.identity.api_version == api_version
        ]

    @property
    def has_news(self) -> bool:
        """Whether there is anything to take."""
        return bool(self._work or self._again or self._misplaced)

    def take_work(self) -> Sequence[Work]:
        """What to look at now."""
        work, self._work = self._work, {}
        return tuple(work)

    def take_again(self) -> Sequence[Work]:
        """What to look at again, after a wait: the last time it led nowhere."""
        again, self._again = self._again, []
        return again

    def take_misplaced(self) -> Sequence[Misplaced]:
        """Who names an owner that is elsewhere."""
        misplaced, self._misplaced = self._misplaced, []
        return misplaced

    # What is heard

    def saw(self, identity: Identity, metadata: ObjectMeta) -> None:
        """The object is there, and so it is."""
        owners = metadata.owner_references or ()
        node = self._nodes.get(identity.uid)
        if node is None:
            node = self._nodes[identity.uid] = Node(identity, is_virtual=False)
            node.owners = owners
            if owners:
                self._join(node, owners)
        else:
            if node.is_virtual:
                self._reveal(node, identity)
            if owners != node.owners:
                self._change_owners(node, owners)
        node.resource_version = metadata.resource_version or ""
        if metadata.deletion_timestamp is None:
            node.finalizers = metadata.finalizers or ()
        else:
            self._end(node, metadata.finalizers or ())

    def went(self, identity: Identity) -> None:
        """The object is gone, says the server."""
        node = self._nodes.pop(identity.uid, None)
        if node is None:
            return
        self._leave(node, node.owners)
        if node.dependents:
            self.absent.add(identity)
            self.look_at(node.dependents.values())
        for owner in node.owners:
            found = self._nodes.get(owner.uid)
            if found is not None and found.is_waiting:
                self.look_at((found,))

    def doubt(self, identity: Identity) -> None:
        """Nobody tells of this object any more; if somebody names it, it has to be asked for."""
        node = self._nodes.get(identity.uid)
        if node is None or node.is_virtual:
            return
        if not node.dependents:
            self.went(identity)
            return
        self._leave(node, node.owners)
        node.owners = ()
        node.is_virtual = True
        node.is_ending = node.is_condemned = False
        self.look_at((node,))

    def is_absent(self, identity: Identity) -> None:
        """The server was asked, and there is no such object."""
        node = self._nodes.get(identity.uid)
        if node is None:
            return
        if not node.is_virtual and node.identity == identity:
            self.went(identity)
            return
        matching, others = partition(node.dependents.values(), identity)
        if node.is_virtual and not others:
            self.went(identity)
            return
        # Its dependents do not agree on who it is, or it is somebody else than they say.
        if matching:
            self.absent.add(identity)
            self.look_at(matching)
        if node.is_virtual and node.identity == identity:
            other = another_identity(others, identity)
            if other is not None:
                node.identity = other
                self._again.append(Work("verify", identity.uid))

    def look_at(self, nodes: Iterable[Node]) -> None:
        """Have these looked at: whether they are garbage, or whether they are there."""
        for node in nodes:
            what: Literal["collect", "verify"] = "verify" if node.is_virtual else "collect"
            self._work[Work(what, node.identity.uid)] = None

    # Inside

    def _join(self, node: Node, owners: Iterable[OwnerReference]) -> None:
        identity = node.identity
        is_doubtful = False
        for owner in owners:
            found = self._nodes.get(owner.uid)
            if found is None:
                found = Node(named_by(owner, identity.namespace), is_virtual=True)
                self._nodes[owner.uid] = found
                self._work[Work("verify", owner.uid)] = None
            elif not is_doubtful:
                # What comes late to an owner that waits has to go as those did that were there.
                is_doubtful = found.is_waiting or self._is_doubtful(node, owner, found)
            found.dependents[identity.uid] = node
        if is_doubtful:
            self.look_at((node,))

    def _is_doubtful(self, node: Node, owner: OwnerReference, found: Node) -> bool:
        """Whether the owner may be another than the reference says."""
        theirs, mine = found.identity, node.identity
        if theirs.namespace and theirs.namespace != mine.namespace:
            if not found.is_virtual:
                self._misplaced.append(Misplaced(mine, owner))
            return True
        if not is_named(theirs, owner):
            return True
        # A virtual owner without a namespace may have been named by an object that has none.
        return found.is_virtual and theirs.namespace != mine.namespace

    def _reveal(self, node: Node, identity: Identity) -> None:
        """An owner that was only named is there."""
        node.is_virtual = False
        if identity == node.identity:
            return
        node.identity = identity
        for dependent in partition(node.dependents.values(), identity)[1]:
            if identity.namespace and dependent.identity.namespace != identity.namespace:
                owner = next(each for each in dependent.owners if each.uid == identity.uid)
                self._misplaced.append(Misplaced(dependent.identity, owner))
            self.look_at((dependent,))

    def _change_owners(self, node: Node, owners: tuple[OwnerReference, ...]) -> None:
        before = {each.uid: each for each in node.owners}
        after = {each.uid: each for each in owners}
        for uid, was in before.items():
            now = after.get(uid)
            is_freed = now is None or not now.block_owner_deletion
            if was.block_owner_deletion and is_freed and uid in self._nodes:
                self.look_at((self._nodes[uid],))
        node.owners = owners
        self._join(node, [each for uid, each in after.items() if uid not in before])
        self._leave(node, [each for uid, each in before.items() if uid not in after])

    def _leave(self, node: Node, owners: Iterable[OwnerReference]) -> None:
        for owner in owners:
            found = self._nodes.get(owner.uid)
            if found is not None:
                found.dependents.pop(node.identity.uid, None)
                if found.is_virtual and not found.dependents:
                    del self._nodes[owner.uid]

    def _end(self, node: Node, finalizers: tuple[str, ...]) -> None:
        was_orphaning, was_waiting = node.is_orphaning, node.is_waiting
        node.is_ending = True
        node.finalizers = finalizers
        if node.is_orphaning:
            if not was_orphaning:
                self._work[Work("orphan", node.identity.uid)] = None
        elif node.is_waiting and not was_waiting:
            self.look_at((*node.dependents.values(), node))


def partition(dependents: Iterable[Node], owner: Identity) -> tuple[Sequence[Node], Sequence[Node]]:
    """Those that name the owner as it is, and those that mean its uid and say something else.

    One that names it several times may be among both.
    """
    matching: list[Node] = []
    others: list[Node] = []
    for each in dependents:
        if owner.namespace and each.identity.namespace != owner.namespace:
            others.append(each)
            continue
        agree = [is_named(owner, named) for named in each.owners if named.uid == owner.uid]
        if any(agree):
            matching.append(each)
        if not all(agree):
            others.append(each)
    return matching, others


def another_identity(dependents: Iterable[Node], absent: Identity) -> Identity | None:
    """Who else the owner may be by what these say, the next after the one that is absent."""
    candidates: dict[Identity, None] = {}
    for each in dependents:
        for named in each.owners:
            if named.uid != absent.uid:
                continue
            is_same = (named.api_version, named.kind) == (absent.api_version, absent.kind)
            # That a kind lives in no namespace is known from the one that was asked for.
            place = "" if is_same and not absent.namespace else each.identity.namespace
            candidates[named_by(named, place)] = None
    candidates.pop(absent, None)
    ordered = sorted(candidates)
    following = (each for each in ordered if each > absent)
    return next(following, ordered[0] if ordered else None)
