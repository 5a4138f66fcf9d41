"""The events of a watch: decodes each line of the stream to a value or an error.

Nothing is retried in this module. The end of the stream ends the events, and a 410 is raised as
``Expired``. The reflector resumes the watch.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Generic, TypeAlias, TypeVar

import msgspec

from steersman.client.request.responses import error_from
from steersman.errors import InvalidObject, InvalidResponse, Unreachable
from steersman.kinds import Codec, Resource, Unstructured
from steersman.wire import LineSplitter, Response

D = TypeVar("D")
Obj = TypeVar("Obj", bound=Resource | Unstructured)


# These are structs: there is one for every event, and a frozen dataclass takes ten times as long to
# create. The garbage collector can skip those that contain only an object.


class ObjectWritten(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """A watch event of type ADDED or MODIFIED: the object was created or changed.

    ``is_new`` is true if the type is ADDED. There is one class for both types, because a client
    cannot rely on the difference: a watch without a resourceVersion begins with ADDED for each
    existing object, and an object that begins to match the selector is ADDED as well.
    """

    obj: Obj
    is_new: bool = False


class ObjectDeleted(msgspec.Struct, Generic[Obj], frozen=True, gc=False):
    """A watch event of type DELETED: the object was deleted, or no longer matches the selector.

    ``obj`` is the last state of the object.
    """

    obj: Obj


class Bookmark(msgspec.Struct, frozen=True, gc=False):
    """A watch event of type BOOKMARK: all events up to this resourceVersion have been sent.

    ``ends_initial_events`` is true if, in addition, all objects that existed when the watch began
    have been sent.
    """

    resource_version: str
    ends_initial_events: bool = False


class DecodeFailure(msgspec.Struct, frozen=True):
    """A watch event whose object does not fit its Python class; later events are not affected."""

    error: InvalidObject
    resource_version: str
    is_gone: bool


WatchEvent: TypeAlias = ObjectWritten[Obj] | ObjectDeleted[Obj] | Bookmark | DecodeFailure


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _ObjectVersion(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


_LINE = msgspec.json.Decoder(_Line)
_OBJECT_VERSION = msgspec.json.Decoder(_ObjectVersion)
_BOOKMARK = b'{"type":"BOOKMARK"'
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


async def events_in(
    response: Response, kind: type[Obj], *, codec: Codec, wanted: str, limit_bytes: int
) -> AsyncGenerator[WatchEvent[Obj], None]:
    """Yield the watch events in the body of ``response``."""
    splitter = LineSplitter(limit_bytes=limit_bytes)
    async for chunk in response.chunks():
        try:
            lines = splitter.feed_block(chunk)
        except ValueError as error:
            raise InvalidResponse(
                wanted=wanted,
                problem=f"one event is longer than {limit_bytes} bytes",
                what_now="If this is expected, increase the limit in ClientSettings.",
            ) from error
        for event in read_events(lines, kind, codec=codec, wanted=wanted):
            yield event
    if splitter.rest:
        raise Unreachable(
            f"could not {wanted}: the stream was closed in the middle of an event."
            f" Watch again from the last resourceVersion."
        )


def read_events(
    lines: bytes, kind: type[Obj], *, codec: Codec, wanted: str
) -> Iterable[WatchEvent[Obj]]:
    """Return the watch events in ``lines``, which must be complete lines.

    If a line contains an error, such as a 410, the error is raised after the events of the earlier
    lines.
    """
    # Decoding all lines of a chunk together takes two thirds of the time. A chunk that begins with
    # a bookmark is an exception: it usually contains nothing else.
    is_bookmark = lines.startswith(_BOOKMARK)
    written = None if is_bookmark else codec.decode_events(kind, lines)
    if written is None:
        return _one_by_one(lines, kind, codec, wanted)
    return [
        ObjectDeleted(each.object)
        if each.type == "DELETED"
        else ObjectWritten(each.object, each.type == "ADDED")
        for each in written
    ]


def _one_by_one(
    lines: bytes, kind: type[Obj], codec: Codec, wanted: str
) -> Iterator[WatchEvent[Obj]]:
    for line in lines.split(b"\n"):
        if line.strip():
            yield _event(line, kind, codec, wanted)


def _event(data: bytes, kind: type[Obj], codec: Codec, wanted: str) -> WatchEvent[Obj]:
    line = _decoded(_LINE, data, wanted)
    match line.type:
        case "ADDED" | "MODIFIED" | "DELETED":
            gone = line.type == "DELETED"
            try:
                obj = codec.decode(kind, line.object, wanted=wanted)
            except InvalidObject as error:
                version = _decoded(_OBJECT_VERSION, line.object, wanted).metadata.resource_version
                return DecodeFailure(error, version, gone)
            return ObjectDeleted(obj) if gone else ObjectWritten(obj, line.type == "ADDED")
        case "BOOKMARK":
            meta = _decoded(_OBJECT_VERSION, line.object, wanted).metadata
            ends = (meta.annotations or {}).get(_INITIAL_EVENTS_END) == "true"
            return Bookmark(meta.resource_version, ends)
        case "ERROR":
            raise error_from(wanted, code=500, body=line.object)
        case other:
            raise _unreadable(wanted, f"its type {other[:20]!r} is unknown")


def _decoded(decoder: msgspec.json.Decoder[D], data: bytes | msgspec.Raw, wanted: str) -> D:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        # Not chained: a UnicodeDecodeError shows its input, which may be a Secret's.
        raise _unreadable(wanted, str(error)) from None


def _unreadable(wanted: str, why: str) -> InvalidResponse:
    return InvalidResponse(
        wanted=wanted,
        problem=f"an event cannot be read ({why})",
        what_now="Check that the address is an API server's, and that no proxy is in between.",
    )
