"""Answers in protobuf: what ``response_encoders`` has as JSON, as the messages of built-in types.

Custom resources have no messages, because no Go type numbers their fields; their metadata does.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.meta.rules import Object
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
# Every list has its metadata in the first field and its items in the second, but for one.
_METADATA, _ITEMS = 1, 2


class _Encoders:
    """From documents to bodies, by what the documents say they are."""

    def __init__(self, schemas: BuiltinSchemas) -> None:
        self._schemas = schemas
        self._encoders = MessageEncoders()
        self.object_meta = self._encoders.of(schemas.named(OBJECT_META))
        self.list_meta = self._encoders.of(schemas.named(_LIST_META))

    def body(self, document: Object) -> bytes:
        """A document that says what it is."""
        # Two documents of discovery are older than the field, and do not have it.
        api_version, kind = document.get("apiVersion", ""), document["kind"]
        schema = self._schemas.of(GroupVersionKind.of(api_version or "v1", kind))
        return enveloped(api_version, kind, self._encoders.of(schema)(document))

    def message(self, obj: Object, served: ServedResource) -> bytes:
        """An object of a resource, in the version in which it is served."""
        return self._encoders.of(served.schema)(obj)


@cache
def _encoders() -> _Encoders:
    """The same for all servers of a process; made for the first answer in protobuf."""
    return _Encoders(BuiltinSchemas.read())


def encode_document(document: Object) -> bytes:
    """The body for a document of a built-in kind, such as a Status."""
    return _encoders().body(document)


def error_frame(status: Object) -> bytes:
    """The event with which a watch ends that cannot go on."""
    return watch_frame(b"ERROR", encode_document(status))


def _list_body(
    api_version: str, kind: str, metadata: Mapping[str, object], items: Sequence[bytes]
) -> bytes:
    # One list of old has its fields the other way around.
    is_reversed = (api_version, kind) == ("meta.k8s.io/v1beta1", LIST)
    about, item = (_ITEMS, _METADATA) if is_reversed else (_METADATA, _ITEMS)
    encode = field_of(item)
    parts = [field_of(about)(_encoders().list_meta(metadata)), *map(encode, items)]
    if is_reversed:
        parts.append(parts.pop(0))
    return enveloped(api_version, kind, b"".join(parts))


class ProtobufEncoder:
    """Objects with all of their fields."""

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """What an entry holds."""
        return _object_body(_message_of(entry, served), served)

    def unkept(self, obj: Object, served: ServedResource) -> bytes:
        """An object that is in no entry, in the version that is stored."""
        return _object_body(_encoders().message(served.from_stored(obj), served), served)

    def other(self, document: Object, *, custom: bool = False) -> bytes:  # noqa: ARG002 - as JSON
        """What is no object of a resource: a scale, or the answer to a question."""
        return encode_document(document)

    def unchanged(self, document: Object) -> bytes:
        """What has no other form than its own: a Status."""
        return encode_document(document)

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """A list."""
        items = [_message_of(entry, served) for entry in entries]
        return _list_body(served.gvk.api_version, served.list_kind, metadata, items)

    def lines(self) -> WatchEncoder:
        """The frames of a watch."""
        return self

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """What happened to an object."""
        return watch_frame(kind, self.one(entry, served))

    def departure(self, entry: Entry, served: ServedResource) -> bytes:
        """An object left the selection, deleted or merely changed."""
        if entry.value is None:
            return self.event(b"DELETED", entry, served)
        return watch_frame(b"DELETED", self.unkept(object_encoder.last_seen(entry), served))

    def bookmark(self, revision: int, served: ServedResource, *, initial_events_end: bool) -> bytes:
        """How far the watch has come."""
        obj = object_encoder.bookmark_object(
            revision, served, initial_events_end=initial_events_end
        )
        return watch_frame(b"BOOKMARK", _object_body(_encoders().message(obj, served), served))

    def failure(self, status: Object) -> bytes:
        """The event with which a watch ends that cannot go on."""
        return error_frame(status)


def _object_body(message: bytes, served: ServedResource) -> bytes:
    return enveloped(served.gvk.api_version, served.gvk.kind, message)


def _message_of(entry: Entry, served: ServedResource) -> bytes:
    """The message of what an entry holds: encoded once, however often it is sent."""
    kept = entry.message
    if kept is None or kept[0] is not served.mark:
        obj = object_encoder.shown_in(entry, served)
        kept = entry.message = served.mark, _encoders().message(obj, served)
    return kept[1]


class ProtobufMetadataEncoder(NamedTuple):
    """Nothing but metadata, which custom resources have in protobuf, too."""

    only: MetadataEncoder

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """The metadata of what an entry holds."""
        self.only.check(served, is_list=False)
        return self._object(object_encoder.seen_in(entry, served), served)

    def unkept(self, obj: Object, served: ServedResource) -> bytes:
        """That of an object that is in no entry."""
        self.only.check(served, is_list=False)
        return self._object(object_encoder.seen(obj, served), served)

    def other(self, document: Object, *, custom: bool = False) -> bytes:
        """That of what is no object of a resource."""
        self.only.check_other(document, custom=custom)
        return self._body(document["metadata"])

    def unchanged(self, document: Object) -> bytes:
        """What has no other form than its own: a Status."""
        return encode_document(document)

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """That of each object in a list."""
        self.only.check(served, is_list=True)
        object_encoder.prefetch(entries, served)
        found = (
            object_encoder.metadata_of(object_encoder.seen_in(each, served), served)
            for each in entries
        )
        return _list_body(self._api_version, LIST, metadata, [_partial(each) for each in found])

    def lines(self) -> WatchEncoder | None:
        """That of each object in a watch, which is never about lists of them."""
        return None if self.only.kind == LIST else self

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """One frame of a watch."""
        return watch_frame(kind, self._object(object_encoder.seen_in(entry, served), served))

    def departure(self, entry: Entry, served: ServedResource) -> bytes:
        """The frame for an object that left the selection."""
        return watch_frame(
            b"DELETED", self._object(object_encoder.departed_from(entry, served), served)
        )

    def bookmark(
        self,
        revision: int,
        served: ServedResource,  # noqa: ARG002 - as in other forms
        *,
        initial_events_end: bool,
    ) -> bytes:
        """How far the watch has come."""
        metadata = object_encoder.bookmark_metadata(revision, initial_events_end=initial_events_end)
        return watch_frame(b"BOOKMARK", self._body(metadata))

    def failure(self, status: Object) -> bytes:
        """The event with which a watch ends that cannot go on."""
        return error_frame(status)

    def _object(self, obj: Object, served: ServedResource) -> bytes:
        return self._body(object_encoder.metadata_of(obj, served))

    def _body(self, metadata: Mapping[str, Any]) -> bytes:
        return enveloped(self._api_version, OBJECT, _partial(metadata))

    @property
    def _api_version(self) -> str:
        return f"meta.k8s.io/{self.only.version}"


def _partial(metadata: Mapping[str, Any]) -> bytes:
    """The message of an object of which there is nothing but metadata."""
    return _METADATA_FIELD(_encoders().object_meta(metadata))


_METADATA_FIELD: Encode = field_of(_METADATA)
WHOLE_MESSAGES = ProtobufEncoder()
