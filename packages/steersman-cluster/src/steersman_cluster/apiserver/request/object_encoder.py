"""The JSON encoder of whole objects; each object is encoded once for all requests.

Responses differ only in kind and apiVersion, which come first. The JSON of all other fields is
cached in the entry.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from steersman_cluster.apiserver.meta.object_meta import IN_ORDER
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.storage import Entry

_HEAD = ("kind", "apiVersion")
_FIRST = (*_HEAD, "metadata")
_METADATA_IS = b'"metadata":'  # the start of the cached JSON


def ordered(obj: Object) -> Object:
    """Return ``obj`` with kind and apiVersion first, and with its metadata in Go's order."""
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
    """Return the JSON of ``obj`` without kind and apiVersion, and without the opening brace."""
    return msgspec.json.encode({name: obj[name] for name in obj if name not in _HEAD})[1:]


def rest_of_entry(entry: Entry, served: ServedResource) -> bytes:
    """Return the result of ``rest_of`` for ``entry``'s object in the served version.

    For a deletion, this is the deleted object with the revision of the deletion.
    """
    if served.converts:
        if entry.converted is None or entry.converted[0] is not served.encoding_id:
            kept = _shown(entry)
            shown = served.from_stored(kept)
            entry.converted = served.encoding_id, _kept(entry) if shown is kept else rest_of(shown)
        return entry.converted[1]
    return entry.rendered or _kept(entry)


def _kept(entry: Entry) -> bytes:
    rendered = entry.rendered
    if rendered is None:
        rendered = entry.rendered = rest_of(_shown(entry))
    return rendered


def prefetch(entries: Iterable[Entry], served: ServedResource) -> None:
    """Convert the objects of all ``entries`` together, so that a webhook is called only once."""
    if served.converts_by_webhook:
        served.prefetch([_shown(each) for each in entries])


def _shown(entry: Entry) -> Object:
    return entry.value if entry.value is not None else last_seen(entry)


def last_seen(entry: Entry) -> Object:
    """Return the object that ``entry`` replaced or deleted, with the revision of ``entry``."""
    if entry.previous is None or entry.previous.value is None:
        raise ValueError(f"{entry} has no previous object")
    last = entry.previous.value
    return {**last, "metadata": {**last["metadata"], "resourceVersion": str(entry.revision)}}


def shown_in(entry: Entry, served: ServedResource) -> Object:
    """Return ``entry``'s object in the served version; for a deletion, the deleted object."""
    return served.from_stored(_shown(entry))


def one(entry: Entry, served: ServedResource) -> bytes:
    """Encode ``entry``'s object."""
    return served.json_prefix + rest_of_entry(entry, served)


def unstored(obj: Object, served: ServedResource) -> bytes:
    """Encode ``obj``, which has no stored entry."""
    return served.json_prefix + rest_of(ordered(served.from_stored(obj)))


def many(entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]) -> bytes:
    """Encode a list of the objects of ``entries``; ``metadata`` is the ListMeta."""
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
    begin = served.list_item_prefix
    items = (b"," + begin).join([rest_of_entry(entry, served) for entry in entries])
    return b"".join((opening, begin, items, b"]}\n"))


def line(kind: bytes, shown: bytes) -> bytes:
    """Return the line of a watch event of type ``kind``; ``shown`` is the encoded object."""
    return b"".join((b'{"type":"', kind, b'","object":', shown, b"}\n"))


def event(kind: bytes, entry: Entry, served: ServedResource) -> bytes:
    """Encode a watch event of type ``kind`` with ``entry``'s object."""
    return b"".join(
        (
            b'{"type":"',
            kind,
            b'","object":',
            served.json_prefix,
            rest_of_entry(entry, served),
            b"}\n",
        )
    )


def deleted(entry: Entry, served: ServedResource) -> bytes:
    """Encode the DELETED event of an object that was deleted or no longer matches a watch."""
    if entry.value is None:
        return event(b"DELETED", entry, served)
    return line(b"DELETED", served.json_prefix + rest_of(served.from_stored(last_seen(entry))))


def bookmark(revision: int, served: ServedResource, *, initial_events_end: bool) -> bytes:
    """Encode a BOOKMARK event whose resourceVersion is ``revision``."""
    obj = bookmark_object(revision, served, initial_events_end=initial_events_end)
    return line(b"BOOKMARK", served.json_prefix + msgspec.json.encode(obj)[1:])


def bookmark_object(revision: int, served: ServedResource, *, initial_events_end: bool) -> Object:
    """Return the object in a BOOKMARK event, without kind and apiVersion.

    Only the metadata of the object is set.
    """
    metadata = bookmark_metadata(revision, initial_events_end=initial_events_end)
    if served.strategy.hidden_annotation:
        annotations = {served.strategy.hidden_annotation: "0", **metadata.get("annotations", {})}
        metadata = {**metadata, "annotations": annotations}
    return {"metadata": metadata, **served.empty_fields}


def bookmark_metadata(revision: int, *, initial_events_end: bool) -> dict[str, Any]:
    """Return the metadata of the object in a BOOKMARK event."""
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if initial_events_end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return metadata


def partial_view(obj: Object, served: ServedResource) -> Object:
    """Return ``obj`` in the version from which tables and metadata are encoded.

    For a custom resource, this is the version of the request. For a built-in resource, it is the
    stored version, as in kube-apiserver.
    """
    return served.from_stored(obj) if served.custom else obj


def entry_partial_view(entry: Entry, served: ServedResource) -> Object:
    """Return the ``partial_view`` of ``entry``'s object (for a deletion, of the deleted one)."""
    if served.custom and served.converts:
        # Converted once, for all requests.
        found: Object = msgspec.json.decode(one(entry, served))
        return found
    return _shown(entry)


def deleted_object(entry: Entry, served: ServedResource) -> Object:
    """Return the ``partial_view`` of the last object that matched the watch's selectors."""
    return partial_view(last_seen(entry), served)


def metadata_in(entry: Entry, served: ServedResource) -> bytes:
    """Return the JSON of the metadata of ``entry``'s object, if possible from cached JSON."""
    if (served.custom and served.converts) or served.strategy.hidden_annotation:
        return msgspec.json.encode(metadata_of(entry_partial_view(entry, served), served))
    end = entry.metadata_end
    if end is None:
        about = msgspec.json.encode(_shown(entry)["metadata"])
        end = entry.metadata_end = len(_METADATA_IS) + len(about)
    return _kept(entry)[len(_METADATA_IS) : end]


def metadata_of(obj: Object, served: ServedResource) -> dict[str, Any]:
    """Return the metadata of ``obj``, without the annotation that its kind hides."""
    metadata: dict[str, Any] = obj["metadata"]
    hidden = served.strategy.hidden_annotation
    if not hidden or hidden not in (metadata.get("annotations") or ()):
        return metadata
    fewer = {**metadata, "annotations": {**metadata["annotations"]}}
    del fewer["annotations"][hidden]
    if not fewer["annotations"]:
        del fewer["annotations"]
    return fewer
