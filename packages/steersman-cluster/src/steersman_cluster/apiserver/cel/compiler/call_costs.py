"""The cost of a function call at runtime: one unit, or more for large arguments."""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.cel.values import size_of

# Returns the cost of a call from the arguments, receiver first, and the result.
Meter: TypeAlias = Callable[[tuple[Any, ...], Any], int]

_TRAVERSAL: Final = 0.1  # per character of a string
_REGEX: Final = 0.25  # per character of a pattern

_COMPARISONS: Final = frozenset(
    f"{order}_{kind}"
    for order in ("less", "greater", "less_equals", "greater_equals")
    for kind in ("string", "bytes")
)


def traversal(size: float) -> int:
    return ceil(size * _TRAVERSAL)


def pattern_cost(text_size: int, pattern_size: int) -> int:
    return traversal(1 + text_size) * ceil(pattern_size * _REGEX)


def meter_of(function: str, overload: str | None) -> Meter | None:
    """Return the function that computes the cost of a call; None if the cost is one unit.

    ``overload`` is None if the overload is known only at runtime.
    """
    if function in _BY_FUNCTION:
        return _BY_FUNCTION[function]
    if function == "ip" and overload != "cidr_ip":
        return _first(1)
    return None if overload is None else _BY_OVERLOAD.get(overload)


def _first(factor: int) -> Meter:
    return lambda args, _: ceil(size_of(args[0]) * factor * _TRAVERSAL)


def _smaller(args: tuple[Any, ...], _: Any) -> int:
    return traversal(min(size_of(args[0]), size_of(args[1])))


def _equality(args: tuple[Any, ...], _: Any) -> int:
    return 1 if hasattr(args[0], "cel_name") else _smaller(args, None)


def _both(args: tuple[Any, ...], _: Any) -> int:
    return traversal(size_of(args[0]) + size_of(args[1]))


def _found(args: tuple[Any, ...], _: Any) -> int:
    return pattern_cost(size_of(args[0]), size_of(args[1]))


def _contained(args: tuple[Any, ...], _: Any) -> int:
    return traversal(size_of(args[0])) * traversal(size_of(args[1]))


def _traversed(args: tuple[Any, ...], _: Any) -> int:
    return _walked(args[0])


def _walked(value: Any) -> int:
    if isinstance(value, str | bytes):
        size = len(value) if isinstance(value, bytes) else len(value.encode(errors="replace"))
        return int(size * _TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_walked, value))
    if isinstance(value, dict):
        return sum(_walked(key) + _walked(each) for key, each in value.items())
    return 1


def _listed(size: Callable[[tuple[Any, ...], Any], float]) -> Meter:
    """Return the cost function of a call that creates a list."""
    return lambda args, result: int(size(args, result)) + 11


def _squared(which: int) -> Meter:
    """Return the cost function of a call that compares each element with every other."""

    def cost(args: tuple[Any, ...], _: Any) -> int:
        values = args[which]
        texts = bool(values) and isinstance(values[0], str | bytes)
        return int(len(values) ** 2 * (2 + (_TRAVERSAL if texts else 0))) + 11

    return cost


def _sets(factor: int) -> Meter:
    return lambda args, _: 1 + size_of(args[0]) * size_of(args[1]) * factor


def _within_block(extra: int) -> Meter:
    """Return the cost function of a CIDR check: address bytes traversed twice, plus ``extra``."""

    def cost(args: tuple[Any, ...], _: Any) -> int:
        size: int = args[0].size
        total = ceil(2 * size * _TRAVERSAL)
        if extra:
            total += ceil(size * _TRAVERSAL) + extra
        if isinstance(args[1], str):
            total += traversal(len(args[1]))
        return total

    return cost


def _validated(args: tuple[Any, ...], _: Any) -> int:
    return pattern_cost(size_of(args[1]), args[0].max_pattern_length)


def _selector(args: tuple[Any, ...], _: Any) -> int:
    size = size_of(args[1])
    return 10 + traversal(size) + ceil(ceil(size * 0.5) * 50)


_BY_FUNCTION: Final[Mapping[str, Meter]] = {
    "_==_": _equality,
    "@sortByAssociatedKeys": _squared(1),
    "check": lambda *_: 350_000,
    "cidr": _first(1),
    "containsCIDR": _within_block(1),
    "containsIP": _within_block(0),
    "distinct": _squared(0),
    "fieldSelector": _selector,
    "find": _found,
    "findAll": _found,
    "flatten": _listed(lambda args, _: size_of(args[0]) * (*args, 1)[1]),
    "indexOf": _traversed,
    "ip.isCanonical": _first(2),
    "isCIDR": _first(1),
    "isIP": _first(1),
    "isQuantity": _first(1),
    "isSemver": _first(1),
    "isSorted": _traversed,
    "join": lambda _, result: ceil(size_of(result) * 2 * _TRAVERSAL),
    "labelSelector": _selector,
    "lastIndexOf": _traversed,
    "lists.range": _listed(lambda _, result: size_of(result)),
    "lowerAscii": _first(1),
    "max": _traversed,
    "min": _traversed,
    "quantity": _first(1),
    "replace": _first(2),
    "reverse": _listed(lambda _, result: size_of(result)),
    "semver": _first(1),
    "sets.contains": _sets(1),
    "sets.equivalent": _sets(2),
    "sets.intersects": _sets(1),
    "slice": _listed(lambda _, result: size_of(result)),
    "sort": _squared(0),
    "split": _first(2),
    "substring": _first(1),
    "sum": _traversed,
    "trim": _first(1),
    "upperAscii": _first(1),
    "url": _first(1),
    "validate": _validated,
}

_BY_OVERLOAD: Final[Mapping[str, Meter]] = {
    "add_bytes": _both,
    "add_string": _both,
    "bytes_to_string": _first(1),
    "contains_string": _contained,
    "ends_with_string": _first(1),
    "in_list": lambda args, _: size_of(args[1]),
    "matches_string": _found,
    "not_equals": _smaller,
    "starts_with_string": _first(1),
    "string_format": _first(1),
    "string_to_bytes": _first(1),
    "strings_quote": _first(1),
    **dict.fromkeys(_COMPARISONS, _smaller),
}
