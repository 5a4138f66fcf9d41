"""The interface of response encoders: whole objects, metadata, or the rows of a table.

``registry`` finds the objects of a response, and the negotiated encoder encodes them.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.storage import Entry


class WatchEncoder(Protocol):
    """The encoder of the events of one watch."""

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """Encode a watch event of type ``kind`` with ``entry``'s object."""
        ...

    def deleted(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode the DELETED event of an object that was deleted or no longer matches the watch."""
        ...

    def bookmark(self, revision: int, served: ServedResource, *, initial_events_end: bool) -> bytes:
        """Encode a BOOKMARK event whose resourceVersion is ``revision``."""
        ...


class ResponseEncoder(Protocol):
    """The encoder of one response."""

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode ``entry``'s object."""
        ...

    def unstored(self, obj: Object, served: ServedResource) -> bytes:
        """Encode ``obj``, which has no stored entry and is in the stored version."""
        ...

    def other(self, document: Object, *, custom: bool = False) -> bytes:
        """Encode a document that is not an object of the resource: a Scale or a review."""
        ...

    def unchanged(self, document: Object) -> bytes:
        """Encode a document that is never reduced to metadata or a table, such as a Status."""
        ...

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """Encode a list of the objects of ``entries``; ``metadata`` is the ListMeta."""
        ...

    def lines(self) -> WatchEncoder | None:
        """Return the encoder of a new watch; None if the format does not support watches."""
        ...

    def failure(self, status: Object) -> bytes:
        """Encode the ERROR event with ``status``, which ends a watch."""
        ...


class _Whole:
    """The encoder of whole objects in JSON."""

    one = staticmethod(object_encoder.one)
    unstored = staticmethod(object_encoder.unstored)
    many = staticmethod(object_encoder.many)
    event = staticmethod(object_encoder.event)
    deleted = staticmethod(object_encoder.deleted)
    bookmark = staticmethod(object_encoder.bookmark)

    def other(self, document: Object, *, custom: bool = False) -> bytes:  # noqa: ARG002
        return msgspec.json.encode(document)

    def unchanged(self, document: Object) -> bytes:
        return msgspec.json.encode(document)

    def lines(self) -> WatchEncoder:
        return self

    def failure(self, status: Object) -> bytes:
        return object_encoder.line(b"ERROR", msgspec.json.encode(status))


WHOLE: ResponseEncoder = _Whole()
