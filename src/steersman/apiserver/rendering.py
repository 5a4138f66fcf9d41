"""Objects as bytes: encoded once, whoever asks for them and however often.

Only kind and apiVersion differ between the places where an object is shown, and they come first;
everything after them is kept with the entry.
"""

import msgspec

from steersman.apiserver.rules import Object
from steersman.apiserver.served import Served
from steersman.apiserver.storage import Entry

_HEAD = ("kind", "apiVersion")
_FIRST = (*_HEAD, "metadata")
_METADATA = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)


def ordered(obj: Object) -> Object:
    """The object with its kind and apiVersion first, and its metadata as everybody writes it."""
    metadata = obj["metadata"]
    head = {name: metadata[name] for name in _METADATA if name in metadata}
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


def rest_of_entry(entry: Entry, served: Served) -> bytes:
    """The same for an entry; a deletion shows what was deleted, at the revision of that."""
    if served.converts:
        if entry.converted is None or entry.converted[0] is not served:
            entry.converted = served, rest_of(served.from_stored(_shown(entry)))
        return entry.converted[1]
    rendered = entry.rendered
    if rendered is None:
        rendered = entry.rendered = rest_of(_shown(entry))
    return rendered


def _shown(entry: Entry) -> Object:
    return entry.value if entry.value is not None else last_seen(entry)


def last_seen(entry: Entry) -> Object:
    """What the entry replaced or deleted, with the revision at which that happened."""
    if entry.previous is None or entry.previous.value is None:
        raise ValueError(f"{entry} came after nothing")
    last = entry.previous.value
    return {**last, "metadata": {**last["metadata"], "resourceVersion": str(entry.revision)}}


def one(entry: Entry, served: Served) -> bytes:
    """An object, whole."""
    return served.opening + rest_of_entry(entry, served)


def unkept(obj: Object, served: Served) -> bytes:
    """An object that is in no entry, whole."""
    return served.opening + rest_of(ordered(served.from_stored(obj)))


def many(entries: list[Entry], served: Served, *, metadata: dict[str, object]) -> bytes:
    """A list."""
    head = {
        "kind": served.list_kind,
        "apiVersion": served.gvk.api_version,
        "metadata": metadata,
        "items": [],
    }
    opening = msgspec.json.encode(head)[:-2]
    if not entries:
        return opening + b"]}\n"
    begin = served.list_opening
    items = (b"," + begin).join([rest_of_entry(entry, served) for entry in entries])
    return b"".join((opening, begin, items, b"]}\n"))


def event(kind: bytes, entry: Entry, served: Served) -> bytes:
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


def departure(entry: Entry, served: Served) -> bytes:
    """The line for someone from whose sight an object went, deleted or merely changed."""
    if entry.value is None:
        return event(b"DELETED", entry, served)
    rest = rest_of(served.from_stored(last_seen(entry)))
    return b'{"type":"DELETED","object":' + served.opening + rest + b"}\n"


def bookmark(revision: int, served: Served, *, initial_events_end: bool) -> bytes:
    """A line of a watch that says how far it has come."""
    metadata: dict[str, object] = {"resourceVersion": str(revision)}
    if initial_events_end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    rest = b'"metadata":' + msgspec.json.encode(metadata) + b"}"
    return b'{"type":"BOOKMARK","object":' + served.opening + rest + b"}\n"
