"""The encoder of PartialObjectMetadata and of PartialObjectMetadataList."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request import object_encoder
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.request.response_encoders import WatchEncoder
from steersman_cluster.apiserver.storage import Entry

OBJECT, LIST = "PartialObjectMetadata", "PartialObjectMetadataList"

VERSIONS = ("v1", "v1beta1")


class MetadataEncoder(NamedTuple):
    """An encoder of objects' metadata; ``kind`` is the requested kind, an object or a list."""

    kind: str
    version: str

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str]) -> "MetadataEncoder | None":
        """Return the encoder that ``parameters``, those of a media type, request.

        Returns None if ``parameters`` do not request metadata.
        """
        kind, group, version = (parameters.get(name, "") for name in ("as", "g", "v"))
        known = kind in (OBJECT, LIST) and group == "meta.k8s.io" and version in VERSIONS
        return cls(kind, version) if known else None

    def one(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode the metadata of ``entry``'s object."""
        self.check(served, is_list=False)
        return self._opening() + object_encoder.metadata_in(entry, served) + b"}"

    def unstored(self, obj: Object, served: ServedResource) -> bytes:
        """Encode the metadata of ``obj``, which has no stored entry."""
        self.check(served, is_list=False)
        return self._object(
            object_encoder.ordered(object_encoder.partial_view(obj, served)), served
        )

    def other(self, document: Object, *, custom: bool = False) -> bytes:
        """Encode the metadata of a document that is not an object of the resource."""
        self.check_other(document, custom=custom)
        return self._partial(document["metadata"])

    def unchanged(self, document: Object) -> bytes:
        """Encode a document that has no metadata form, such as a Status, completely."""
        return msgspec.json.encode(document)

    def many(
        self, entries: Sequence[Entry], served: ServedResource, *, metadata: dict[str, object]
    ) -> bytes:
        """Encode a list with the metadata of ``entries``; ``metadata`` is the ListMeta."""
        self.check(served, is_list=True)
        object_encoder.prefetch(entries, served)
        head = {**self._head(LIST), "metadata": without_empty(metadata), "items": None}
        opening, begin = msgspec.json.encode(head), self._opening()
        if not entries:
            return opening  # with null
        items = (b"}," + begin).join([object_encoder.metadata_in(each, served) for each in entries])
        return b"".join((opening.removesuffix(b"null}"), b"[", begin, items, b"}]}"))

    def lines(self) -> WatchEncoder | None:
        """Return the encoder of a watch; None if the client requested the kind of a list."""
        return None if self.kind == LIST else self

    def event(self, kind: bytes, entry: Entry, served: ServedResource) -> bytes:
        """Encode a watch event of type ``kind`` with the metadata of ``entry``'s object."""
        metadata = object_encoder.metadata_in(entry, served)
        return object_encoder.line(kind, self._opening() + metadata + b"}")

    def deleted(self, entry: Entry, served: ServedResource) -> bytes:
        """Encode the DELETED event of an object that no longer matches the watch's selectors."""
        gone = object_encoder.deleted_object(entry, served)
        return object_encoder.line(b"DELETED", self._object(gone, served))

    def bookmark(
        self,
        revision: int,
        served: ServedResource,  # noqa: ARG002 - as in other encoders
        *,
        initial_events_end: bool,
    ) -> bytes:
        """Encode a BOOKMARK event whose resourceVersion is ``revision``."""
        metadata = object_encoder.bookmark_metadata(revision, initial_events_end=initial_events_end)
        return object_encoder.line(b"BOOKMARK", self._partial(metadata))

    def failure(self, status: Object) -> bytes:
        """Encode the ERROR event with ``status``, which ends a watch."""
        return object_encoder.line(b"ERROR", msgspec.json.encode(status))

    def _object(self, obj: Object, served: ServedResource) -> bytes:
        return self._partial(object_encoder.metadata_of(obj, served))

    def _partial(self, metadata: Mapping[str, Any]) -> bytes:
        return msgspec.json.encode({**self._head(OBJECT), "metadata": metadata})

    def _opening(self) -> bytes:
        """The JSON of each object before its metadata."""
        return (
            f'{{"kind":"{OBJECT}","apiVersion":"meta.k8s.io/{self.version}","metadata":'
        ).encode()

    def _head(self, kind: str) -> dict[str, str]:
        return {"kind": kind, "apiVersion": f"meta.k8s.io/{self.version}"}

    def check(self, served: ServedResource, *, is_list: bool) -> None:
        """Raise an error if the client requested a list's metadata for one object, or vice versa.

        The message contains the name of the Go type.
        """
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
        """Raise an error if the client requested a list's metadata for ``document``.

        ``document`` is not an object of the resource but, for example, a Scale.
        """
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
    """Return ``metadata``, a ListMeta, without empty fields."""
    return {name: value for name, value in metadata.items() if value != ""}
