"""OpenAPI v3: an index, and one document for each API group version, created on request."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha512
from typing import Any, NamedTuple

import msgspec

from steersman.names import GroupVersionKind
from steersman.openapi import VERSION
from steersman.units import same_json
from steersman_cluster.apiserver.discovery.descriptions import NO_DESCRIPTIONS, Descriptions
from steersman_cluster.apiserver.discovery.discovered_resources import DiscoveredResource
from steersman_cluster.apiserver.discovery.openapi_paths import (
    API_RESOURCE_LIST,
    WATCH_EVENT,
    Json,
    operation_prefix,
    paths_of,
    root_of,
)
from steersman_cluster.apiserver.request.negotiation import JSON, accepted_format
from steersman_cluster.apiserver.schema.builtin_schemas import META, OBJECT_META, REF

INDEX = "/openapi/v3"
# kube-apiserver sends the index without a content type, and Go's HTTP server detects this one.
INDEX_TYPE = "text/plain; charset=utf-8"

SELECTABLE = "x-kubernetes-selectable-fields"

# The title in kube-apiserver's documents of custom resources.
_OF_CUSTOM = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}

_LIST_META = f"{META}.ListMeta"
_TEXT = {"type": "string"}
_UNKNOWN: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class OpenApiDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An OpenAPI response, ready to send."""

    body: bytes
    content_type: str = JSON
    etag: str | None = None

    def headers(self, *, hashed: bool) -> dict[str, str]:
        """Return the headers of the response.

        ``hashed`` is true if the request's URL contains a hash of the document, as the URLs in the
        index do. Clients are then permitted to cache the response permanently.
        """
        caching = "public, immutable" if hashed else "no-cache, private"
        headers = {"Cache-Control": caching, "Content-Type": self.content_type}
        return headers if self.etag is None else {**headers, "Etag": self.etag, "Vary": "Accept"}


class _Source(NamedTuple):
    """The inputs of a document, except for the built-in schemas."""

    group: str
    version: str
    resources: list[DiscoveredResource]
    custom: dict[GroupVersionKind, Any]


class OpenApi:
    """The OpenAPI v3 documents of the currently served resources.

    When the resources change, documents that do not change stay cached.
    """

    def __init__(
        self,
        written: Mapping[str, Any],
        *,
        find_descriptions: Callable[[], Descriptions] = lambda: NO_DESCRIPTIONS,
    ) -> None:
        """``written`` contains the built-in schemas by their full names.

        ``find_descriptions`` is called when the first document is created.
        """
        self._plain = written
        self._find_descriptions = find_descriptions
        self._sources: dict[str, _Source] = {}
        self._made: dict[str, OpenApiDocument] = {}

    @cached_property
    def descriptions(self) -> Descriptions:
        """The descriptions of fields."""
        return self._find_descriptions()

    @property
    def written(self) -> Mapping[str, Any]:
        """The built-in schemas, with descriptions of their fields."""
        return self.descriptions.described(self._plain)

    @cached_property
    def _names(self) -> dict[GroupVersionKind, str]:
        return {
            GroupVersionKind(gvk["group"], gvk["version"], gvk["kind"]): name
            for name, schema in self._plain.items()
            for gvk in schema.get("x-kubernetes-group-version-kind", ())
        }

    def serve(
        self,
        resources: Iterable[DiscoveredResource],
        custom: Mapping[GroupVersionKind, Mapping[str, Any] | None],
    ) -> None:
        """Replace the served resources by ``resources``.

        ``custom`` contains the schemas of custom kinds, from their CustomResourceDefinitions.
        """
        sources: dict[str, _Source] = {}
        for resource in sorted(resources, key=lambda each: each.plural):
            gvk = resource.gvk
            root = root_of(gvk.group, gvk.version)
            source = sources.setdefault(root, _Source(gvk.group, gvk.version, [], {}))
            source.resources.append(resource)
            if resource.custom:
                source.custom[gvk] = custom[gvk]
        self._made = {
            root: made
            for root, made in self._made.items()
            if root in sources and _is_same(self._sources[root], sources[root])
        }
        self._sources = sources

    def find(self, path: str, *, accept: str = "") -> OpenApiDocument | None:
        """Return the OpenAPI v3 document at ``path`` as JSON; None if there is none.

        ``/openapi/v3`` is the index, ``/openapi/v3/apis/apps/v1`` one of the other documents.
        """
        if path == INDEX:
            index = msgspec.json.encode({"paths": self._index()})
            return OpenApiDocument(body=index, content_type=INDEX_TYPE)
        root = path.removeprefix(f"{INDEX}/")
        if root not in self._sources or not accepted_format(accept, (JSON,)):
            return None
        return self._document(root)

    def paths(self) -> Iterator[tuple[str, Json]]:
        """Yield the path of each served resource and subresource, with its operations."""
        for source in self._sources.values():
            yield from self._paths(source)

    def custom(self) -> Iterator[tuple[GroupVersionKind, str, Mapping[str, Any]]]:
        """Yield each custom kind, its plural name, and its schema.

        The schema is from the kind's CustomResourceDefinition.
        """
        for source in self._sources.values():
            for resource in source.resources:
                if resource.custom:
                    written = source.custom[resource.gvk]
                    yield resource.gvk, resource.plural, written or _UNKNOWN

    def _index(self) -> Json:
        return {
            root: {"serverRelativeURL": f"{INDEX}/{root}?hash={self._hash(root)}"}
            for root in sorted(self._sources)
        }

    def _hash(self, root: str) -> str:
        return (self._document(root).etag or "").strip('"')

    def _document(self, root: str) -> OpenApiDocument:
        if root not in self._made:
            body = msgspec.json.encode(self._content(self._sources[root]))
            etag = f'"{sha512(body).hexdigest().upper()}"'
            self._made[root] = OpenApiDocument(body=body, etag=etag)
        return self._made[root]

    def _content(self, source: _Source) -> Json:
        paths = dict(self._paths(source))
        wanted = list(_references(paths))
        if any("watch" in each.verbs for each in source.resources if not each.custom):
            wanted.append(WATCH_EVENT)
        schemas = self._closure(wanted, self._custom_schemas(source))
        return {
            "openapi": "3.0.0",
            "info": _OF_CUSTOM
            if _is_custom(source)
            else {"title": "Kubernetes", "version": VERSION},
            "paths": paths,
            "components": {"schemas": schemas},
        }

    def _paths(self, source: _Source) -> Iterator[tuple[str, Json]]:
        if not _is_custom(source):
            yield _root_path(source)
        for resource in source.resources:
            yield from paths_of(resource, self._name_of)

    def _name_of(self, gvk: GroupVersionKind) -> str | None:
        if gvk in self._names:
            return self._names[gvk]
        source = self._sources.get(root_of(gvk.group, gvk.version))
        return custom_name(gvk) if source and gvk in source.custom else None

    def _custom_schemas(self, source: _Source) -> Json:
        schemas: Json = {}
        describe = self.descriptions
        for resource in source.resources:
            if resource.custom:
                gvk, name = resource.gvk, custom_name(resource.gvk)
                written = source.custom[gvk] or _UNKNOWN
                schemas[name] = describe.of_object(as_kind(_published(written), gvk))
                schemas[f"{name}List"] = describe.of_list(
                    list_of(name, gvk, written), kind=gvk.kind, plural=resource.plural
                )
        return schemas

    def _closure(self, wanted: list[str], custom: Mapping[str, Any]) -> Json:
        """Return the wanted schemas, and all schemas that they reference directly or indirectly."""
        found: Json = {}
        while wanted:
            name = wanted.pop()
            if name not in found:
                found[name] = custom[name] if name in custom else self.written[name]
                wanted += _references(found[name])
        return dict(sorted(found.items()))


def _is_custom(source: _Source) -> bool:
    return all(resource.custom for resource in source.resources)


def _is_same(one: _Source, other: _Source) -> bool:
    return one == other and all(
        same_json(schema, other.custom[gvk]) for gvk, schema in one.custom.items()
    )


def _root_path(source: _Source) -> tuple[str, Json]:
    content = {"application/json": {"schema": {"$ref": f"{REF}{API_RESOURCE_LIST}"}}}
    prefix = operation_prefix(source.group, source.version)
    return (
        f"/{root_of(source.group, source.version)}/",
        {
            "get": {
                "operationId": f"get{prefix}APIResources",
                "responses": {"200": {"description": "OK", "content": content}},
            }
        },
    )


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "$ref" and isinstance(each, str):
                yield each.removeprefix(REF)
            else:
                yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def custom_name(gvk: GroupVersionKind) -> str:
    """Return the full name of the schema of the custom kind ``gvk``."""
    return ".".join([*reversed(gvk.group.split(".")), gvk.version, gvk.kind])


def _published(written: Mapping[str, Any]) -> Json:
    """Return a structural schema with the extensions for int-or-string and embedded resources
    expanded.
    """
    schema: Json = {}
    for key, value in written.items():
        match key:
            case "properties":
                schema[key] = {name: _published(each) for name, each in value.items()}
            case "items" | "additionalProperties" | "not" if isinstance(value, dict):
                schema[key] = _published(value)
            case _:
                schema[key] = value
    if schema.get("x-kubernetes-int-or-string") and not schema.keys() & {"anyOf", "allOf"}:
        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if schema.get("x-kubernetes-embedded-resource"):
        schema["properties"] = {**schema.get("properties", {}), **object_properties()}
        schema["required"] = [*schema.get("required", ()), "kind", "apiVersion"]
    return schema


def as_kind(schema: Mapping[str, Any], gvk: GroupVersionKind) -> Json:
    """Return the schema of the custom kind ``gvk``, with the properties of every object added."""
    properties = {**schema.get("properties", {}), **object_properties()}
    return {**schema, "properties": properties, **marked(gvk, gvk.kind)}


def list_of(name: str, gvk: GroupVersionKind, written: Mapping[str, Any]) -> Json:
    """Return the list schema of the custom kind ``gvk``.

    ``name`` is the name of the kind's own schema ``written``.
    """
    return {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _TEXT,
            "items": {"type": "array", "items": {"$ref": f"{REF}{name}"}},
            "kind": _TEXT,
            "metadata": {"allOf": [{"$ref": f"{REF}{_LIST_META}"}]},
        },
        **selectable(written),
        **marked(gvk, f"{gvk.kind}List"),
    }


def selectable(written: Mapping[str, Any]) -> Json:
    """Return the part of a custom kind's schema that declares its selectable fields.

    ``written`` is the schema. The result is empty if the schema declares none.
    """
    return {SELECTABLE: written[SELECTABLE]} if SELECTABLE in written else {}


def object_properties() -> Json:
    """Return the schemas of apiVersion, kind and metadata, which every object has."""
    metadata = {"allOf": [{"$ref": f"{REF}{OBJECT_META}"}]}
    return {"apiVersion": _TEXT, "kind": _TEXT, "metadata": metadata}


def marked(gvk: GroupVersionKind, kind: str) -> Json:
    """Return the OpenAPI extension that assigns a schema to the kind ``kind``."""
    mark = {"group": gvk.group, "version": gvk.version, "kind": kind}
    return {"x-kubernetes-group-version-kind": [mark]}
