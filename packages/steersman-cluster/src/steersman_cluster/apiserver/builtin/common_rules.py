"""What many kinds ask for and no more: fields that are there, and fields that never change."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    immutable,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import path_segment
from steersman_cluster.apiserver.meta.rules import Object


def at(obj: Object, path: str) -> Any:
    """What stands at ``spec.controller``, or None."""
    value: Any = obj
    for name in path.split("."):
        value = (value or {}).get(name)
    return value


def needs(*paths: str, **why: str) -> Callable[[Object], list[FieldError]]:
    """For ``validate``: each of these is there, and not empty; of some, in words, why."""

    def errors(obj: Object) -> list[FieldError]:
        return [
            required(path, why.get(path.rpartition(".")[2], ""))
            for path in paths
            if not at(obj, path)
        ]

    return errors


def keeps(fields: Mapping[str, Any]) -> Callable[[Object, Object], list[FieldError]]:
    """For ``validate_update``: each of these stays as it was; with what is shown if it is gone."""

    def errors(obj: Object, old: Object) -> list[FieldError]:
        return [
            immutable(path, at(obj, path) or nothing)
            for path, nothing in fields.items()
            if (at(obj, path) or None) != (at(old, path) or None)
        ]

    return errors


def segment_errors(name: str | None, path: str) -> list[FieldError]:
    """It is there, and can stand between two slashes."""
    return all_invalid(path, name, path_segment(name)) if name else [required(path)]
