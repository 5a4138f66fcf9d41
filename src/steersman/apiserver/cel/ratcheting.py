"""Whether a part of an object is as it was: errors in such parts are let through."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Correlation:
    """A value and what it was; without either, the nearest surroundings that have both.

    ``schema`` is what the surroundings are written by; a node knows its own.
    """

    value: Any = _NOTHING
    old: Any = _NOTHING
    around: "tuple[Correlation, Mapping[str, Any]] | None" = None

    @property
    def is_correlated(self) -> bool:
        return self.old is not _NOTHING

    def key(self, schema: Mapping[str, Any], name: str) -> "Correlation":
        """The same of a field of the value, which ``schema`` describes."""
        if not self.is_correlated:
            return self
        if self.around is None and name in ("apiVersion", "kind"):
            return ALONE
        found = _field(self.value, self.old, schema, name)
        value, old = (_NOTHING, _NOTHING) if found is None else found[:2]
        return Correlation(value, old, (self, schema))

    def index(self, schema: Mapping[str, Any], index: int) -> "Correlation":
        """The same of an element of a list."""
        if not self.is_correlated:
            return self
        found = _element(self.value, self.old, schema, index)
        value, old = (_NOTHING, _NOTHING) if found is None else found[:2]
        return Correlation(value, old, (self, schema))

    def is_unchanged(self, schema: Mapping[str, Any]) -> bool:
        """Whether the value is what it was, or is in something that is."""
        if self.is_correlated:
            return _is_same(self.value, self.old, schema)
        if self.around is None:
            return False
        outer, outer_schema = self.around
        return _is_same(outer.value, outer.old, outer_schema)


ALONE: Final = Correlation()


def correlated(new: Any, old: Any) -> Correlation:
    return Correlation(new, old)


def _field(
    value: Any, old: Any, schema: Mapping[str, Any], name: str
) -> tuple[Any, Any, Mapping[str, Any]] | None:
    if not isinstance(value, dict) or not isinstance(old, dict):
        return None
    if name not in value or name not in old:
        return None
    additional = schema.get("additionalProperties")
    inside = (schema.get("properties") or {}).get(name)
    if inside is None and isinstance(additional, Mapping):
        inside = additional
    return None if inside is None else (value[name], old[name], inside)


def _element(
    value: Any, old: Any, schema: Mapping[str, Any], index: int
) -> tuple[Any, Any, Mapping[str, Any]] | None:
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
    """Each element that has all its keys, by their values; the first of those that share them."""
    found: dict[Any, Any] = {}
    for each in elements:
        if not isinstance(each, dict) or any(each.get(key) is None for key in keys):
            continue
        values = tuple((type(each[key]), each[key]) for key in keys)
        if not any(isinstance(value, list | dict) for _, value in values):
            found.setdefault(values, each)
    return found


def _is_same(value: Any, old: Any, schema: Mapping[str, Any]) -> bool:
    """Equal by the schema: lists of type map in any order; what it does not know is changed."""
    if value is None or old is None:
        return value is old
    if isinstance(value, dict) and isinstance(old, dict):
        if len(value) != len(old):
            return False
        for name in value:
            found = _field(value, old, schema, name)
            if found is None or not _is_same(*found):
                return False
        return True
    if isinstance(value, list) and isinstance(old, list):
        if len(value) != len(old):
            return False
        if schema.get("x-kubernetes-list-type") != "map":
            return _deep_equal(value, old)
        for index in range(len(value)):
            found = _element(value, old, schema, index)
            if found is None or not _is_same(*found):
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
