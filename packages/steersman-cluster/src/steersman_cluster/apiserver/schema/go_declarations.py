"""The Go declarations of built-in types' fields, and their effect on encoded objects."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steersman_cluster.apiserver.schema.node import UNSET, Schema

# Go's zero value of each format and type. An empty list or map is null, because kube-apiserver
# stores objects as protobuf, which does not distinguish them.
_ZERO_OF_FORMAT: Mapping[str | None, Any] = {
    "quantity": "0",
    "int-or-string": 0,
    "date-time": None,
    "micro-time": None,
    "byte": None,
}
_ZERO_OF_TYPE: Mapping[str | None, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
}

_ELEMENT = {"string": "string", "integer": "int32", "boolean": "bool"}


def as_declared(schema: Schema, declaration: str) -> Schema:
    """Return ``schema`` with what ``declaration`` specifies: a field's declaration in Go.

    The format of ``declaration`` is "Go type,omission,embedded struct,number,name".
    """
    go_type, omission, embedding, number, go_name = declaration.rsplit(",", 4)
    pointer = go_type.startswith("*")
    omits_zero = omission == "omitzero" or (omission == "omitempty" and not _is_struct(schema))
    return replace(
        _typed(schema, go_type.removeprefix("*")),
        pointer=pointer,
        drops_empty=omits_zero and not pointer,
        absent=UNSET if omits_zero or (pointer and omission) else zero_of(schema, pointer=pointer),
        go_name=go_name,
        go_embedding=embedding,
        # TypeMeta has no field number: it is not part of the message.
        number=() if number[:1] in ("", ".") else tuple(map(int, number.split("."))),
    )


def zero_of(schema: Schema, *, pointer: bool = False) -> Any:
    """Return what Go encodes for a value of the type ``schema`` that was never set.

    ``{}`` stands for a struct with zero values. A ``pointer`` is encoded as null (None).
    """
    if pointer:
        return None
    for zeros, key in ((_ZERO_OF_FORMAT, schema.format), (_ZERO_OF_TYPE, schema.type)):
        if key in zeros:
            return zeros[key]
    return {} if _is_struct(schema) and not schema.preserve_unknown else None


def _is_struct(schema: Schema) -> bool:
    """Return whether Go has a struct type for the schema; "omitempty" never omits a struct."""
    return schema.name is not None


def _typed(schema: Schema, go_type: str) -> Schema:
    """Return the schema with the Go types for messages, also for list and map elements."""
    if schema.items is not None:
        schema = replace(schema, items=_typed(schema.items, _element(go_type, schema.items)))
    elif schema.additional is not None:
        additional = _typed(schema.additional, _element(go_type, schema.additional))
        schema = replace(schema, additional=additional)
    return replace(schema, go_type=go_type)


def _element(go_type: str, element: Schema) -> str:
    if go_type.startswith(("[]", "map[")):
        return go_type.partition("]")[2].removeprefix("*")
    return _ELEMENT.get(element.type or "", element.go_type)
