"""Validation of ``metav1.Condition``, which all newer kinds use."""

from collections.abc import Iterable
from typing import Any, Final

from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import condition_reason, label_key

_STATUSES: Final = ("False", "True", "Unknown")
_LONGEST: Final = {"reason": 1024, "message": 32 * 1024}


def condition_errors(conditions: Iterable[dict[str, Any]], path: str) -> list[FieldError]:
    """Return the errors in the conditions of a status."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        at, kind = f"{path}[{index}]", condition.get("type", "")
        if kind in seen:
            errors.append(duplicate(f"{at}.type", kind))
        seen.add(kind)
        errors += _errors(condition, at)
    return errors


def _errors(condition: dict[str, Any], path: str) -> list[FieldError]:
    kind, status = condition.get("type", ""), condition.get("status", "")
    errors = all_invalid(f"{path}.type", kind, label_key(kind))
    if status not in _STATUSES:
        errors.append(not_supported(f"{path}.status", status, _STATUSES))
    if (generation := condition.get("observedGeneration", 0)) < 0:
        why = "must be greater than or equal to zero"
        errors.append(invalid(f"{path}.observedGeneration", generation, why))
    if condition.get("lastTransitionTime") is None:
        errors.append(required(f"{path}.lastTransitionTime"))
    if reason := condition.get("reason"):
        errors += all_invalid(f"{path}.reason", reason, condition_reason(reason))
    else:
        errors.append(required(f"{path}.reason"))
    for field, longest in _LONGEST.items():
        if len((text := condition.get(field) or "").encode()) > longest:
            errors.append(too_long(f"{path}.{field}", text, longest))
    return errors
