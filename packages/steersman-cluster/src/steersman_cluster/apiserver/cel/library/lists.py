"""CEL functions of lists and of sets."""

from collections.abc import Callable, Mapping
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from steersman_cluster.apiserver.cel.compiler.steps import LIMIT
from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.library.operators import add
from steersman_cluster.apiserver.cel.library.strings import index_of, last_index_of
from steersman_cluster.apiserver.cel.values import (
    NONE,
    Duration,
    Function,
    Optional,
    bounded,
    compared,
    contains,
    equal,
)


def _is_sorted(values: list[Any]) -> bool:
    return all(_less_or_equal(first, second) for first, second in pairwise(values))


def _less_or_equal(first: Any, second: Any) -> bool:
    # As in kube-apiserver, values that cannot be compared count as sorted.
    return type(first) is not type(second) or compared(first, second) <= 0


def total(values: list[Any]) -> Any:
    if not values:
        return 0
    found = values[0]
    for each in values[1:]:
        found = add(found, each)
    return found


def _extreme(name: str, direction: int) -> Function:
    def find(values: list[Any]) -> Any:
        if not values:
            raise NotEvaluated(f"{name} called on empty list")
        found = values[0]
        for each in values[1:]:
            if type(found) is type(each) and compared(each, found) == direction:
                found = each
        return found

    return find


def _position(of_text: Function, backwards: bool) -> Function:
    def find(values: Any, wanted: Any, *offset: int) -> int:
        if isinstance(values, str):
            return int(of_text(values, wanted, *offset))
        places = range(len(values))
        for index in reversed(places) if backwards else places:
            if equal(values[index], wanted):
                return index
        return -1

    return find


def _slice(values: list[Any], start: int, end: int) -> list[Any]:
    what = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        raise NotEvaluated(f"{what}negative indexes not supported")
    if start > end:
        raise NotEvaluated(f"{what}start index must be less than or equal to end index")
    if len(values) < end:
        raise NotEvaluated(f"{what}list is length {len(values)}")
    return values[start:end]


def _flatten(values: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise NotEvaluated("level must be non-negative")
    if depth == 0:
        return values
    found: list[Any] = []
    for each in values:
        if isinstance(each, list):
            found += _flatten(each, depth - 1)
        else:
            found.append(each)
        bounded(len(found))
    return found


def _sorted_by(values: list[Any], keys: list[Any]) -> list[Any]:
    if len({type(each) for each in keys}) > 1:
        raise NotEvaluated("list elements must have the same type")
    order: Callable[[tuple[Any, Any]], Any] = cmp_to_key(
        lambda first, second: compared(first[0], second[0])
    )
    return [value for _, value in sorted(zip(keys, values, strict=True), key=order)]


def _distinct(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for each in values:
        if not contains(found, each):
            found.append(each)
    return found


def _is_subset(values: list[Any], of: list[Any]) -> bool:
    return all(contains(of, each) for each in values)


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "@sortByAssociatedKeys": _sorted_by,
    "distinct": _distinct,
    "first": lambda values: Optional(values[0]) if values else NONE,
    "flatten": _flatten,
    "indexOf": _position(index_of, backwards=False),
    "isSorted": _is_sorted,
    "last": lambda values: Optional(values[-1]) if values else NONE,
    "lastIndexOf": _position(last_index_of, backwards=True),
    # Cut off at a length whose cost already exceeds the limit.
    "lists.range": lambda count: list(range(min(count, LIMIT + 1))),
    "max": _extreme("max", 1),
    "min": _extreme("min", -1),
    "reverse": lambda values: list(reversed(values)),
    "sets.contains": lambda values, wanted: _is_subset(wanted, values),
    "sets.equivalent": lambda first, second: (
        _is_subset(first, second) and _is_subset(second, first)
    ),
    "sets.intersects": lambda first, second: any(contains(second, each) for each in first),
    "slice": _slice,
    "sort": lambda values: _sorted_by(values, values),
    "sum": total,
}

# The sum of an empty list, by the checker's overload.
ZEROS: Final[Mapping[str, Any]] = {
    "list_double_sum_double": 0.0,
    "list_duration_sum_duration": Duration(0),
}
