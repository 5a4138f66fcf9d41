"""The response encoders of protobuf, for built-in kinds and for metadata.

Custom resources have no protobuf message, because no Go type numbers their fields. Only the
metadata of a custom resource can be encoded.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.metadata_encoder import LIST, OBJECT, MetadataEncoder
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.request.response_encoders import WatchEncoder
from steersman_cluster.apiserver.schema.builtin_schemas import META, OBJECT_META, BuiltinSchemas
from steersman_cluster.apiserver.schema.protobuf.encoder import (
    Encode,
    MessageEncoders,
    enveloped,
    field_of,
    watch_frame,
)
from steersman_cluster.apiserver.storage import Entry

_LIST_META = f"{META}.ListMeta"
# The field numbers of every list's metadata and items; one list has them swapped.
_METADATA, _ITEMS = 1, 2


class _Encoders:
    """Encodes documents by their apiVersion and kind."""

    def __init__(self, schemas: BuiltinSchemas) -> None:
        self._schemas = schemas
        self._encoders = MessageEncoders()
        self.object_meta = self._encoders.of(schemas.named(OBJECT_META))
        self.list_meta = self._encoders.of(schemas.named(_LIST_META))

    def body(self, document: Object) -> bytes:
        """Encode a document with an apiVersion and a kind."""
        # Two discovery documents have no apiVersion.
        api_version, kind = document.get("apiVersion", ""), document["kind"]
        schema = self._schemas.of(GroupVersionKind.of(api_version or "v1", kind))
        return enveloped(api_version, kind, self._encoders.of(schema)(document))

    def message(self, obj: Object, served: ServedResource) -> bytes:
        """Encode an object of a resource in the served version."""
        return self._encoders.of(served.schema)(obj)


@cache
def _encoders() -> _Encoders:
    """Return the encoders, which all servers of a process share; created at the first use."""
    return _Encoders(BuiltinSchemas.read())


def encode_document(document: Object) -> bytes:
    """Encode a document of a built-in kind, such as a Status, as a response body."""
    return _encoders().body(document)


def error_frame(status: Object) -> bytes:
    """Encode the ERROR event with ``status``, which ends a watch."""
    return watch_frame(b"ERROR", encode_document(status))


def _list_body(
    api_version: str, kind: str, metadata: Mapping[str, object], items: Sequence[bytes]
) -> bytes:
    # The v1beta1 list of metadata has its fields swapped.
    is_reversed = (api_version, kind) == ("meta.k8s.io/v1beta1", LIST)
    about, item = (_ITEMS, _METADATA) if is_reversed else (_METADATA, _ITEMS)
    encode = field_of(item)
    parts = [field_of(about)(_encoders().list_meta(metadata)), *map(encode, items)]
    if is_reversed:
        parts.append(parts.pop(0))
    return enveloped(api_version, kind, b"".join(parts))


class ProtobufEncoder:
    """The protobuf encoder of whole objects."""

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode ``entry``'s object."""
        return _object_body(_message_of(entry, served), served)

    def unstored(self, obj: Object, served: ServedResource) -> bytes:
        """Encode ``obj``, which has no stored entry and is in the stored version."""
        return _object_body(_encoders().message(served.from_stored(obj), served), served)

    def other(self, document: Object, *, custom: bool = False) -> bytes:  # noqa: ARG002 - as JSON
        """Encode a document that is not an object of the resource: a Scale or a review."""
        return encode_document(document)

    def unchanged(self, document: Object) -> bytes:
        """Encode a document that has only one form, such as a Status."""
        return encode_document(document)

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """Encode a list of the objects of ``entries``; ``metadata`` is the ListMeta."""
        items = [_message_of(entry, served) for entry in entries]
        return _list_body(served.gvk.api_version, served.list_kind, metadata, items)

    def lines(self) -> WatchEncoder:
        """Return the encoder of a watch."""
        return self

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """Encode a watch event of type ``kind`` with ``entry``'s object."""
        return watch_frame(kind, self.one(entry, served))

    def deleted(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode the DELETED event of an object that was deleted or no longer matches a watch."""
        if entry.value is None:
            return self.event(b"DELETED", entry, served)
        return watch_frame(b"DELETED", self.unstored(object_encoder.last_seen(entry), served))

    def bookmark(self, revision: int, served: ServedResource, *, initial_events_end: bool) -> bytes:
        """Encode a BOOKMARK event whose resourceVersion is ``revision``."""
        obj = object_encoder.bookmark_object(
            revision, served, initial_events_end=initial_events_end
        )
        return watch_frame(b"BOOKMARK", _object_body(_encoders().message(obj, served), served))

    def failure(self, status: Object) -> bytes:
        """Encode the ERROR event with ``status``, which ends a watch."""
        return error_frame(status)


def _object_body(message: bytes, served: ServedResource) -> bytes:
    return enveloped(served.gvk.api_version, served.gvk.kind, message)


def _message_of(entry: Entry, served: ServedResource) -> bytes:
    """Return the message of an entry's object; it is encoded once for all requests."""
    kept = entry.message
    if kept is None or kept[0] is not served.encoding_id:
        obj = object_encoder.shown_in(entry, served)
        kept = entry.message = served.encoding_id, _encoders().message(obj, served)
    return kept[1]


class ProtobufMetadataEncoder(NamedTuple):
    """The protobuf encoder of metadata, which also encodes the metadata of custom resources."""

    only: MetadataEncoder

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode the metadata of ``entry``'s object."""
        self.only.check(served, is_list=False)
        return self._object(object_encoder.entry_partial_view(entry, served), served)

    def unstored(self, obj: Object, served: ServedResource) -> bytes:
        """Encode the metadata of ``obj``, which has no stored entry."""
        self.only.check(served, is_list=False)
        return self._object(object_encoder.partial_view(obj, served), served)

    def other(self, document: Object, *, custom: bool = False) -> bytes:
        """Encode the metadata of a document that is not an object of the resource."""
        self.only.check_other(document, custom=custom)
        return self._body(document["metadata"])

    def unchanged(self, document: Object) -> bytes:
        """Encode a document that has no metadata form, such as a Status, completely."""
        return encode_document(document)

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """Encode a list with the metadata of ``entries``; ``metadata`` is the ListMeta."""
        self.only.check(served, is_list=True)
        object_encoder.prefetch(entries, served)
        found = (
            object_encoder.metadata_of(object_encoder.entry_partial_view(each, served), served)
            for each in entries
        )
        return _list_body(self._api_version, LIST, metadata, [_partial(each) for each in found])

    def lines(self) -> WatchEncoder | None:
        """Return the encoder of a watch; None if the client requested the kind of a list."""
        return None if self.only.kind == LIST else self

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """Encode a watch event of type ``kind`` with the metadata of ``entry``'s object."""
        return watch_frame(
            kind, self._object(object_encoder.entry_partial_view(entry, served), served)
        )

    def deleted(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode the DELETED event of an object that no longer matches the watch's selectors."""
        return watch_frame(
            b"DELETED", self._object(object_encoder.deleted_object(entry, served), served)
        )

    def bookmark(
        self,
        revision: int,
        served: ServedResource,  # noqa: ARG002 - as in other encoders
        *,
        initial_events_end: bool,
    ) -> bytes:
        """Encode a BOOKMARK event whose resourceVersion is ``revision``."""
        metadata = object_encoder.bookmark_metadata(revision, initial_events_end=initial_events_end)
        return watch_frame(b"BOOKMARK", self._body(metadata))

    def failure(self, status: Object) -> bytes:
        """Encode the ERROR event with ``status``, which ends a watch."""
        return error_frame(status)

    def _object(self, obj: Object, served: ServedResource) -> bytes:
        return self._body(object_encoder.metadata_of(obj, served))

    def _body(self, metadata: Mapping[str, Any]) -> bytes:
        return enveloped(self._api_version, OBJECT, _partial(metadata))

    @property
    def _api_version(self) -> str:
        return f"meta.k8s.io/{self.only.version}"


def _partial(metadata: Mapping[str, Any]) -> bytes:
    """Return the message of a PartialObjectMetadata."""
    return _METADATA_FIELD(_encoders().object_meta(metadata))


_METADATA_FIELD: Encode = field_of(_METADATA)
WHOLE_MESSAGES = ProtobufEncoder()
