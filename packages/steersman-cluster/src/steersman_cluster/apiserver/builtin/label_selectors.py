"""Validation of labels and label selectors, and the matching of selectors."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    invalid,
    required,
)
from steersman_cluster.apiserver.meta.name_validation import label_key, label_value

_NEEDS_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
_TAKES_NO_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
UNKNOWN_OPERATOR = "not a valid selector operator"


def label_errors(labels: Mapping[str, str], path: str) -> list[FieldError]:
    """Return the errors in ``labels``; each error has ``path``, the path of the map."""
    errors: list[FieldError] = []
    for key, value in labels.items():
        if wrong := label_key(key):
            errors += all_invalid(path, key, wrong)
        if wrong := label_value(value):
            errors += all_invalid(path, value, wrong)
    return errors


def annotation_errors(annotations: Mapping[str, str], path: str) -> list[FieldError]:
    """Return the errors in ``annotations``, whose keys may contain upper-case letters."""
    errors: list[FieldError] = []
    for key in annotations:
        if wrong := label_key(key.lower()):
            errors += all_invalid(path, key, wrong)
    return errors


def operator_errors(operator: str, values: Sequence[str], path: str) -> list[FieldError]:
    """Return the errors in ``operator``, and in the number of ``values`` that it has."""
    if operator in ("In", "NotIn"):
        return [] if values else [required(f"{path}.values", _NEEDS_VALUES)]
    if operator in ("Exists", "DoesNotExist"):
        return [forbidden(f"{path}.values", _TAKES_NO_VALUES)] if values else []
    return [invalid(f"{path}.operator", operator, UNKNOWN_OPERATOR)]


def _operator_errors(requirement: Mapping[str, Any], path: str) -> list[FieldError]:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    return operator_errors(operator, values, path)


LABEL_SELECTOR: Final = rule.table(
    rule.given("matchLabels", rule.code(label_errors)),
    rule.given(
        "matchExpressions",
        rule.each(
            rule.code(_operator_errors),
            rule.always("key", label_key),
            rule.given("values", rule.each(label_value)),
        ),
    ),
)


def selector_errors(selector: Mapping[str, Any] | None, path: str) -> list[FieldError]:
    """Return the errors in a label selector."""
    return [] if selector is None else LABEL_SELECTOR(selector, path)


def is_empty(selector: Mapping[str, Any]) -> bool:
    """Return whether a label selector has no requirements, and therefore selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a valid selector selects an object with ``labels``; None selects nothing."""
    if selector is None:
        return False
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(_fulfils(each, labels) for each in selector.get("matchExpressions") or ())


def _fulfils(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement["key"])
    match requirement["operator"]:
        case "In":
            return value in requirement["values"]
        case "NotIn":
            return value not in requirement["values"]
        case "Exists":
            return value is not None
        case _:
            return value is None


def label_keys_errors(
    path: str,
    matched: Sequence[str],
    mismatched: Sequence[str],
    selector: Mapping[str, Any] | None,
) -> list[FieldError]:
    """Return the errors in ``matchLabelKeys`` and ``mismatchLabelKeys``.

    ``matched`` and ``mismatched`` are the keys in these fields; ``selector`` is the label selector
    of the same term.
    """
    errors: list[FieldError] = []
    for name, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if keys and selector is None:
            errors.append(
                forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
            )
        elif keys:
            for index, key in enumerate(keys):
                errors += all_invalid(f"{path}.{name}[{index}]", key, label_key(key))
    if matched and selector is not None:
        # The strategy has already added the keys to the expressions of the selector, so that one
        # expression with each key is expected. A second one means that the author wrote it.
        seen = set(selector.get("matchLabels") or {})
        last = {key: index for index, key in enumerate(matched)}
        for each in selector.get("matchExpressions") or ():
            key = each.get("key", "")
            if key in seen and key in last:
                detail = "exists in both matchLabelKeys and labelSelector"
                errors.append(invalid(f"{path}[{last[key]}]", key, detail))
            seen.add(key)
    unwanted = set(mismatched)
    for index, key in enumerate(matched):
        if key in unwanted:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(invalid(f"{path}.matchLabelKeys[{index}]", key, detail))
    return errors
