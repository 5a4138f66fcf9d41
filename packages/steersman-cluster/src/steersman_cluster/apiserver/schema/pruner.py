"""Pruning: removes the fields of a custom resource that its schema does not specify.

Objects of built-in kinds need no pruning: decoding them into Go structs drops unknown fields,
ignores nulls in fields that are not nullable, and decodes metadata as ObjectMeta.
"""

from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.meta.go_json import NoFloat, no_float
from steersman_cluster.apiserver.meta.status_errors import StatusError, bad_request
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.embedded_resources import (
    BadEmbeddedResource,
    decode_metadata,
)
from steersman_cluster.apiserver.schema.node import UNSET, Schema
from steersman_cluster.apiserver.schema.structural import META_FIELDS

# The keys and indexes of a value in an object.
Path: TypeAlias = tuple[str | int, ...]

# The schema of values of unspecified fields.
_UNKNOWN: Final = Schema()

_MIN_INTEGER: Final = -(1 << 63)
_GREATEST_INTEGER: Final = (1 << 63) - 1


def accept(obj: Object, schema: Schema) -> list[str]:
    """Prune the custom resource ``obj`` in place; return the paths of its unknown fields.

    The metadata of embedded resources is decoded, too. The metadata of ``obj`` itself must have
    been decoded before.
    """
    try:
        return prune(obj, schema) + decode_metadata(obj, schema)
    except (BadEmbeddedResource, NoFloat) as error:
        raise _mismatch(obj, error) from None


def accept_applied(obj: Object, schema: Schema) -> None:
    """Normalize ``obj``, the result of an apply, in place, without pruning it.

    kube-apiserver prunes an object when it decodes it, but merges an applied object only after
    decoding. Unknown fields and nulls therefore reach validation. They are dropped when the object
    is read from storage.
    """
    try:
        _regular(obj)
        decode_metadata(obj, schema)
    except (BadEmbeddedResource, NoFloat) as error:
        raise _mismatch(obj, error) from None


def _mismatch(obj: Object, error: BadEmbeddedResource | NoFloat) -> StatusError:
    kind, version = obj["kind"], obj["apiVersion"].rpartition("/")[2]
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {error}')


def whole_floats(value: Any) -> list[Path]:
    """Return the paths of whole numbers that were written as floats, such as ``1.0``."""
    kind = type(value)
    found: list[Path] = []
    for key, each in value.items() if kind is dict else enumerate(value) if kind is list else ():
        kind = type(each)
        if kind is float:
            if each.is_integer():
                found.append((key,))
        elif (kind is dict or kind is list) and (inside := whole_floats(each)):
            found += [(key, *path) for path in inside]
    return found


def prune(value: Any, schema: Schema) -> list[str]:
    """Remove unknown fields and invalid nulls from ``value`` in place.

    Returns the paths of the unknown fields.
    """
    unknown: list[str] = []
    if isinstance(value, dict):
        _prune_object(value, schema, "", unknown, schema.preserve_unknown)
    elif isinstance(value, list):
        _prune_list(value, schema, "", unknown, schema.preserve_unknown)
    return sorted(unknown)


def _prune_object(
    value: dict[str, Any], schema: Schema, path: str, unknown: list[str], keeps: bool
) -> None:
    properties, additional = schema.properties, schema.additional
    is_resource = schema.embedded_resource
    gone: list[str] | None = None
    for key, each in value.items():
        if is_resource and key in META_FIELDS:
            if each is None and _may_not_be_null(schema, key):
                gone = [key] if gone is None else [*gone, key]
            continue
        child = properties.get(key, additional)
        if child is None:
            if keeps:
                value[key] = _regular(each)
                continue
            unknown.append(f"{path}.{key}" if path else key)
        elif each is None:
            if child.nullable or child.default is not UNSET:
                continue
        else:
            kind = type(each)
            if kind is dict:
                place = f"{path}.{key}" if path else key
                _prune_object(each, child, place, unknown, child.preserve_unknown)
            elif kind is list:
                place = f"{path}.{key}" if path else key
                _prune_list(each, child, place, unknown, child.preserve_unknown)
            elif kind is float or kind is int:
                value[key] = _regular(each)
            continue
        gone = [key] if gone is None else [*gone, key]
    if gone is not None:
        for key in gone:
            del value[key]


def _may_not_be_null(resource: Schema, key: str) -> bool:
    """Return whether a null in the field ``key`` of an embedded resource is dropped.

    The null is dropped if the schema specifies the field as neither nullable nor defaulted.
    """
    said = (resource.written.get("properties") or {}).get(key)
    return said is not None and not said.get("nullable") and said.get("default") is None


def _prune_list(
    value: list[Any], schema: Schema, path: str, unknown: list[str], keeps: bool
) -> None:
    """Prune the items of a list.

    ``keeps``: whether the list and its items preserve unknown fields.
    """
    items = schema.items
    if items is None:
        if keeps:
            _regular(value)
            return
        items = _UNKNOWN
    keeps = keeps or items.preserve_unknown
    for index, each in enumerate(value):
        kind = type(each)
        if kind is dict:
            _prune_object(each, items, f"{path}[{index}]", unknown, keeps)
        elif kind is list:
            _prune_list(each, items, f"{path}[{index}]", unknown, keeps)
        elif kind is float or kind is int:
            value[index] = _regular(each)


def _regular(value: Any) -> Any:
    """Normalize numbers as Go does: whole numbers become integers if they fit into 64 bits."""
    kind = type(value)
    if kind is int:
        return value if _MIN_INTEGER <= value <= _GREATEST_INTEGER else _as_float(value)
    if kind is float:
        return int(value) if value.is_integer() and abs(value) <= _GREATEST_INTEGER else value
    if kind is dict:
        for key, each in value.items():
            value[key] = _regular(each)
    elif kind is list:
        value[:] = map(_regular, value)
    return value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise no_float(str(value)) from None
