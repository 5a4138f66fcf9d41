"""Stored values that were valid under an earlier schema but do not match the current one."""

from collections.abc import Mapping
from typing import Any, Final

from steersman_cluster.apiserver.cel.value_conversion import Convert
from steersman_cluster.apiserver.cel.values import Broken

_SCALARS: Final[Mapping[str, tuple[str, tuple[type, ...]]]] = {
    "boolean": ("bool", (bool,)),
    "integer": ("int", (int,)),
    "number": ("float", (int, float)),
    "string": ("string", (str,)),
}
_GO_TYPES: Final = {bool: "bool", int: "int64", float: "float64", str: "string"}


def mark_broken(written: Mapping[str, Any]) -> Convert:
    """Return a function that replaces values of a wrong type with ``Broken``.

    ``written`` is the schema. A list or a map that contains a value of a wrong type is replaced
    completely.
    """
    if written.get("x-kubernetes-int-or-string"):
        return _as_it_is
    match written.get("type"):
        case "object":
            return _object(written)
        case "array":
            return _list(written)
        case str() as kind if kind in _SCALARS:
            return _scalar(kind)
        case _:
            return _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _scalar(kind: str) -> Convert:
    wanted, fitting = _SCALARS[kind]

    def replace_broken(value: Any) -> Any:
        if type(value) in fitting:
            return value
        found = _GO_TYPES.get(type(value), "other")
        return Broken(f"invalid data, expected {wanted}, got {found}")

    return replace_broken


def _object(written: Mapping[str, Any]) -> Convert:
    inside = {name: mark_broken(each) for name, each in (written.get("properties") or {}).items()}
    additional = written.get("additionalProperties")
    values = mark_broken(additional) if isinstance(additional, Mapping) else None
    broken = Broken("invalid data, expected a map for the provided schema with type=object")

    def replace_broken(value: Any) -> Any:
        if not isinstance(value, dict):
            return broken
        if values is not None:
            return _whole(value, value.values(), values)
        found = {
            name: each(value[name]) for name, each in inside.items() if value.get(name) is not None
        }
        if all(each is value[name] for name, each in found.items()):
            return value
        return {**value, **found}

    return replace_broken


def _list(written: Mapping[str, Any]) -> Convert:
    items = written.get("items")
    element = mark_broken(items) if isinstance(items, Mapping) else _as_it_is
    broken = Broken("invalid data, expected an array for the provided schema with type=array")

    def replace_broken(value: Any) -> Any:
        return _whole(value, value, element) if isinstance(value, list) else broken

    return replace_broken


def _whole(value: Any, elements: Any, each_of: Convert) -> Any:
    for each in elements:
        if each is not None and type(found := each_of(each)) is Broken:
            return found
    return value
