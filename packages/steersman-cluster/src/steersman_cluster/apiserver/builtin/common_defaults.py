"""Functions for defaults that many kinds share."""

from collections.abc import Callable
from typing import Any

from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext


def fill(obj: Object, **values: Any) -> None:
    """Set each of the fields ``values`` that is missing or null in ``obj``."""
    for field, value in values.items():
        # Go encodes some absent fields as null.
        if obj.get(field) is None:
            obj[field] = value


def fill_empty(obj: Object, **values: Any) -> None:
    """Set each of the fields ``values`` that is missing or empty in ``obj``."""
    for field, value in values.items():
        if not obj.get(field):
            obj[field] = value


def protected_by(finalizer: str) -> Callable[[Object, Object | None, StrategyContext], None]:
    """Return an ``admit`` function that adds ``finalizer`` to a new object.

    The finalizer protects the object: a controller removes it only when the object can be deleted.
    """

    def protect(obj: Object, old: Object | None, _: StrategyContext) -> None:
        finalizers = obj["metadata"].get("finalizers", [])
        if old is None and finalizer not in finalizers:
            obj["metadata"]["finalizers"] = [*finalizers, finalizer]

    return protect
