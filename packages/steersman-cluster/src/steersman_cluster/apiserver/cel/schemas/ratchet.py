"""Ratcheting: errors in parts of an object that a write does not change are accepted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from steersman_cluster.apiserver.schema.correlation import (
    correlated_element,
    correlated_field,
    is_unchanged,
)

_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Correlation:
    """A value and its old value.

    ``around`` contains the correlation of the parent and the schema of the parent. If a value has
    no old value, the correlation is that of its nearest ancestor that has one. The schema of the
    value itself is an argument of each method.
    """

    value: Any = _NOTHING
    old: Any = _NOTHING
    around: "tuple[Correlation, Mapping[str, Any]] | None" = None

    @property
    def is_correlated(self) -> bool:
        return self.old is not _NOTHING

    def key(self, schema: Mapping[str, Any], name: str) -> "Correlation":
        """Return the correlation of the field ``name``; ``schema`` describes this value."""
        if not self.is_correlated:
            return self
        if self.around is None and name in ("apiVersion", "kind"):
            return UNCORRELATED
        found = correlated_field(self.value, self.old, schema, name)
        value, old = (_NOTHING, _NOTHING) if found is None else found[:2]
        return Correlation(value, old, (self, schema))

    def index(self, schema: Mapping[str, Any], index: int) -> "Correlation":
        """Return the correlation of the element at ``index``; ``schema`` describes this list."""
        if not self.is_correlated:
            return self
        found = correlated_element(self.value, self.old, schema, index)
        value, old = (_NOTHING, _NOTHING) if found is None else found[:2]
        return Correlation(value, old, (self, schema))

    def is_unchanged(self, schema: Mapping[str, Any]) -> bool:
        """Whether this value, or else its nearest parent that has an old value, is unchanged.

        ``schema`` describes this value.
        """
        if self.is_correlated:
            return is_unchanged(self.value, self.old, schema)
        if self.around is None:
            return False
        outer, outer_schema = self.around
        return is_unchanged(outer.value, outer.old, outer_schema)


UNCORRELATED: Final = Correlation()


def correlated(new: Any, old: Any) -> Correlation:
    return Correlation(new, old)
