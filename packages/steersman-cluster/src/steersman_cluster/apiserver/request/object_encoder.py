"""Objects as bytes: encoded once, for all requests.

Only kind and apiVersion differ between the places where an object is shown, and they come first;
everything after them is kept with the entry.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from steersman_cluster.apiserver.meta.object_meta import IN_ORDER
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.storage import Entry

_HEAD = ("kind", "apiVersion")
_FIRST = (*_HEAD, "metadata")
_METADATA_IS = b'"metadata":'  # how what is kept of an object begins


def ordered(obj: Object) -> Object:
    """The object with its kind and apiVersion first, and its metadata in the usual order."""
    metadata = obj["metadata"]
    head = {name: metadata[name] for name in IN_ORDER if name in metadata}
    for name in ("labels", "annotations"):
        if name in head:
            head[name] = dict(sorted(head[name].items()))
    return {
        "kind": obj["kind"],
        "apiVersion": obj["apiVersion"],
        "metadata": head,
        **{name: value for name, value in obj.items() if name not in _FIRST},
    }


def rest_of(obj: Object) -> bytes:
    """Everything after kind and apiVersion, up to the closing brace."""
    return msgspec.json.encode({name: obj[name] for name in obj if name not in _HEAD})[1:]


def rest_of_entry(entry: Entry, served: ServedResource) -> bytes:
    """The same for an entry; a deletion shows what was deleted, at the revision of that."""
    if served.converts:
        if entry.converted is None or entry.converted[0] is not served.mark:
            kept = _shown(entry)
            shown = served.from_stored(kept)
            entry.converted = served.mark, _kept(entry) if shown is kept else rest_of(shown)
        return entry.converted[1]
    return entry.rendered or _kept(entry)


def _kept(entry: Entry) -> bytes:
    rendered = entry.rendered
    if rendered is None:
        rendered = entry.rendered = rest_of(_shown(entry))
    return rendered


def prefetch(entries: Iterable[Entry], served: ServedResource) -> None:
    """Have all of them converted, before anything depends on it."""
    if served.converts_by_webhook:
        served.prefetch([_shown(each) for each in entries])


def _shown(entry: Entry) -> Object:
    return entry.value if entry.value is not None else last_seen(entry)


def last_seen(entry: Entry) -> Object:
    """What the entry replaced or deleted, with the revision at which that happened."""
    if entry.previous is None or entry.previous.value is None:
        raise ValueError(f"{entry} came after nothing")
    last = entry.previous.value
    return {**last, "metadata": {**last["metadata"], "resourceVersion": str(entry.revision)}}


def shown_in(entry: Entry, served: ServedResource) -> Object:
    """What an entry holds, or what it deleted, in the version in which it is served."""
    return served.from_stored(_shown(entry))


def one(entry: Entry, served: ServedResource) -> bytes:
    """An object, whole."""
    return served.opening + rest_of_entry(entry, served)


def unkept(obj: Object, served: ServedResource) -> bytes:
    """An object that is in no entry, whole."""
    return served.opening + rest_of(ordered(served.from_stored(obj)))


def many(entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]) -> bytes:
    """A list."""
    head = {
        "kind": served.list_kind,
        "apiVersion": served.gvk.api_version,
        "metadata": metadata,
        "items": [],
    }
    opening = msgspec.json.encode(head)[:-2]
    prefetch(entries, served)
    if not entries:
        return opening + b"]}\n"
    begin = served.list_opening
    items = (b"," + begin).join([rest_of_entry(entry, served) for entry in entries])
    return b"".join((opening, begin, items, b"]}\n"))


def line(kind: bytes, shown: bytes) -> bytes:
    """One line of a watch about what is shown."""
    return b"".join((b'{"type":"', kind, b'","object":', shown, b"}\n"))


def event(kind: bytes, entry: Entry, served: ServedResource) -> bytes:
    """One line of a watch."""
    return b"".join(
        (
            b'{"type":"',
            kind,
            b'","object":',
            served.opening,
            rest_of_entry(entry, served),
            b"}\n",
        )
    )


def departure(entry: Entry, served: ServedResource) -> bytes:
    """The line for someone from whose sight an object went, deleted or merely changed."""
    if entry.value is None:
        return event(b"DELETED", entry, served)
    return line(b"DELETED", served.opening + rest_of(served.from_stored(last_seen(entry))))


def bookmark(revision: int, served: ServedResource, *, initial_events_end: bool) -> bytes:
    """A line of a watch that says how far it has come."""
    obj = bookmark_object(revision, served, initial_events_end=initial_events_end)
    return line(b"BOOKMARK", served.opening + msgspec.json.encode(obj)[1:])


def bookmark_object(revision: int, served: ServedResource, *, initial_events_end: bool) -> Object:
    """The object in a bookmark, without its kind: blank, but for its metadata."""
    metadata = bookmark_metadata(revision, initial_events_end=initial_events_end)
    if served.rules.hidden_annotation:
        annotations = {served.rules.hidden_annotation: "0", **metadata.get("annotations", {})}
        metadata = {**metadata, "annotations": annotations}
    return {"metadata": metadata, **served.blank}


def bookmark_metadata(revision: int, *, initial_events_end: bool) -> dict[str, Any]:
    """All that a bookmark says."""
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if initial_events_end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return metadata


def seen(obj: Object, served: ServedResource) -> Object:
    """A stored object as those see it who show only parts of it.

    They look at a custom resource in the version of the request, and at others as they are kept:
    what a version of those has of its own, it has only where it is shown whole.
    """
    return served.from_stored(obj) if served.custom else obj


def seen_in(entry: Entry, served: ServedResource) -> Object:
    """What an entry holds, or what it deleted, as they see it."""
    if served.custom and served.converts:
        # Converted once, for all requests.
        found: Object = msgspec.json.decode(one(entry, served))
        return found
    return _shown(entry)


def departed_from(entry: Entry, served: ServedResource) -> Object:
    """What went out of sight with an entry, as they see it."""
    return seen(last_seen(entry), served)


def metadata_in(entry: Entry, served: ServedResource) -> bytes:
    """The metadata of what an entry holds, as bytes: a part of the whole, where it is."""
    if (served.custom and served.converts) or served.rules.hidden_annotation:
        return msgspec.json.encode(metadata_of(seen_in(entry, served), served))
    end = entry.metadata_end
    if end is None:
        about = msgspec.json.encode(_shown(entry)["metadata"])
        end = entry.metadata_end = len(_METADATA_IS) + len(about)
    return _kept(entry)[len(_METADATA_IS) : end]


def metadata_of(obj: Object, served: ServedResource) -> dict[str, Any]:
    """The metadata that is shown where nothing else is."""
    metadata: dict[str, Any] = obj["metadata"]
    hidden = served.rules.hidden_annotation
    if not hidden or hidden not in (metadata.get("annotations") or ()):
        return metadata
    fewer = {**metadata, "annotations": {**metadata["annotations"]}}
    del fewer["annotations"][hidden]
    if not fewer["annotations"]:
        del fewer["annotations"]
    return fewer
