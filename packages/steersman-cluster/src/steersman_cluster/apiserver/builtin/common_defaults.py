"""Small defaults that many kinds share."""

from collections.abc import Callable
from typing import Any

from steersman_cluster.apiserver.meta.rules import Object, RuleContext


def fill(obj: Object, **values: Any) -> None:
    """Each field that is not there gets its value."""
    for field, value in values.items():
        # A null is how Go writes some of what is not there.
        if obj.get(field) is None:
            obj[field] = value


def fill_empty(obj: Object, **values: Any) -> None:
    """Each field that is not there, or empty, gets its value."""
    for field, value in values.items():
        if not obj.get(field):
            obj[field] = value


def protected_by(finalizer: str) -> Callable[[Object, Object | None, RuleContext], None]:
    """For ``admit``: nothing goes before a controller has agreed."""

    def protect(obj: Object, old: Object | None, _: RuleContext) -> None:
        finalizers = obj["metadata"].get("finalizers", [])
        if old is None and finalizer not in finalizers:
            obj["metadata"]["finalizers"] = [*finalizers, finalizer]

    return protect
