"""The forms of an answer: objects whole, by their metadata, or as the rows of a table.

What is answered is found by ``registry``; how it is shown is up to the form that the client wants.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.storage import Entry


class WatchEncoder(Protocol):
    """How the lines of one watch are shown."""

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """What happened to an object."""
        ...

    def departure(self, entry: Entry, served: ServedResource) -> bytes:
        """An object went out of sight, deleted or merely changed."""
        ...

    def bookmark(self, revision: int, served: ServedResource, *, initial_events_end: bool) -> bytes:
        """How far the watch has come."""
        ...


class ResponseEncoder(Protocol):
    """How objects are shown."""

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """What an entry holds."""
        ...

    def unkept(self, obj: Object, served: ServedResource) -> bytes:
        """An object that is in no entry, in the version that is stored."""
        ...

    def other(self, document: Object, *, custom: bool = False) -> bytes:
        """What is no object of a resource: a scale, or the answer to a question."""
        ...

    def unchanged(self, document: Object) -> bytes:
        """What has no other form than its own: a Status."""
        ...

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """A list."""
        ...

    def lines(self) -> WatchEncoder | None:
        """That of a new watch; None where it cannot be watched in this form."""
        ...

    def failure(self, status: Object) -> bytes:
        """The event with which a watch ends that cannot go on."""
        ...


class _Whole:
    """Everything, as it is kept."""

    one = staticmethod(object_encoder.one)
    unkept = staticmethod(object_encoder.unkept)
    many = staticmethod(object_encoder.many)
    event = staticmethod(object_encoder.event)
    departure = staticmethod(object_encoder.departure)
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
