"""Requests to an API server, as values. No I/O."""

from functools import lru_cache
from typing import Any, Final, Literal, TypeVar

import msgspec

from steersman.client.request.paths import collection_path, object_path
from steersman.client.selectors import Fields, Labels
from steersman.kinds import MetadataOnly, Part, Resource, Unstructured
from steersman.names import ObjectRef

Obj = TypeVar("Obj", bound=Resource | Unstructured)
T = TypeVar("T", bound=Part | Unstructured)

Query = tuple[tuple[str, str], ...]

JSON: Final = "application/json"


class RequestSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the API server: verb, object, path, options and body.

    This is a struct, as are ``ApiCall`` and ``Request``: every request needs one of each, and a
    frozen dataclass takes ten times as long to create.
    """

    verb: str
    method: str
    path: str
    ref: ObjectRef
    resource: str
    about: str = ""
    query: Query = ()
    body: object = None
    content_type: str = JSON
    accept: str = JSON
    limit_bytes: int | None = None

    @property
    def wanted(self) -> str:
        """The request in words, for messages: ``get Pod default/web``, ``get the log of Pod
        default/web``.
        """
        return f"{self.verb} {self.about}{self.ref}"

    # The body is not shown, because it may be a Secret.

    def __repr__(self) -> str:
        return f"<RequestSpec {self.wanted}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("wanted", self.wanted)]


def about_one(
    verb: str,
    method: str,
    kind: type[Obj],
    namespace: str | None,
    name: str,
    options: Query = (),
    body: object = None,
    content_type: str = JSON,
) -> RequestSpec:
    """Return the spec of a request about one object."""
    resource = kind.resource_type
    return RequestSpec(
        verb=verb,
        method=method,
        path=object_path(resource, namespace, name),
        ref=ObjectRef(resource.gvk.kind, namespace, name),
        resource=resource.plural,
        query=options,
        body=body,
        content_type=content_type,
        accept=accept_header(kind),
    )


def about_many(
    verb: str,
    method: str,
    kind: type[Obj],
    namespace: str | None,
    options: Query,
    limit_bytes: int | None = None,
    body: object = None,
) -> RequestSpec:
    """Return the spec of a request about all objects of ``kind``, in one namespace or in all."""
    resource = kind.resource_type
    return RequestSpec(
        verb=verb,
        method=method,
        path=collection_path(resource, namespace),
        ref=ObjectRef(resource.gvk.kind, namespace, "*"),
        resource=resource.plural,
        query=options,
        body=body,
        # The response of a watch consists of single objects, not of a list.
        accept=accept_header(kind) if verb == "watch" else accept_header(kind, "List"),
        limit_bytes=limit_bytes,
    )


def accept_header(kind: type[T], suffix: Literal["", "List"] = "") -> str:
    """Return the ``Accept`` header for objects of ``kind``; for lists if ``suffix`` is "List"."""
    if not issubclass(kind, MetadataOnly):
        return JSON
    return f"{JSON};as=PartialObjectMetadata{suffix};g=meta.k8s.io;v=v1"


def at_version(resource_version: str | None) -> Query:
    """Return the query option ``resourceVersion``; no option if the argument is ``None``."""
    return () if resource_version is None else (("resourceVersion", resource_version),)


def query(**options: object) -> Query:
    """Return ``options`` as URL query options, without those that are ``None``."""
    return tuple([(name, str(value)) for name, value in options.items() if value is not None])


@lru_cache(maxsize=128)
def write_query(
    field_manager: str | None, field_validation: str, dry_run: str | None, *, force: bool = False
) -> Query:
    """Return the query options that every write with a body has.

    The result is cached, because most writes have the same options.
    """
    return query(
        fieldManager=field_manager,
        fieldValidation=field_validation,
        dryRun=dry_run,
        force="true" if force else None,
    )


def selector_query(labels: Labels | None, fields: Fields | None) -> dict[str, str | None]:
    """Return the options that limit a request to the selected objects."""
    return {
        "labelSelector": str(labels or "") or None,
        "fieldSelector": str(fields or "") or None,
    }
