"""The schemas of built-in kinds, from Kubernetes' OpenAPI documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from steersman.names import GroupVersionKind
from steersman.openapi import VERSION, load_all_facts
from steersman_cluster.apiserver.schema.go_declarations import as_declared
from steersman_cluster.apiserver.schema.node import Schema

GO_TYPES = Path(__file__).with_name(f"go-types-kubernetes-{VERSION}.json")

REF = "#/components/schemas/"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
OBJECT_META = f"{META}.ObjectMeta"

# The formats of types with a special JSON form, which their schemas do not specify.
FORMATS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    f"{META}.MicroTime": "micro-time",
}
JSON_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension"
OPAQUE = {
    RAW_EXTENSION,
    f"{META}.FieldsV1",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
    *(f"{JSON_SCHEMA}Or{other}" for other in ("Array", "Bool", "StringArray")),
}

# The paths of lists and maps for which an empty one is not the same as none.
MEANINGFUL_IF_EMPTY = {
    # A request to remove all managers.
    OBJECT_META: ("managedFields",),
    # No default policies; rejected.
    "io.k8s.api.autoscaling.v2.HPAScalingRules": ("policies",),
    # Rejected, but only in the resources of a Pod, which have the same type as a container's.
    "io.k8s.api.core.v1.PodSpec": ("resources", "claims"),
    # Rejected: a claim needs storage. The other errors of a change depend on it.
    "io.k8s.api.core.v1.PersistentVolumeClaimSpec": ("resources", "requests"),
}

# The internal Go type of each kind, by apiVersion and kind.
KnownKinds: TypeAlias = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinResource:
    """An entry of API discovery: a kind, its resource names, and the supported verbs."""

    gvk: GroupVersionKind
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    subresources: Mapping[str, Mapping[str, Any]]  # in the form of discovery: kind, verbs, …


class BuiltinSchemas:
    """The schema of every built-in type, compiled at its first use."""

    def __init__(self, documents: Mapping[str, Any], go_types: Mapping[str, Any]) -> None:
        self._documents = documents
        self._declarations: Mapping[str, Mapping[str, str]] = go_types["types"]
        self._schemes: Sequence[KnownKinds] = go_types["schemes"]
        self._compiled: dict[str, Schema] = {}

    @classmethod
    @cache
    def read(cls) -> "BuiltinSchemas":
        """Return the schemas that the package contains.

        All servers of a process share them, because no server changes them. Reading and compiling
        the schemas is the slowest part of the start of a server.
        """
        return cls(load_all_facts(), msgspec.json.decode(GO_TYPES.read_bytes()))

    @cached_property
    def resources(self) -> Sequence[BuiltinResource]:
        """Return every built-in resource of every API group version."""
        return tuple(
            BuiltinResource(
                gvk=GroupVersionKind(
                    group=document["group"], version=document["version"], kind=found["kind"]
                ),
                plural=plural,
                singular=found["singular"],
                namespaced=found["namespaced"],
                verbs=tuple(found["verbs"]),
                short_names=tuple(found.get("shortNames", ())),
                categories=tuple(found.get("categories", ())),
                subresources=found.get("subresources", {}),
            )
            for _, document in sorted(self._documents.items())
            for plural, found in document.get("resources", {}).items()
        )

    @cached_property
    def written(self) -> dict[str, Any]:
        """Return every schema in the form of the OpenAPI documents, by its full name."""
        return {
            name: schema
            for document in self._documents.values()
            for name, schema in document["schemas"].items()
        }

    @cached_property
    def _names(self) -> dict[tuple[str, str, str], str]:
        return {
            (gvk["group"], gvk["version"], gvk["kind"]): name
            for name, schema in self.written.items()
            for gvk in schema.get("x-kubernetes-group-version-kind", ())
        }

    def of(self, gvk: GroupVersionKind) -> Schema:
        """Return the schema of the kind ``gvk``; raise ``KeyError`` if there is none."""
        return self.named(self._names[gvk.group, gvk.version, gvk.kind])

    def named(self, name: str) -> Schema:
        """Return the schema of the type with the full name ``name``."""
        if name not in self._compiled:
            written = self.written[name]
            schema = _node(written, name=name)
            # Cached before its properties are compiled, because one of them may have the same type.
            self._compiled[name] = schema
            if name.startswith(f"{JSON_SCHEMA}Or"):
                schema.format, schema.items = "schema-or-other", self.named(JSON_SCHEMA)
            properties = written.get("properties", {})
            # In the order of the Go struct, in which Go encodes them.
            for key, declaration in self._declarations[name].items():
                if key in properties:
                    schema.properties[key] = as_declared(self._use(properties[key]), declaration)
            if name in MEANINGFUL_IF_EMPTY:
                _keep_if_empty(schema, MEANINGFUL_IF_EMPTY[name])
        return self._compiled[name]

    def kinds_beside(self, gvk: GroupVersionKind) -> KnownKinds:
        """Return all kinds in the Go scheme that contains ``gvk``.

        Each part of kube-apiserver has its own scheme.
        """
        return next(
            (each for each in self._schemes if gvk.kind in each.get(gvk.api_version, ())),
            self._schemes[0],
        )

    def _use(self, written: Mapping[str, Any]) -> Schema:
        """Return the schema at one use of a type.

        Each use has a separate node, because settings such as the default differ between uses.
        """
        for each in (written, *written.get("allOf", ())):
            if (ref := each.get("$ref")) is not None:
                return _merged(self.named(ref.removeprefix(REF)), written)
        schema = _node(written, name=None)
        if isinstance(additional := written.get("additionalProperties"), Mapping):
            schema.additional = self._use(additional)
        if (items := written.get("items")) is not None:
            schema.items = self._use(items)
        for key, each in written.get("properties", {}).items():
            schema.properties[key] = self._use(each)
        return schema


def _node(written: Mapping[str, Any], *, name: str | None) -> Schema:
    return _merged(
        Schema(
            type=written.get("type") if name not in FORMATS else None,
            format=FORMATS.get(name or "", written.get("format")),
            name=name,
            required=tuple(written.get("required", ())),
            int_or_string=written.get("format") == "int-or-string",
            preserve_unknown=name in OPAQUE,
            map_type="atomic" if name == RAW_EXTENSION else "granular",
            go_type=".".join((name or "").split(".")[-2:]),
        ),
        written,
    )


def _merged(schema: Schema, written: Mapping[str, Any]) -> Schema:
    """Return ``schema`` with the settings in ``written``, such as the default.

    The properties are shared with ``schema``.
    """
    return replace(
        schema,
        default=written.get("default", schema.default),
        list_type=written.get("x-kubernetes-list-type", schema.list_type),
        list_map_keys=tuple(written.get("x-kubernetes-list-map-keys", schema.list_map_keys)),
        map_type=written.get("x-kubernetes-map-type", schema.map_type),
        patch_strategies=tuple(
            filter(None, written.get("x-kubernetes-patch-strategy", "").split(","))
        )
        or schema.patch_strategies,
        patch_merge_key=written.get("x-kubernetes-patch-merge-key", schema.patch_merge_key),
    )


def _keep_if_empty(schema: Schema, path: Sequence[str]) -> None:
    name, *rest = path
    field = schema.properties[name]
    if rest:
        # A copy, because all fields of this type have the same properties.
        field.properties = {each: replace(inner) for each, inner in field.properties.items()}
        _keep_if_empty(field, rest)
    else:
        # As of a pointer: empty is then another value than null.
        field.drops_empty, field.pointer = False, True
