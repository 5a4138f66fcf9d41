"""Validation that many kinds share: required and immutable fields."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    immutable,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import path_segment
from steersman_cluster.apiserver.meta.strategy import Object


def at(obj: Object, path: str) -> Any:
    """Return the value in ``obj`` at a path such as ``spec.controller``, or None."""
    value: Any = obj
    for name in path.split("."):
        value = (value or {}).get(name)
    return value


def needs(*paths: str, **why: str) -> Callable[[Object], list[FieldError]]:
    """Return a ``validate`` function that reports each empty or missing field of ``paths``.

    ``why`` maps the last part of a path to the detail of the error.
    """

    def errors(obj: Object) -> list[FieldError]:
        return [
            required(path, why.get(path.rpartition(".")[2], ""))
            for path in paths
            if not at(obj, path)
        ]

    return errors


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


def segment_errors(name: str | None, path: str) -> list[FieldError]:
    """Return the errors in a name that is required and must be a valid path segment."""
    return all_invalid(path, name, path_segment(name)) if name else [required(path)]
