"""Validation of the failure policy and the success policy of Jobs."""

import re
from collections.abc import Iterator
from typing import Final

from steersman_cluster.apiserver.builtin import rule
from steersman_cluster.apiserver.builtin.rule import Check
from steersman_cluster.apiserver.meta.field_errors import (
    OMITTED,
    FieldError,
    duplicate,
    invalid,
    required,
    shown,
    too_long,
)
from steersman_cluster.apiserver.meta.name_validation import label_key
from steersman_cluster.apiserver.meta.strategy import Object

_MAX_RULES: Final = 20
_MAX_CODES: Final = 255
_MAX_INDEXES_LENGTH: Final = 64 * 1024
_integer = re.compile("[+-]?[0-9]{1,18}").fullmatch


def _choice(*values: str) -> Check:
    """The value is required, and must be one of ``values``."""
    detail = f"valid values: [{' '.join(map(shown, values))}]"
    return rule.first(rule.must_be_set(detail), rule.enum(*values))


def _index_limit_errors(action: str, path: str, spec: Object) -> Iterator[FieldError]:
    if action == "FailIndex" and "backoffLimitPerIndex" not in spec:
        yield invalid(path, action, "requires the backoffLimitPerIndex to be set")


def _one_requirement_errors(failure: Object, path: str) -> Iterator[FieldError]:
    by_code, by_condition = "onExitCodes" in failure, bool(failure.get("onPodConditions"))
    if by_code and by_condition:
        detail = "specifying both OnExitCodes and OnPodConditions is not supported"
        yield invalid(path, OMITTED, detail)
    elif not by_code and not by_condition:
        detail = "specifying one of OnExitCodes and OnPodConditions is required"
        yield invalid(path, OMITTED, detail)


def _container_errors(name: str, path: str, spec: Object) -> Iterator[FieldError]:
    pod: Object = spec["template"].get("spec") or {}
    containers = [*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]
    if name not in {each.get("name", "") for each in containers}:
        detail = "must be one of the container or initContainer names in the pod template"
        yield invalid(path, name, detail)


def _exit_code_errors(codes: Object, path: str) -> Iterator[FieldError]:
    values, path = codes.get("values") or [], f"{path}.values"
    if not values:
        yield invalid(path, codes.get("values"), "at least one value is required")
    yield from _MAX_VALUES(values, path)
    for index, value in enumerate(values):
        if codes.get("operator") == "In" and value == 0:
            yield invalid(f"{path}[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            yield duplicate(f"{path}[{index}]", value)
    if values != sorted(values):
        yield invalid(path, values, "must be ordered")


_MAX_VALUES: Final = rule.max_items(_MAX_CODES)
# Which failures of Pods count. The scope is the spec of the Job.
FAILURE_POLICY: Final = rule.given(
    "rules",
    rule.max_items(_MAX_RULES),
    rule.each(
        rule.always(
            "action",
            rule.scoped(_index_limit_errors),
            _choice("Count", "FailIndex", "FailJob", "Ignore"),
        ),
        rule.given(
            "onExitCodes",
            rule.always("operator", _choice("In", "NotIn")),
            rule.given("containerName", rule.scoped(_container_errors)),
            rule.code(_exit_code_errors),
        ),
        rule.given(
            "onPodConditions",
            rule.max_items(_MAX_RULES),
            rule.each(
                rule.always("type", label_key),
                rule.always("status", _choice("False", "True", "Unknown")),
            ),
        ),
        rule.code(_one_requirement_errors),
    ),
)


def _index_errors(success: Object, path: str, completions: int) -> Iterator[FieldError]:
    count, indexes = success.get("succeededCount"), success.get("succeededIndexes")
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
    yield from rule.NOT_NEGATIVE(count, where)
    if count > completions:
        detail = f"must be less than or equal to {completions}"
        yield invalid(where, count, f"{detail} (the number of specified completions)")
    if indexes is not None and count > total:
        detail = f"must be less than or equal to {total}"
        meant = "the number of indexes in the specified succeededIndexes field"
        yield invalid(where, count, f"{detail} ({meant})")


# When the Job has succeeded. The scope is the number of completions.
SUCCESS_POLICY: Final = rule.table(
    rule.given("rules", rule.max_items(_MAX_RULES)),
    rule.required(
        "rules",
        rule.each(rule.scoped(_index_errors)),
        detail="at least one rules must be specified when the successPolicy is specified",
    ),
)


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
