"""The collector: looks at one object at a time, and does what its owners' end asks for.

Nothing is deleted on the word of memory alone. That an owner is gone was told by the server, or the
server is asked; and each write names the uid and the version that it was decided on, so that the
server refuses it if either is no longer true. Then the object is read, and judged anew.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from steersman.client import Client, MergePatch, Preconditions
from steersman.errors import Conflict, NotFound, UnknownKind
from steersman.kinds import MetadataOnly
from steersman.kinds.meta_v1 import OwnerReference
from steersman_cluster.workloads.garbagecollector.decision import (
    Delete,
    Keep,
    Owned,
    Standing,
    Unlink,
    unblocked,
    verdict,
)
from steersman_cluster.workloads.garbagecollector.graph import FOREGROUND, ORPHAN, Graph, Node, Work
from steersman_cluster.workloads.garbagecollector.identity import Identity, is_named, named_by
from steersman_cluster.workloads.garbagecollector.kinds import KnownKinds

# How often an object is read again in one go because somebody else wrote it meanwhile.
ATTEMPTS: Final = 5


class Known(NamedTuple):
    """An object as it is known to be when something is decided about it."""

    resource_version: str
    owners: tuple[OwnerReference, ...]
    finalizers: tuple[str, ...]
    is_ending: bool


class Collector:
    """Does the work that a graph finds."""

    def __init__(self, client: Client, graph: Graph) -> None:
        self._client = client
        self._graph = graph
        #: What the server serves, by what is known of it; nothing, before it was asked.
        self.kinds: KnownKinds | None = None

    async def attempt(self, work: Work) -> bool:
        """Do what there is to be done; whether it is to be looked at again, after a wait."""
        node = self._graph.node(work.uid)
        if node is None or node.is_virtual != (work.what == "verify"):
            return False
        if work.what == "verify":
            return await self._verify(node)
        if work.what == "orphan":
            await self._orphan(node)
        elif node.is_waiting:
            if not node.is_blocked:
                await self._drop_finalizer(node, FOREGROUND)
        elif not (node.is_ending or node.is_condemned):
            await self._collect(node)
        return False

    # Owners that somebody names and nobody has told of

    async def _verify(self, node: Node) -> bool:
        identity = node.identity
        kind = self._kind_of(identity.api_version, identity.kind)
        if kind.resource_type.namespaced and not identity.namespace:
            return False  # An object without a namespace names it: nobody can say which is meant.
        if await self._found(kind, identity) is None:
            self._graph.is_absent(identity)
            return False
        # It will be heard of soon; or it came and went while nobody listened, and then not.
        return True

    # Dependents

    async def _collect(self, node: Node) -> None:
        known = _known(node)
        for attempt in range(ATTEMPTS):
            try:
                # Somebody who keeps writing other things does not keep it for ever.
                await self._collect_as(node, known, any_version=attempt == ATTEMPTS - 1)
            except NotFound:
                self._graph.is_absent(node.identity)
                return
            except Conflict:
                latest = await self._latest(node)
                if latest is None or latest.is_ending:
                    return
                if attempt == ATTEMPTS - 1:
                    raise
                known = latest
            else:
                return

    async def _collect_as(self, node: Node, known: Known, *, any_version: bool) -> None:
        owned = [Owned(each, await self._standing(node, each)) for each in known.owners]
        decided = verdict(
            owned,
            finalizers=known.finalizers,
            has_dependents=bool(node.dependents),
            is_in_circle=any(each.is_waiting for each in node.dependents.values()),
        )
        match decided:
            case Keep():
                return
            case Unlink(left=left):
                await self._patch(node.identity, known.resource_version, _naming(left))
            case Delete(propagation=propagation, unblock=unblock):
                identity, version = node.identity, known.resource_version
                if unblock:
                    freed = await self._patch(identity, version, _naming(unblocked(known.owners)))
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
                node.is_condemned = True

    async def _standing(self, node: Node, owner: OwnerReference) -> Standing:
        """How an owner stands, by what the server has told, or tells."""
        place = node.identity.namespace
        found = self._graph.node(owner.uid)
        if (
            found is not None
            and not found.is_virtual
            and found.identity.namespace in ("", place)
            and is_named(found.identity, owner)
        ):
            return "waiting" if found.is_waiting else "there"
        absent = self._graph.absent
        if named_by(owner, place) in absent or named_by(owner, "") in absent:
            return "absent"
        kind = self._kind_of(owner.api_version, owner.kind)
        if kind.resource_type.namespaced and not place:
            return "nowhere"
        identity = named_by(owner, place if kind.resource_type.namespaced else "")
        latest = await self._found(kind, identity)
        if latest is None:
            absent.add(identity)
            return "absent"
        is_ending = latest.metadata.deletion_timestamp is not None
        waits = is_ending and FOREGROUND in (latest.metadata.finalizers or ())
        return "waiting" if waits else "there"

    # Owners whose end waits for their dependents

    async def _orphan(self, node: Node) -> None:
        if not node.is_orphaning:
            return
        uid = node.identity.uid

        def without_owner(known: Known) -> Mapping[str, object] | None:
            left = [each for each in known.owners if each.uid != uid]
            return None if len(left) == len(known.owners) else _naming(left)

        for dependent in list(node.dependents.values()):
            await self._change(dependent, without_owner)
        await self._drop_finalizer(node, ORPHAN)

    async def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        def without_it(known: Known) -> Mapping[str, object] | None:
            left = [each for each in known.finalizers if each != finalizer]
            return None if len(left) == len(known.finalizers) else {"finalizers": left}

        await self._change(node, without_it)

    async def _change(
        self, node: Node, change: Callable[[Known], Mapping[str, object] | None]
    ) -> None:
        """Have its metadata be as ``change`` says, which says nothing if it is so already."""
        known = _known(node)
        for attempt in range(ATTEMPTS):
            metadata = change(known)
            if metadata is None:
                return
            try:
                await self._patch(node.identity, known.resource_version, metadata)
            except NotFound:
                return
            except Conflict:
                latest = await self._latest(node)
                if latest is None:
                    return
                if attempt == ATTEMPTS - 1:
                    raise
                known = latest
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

    async def _latest(self, node: Node) -> Known | None:
        """The object as it is now; ``None``, and its dependents are looked at, if it is gone."""
        identity = node.identity
        kind = self._kind_of(identity.api_version, identity.kind)
        found = await self._found(kind, identity)
        if found is None:
            self._graph.is_absent(identity)
            return None
        about = found.metadata
        return Known(
            found.resource_version,
            about.owner_references or (),
            about.finalizers or (),
            about.deletion_timestamp is not None,
        )

    async def _found(self, kind: type[MetadataOnly], identity: Identity) -> MetadataOnly | None:
        """The object, if the one of this name is the one with this uid."""
        namespace = identity.namespace if kind.resource_type.namespaced else None
        try:
            found = await self._client.get(kind, identity.name, namespace=namespace)
        except NotFound:
            return None
        return found if found.uid == identity.uid else None

    def find_kind(self, api_version: str, kind: str) -> type[MetadataOnly] | None:
        """The class for the metadata of this kind; ``None`` if nobody serves it."""
        return None if self.kinds is None else self.kinds.find(api_version, kind)

    def _kind_of(self, api_version: str, kind: str) -> type[MetadataOnly]:
        found = self.find_kind(api_version, kind)
        if found is None:
            raise UnknownKind(
                kind=f"{api_version} {kind}",
                asked="the API server",
                what_now="What names an owner of this kind stays until the kind is served.",
            )
        return found


def _known(node: Node) -> Known:
    return Known(node.resource_version, node.owners, node.finalizers, node.is_ending)


def _naming(owners: Sequence[OwnerReference]) -> Mapping[str, object]:
    """The metadata that names these owners and no others."""
    return {"ownerReferences": owners or None}
