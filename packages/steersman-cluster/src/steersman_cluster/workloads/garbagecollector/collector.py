"""The processing of the dependency graph's work items, one at a time.

The graph alone is never a reason to delete an object. Either the API server has already reported
that an owner does not exist, or the collector reads the owner from the API server. Each write has
as preconditions the uid and the resource version on which the decision is based, so the API server
rejects the write if either has changed. After a rejection, the collector reads the object and
decides again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from steersman.client import Client, MergePatch, Preconditions
from steersman.errors import Conflict, NotFound, UnknownKind
from steersman.kinds import MetadataOnly
from steersman.kinds.meta_v1 import OwnerReference
from steersman_cluster.workloads.garbagecollector.decision import (
    ClassifiedOwner,
    DeleteObject,
    KeepObject,
    OwnerState,
    Unlink,
    decide,
    unblock_owner_references,
)
from steersman_cluster.workloads.garbagecollector.graph import (
    FOREGROUND,
    ORPHAN,
    DependencyGraph,
    Node,
    WorkItem,
)
from steersman_cluster.workloads.garbagecollector.identity import Identity, is_named, named_by
from steersman_cluster.workloads.garbagecollector.kinds import ServedKinds

# How often one attempt reads an object again after a conflict.
ATTEMPTS: Final = 5


class ObjectSnapshot(NamedTuple):
    """The metadata of an object on which the decision to delete this object is based."""

    resource_version: str
    owners: tuple[OwnerReference, ...]
    finalizers: tuple[str, ...]
    is_terminating: bool


class Collector:
    """A processor for the work items of the dependency graph ``graph``."""

    def __init__(self, client: Client, graph: DependencyGraph) -> None:
        self._client = client
        self._graph = graph
        #: The kinds that the server serves; ``None`` before the first discovery.
        self.kinds: ServedKinds | None = None

    async def attempt(self, work: WorkItem) -> bool:
        """Process the work item ``work``, and return whether to retry it after a backoff."""
        node = self._graph.node(work.uid)
        if node is None or node.is_virtual != (work.what == "verify"):
            return False
        if work.what == "verify":
            return await self._verify_virtual(node)
        if work.what == "orphan":
            await self._orphan_dependents(node)
        elif node.is_deleting_dependents:
            if not node.has_blocking_dependents:
                await self._drop_finalizer(node, FOREGROUND)
        elif not (node.is_terminating or node.is_delete_sent):
            await self._attempt_to_delete(node)
        return False

    # Virtual owners

    async def _verify_virtual(self, node: Node) -> bool:
        identity = node.identity
        kind = self._kind_of(identity.api_version, identity.kind)
        if kind.resource_type.namespaced and not identity.namespace:
            return False  # Only cluster-scoped objects name it, so its namespace is unknown.
        if await self._live(kind, identity) is None:
            self._graph.mark_absent(identity)
            return False
        # Its event will arrive, unless it was created and deleted during a gap in the watch.
        return True

    # Dependents

    async def _attempt_to_delete(self, node: Node) -> None:
        snapshot = _snapshot(node)
        for attempt in range(ATTEMPTS):
            try:
                # Frequent writes to the object do not prevent its deletion forever.
                await self._delete_unless_owned(node, snapshot, any_version=attempt == ATTEMPTS - 1)
            except NotFound:
                self._graph.mark_absent(node.identity)
                return
            except Conflict:
                latest = await self._latest(node)
                if latest is None or latest.is_terminating:
                    return
                if attempt == ATTEMPTS - 1:
                    raise
                snapshot = latest
            else:
                return

    async def _delete_unless_owned(
        self, node: Node, snapshot: ObjectSnapshot, *, any_version: bool
    ) -> None:
        classified = [
            ClassifiedOwner(each, await self._owner_state(node, each)) for each in snapshot.owners
        ]
        decided = decide(
            classified,
            finalizers=snapshot.finalizers,
            has_dependents=bool(node.dependents),
            has_circle=any(each.is_deleting_dependents for each in node.dependents.values()),
        )
        match decided:
            case KeepObject():
                return
            case Unlink(left=left):
                await self._patch(node.identity, snapshot.resource_version, _owner_patch(left))
            case DeleteObject(propagation=propagation, unblock=unblock):
                identity, version = node.identity, snapshot.resource_version
                if unblock:
                    freed = await self._patch(
                        identity, version, _owner_patch(unblock_owner_references(snapshot.owners))
                    )
                    version = freed.resource_version
                await self._client.delete(
                    self._kind_of(identity.api_version, identity.kind),
                    identity.name,
                    namespace=identity.namespace or None,
                    propagation=propagation,
                    preconditions=Preconditions(
                        uid=identity.uid, resource_version=None if any_version else version
                    ),
                )
                node.is_delete_sent = True

    async def _owner_state(self, node: Node, owner: OwnerReference) -> OwnerState:
        """Return the state of an owner, from the graph or from the server."""
        place = node.identity.namespace
        found = self._graph.node(owner.uid)
        if (
            found is not None
            and not found.is_virtual
            and found.identity.namespace in ("", place)
            and is_named(found.identity, owner)
        ):
            return "waiting" if found.is_deleting_dependents else "solid"
        absent = self._graph.absent
        if named_by(owner, place) in absent or named_by(owner, "") in absent:
            return "absent"
        kind = self._kind_of(owner.api_version, owner.kind)
        if kind.resource_type.namespaced and not place:
            return "unresolvable"
        identity = named_by(owner, place if kind.resource_type.namespaced else "")
        latest = await self._live(kind, identity)
        if latest is None:
            absent.add(identity)
            return "absent"
        is_terminating = latest.metadata.deletion_timestamp is not None
        waits = is_terminating and FOREGROUND in (latest.metadata.finalizers or ())
        return "waiting" if waits else "solid"

    # Owners that wait for their dependents

    async def _orphan_dependents(self, node: Node) -> None:
        if not node.is_orphaning_dependents:
            return
        uid = node.identity.uid

        def without_owner(snapshot: ObjectSnapshot) -> Mapping[str, object] | None:
            left = [each for each in snapshot.owners if each.uid != uid]
            return None if len(left) == len(snapshot.owners) else _owner_patch(left)

        for dependent in list(node.dependents.values()):
            await self._update_metadata(dependent, without_owner)
        await self._drop_finalizer(node, ORPHAN)

    async def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        def without_it(snapshot: ObjectSnapshot) -> Mapping[str, object] | None:
            left = [each for each in snapshot.finalizers if each != finalizer]
            return None if len(left) == len(snapshot.finalizers) else {"finalizers": left}

        await self._update_metadata(node, without_it)

    async def _update_metadata(
        self, node: Node, change: Callable[[ObjectSnapshot], Mapping[str, object] | None]
    ) -> None:
        """Patch the metadata with the result of ``change``; if the result is ``None``, write
        nothing.
        """
        snapshot = _snapshot(node)
        for attempt in range(ATTEMPTS):
            metadata = change(snapshot)
            if metadata is None:
                return
            try:
                await self._patch(node.identity, snapshot.resource_version, metadata)
            except NotFound:
                return
            except Conflict:
                latest = await self._latest(node)
                if latest is None:
                    return
                if attempt == ATTEMPTS - 1:
                    raise
                snapshot = latest
            else:
                return

    # The server

    async def _patch(
        self, identity: Identity, version: str, metadata: Mapping[str, object]
    ) -> MetadataOnly:
        as_known = {"uid": identity.uid, "resourceVersion": version}
        return await self._client.patch(
            self._kind_of(identity.api_version, identity.kind),
            identity.name,
            MergePatch({"metadata": {**as_known, **metadata}}),
            namespace=identity.namespace or None,
        )

    async def _latest(self, node: Node) -> ObjectSnapshot | None:
        """Return the live metadata of an object.

        If the object no longer exists, return ``None``; the graph then enqueues the dependents of
        the object.
        """
        identity = node.identity
        kind = self._kind_of(identity.api_version, identity.kind)
        found = await self._live(kind, identity)
        if found is None:
            self._graph.mark_absent(identity)
            return None
        about = found.metadata
        return ObjectSnapshot(
            found.resource_version,
            about.owner_references or (),
            about.finalizers or (),
            about.deletion_timestamp is not None,
        )

    async def _live(self, kind: type[MetadataOnly], identity: Identity) -> MetadataOnly | None:
        """Return the live object, or ``None`` if there is none with the expected uid."""
        namespace = identity.namespace if kind.resource_type.namespaced else None
        try:
            found = await self._client.get(kind, identity.name, namespace=namespace)
        except NotFound:
            return None
        return found if found.uid == identity.uid else None

    def find_kind(self, api_version: str, kind: str) -> type[MetadataOnly] | None:
        """Return the metadata class for the kind ``kind`` in the API version ``api_version``.

        Return ``None`` if the API server does not serve this kind.
        """
        return None if self.kinds is None else self.kinds.find(api_version, kind)

    def _kind_of(self, api_version: str, kind: str) -> type[MetadataOnly]:
        found = self.find_kind(api_version, kind)
        if found is None:
            raise UnknownKind(
                kind=f"{api_version} {kind}",
                missing_from="the API server",
                what_now="The dependents of this kind stay until the API server serves the kind.",
            )
        return found


def _snapshot(node: Node) -> ObjectSnapshot:
    return ObjectSnapshot(node.resource_version, node.owners, node.finalizers, node.is_terminating)


def _owner_patch(owners: Sequence[OwnerReference]) -> Mapping[str, object]:
    """Return the patch of the metadata that sets these owners."""
    return {"ownerReferences": owners or None}
