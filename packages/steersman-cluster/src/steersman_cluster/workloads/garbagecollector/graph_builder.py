"""What is heard of one kind, told to the graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from steersman.cache import Deleted, Delta, Sync
from steersman.errors import InvalidObject
from steersman.kinds import MetadataOnly, Resource
from steersman.kinds.meta_v1 import ObjectMeta
from steersman.names import ObjectKey, ResourceType
from steersman_cluster.workloads.garbagecollector.discovery import Definitions
from steersman_cluster.workloads.garbagecollector.graph import Graph
from steersman_cluster.workloads.garbagecollector.identity import Identity


class KindSink:
    """Tells a graph what it hears of a kind, from a reflector or an informer.

    ``heard`` is called after each change, ``settled`` once all is told that was there at first, and
    ``ended`` when the end of an object that lives in no namespace has begun, or has come.
    """

    def __init__(
        self,
        resource_type: ResourceType,
        graph: Graph,
        *,
        definitions: Definitions | None,
        heard: Callable[[], None],
        settled: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        self._kind = resource_type.gvk.kind
        self._api_version = resource_type.gvk.api_version
        self._graph = graph
        self._definitions = definitions
        self._heard = heard
        self._settled = settled
        self._ended = None if resource_type.namespaced else ended
        self._is_whole = False

    def __repr__(self) -> str:
        return f"<KindSink {self._api_version} {self._kind}>"

    # From a reflector

    def replace(
        self,
        objects: Mapping[ObjectKey, MetadataOnly],
        misfits: Sequence[InvalidObject],
        version: str,  # noqa: ARG002 - as in the protocol
        *,
        rewound: bool,  # noqa: ARG002 - as in the protocol
    ) -> None:
        """This is all there is."""
        if self._is_whole:
            there = {each.uid for each in objects.values()}
            there |= {_uid_in(each.body) for each in misfits}
            for identity in self._graph.told_of(self._api_version, self._kind):
                if identity.uid not in there:
                    self._went(identity, is_certain=False)
        self._is_whole = True
        for obj in objects.values():
            self._saw(obj)
        self._settled()
        self._heard()

    def upsert(self, obj: MetadataOnly) -> None:
        """The object was created or changed."""
        self._saw(obj)
        self._heard()

    def delete(self, obj: MetadataOnly) -> None:
        """The object is gone."""
        self._went(self._identity(obj.metadata), is_certain=True)
        self._heard()

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """An object does not even have metadata as it should be: it is left alone."""

    def progress(self, version: str) -> None:
        """Everything up to a version has been told."""

    # From an informer

    def handle(self, delta: Delta[Any]) -> None:
        """The object has changed."""
        if isinstance(delta, Sync):
            return
        if isinstance(delta, Deleted):
            identity = self._identity(delta.obj.metadata)
            self._went(identity, is_certain=not delta.is_missed)
        else:
            self._saw(delta.obj)
        self._heard()

    def _saw(self, obj: Resource) -> None:
        metadata = obj.metadata
        self._graph.saw(self._identity(metadata), metadata)
        if self._definitions is not None:
            self._definitions.saw(obj)
        if self._ended is not None and metadata.deletion_timestamp is not None:
            self._ended()

    def _went(self, identity: Identity, *, is_certain: bool) -> None:
        if is_certain:
            self._graph.went(identity)
        else:
            self._graph.doubt(identity)  # a list without it is not the server's word that it went
        if self._definitions is not None:
            self._definitions.went(identity.name)
        if self._ended is not None:
            self._ended()

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
