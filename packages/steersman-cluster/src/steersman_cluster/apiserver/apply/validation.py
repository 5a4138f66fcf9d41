"""The check that an applied configuration matches its schema.

It rejects undeclared fields and values of a wrong type, because their owners cannot be determined.
Validation checks everything else later, on the merged object.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.apply.path_elements import NoElement, element_of, shown
from steersman_cluster.apiserver.apply.typed_values import UNDECLARED, item_schema
from steersman_cluster.apiserver.schema.node import Schema

# A path relative to the checked value, and the problem. Paths are built only when a mismatch is
# found, because mismatches are rare.
Mismatch: TypeAlias = tuple[str, str]

# A scalar of its declared type needs no further check.
_FITTING: Final = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": None,
    "array": None,
    None: None,
}


def mismatches(value: Any, schema: Schema) -> list[str]:
    """Return an error message for each part of ``value`` that does not match ``schema``.

    The messages are worded as in kube-apiserver.
    """
    found = _mismatches(value, schema, open_=False)
    return [f"{path}: {what}" if path else what for path, what in found]


def _mismatches(value: Any, schema: Schema, *, open_: bool) -> Sequence[Mismatch]:
    if value is None:
        return ()
    if value.__class__ is dict and (schema.type == "object" or _may_be_anything(schema)):
        return _map_mismatches(value, schema, open_=open_ or schema.preserve_unknown)
    if value.__class__ is list and (schema.type == "array" or _may_be_anything(schema)):
        return _list_mismatches(value, schema, open_=open_ or schema.preserve_unknown)
    what = _scalar_mismatch(value, schema)
    return () if what is None else (("", what),)


def _may_be_anything(schema: Schema) -> bool:
    """Whether the schema permits values of every type.

    A schema without a type does, except for some built-in types that are strings or numbers.
    """
    is_scalar = schema.name is not None and schema.format is not None
    return schema.type is None and (not is_scalar or schema.preserve_unknown)


def _map_mismatches(value: dict[str, Any], schema: Schema, *, open_: bool) -> list[Mismatch]:
    found: list[Mismatch] = []
    declared = schema.properties
    others = schema.additional or (UNDECLARED if open_ or not declared else None)
    for name, each in value.items():
        child = declared.get(name, others)
        if child is None:
            found.append((f".{name}", "field not declared in schema"))
            break
        if each.__class__ is _FITTING[child.type]:
            continue
        # Built-in types are closed everywhere.
        inside = _mismatches(each, child, open_=open_ and child.name is None)
        found += [(f".{name}{path}", what) for path, what in inside] if inside else ()
    return found


def _list_mismatches(value: list[Any], schema: Schema, *, open_: bool) -> list[Mismatch]:
    found: list[Mismatch] = []
    seen = set[str]()
    child = item_schema(schema)
    for index, each in enumerate(value):
        element = f"i:{index}"
        if schema.list_type != "atomic":
            try:
                element = element_of(each, schema)
            except NoElement as error:
                found.append(("", f"element {index}: {error}"))
                break
            if element in seen:
                found.append(("", f"duplicate entries for key {shown(element)}"))
            seen.add(element)
        if each.__class__ is _FITTING[child.type]:
            continue
        inside = _mismatches(each, child, open_=open_)
        found += [(shown(element) + path, what) for path, what in inside] if inside else ()
    return found


def _scalar_mismatch(value: Any, schema: Schema) -> str | None:
    structured = isinstance(value, dict | list)
    match schema.type:
        case "object":
            return f"expected map, got &{{{_plain(value)}}}"
        case "array":
            return f"expected list, got &{{{_plain(value)}}}"
        case "integer" | "number" if structured or isinstance(value, bool | str):
            return f"expected numeric (int or float), got {_TYPES[type(value)]}"
        case "boolean" if not isinstance(value, bool):
            return f"expected boolean, got &{{{_plain(value)}}}"
        case "string" if schema.format in (None, "", "byte") and not isinstance(value, str):
            return f"expected string, got &value.valueUnstructured{{Value:{_literal(value)}}}"
        case _:
            return f"expected any scalar, got &{{{_plain(value)}}}" if structured else None


_TYPES = {
    str: "string",
    bool: "bool",
    dict: "map[string]interface {}",
    list: "[]interface {}",
}


def _plain(value: Any) -> str:
    """Return a value in the default format of Go's fmt package."""
    if value is None:
        return "<nil>"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_plain(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(_plain, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _literal(value: Any) -> str:
    """Return a value as a Go literal."""
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, dict):
        items = ", ".join(f"{json.dumps(key)}:{_literal(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{items}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_literal, value))}}}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return _plain(value)
