"""The rules of immutable fields, which many kinds share."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman_cluster.apiserver.meta.field_errors import FieldError, immutable
from steersman_cluster.apiserver.meta.strategy import Object


def at(obj: Object, path: str) -> Any:
    """Return the value in ``obj`` at a path such as ``spec.controller``, or None."""
    value: Any = obj
    for name in path.split("."):
        value = (value or {}).get(name)
    return value


def keeps(fields: Mapping[str, Any]) -> Callable[[Object, Object], list[FieldError]]:
    """Return a ``validate_update`` function that reports changes of immutable fields.

    ``fields`` maps the path of each immutable field to the value that an error shows if the field
    is missing.
    """

    def errors(obj: Object, old: Object) -> list[FieldError]:
        return [
            immutable(path, at(obj, path) or nothing)
            for path, nothing in fields.items()
            if (at(obj, path) or None) != (at(old, path) or None)
        ]

    return errors
