"""Validation of the failure policy and the success policy of Jobs."""

import re
from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.meta.field_errors import (
    OMITTED,
    FieldError,
    all_invalid,
    duplicate,
    invalid,
    not_supported,
    required,
    shown,
    too_long,
    too_many,
)
from steersman_cluster.apiserver.meta.name_validation import NOT_NEGATIVE, label_key
from steersman_cluster.apiserver.meta.strategy import Object

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS: Final = ("In", "NotIn")
_STATUSES: Final = ("False", "True", "Unknown")
_MAX_RULES: Final = 20
_MAX_CODES: Final = 255
_MAX_INDEXES_LENGTH: Final = 64 * 1024
_integer = re.compile("[+-]?[0-9]{1,18}").fullmatch


def failure_policy_errors(spec: Object, path: str) -> list[FieldError]:
    """Return the errors in ``podFailurePolicy``, which classifies the failures of Pods."""
    rules = spec["podFailurePolicy"].get("rules") or ()
    errors = _too_many_errors(len(rules), _MAX_RULES, f"{path}.rules")
    for index, rule in enumerate(rules):
        errors += _failure_rule_errors(rule, f"{path}.rules[{index}]", spec)
    return errors


def _too_many_errors(count: int, most: int, path: str) -> list[FieldError]:
    return [too_many(path, count, most)] if count > most else []


def _failure_rule_errors(rule: Object, path: str, spec: Object) -> Iterator[FieldError]:
    action = rule.get("action", "")
    if action == "FailIndex" and "backoffLimitPerIndex" not in spec:
        detail = "requires the backoffLimitPerIndex to be set"
        yield invalid(f"{path}.action", action, detail)
    yield from _choice_errors(action, _ACTIONS, f"{path}.action")
    codes: Object | None = rule.get("onExitCodes")
    conditions = rule.get("onPodConditions") or ()
    if codes is not None:
        yield from _exit_code_errors(codes, f"{path}.onExitCodes", spec)
    yield from _too_many_errors(len(conditions), _MAX_RULES, f"{path}.onPodConditions")
    for index, pattern in enumerate(conditions):
        where, kind = f"{path}.onPodConditions[{index}]", pattern.get("type", "")
        yield from all_invalid(f"{where}.type", kind, label_key(kind))
        yield from _choice_errors(pattern.get("status", ""), _STATUSES, f"{where}.status")
    if codes is not None and conditions:
        detail = "specifying both OnExitCodes and OnPodConditions is not supported"
        yield invalid(path, OMITTED, detail)
    if codes is None and not conditions:
        yield invalid(
            path, OMITTED, "specifying one of OnExitCodes and OnPodConditions is required"
        )


def _choice_errors(value: str, choices: tuple[str, ...], path: str) -> list[FieldError]:
    if not value:
        return [required(path, f"valid values: [{' '.join(map(shown, choices))}]")]
    return [] if value in choices else [not_supported(path, value, choices)]


def _exit_code_errors(codes: Object, path: str, spec: Object) -> Iterator[FieldError]:
    operator, name = codes.get("operator", ""), codes.get("containerName")
    yield from _choice_errors(operator, _OPERATORS, f"{path}.operator")
    pod: Object = spec["template"].get("spec") or {}
    containers = [*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]
    if name is not None and name not in {each.get("name", "") for each in containers}:
        detail = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, detail)
    values = codes.get("values") or []
    if not values:
        yield invalid(f"{path}.values", codes.get("values"), "at least one value is required")
    yield from _too_many_errors(len(values), _MAX_CODES, f"{path}.values")
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            detail = "must not be 0 for the In operator"
            yield invalid(f"{path}.values[{index}]", value, detail)
        if value in values[:index]:
            yield duplicate(f"{path}.values[{index}]", value)
    if values != sorted(values):
        yield invalid(f"{path}.values", values, "must be ordered")


def success_policy_errors(spec: Object, path: str) -> list[FieldError]:
    """Return the errors in ``successPolicy``, which defines when the Job has succeeded."""
    rules = spec["successPolicy"].get("rules") or ()
    errors = _too_many_errors(len(rules), _MAX_RULES, f"{path}.rules")
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(f"{path}.rules", detail))
    for index, rule in enumerate(rules):
        errors += _success_rule_errors(
            rule, f"{path}.rules[{index}]", completions=spec.get("completions", 0)
        )
    return errors


def _success_rule_errors(rule: Object, path: str, *, completions: int) -> Iterator[FieldError]:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        detail = "at least one of succeededCount or succeededIndexes must be specified"
        yield required(path, detail)
    total = 0
    if indexes is not None:
        if len(indexes) > _MAX_INDEXES_LENGTH:
            yield too_long(f"{path}.succeededIndexes", indexes, _MAX_INDEXES_LENGTH)
        try:
            total = number_of_indexes(indexes, completions)
        except ValueError as error:
            detail = f"error parsing succeededIndexes: {error}"
            yield invalid(f"{path}.succeededIndexes", indexes, detail)
    if count is None:
        return
    where = f"{path}.succeededCount"
    if count < 0:
        yield invalid(where, count, NOT_NEGATIVE)
    if count > completions:
        detail = f"must be less than or equal to {completions}"
        yield invalid(where, count, f"{detail} (the number of specified completions)")
    if indexes is not None and count > total:
        detail = f"must be less than or equal to {total}"
        meant = "the number of indexes in the specified succeededIndexes field"
        yield invalid(where, count, f"{detail} ({meant})")


def number_of_indexes(text: str, completions: int) -> int:
    """Return the number of indexes in a text such as ``1,3-5``.

    Raises ``ValueError`` if ``text`` is invalid, or contains an index that is not below
    ``completions``.
    """
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        first, end = index_interval(interval, completions)
        if total and last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total += end - first + 1
        last = end
    return total


def index_interval(text: str, completions: int) -> tuple[int, int]:
    """Return the first and last index of a text such as ``3-5`` or ``3``.

    Raises ``ValueError`` if ``text`` is invalid, or contains an index that is not below
    ``completions``.
    """
    limits = text.split("-")
    if len(limits) > 2:
        raise ValueError(
            f"the fragment {shown(text)} violates the requirement that an index interval can have"
            " at most two parts separated by '-'"
        )
    numbers = []
    for limit in limits:
        if not _integer(limit):
            raise ValueError(f"cannot convert string to integer for index: {shown(limit)}")
        if int(limit) >= completions:
            raise ValueError(f"too large index: {shown(limit)}")
        numbers.append(int(limit))
    if len(numbers) > 1 and numbers[0] >= numbers[1]:
        raise ValueError(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]
