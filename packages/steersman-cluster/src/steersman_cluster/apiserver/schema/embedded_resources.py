"""Embedded resources of custom resources: each needs apiVersion, kind and valid metadata."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from steersman_cluster.apiserver.meta import object_meta as rules_of_metadata
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid, required
from steersman_cluster.apiserver.meta.name_validation import dns_1035_label, path_segment_name
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.serializer.canonical import Canonical, Walk
from steersman_cluster.apiserver.schema.serializer.inspection import Undecodable, inspect

_unknown_field = re.compile('unknown field "(.*)"').fullmatch


class BadEmbeddedResource(Exception):
    """An embedded resource cannot be decoded."""

    def __init__(self, error: FieldError) -> None:
        self.error = error
        super().__init__(str(error))


def decode_metadata(obj: dict[str, Any], schema: Schema) -> list[str]:
    """Decode the metadata of the resources embedded in ``obj`` in place.

    Returns the paths of the unknown fields in the metadata.
    """
    inside = _inside(obj, schema, "")
    return sorted(path for each in inside for path in decode_metadata_inside(*each))


def decode_metadata_inside(value: Any, schema: Schema, path: str) -> list[str]:
    """Decode the metadata of the embedded resources in ``value`` in place.

    ``value`` is at ``path``, and may itself be an embedded resource. Returns the paths of the
    unknown fields in the metadata.
    """
    unknown: list[str] = []
    if schema.embedded_resource and isinstance(value, dict):
        unknown += _decode_resource_metadata(value, schema.properties["metadata"], path)
    for each in _inside(value, schema, path):
        unknown += decode_metadata_inside(*each)
    return unknown


def embedded_errors(obj: dict[str, Any], schema: Schema) -> list[FieldError]:
    """Return the errors in the resources embedded in ``obj``; call ``decode_metadata`` before."""
    return [error for each in _inside(obj, schema, "") for error in part_errors(*each)]


def part_errors(value: Any, schema: Schema, path: str) -> list[FieldError]:
    """Return the errors in the embedded resources in ``value``, which is at ``path``.

    ``value`` may itself be an embedded resource.
    """
    found: list[FieldError] = []
    if schema.embedded_resource and isinstance(value, dict):
        found += _resource_errors(value, path)
    for each in _inside(value, schema, path):
        found += part_errors(*each)
    return found


def _inside(value: Any, schema: Schema, path: str) -> Iterator[tuple[Any, Schema, str]]:
    """Yield each direct child that may be an embedded resource or contain one."""
    if not schema.holds_resource:
        return
    if isinstance(value, dict):
        for key, each in value.items():
            if inner := schema.properties.get(key):
                if inner.holds_resource:
                    yield each, inner, f"{path}.{key}" if path else key
            elif schema.additional is not None and schema.additional.holds_resource:
                yield each, schema.additional, f"{path}[{key}]"
    elif isinstance(value, list) and schema.items is not None and schema.items.holds_resource:
        for index, each in enumerate(value):
            yield each, schema.items, f"{path}[{index}]"


def _decode_resource_metadata(
    resource: dict[str, Any], object_meta: Schema, path: str
) -> list[str]:
    for key in ("apiVersion", "kind"):
        if key in resource and not isinstance(resource[key], str):
            raise BadEmbeddedResource(invalid(f"{path}.{key}", resource[key], "must be a string"))
    if "metadata" not in resource:
        return []
    metadata = resource["metadata"]
    try:
        inspected = inspect({} if metadata is None else metadata, object_meta)
    except Undecodable as error:
        raise BadEmbeddedResource(invalid(f"{path}.metadata", metadata, str(error))) from None
    resource["metadata"] = _canonical(object_meta)(inspected.value)
    fields = (_unknown_field(each) for each in inspected.complaints)
    return [f"{path}.metadata.{found[1]}" for found in fields if found]


@lru_cache(maxsize=4)
def _canonical(object_meta: Schema) -> Walk:
    return Canonical().of(object_meta)


class _Metadata(msgspec.Struct, rename="camel"):
    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    generation: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[dict[str, Any]] | None = None
    managed_fields: list[dict[str, Any]] | None = None


class _Resource(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: _Metadata | None = None


def _is_well_formed(resource: dict[str, Any]) -> bool:
    """Return whether the fields of ``resource`` have the right types, as validation requires.

    An embedded resource that comes from a default in the schema may be malformed.
    """
    try:
        msgspec.convert(resource, _Resource)
    except msgspec.ValidationError:
        return False
    return True


def _resource_errors(resource: dict[str, Any], path: str) -> Iterator[FieldError]:
    for key in ("apiVersion", "kind"):
        if key not in resource:
            yield required(f"{path}.{key}")
    if not _is_well_formed(resource):
        return  # the validation by the schema reports wrong types
    api_version, kind = resource.get("apiVersion", "v1"), resource.get("kind", "Kind")
    if not api_version:
        yield invalid(f"{path}.apiVersion", api_version, "must not be empty")
    elif api_version.count("/") > 1:
        why = f"unexpected GroupVersion string: {api_version}"
        yield invalid(f"{path}.apiVersion", api_version, why)
    if not kind:
        yield invalid(f"{path}.kind", kind, "must not be empty")
    elif wrong := dns_1035_label(kind.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        yield invalid(f"{path}.kind", kind, why)
    if "metadata" in resource:
        metadata = {"name": "fakename", **(resource["metadata"] or {})}
        for error in rules_of_metadata.validate_create(
            metadata, namespaced="namespace" in metadata, name_errors=path_segment_name
        ):
            yield error._replace(field=f"{path}.{error.field}")
