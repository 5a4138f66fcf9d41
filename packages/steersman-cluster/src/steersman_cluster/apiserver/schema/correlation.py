"""Which part of an old object corresponds to a part of a new one, and whether both are equal.

Ratcheting ignores errors in unchanged parts. Both schema validation and CEL rules use ratcheting.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

Written: TypeAlias = Mapping[str, Any]


def correlated_field(
    value: Any, old: Any, schema: Written, name: str
) -> tuple[Any, Any, Written] | None:
    if not isinstance(value, dict) or not isinstance(old, dict):
        return None
    if name not in value or name not in old:
        return None
    additional = schema.get("additionalProperties")
    inside = (schema.get("properties") or {}).get(name)
    if inside is None and isinstance(additional, Mapping):
        inside = additional
    return None if inside is None else (value[name], old[name], inside)


def correlated_element(
    value: Any, old: Any, schema: Written, index: int
) -> tuple[Any, Any, Written] | None:
    items = schema.get("items")
    keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map":
        return None
    found = by_key([value[index]], keys)
    before = by_key(old, keys).get(next(iter(found))) if found else None
    if before is None or not isinstance(items, Mapping):
        return None
    return value[index], before, items


def by_key(elements: list[Any], keys: tuple[str, ...]) -> dict[Any, Any]:
    """Return the elements of a list, by their values of the fields ``keys``.

    An element that lacks one of the keys is omitted. Of several elements with the same values, only
    the first is returned.
    """
    found: dict[Any, Any] = {}
    for each in elements:
        if not isinstance(each, dict) or any(each.get(key) is None for key in keys):
            continue
        values = tuple((type(each[key]), each[key]) for key in keys)
        if not any(isinstance(value, list | dict) for _, value in values):
            found.setdefault(values, each)
    return found


def is_unchanged(value: Any, old: Any, schema: Written) -> bool:
    """Return whether ``value`` and ``old`` are equal according to the schema.

    In a list of type ``map``, the order of the elements is irrelevant. A field that the schema does
    not specify counts as changed.
    """
    if value is None or old is None:
        return value is old
    if isinstance(value, dict) and isinstance(old, dict):
        if len(value) != len(old):
            return False
        for name in value:
            found = correlated_field(value, old, schema, name)
            if found is None or not is_unchanged(*found):
                return False
        return True
    if isinstance(value, list) and isinstance(old, list):
        if len(value) != len(old):
            return False
        if schema.get("x-kubernetes-list-type") != "map":
            return _deep_equal(value, old)
        for index in range(len(value)):
            found = correlated_element(value, old, schema, index)
            if found is None or not is_unchanged(*found):
                return False
        return True
    return _deep_equal(value, old)


def _deep_equal(value: Any, old: Any) -> bool:
    if type(value) is not type(old):
        return False
    if isinstance(value, dict):
        return len(value) == len(old) and all(
            key in old and _deep_equal(each, old[key]) for key, each in value.items()
        )
    if isinstance(value, list):
        return len(value) == len(old) and all(map(_deep_equal, value, old))
    return bool(value == old)
