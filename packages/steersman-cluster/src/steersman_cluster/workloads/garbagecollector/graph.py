"""The dependency graph: objects, their owners, and the resulting work items. No I/O.

The watch events of different kinds arrive in any order. An owner that is referenced but not yet
observed is *virtual*. A virtual owner counts as existing until the collector has read it from the
API server.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from steersman.kinds.meta_v1 import ObjectMeta, OwnerReference
from steersman_cluster.workloads.garbagecollector.absent_owner_cache import AbsentOwnerCache
from steersman_cluster.workloads.garbagecollector.identity import Identity, is_named, named_by

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"


class WorkItem(NamedTuple):
    """An action for the object with the uid ``uid``.

    ``collect`` deletes the object if it is garbage, ``orphan`` orphans its dependents, and
    ``verify`` checks whether the object exists.
    """

    what: Literal["collect", "orphan", "verify"]
    uid: str


class NamespaceMismatch(NamedTuple):
    """An owner reference from the object ``dependent`` to an owner in another namespace."""

    dependent: Identity
    owner: OwnerReference


class Node:
    """A Kubernetes object in the graph, and its dependents: the objects that it owns."""

    __slots__ = (
        "dependents",
        "finalizers",
        "identity",
        "is_delete_sent",
        "is_terminating",
        "is_virtual",
        "owners",
        "resource_version",
    )

    def __init__(self, identity: Identity, *, is_virtual: bool) -> None:
        self.identity = identity
        self.is_virtual = is_virtual
        self.is_terminating = False
        self.is_delete_sent = False  # deleted, but not yet observed
        self.resource_version = ""
        self.owners: tuple[OwnerReference, ...] = ()
        self.finalizers: tuple[str, ...] = ()
        self.dependents: dict[str, Node] = {}

    def __repr__(self) -> str:
        state = ", virtual" if self.is_virtual else ", ending" if self.is_terminating else ""
        return f"<Node {self.identity}{state}, {len(self.dependents)} dependents>"

    @property
    def is_deleting_dependents(self) -> bool:
        """Return whether the object is in foreground deletion."""
        return self.is_terminating and FOREGROUND in self.finalizers

    @property
    def is_orphaning_dependents(self) -> bool:
        """Return whether the deletion of the object waits until its dependents are orphaned."""
        return self.is_terminating and ORPHAN in self.finalizers

    @property
    def has_blocking_dependents(self) -> bool:
        """Return whether a dependent blocks the deletion of the object."""
        uid = self.identity.uid
        # Mostly the first one does; all are read only when few are left.
        for each in self.dependents.values():
            for owner in each.owners:
                if owner.block_owner_deletion and owner.uid == uid:
                    return True
        return False


class DependencyGraph:
    """A graph of Kubernetes objects and their owners by uid, with queues of work.

    Each ``take_*`` method returns the queued items that were added since its last call.
    """

    def __init__(self, *, absent: AbsentOwnerCache) -> None:
        self.absent = absent
        self._nodes: dict[str, Node] = {}
        self._work: dict[WorkItem, None] = {}
        self._retries: list[WorkItem] = []
        self._mismatches: list[NamespaceMismatch] = []

    def __repr__(self) -> str:
        virtual = sum(node.is_virtual for node in self._nodes.values())
        return f"<DependencyGraph {len(self._nodes)} objects, {virtual} virtual>"

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, uid: str) -> Node | None:
        """Return the object with the uid ``uid``.

        Return ``None`` if no object with this uid was observed or is referenced.
        """
        return self._nodes.get(uid)

    def observed(self, api_version: str, kind: str) -> Sequence[Identity]:
        """Return the identities of all observed objects of the kind ``kind`` in ``api_version``."""
        return [
            node.identity
            for node in self._nodes.values()
            if not node.is_virtual
            and node.identity.kind == kind
            and node.identity.api_version == api_version
        ]

    @property
    def has_work(self) -> bool:
        """Return whether any queue contains an item."""
        return bool(self._work or self._retries or self._mismatches)

    def take_work(self) -> Sequence[WorkItem]:
        """Return the work items to process now, and clear their queue."""
        work, self._work = self._work, {}
        return tuple(work)

    def take_retries(self) -> Sequence[WorkItem]:
        """Return the work items to retry after a backoff, and clear their queue."""
        retries, self._retries = self._retries, []
        return retries

    def take_mismatches(self) -> Sequence[NamespaceMismatch]:
        """Return the owner references to other namespaces, and clear their queue."""
        mismatch, self._mismatches = self._mismatches, []
        return mismatch

    # Events

    def update(self, identity: Identity, metadata: ObjectMeta) -> None:
        """Add or update an object."""
        owners = metadata.owner_references or ()
        node = self._nodes.get(identity.uid)
        if node is None:
            node = self._nodes[identity.uid] = Node(identity, is_virtual=False)
            node.owners = owners
            if owners:
                self._add_to_owners(node, owners)
        else:
            if node.is_virtual:
                self._mark_observed(node, identity)
            if owners != node.owners:
                self._change_owners(node, owners)
        node.resource_version = metadata.resource_version or ""
        if metadata.deletion_timestamp is None:
            node.finalizers = metadata.finalizers or ()
        else:
            self._mark_terminating(node, metadata.finalizers or ())

    def remove(self, identity: Identity) -> None:
        """Remove the object ``identity``, whose deletion the API server has reported."""
        node = self._nodes.pop(identity.uid, None)
        if node is None:
            return
        self._remove_from_owners(node, node.owners)
        if node.dependents:
            self.absent.add(identity)
            self.enqueue(node.dependents.values())
        for owner in node.owners:
            found = self._nodes.get(owner.uid)
            if found is not None and found.is_deleting_dependents:
                self.enqueue((found,))

    def remove_unconfirmed(self, identity: Identity) -> None:
        """Remove the object ``identity``, which is missing from a list.

        The API server has not reported a deletion of this object. If the object has dependents, it
        becomes virtual instead.
        """
        node = self._nodes.get(identity.uid)
        if node is None or node.is_virtual:
            return
        if not node.dependents:
            self.remove(identity)
            return
        self._remove_from_owners(node, node.owners)
        node.owners = ()
        node.is_virtual = True
        node.is_terminating = node.is_delete_sent = False
        self.enqueue((node,))

    def mark_absent(self, identity: Identity) -> None:
        """Update the graph after a response of the API server that ``identity`` does not exist."""
        node = self._nodes.get(identity.uid)
        if node is None:
            return
        if not node.is_virtual and node.identity == identity:
            self.remove(identity)
            return
        matching, others = partition(node.dependents.values(), identity)
        if node.is_virtual and not others:
            self.remove(identity)
            return
        # Its dependents name it differently, or it is not the object that they name.
        if matching:
            self.absent.add(identity)
            self.enqueue(matching)
        if node.is_virtual and node.identity == identity:
            other = alternate_identity(others, identity)
            if other is not None:
                node.identity = other
                self._retries.append(WorkItem("verify", identity.uid))

    def enqueue(self, nodes: Iterable[Node]) -> None:
        """Enqueue ``nodes``: virtual objects to be verified, observed objects to be collected."""
        for node in nodes:
            what: Literal["collect", "verify"] = "verify" if node.is_virtual else "collect"
            self._work[WorkItem(what, node.identity.uid)] = None

    # Inside

    def _add_to_owners(self, node: Node, owners: Iterable[OwnerReference]) -> None:
        identity = node.identity
        may_mismatch = False
        for owner in owners:
            found = self._nodes.get(owner.uid)
            if found is None:
                found = Node(named_by(owner, identity.namespace), is_virtual=True)
                self._nodes[owner.uid] = found
                self._work[WorkItem("verify", owner.uid)] = None
            elif not may_mismatch:
                # A dependent that is added during foreground deletion has to go, too.
                may_mismatch = found.is_deleting_dependents or self._may_mismatch(
                    node, owner, found
                )
            found.dependents[identity.uid] = node
        if may_mismatch:
            self.enqueue((node,))

    def _may_mismatch(self, node: Node, owner: OwnerReference, found: Node) -> bool:
        """Return whether the owner reference may point to another object than the one found."""
        theirs, mine = found.identity, node.identity
        if theirs.namespace and theirs.namespace != mine.namespace:
            if not found.is_virtual:
                self._mismatches.append(NamespaceMismatch(mine, owner))
            return True
        if not is_named(theirs, owner):
            return True
        # A virtual owner without a namespace may have been named by an object that has none.
        return found.is_virtual and theirs.namespace != mine.namespace

    def _mark_observed(self, node: Node, identity: Identity) -> None:
        """Turn a virtual owner into an observed object."""
        node.is_virtual = False
        if identity == node.identity:
            return
        node.identity = identity
        for dependent in partition(node.dependents.values(), identity)[1]:
            if identity.namespace and dependent.identity.namespace != identity.namespace:
                owner = next(each for each in dependent.owners if each.uid == identity.uid)
                self._mismatches.append(NamespaceMismatch(dependent.identity, owner))
            self.enqueue((dependent,))

    def _change_owners(self, node: Node, owners: tuple[OwnerReference, ...]) -> None:
        before = {each.uid: each for each in node.owners}
        after = {each.uid: each for each in owners}
        for uid, was in before.items():
            now = after.get(uid)
            is_freed = now is None or not now.block_owner_deletion
            if was.block_owner_deletion and is_freed and uid in self._nodes:
                self.enqueue((self._nodes[uid],))
        node.owners = owners
        self._add_to_owners(node, [each for uid, each in after.items() if uid not in before])
        self._remove_from_owners(node, [each for uid, each in before.items() if uid not in after])

    def _remove_from_owners(self, node: Node, owners: Iterable[OwnerReference]) -> None:
        for owner in owners:
            found = self._nodes.get(owner.uid)
            if found is not None:
                found.dependents.pop(node.identity.uid, None)
                if found.is_virtual and not found.dependents:
                    del self._nodes[owner.uid]

    def _mark_terminating(self, node: Node, finalizers: tuple[str, ...]) -> None:
        was_orphaning, was_waiting = node.is_orphaning_dependents, node.is_deleting_dependents
        node.is_terminating = True
        node.finalizers = finalizers
        if node.is_orphaning_dependents:
            if not was_orphaning:
                self._work[WorkItem("orphan", node.identity.uid)] = None
        elif node.is_deleting_dependents and not was_waiting:
            self.enqueue((*node.dependents.values(), node))


def partition(dependents: Iterable[Node], owner: Identity) -> tuple[Sequence[Node], Sequence[Node]]:
    """Return which of ``dependents`` reference ``owner`` exactly, and which only its uid.

    A dependent with several owner references can be in both lists.
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


def alternate_identity(dependents: Iterable[Node], absent: Identity) -> Identity | None:
    """Return another identity for the owner that does not exist as ``absent``.

    The owner references of ``dependents`` can contain different identities with the uid of
    ``absent``. Of these, return the next identity after ``absent`` in sort order, or else the
    first. Return ``None`` if there is no other identity.
    """
    candidates: dict[Identity, None] = {}
    for each in dependents:
        for named in each.owners:
            if named.uid != absent.uid:
                continue
            is_same = (named.api_version, named.kind) == (absent.api_version, absent.kind)
            # The absent identity shows whether its kind is cluster-scoped.
            place = "" if is_same and not absent.namespace else each.identity.namespace
            candidates[named_by(named, place)] = None
    candidates.pop(absent, None)
    ordered = sorted(candidates)
    following = (each for each in ordered if each > absent)
    return next(following, ordered[0] if ordered else None)
