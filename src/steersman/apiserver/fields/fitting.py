"""Whether an applied configuration fits its schema at all.

Fields that are not declared and values of the wrong sort make it impossible to say what would be
owned. Everything finer is for validation, which looks at the merged object.
"""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from steersman.apiserver.fields.elements import NoElement, element_of, shown
from steersman.apiserver.fields.walking import UNDECLARED, item_schema
from steersman.apiserver.schema.node import Schema

Misfit: TypeAlias = tuple[str, str]  # where, and what is wrong there


def misfits(value: Any, schema: Schema) -> list[str]:
    """What does not fit, in the words of the API."""
    found = _misfits(value, schema, "", open_=False)
    return [f"{path}: {what}" if path else what for path, what in found]


def _misfits(value: Any, schema: Schema, path: str, *, open_: bool) -> Iterator[Misfit]:
    if value is None:
        return
    if isinstance(value, dict) and _may_be("object", schema):
        yield from _map_misfits(value, schema, path, open_=open_ or schema.preserve_unknown)
    elif isinstance(value, list) and _may_be("array", schema):
        yield from _list_misfits(value, schema, path, open_=open_ or schema.preserve_unknown)
    elif (what := _scalar_misfit(value, schema)) is not None:
        yield path, what


def _may_be(sort: str, schema: Schema) -> bool:
    return schema.type == sort or (schema.type is None and not _is_scalar(schema))


def _is_scalar(schema: Schema) -> bool:
    """Built-in types that are text or numbers, though the schema names no type."""
    return schema.name is not None and schema.format is not None and not schema.preserve_unknown


def _map_misfits(
    value: dict[str, Any], schema: Schema, path: str, *, open_: bool
) -> Iterator[Misfit]:
    others = schema.additional or (UNDECLARED if open_ or not schema.properties else None)
    for name, each in value.items():
        child = schema.properties.get(name, others)
        if child is None:
            yield f"{path}.{name}", "field not declared in schema"
            return
        # A type of the server's own is the same wherever it stands.
        yield from _misfits(each, child, f"{path}.{name}", open_=open_ and child.name is None)


def _list_misfits(value: list[Any], schema: Schema, path: str, *, open_: bool) -> Iterator[Misfit]:
    seen = set[str]()
    for index, each in enumerate(value):
        element = f"i:{index}"
        if schema.list_type != "atomic":
            try:
                element = element_of(each, schema)
            except NoElement as error:
                yield path, f"element {index}: {error}"
                return
            if element in seen:
                yield path, f"duplicate entries for key {shown(element)}"
            seen.add(element)
        yield from _misfits(each, item_schema(schema), path + shown(element), open_=open_)


def _scalar_misfit(value: Any, schema: Schema) -> str | None:
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
    """A value as Go prints it."""
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
    """A value as Go would write it in a program."""
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
