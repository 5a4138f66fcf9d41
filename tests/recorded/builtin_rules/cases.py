"""A case: an object to create, or an existing object and a change to it."""

from dataclasses import dataclass, replace
from typing import Any

Object = dict[str, Any]

HERE = "{namespace}"  # a placeholder for the namespace of the case


@dataclass(frozen=True, kw_only=True)
class Case:
    """Create ``body``; with ``change``, create ``body`` and then update it with the change."""

    says: str
    plural: str
    body: Object
    api_version: str = "v1"
    change: Object | None = None  # a merge patch; the test applies it, and sends a PUT
    subresource: str = ""
    namespaced: bool = True
    # Created instead of a dry run, where a dry run is more lenient.
    for_real: bool = False
    # Every cluster has the object, so that it is neither created nor deleted.
    there_already: bool = False
    # Objects of the same kind that exist before.
    beside: tuple[Object, ...] = ()

    def __str__(self) -> str:
        return f"{self.plural}: {self.says}"


def placed(case: Case, namespace: str) -> Case:
    """The case, with the namespace in place of the placeholder."""

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [filled(each) for each in value]
        return namespace if value == HERE else value

    return replace(case, body=filled(case.body), change=filled(case.change))


def merged(target: Any, patch: Any) -> Any:
    """A JSON merge patch, applied to a copy."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
