"""CEL values: types for those that Python lacks, and their equality, size and order.

Null, booleans, integers, doubles, strings, bytes, lists and maps are Python's own types.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from steersman_cluster.apiserver.cel import cel_types
from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.errors import CostExceeded, NotEvaluated

MIN_INT: Final = -(1 << 63)
MAX_INT: Final = (1 << 63) - 1
MAX_UINT: Final = (1 << 64) - 1

# The maximum number of elements or characters, which fit into the memory of a small machine. A
# guess; the cost limit ends most evaluations earlier.
MAX_SIZE: Final = 10_000_000
# A number with more digits exceeds every type.
_MAX_DIGITS: Final = 40


class Uint(int):
    """An unsigned CEL integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A timestamp in nanoseconds since 1970, and the UTC offset in minutes of its text."""

    nanoseconds: int
    offset_minutes: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A duration in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """An optional CEL value; it is empty if ``has_value`` is false."""

    value: Any = None
    has_value: bool = True


NONE: Final = Optional(has_value=False)


@dataclass(frozen=True, slots=True)
class Broken:
    """A placeholder for a value that does not match its schema.

    An expression that reads the value fails with ``message``.
    """

    message: str


class SetList(list[Any]):
    """A list of type set: the order of its elements does not matter."""

    __slots__ = ()


class MapList(list[Any]):
    """A list of type map: the values of the fields ``keys`` identify an element."""

    __slots__ = ("keys",)

    def __init__(self, elements: Iterable[Any], keys: tuple[str, ...]) -> None:
        super().__init__(elements)
        self.keys = keys

    def key_of(self, element: Any) -> Any:
        return tuple(_hashable(element.get(key)) for key in self.keys)


_NUMBERS: Final = (int, float, Uint)
_PLAIN: Final = frozenset((int, str, bool, float, bytes, Uint, type(None)))

KINDS: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null",
    list: "list",
    SetList: "list",
    MapList: "list",
    dict: "map",
    Timestamp: "timestamp",
    Duration: "duration",
    CelType: "type",
}

# The result of ``type(value)``, and the name of the type in messages.
_TYPES: Final = {
    "bool": cel_types.BOOL,
    "int": cel_types.INT,
    "uint": cel_types.UINT,
    "double": cel_types.DOUBLE,
    "string": cel_types.STRING,
    "bytes": cel_types.BYTES,
    "null": cel_types.NULL,
    "list": cel_types.list_of(cel_types.DYN),
    "map": cel_types.map_of(cel_types.DYN, cel_types.DYN),
    "timestamp": cel_types.TIMESTAMP,
    "duration": cel_types.DURATION,
    "type": cel_types.TYPE,
}


def kind_of(value: Any) -> str:
    """Return the kind of the CEL type of ``value``; for an opaque type, its name."""
    kind = KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, Optional):
        return "optional_type"
    return str(getattr(value, "cel_name", type(value).__name__))


def type_of_constant(value: Any) -> CelType:
    return _TYPES[KINDS[type(value)]]


def type_of_value(value: Any) -> CelType:
    kind = kind_of(value)
    return _TYPES.get(kind) or CelType("opaque", kind)


def same_type(first: CelType, second: CelType) -> bool:
    """Whether two types are equal, ignoring their type parameters."""
    return first.kind == second.kind and first.name == second.name


def equal(first: Any, second: Any) -> bool:
    """Whether two CEL values are equal; values of different types differ, except for numbers."""
    of, other = type(first), type(second)
    if of in _PLAIN and other in _PLAIN:
        if of is other or (of in _NUMBERS and other in _NUMBERS):
            return bool(first == second)
        return False
    if isinstance(first, list) and isinstance(second, list):
        return _equal_lists(first, second)
    if isinstance(first, dict) and isinstance(second, dict):
        return len(first) == len(second) and all(
            key in second and equal(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, Optional) and isinstance(second, Optional):
        if first.has_value and second.has_value:
            return equal(first.value, second.value)
        return first.has_value == second.has_value
    if isinstance(first, CelType) and isinstance(second, CelType):
        return same_type(first, second)
    return of is other and bool(first == second)


def _equal_lists(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists are equal; the type of the first determines whether the order matters."""
    if len(first) != len(second):
        return False
    if isinstance(first, SetList):
        return all(contains(second, each) for each in first)
    if isinstance(first, MapList):
        return _equal_by_keys(first, second)
    return all(map(equal, first, second))


def _equal_by_keys(first: MapList, second: list[Any]) -> bool:
    others = {first.key_of(each): each for each in second}
    return all((key := first.key_of(each)) in others and equal(each, others[key]) for each in first)


def contains(elements: Iterable[Any], wanted: Any) -> bool:
    if isinstance(elements, list) and type(wanted) is str:
        return wanted in elements  # a shortcut: strings only equal strings
    return any(equal(each, wanted) for each in elements)


def added(first: Any, second: Any) -> Any:
    """Return the list ``first`` joined with the list ``second``.

    If ``first`` is of type set, the result contains each element once. If it is of type map, an
    element of ``second`` replaces the element of ``first`` with the same keys.
    """
    if type(first) is SetList:
        return SetList([*first, *(each for each in second if not contains(first, each))])
    if type(first) is MapList:
        merged = {first.key_of(each): each for each in first}
        merged.update((first.key_of(each), each) for each in second)
        return MapList(merged.values(), first.keys)
    bounded(len(first) + len(second))
    return first + second


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, list | dict) else value


def size_of(value: Any) -> int:
    """Return the size of ``value`` for cost computations; 1 for a value without a size."""
    of = type(value)
    if of is str or of is dict or of is list or of is bytes or isinstance(value, list):
        return len(value)
    if of is Optional and value.has_value:
        return size_of(value.value)
    return 1


def parse_digits(digits: str) -> int:
    """Return the number that ASCII ``digits`` represent.

    For too many digits, the result is a number that exceeds every numeric type.
    """
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= _MAX_DIGITS else 10**_MAX_DIGITS


def bounded(size: int) -> int:
    """Return ``size``, the size of a value to create.

    Raises ``CostExceeded`` if it is too large.
    """
    if size > MAX_SIZE:
        raise CostExceeded
    return size


def as_int(value: int) -> int:
    if MIN_INT <= value <= MAX_INT:
        return value
    raise NotEvaluated("integer overflow")


def as_uint(value: int) -> Uint:
    if 0 <= value <= MAX_UINT:
        return Uint(value)
    raise NotEvaluated("unsigned integer overflow")


def compared(first: Any, second: Any) -> int:
    """Return -1, 0 or 1 if ``first`` is less than, equal to or greater than ``second``.

    Raises ``NotEvaluated`` for values that cannot be compared.
    """
    of, other = type(first), type(second)
    if of is not other and not (of in _NUMBERS and other in _NUMBERS):
        raise NotEvaluated
    try:
        if first < second:
            return -1
        if first == second:
            return 0
        if isinstance(first, float | int) and (math.isnan(first) or math.isnan(second)):
            raise NotEvaluated("NaN values cannot be ordered")
    except TypeError:
        raise NotEvaluated from None
    return 1


Function = Callable[..., Any]
