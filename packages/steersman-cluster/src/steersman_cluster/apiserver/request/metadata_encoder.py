"""Answers with nothing but metadata, for clients that need no more of an object."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.rules import Object
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.request.response_encoders import WatchEncoder
from steersman_cluster.apiserver.storage import Entry

OBJECT, LIST = "PartialObjectMetadata", "PartialObjectMetadataList"

VERSIONS = ("v1", "v1beta1")


class MetadataEncoder(NamedTuple):
    """The form of it; ``kind`` says whether of one object, or of a list of them."""

    kind: str
    version: str

    @classmethod
    def wished(cls, parameters: Mapping[str, str]) -> "MetadataEncoder | None":
        """What the parameters of a media type ask for, if it is this."""
        kind, group, version = (parameters.get(name, "") for name in ("as", "g", "v"))
        known = kind in (OBJECT, LIST) and group == "meta.k8s.io" and version in VERSIONS
        return cls(kind, version) if known else None

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """The metadata of what an entry holds."""
        self.check(served, is_list=False)
        return self._opening() + object_encoder.metadata_in(entry, served) + b"}"

    def unkept(self, obj: Object, served: ServedResource) -> bytes:
        """That of an object that is in no entry."""
        self.check(served, is_list=False)
        return self._object(object_encoder.ordered(object_encoder.seen(obj, served)), served)

    def other(self, document: Object, *, custom: bool = False) -> bytes:
        """That of what is no object of a resource."""
        self.check_other(document, custom=custom)
        return self._partial(document["metadata"])

    def unchanged(self, document: Object) -> bytes:
        """What has no other form than its own: a Status."""
        return msgspec.json.encode(document)

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """That of each object in a list."""
        self.check(served, is_list=True)
        object_encoder.prefetch(entries, served)
        head = {**self._head(LIST), "metadata": without_empty(metadata), "items": None}
        opening, begin = msgspec.json.encode(head), self._opening()
        if not entries:
            return opening  # with null
        items = (b"}," + begin).join([object_encoder.metadata_in(each, served) for each in entries])
        return b"".join((opening.removesuffix(b"null}"), b"[", begin, items, b"}]}"))

    def lines(self) -> WatchEncoder | None:
        """That of each object in a watch, which is never about lists of them."""
        return None if self.kind == LIST else self

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """One line of a watch."""
        metadata = object_encoder.metadata_in(entry, served)
        return object_encoder.line(kind, self._opening() + metadata + b"}")

    def departure(self, entry: Entry, served: ServedResource) -> bytes:
        """The line for someone from whose sight an object went."""
        gone = object_encoder.departed_from(entry, served)
        return object_encoder.line(b"DELETED", self._object(gone, served))

    def bookmark(
        self,
        revision: int,
        served: ServedResource,  # noqa: ARG002 - as in other forms
        *,
        initial_events_end: bool,
    ) -> bytes:
        """A line that says how far a watch has come."""
        metadata = object_encoder.bookmark_metadata(revision, initial_events_end=initial_events_end)
        return object_encoder.line(b"BOOKMARK", self._partial(metadata))

    def failure(self, status: Object) -> bytes:
        """The line with which a watch ends that cannot go on."""
        return object_encoder.line(b"ERROR", msgspec.json.encode(status))

    def _object(self, obj: Object, served: ServedResource) -> bytes:
        return self._partial(object_encoder.metadata_of(obj, served))

    def _partial(self, metadata: Mapping[str, Any]) -> bytes:
        return msgspec.json.encode({**self._head(OBJECT), "metadata": metadata})

    def _opening(self) -> bytes:
        """How each object begins, up to what its metadata is."""
        return (
            f'{{"kind":"{OBJECT}","apiVersion":"meta.k8s.io/{self.version}","metadata":'
        ).encode()

    def _head(self, kind: str) -> dict[str, str]:
        return {"kind": kind, "apiVersion": f"meta.k8s.io/{self.version}"}

    def check(self, served: ServedResource, *, is_list: bool) -> None:
        """Refuse where one thing was wanted, and it is the other; by the name of its Go type."""
        if is_list == (self.kind == LIST):
            return
        if served.custom and not is_list:
            raise status_errors.StatusError(500, "", "content is not a list")
        package = served.gvk.group.partition(".")[0]
        if package in ("", "events"):
            package = "core"
        kind = served.list_kind if is_list else served.gvk.kind
        go_type = "unstructured.UnstructuredList" if served.custom else f"{package}.{kind}"
        raise self._unlike(go_type, is_list=is_list)

    def check_other(self, document: Object, *, custom: bool) -> None:
        """The same for what is no object of a resource, and so never a list."""
        if self.kind == LIST:
            group, _, version = document["apiVersion"].partition("/")
            package = version if custom else group.partition(".")[0]
            raise self._unlike(f"{package}.{document['kind']}", is_list=False)

    def _unlike(self, go_type: str, *, is_list: bool) -> status_errors.StatusError:
        it_is = "is a list" if is_list else "is not a list"
        return status_errors.not_acceptable(
            f"you requested {self.kind}, but the requested object {it_is} (*{go_type})"
        )


def without_empty(metadata: Mapping[str, object]) -> dict[str, object]:
    """The metadata of a list, without empty fields."""
    return {name: value for name, value in metadata.items() if value != ""}
