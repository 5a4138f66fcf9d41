"""Uniqueness in lists of type ``set`` (members) and ``map`` (keys)."""

from typing import Any

import msgspec

from steersman_cluster.apiserver.meta.field_errors import FieldError, duplicate, invalid
from steersman_cluster.apiserver.schema.node import Schema


class Uniqueness:
    """The check for duplicates in the lists of type ``set`` and ``map`` of a schema.

    The check visits only values that can contain such a list.
    """

    __slots__ = ("_additional", "_fields", "_items", "_keys", "_kind")

    def __init__(self, schema: Schema) -> None:
        self._kind = schema.list_type
        self._keys = schema.list_map_keys
        inside = {
            name: Uniqueness(schema.properties[name])
            for name in schema.written.get("properties") or ()
        }
        self._fields = {name: each for name, each in inside.items() if each}
        self._additional = _needed(schema.additional)
        self._items = _needed(schema.items)

    def __bool__(self) -> bool:
        return bool(self._kind != "atomic" or self._fields or self._additional or self._items)

    def errors(self, value: Any, path: str = "") -> list[FieldError]:
        """Return the errors about duplicates in ``value``, which is at ``path``, at any depth."""
        found: list[FieldError] = []
        if isinstance(value, dict):
            for key, each in value.items():
                if inner := self._fields.get(key):
                    found += inner.errors(each, f"{path}.{key}" if path else key)
                elif self._additional:
                    found += self._additional.errors(each, f"{path}[{key}]")
        elif isinstance(value, list):
            if self._kind == "set":
                found += [duplicate(f"{path}[{at}]", value[at]) for at in _repeated(value)]
            elif self._kind == "map":
                found += self._map_errors(value, path)
            if self._items:
                for index, each in enumerate(value):
                    found += self._items.errors(each, f"{path}[{index}]")
        return found

    def _map_errors(self, value: list[Any], path: str) -> list[FieldError]:
        keys: list[dict[str, Any]] = []
        for index, each in enumerate(value):
            if each is not None and not isinstance(each, dict):
                why = "must be an object for an array of list-type map"
                return [invalid(f"{path}[{index}]", each, why)]
            item = each or {}
            keys.append({key: item[key] for key in self._keys if key in item})
        return [duplicate(f"{path}[{at}]", keys[at]) for at in _repeated(keys)]


def _needed(schema: Schema | None) -> Uniqueness | None:
    if schema is None:
        return None
    return Uniqueness(schema) or None


def _repeated(values: list[Any]) -> list[int]:
    """Return the index of the second occurrence of each value that occurs several times."""
    if len(values) < 2:
        return []
    seen: dict[bytes, int] = {}
    repeated: list[int] = []
    for index, each in enumerate(values):
        text = msgspec.json.encode(each, order="sorted")
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            repeated.append(index)
    return repeated
