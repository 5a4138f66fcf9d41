"""The graph builder, which updates the dependency graph with the watch events of one kind."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from steersman.cache import Deleted, Delta, Sync
from steersman.errors import InvalidObject
from steersman.kinds import MetadataOnly, Resource
from steersman.kinds.meta_v1 import ObjectMeta
from steersman.names import ObjectKey, ResourceType
from steersman_cluster.workloads.garbagecollector.discovery import Definitions
from steersman_cluster.workloads.garbagecollector.graph import DependencyGraph
from steersman_cluster.workloads.garbagecollector.identity import Identity


class GraphBuilder:
    """An event handler that updates the dependency graph with the objects of one kind.

    The events come from a reflector or an informer. ``on_change`` is called after each change, and
    ``on_synced`` after the initial list. ``on_delete`` is called when the deletion of a
    cluster-scoped object begins or ends.
    """

    def __init__(
        self,
        resource_type: ResourceType,
        graph: DependencyGraph,
        *,
        definitions: Definitions | None,
        on_change: Callable[[], None],
        on_synced: Callable[[], None],
        on_delete: Callable[[], None],
    ) -> None:
        self._kind = resource_type.gvk.kind
        self._api_version = resource_type.gvk.api_version
        self._graph = graph
        self._definitions = definitions
        self._on_change = on_change
        self._synced = on_synced
        self._on_delete = None if resource_type.namespaced else on_delete
        self._has_synced = False

    def __repr__(self) -> str:
        return f"<GraphBuilder {self._api_version} {self._kind}>"

    # Events of a reflector

    def replace(
        self,
        objects: Mapping[ObjectKey, MetadataOnly],
        decode_failures: Sequence[InvalidObject],
        version: str,  # noqa: ARG002 - as in the protocol
        *,
        rewound: bool,  # noqa: ARG002 - as in the protocol
    ) -> None:
        """Update the dependency graph with ``objects``, a list of all objects of the kind."""
        if self._has_synced:
            there = {each.uid for each in objects.values()}
            there |= {_uid_in(each.body) for each in decode_failures}
            for identity in self._graph.observed(self._api_version, self._kind):
                if identity.uid not in there:
                    self._remove(identity, is_certain=False)
        self._has_synced = True
        for obj in objects.values():
            self._update(obj)
        self._synced()
        self._on_change()

    def upsert(self, obj: MetadataOnly) -> None:
        """Update the dependency graph with ``obj``, which was added or modified."""
        self._update(obj)
        self._on_change()

    def delete(self, obj: MetadataOnly) -> None:
        """Update the dependency graph after the deletion of ``obj``."""
        self._remove(self._identity(obj.metadata), is_certain=True)
        self._on_change()

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """Ignore an object whose metadata cannot be decoded."""

    def progress(self, version: str) -> None:
        """Ignore ``version``, the resource version that the watch has reached."""

    # Events of an informer

    def handle(self, delta: Delta[Any]) -> None:
        """Update the dependency graph with ``delta``, an event of an informer."""
        if isinstance(delta, Sync):
            return
        if isinstance(delta, Deleted):
            identity = self._identity(delta.obj.metadata)
            self._remove(identity, is_certain=not delta.is_missed)
        else:
            self._update(delta.obj)
        self._on_change()

    def _update(self, obj: Resource) -> None:
        metadata = obj.metadata
        self._graph.update(self._identity(metadata), metadata)
        if self._definitions is not None:
            self._definitions.update(obj)
        if self._on_delete is not None and metadata.deletion_timestamp is not None:
            self._on_delete()

    def _remove(self, identity: Identity, *, is_certain: bool) -> None:
        if is_certain:
            self._graph.remove(identity)
        else:
            self._graph.remove_unconfirmed(
                identity
            )  # a list without it does not prove its deletion
        if self._definitions is not None:
            self._definitions.remove(identity.name)
        if self._on_delete is not None:
            self._on_delete()

    def _identity(self, metadata: ObjectMeta) -> Identity:
        return Identity(
            self._kind,
            self._api_version,
            metadata.namespace or "",
            metadata.name or "",
            metadata.uid or "",
        )


def _uid_in(body: Mapping[str, object]) -> str:
    metadata = body.get("metadata")
    return str(metadata.get("uid", "")) if isinstance(metadata, Mapping) else ""
