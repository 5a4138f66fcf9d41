"""The implementations of CEL's operators, and of its functions on plain types."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.library.times import (
    duration_text,
    read_duration,
    read_timestamp,
    timestamp_text,
    within_range,
)
from steersman_cluster.apiserver.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Duration,
    Function,
    Timestamp,
    Uint,
    added,
    as_int,
    as_uint,
    compared,
    contains,
    equal,
    kind_of,
    parse_digits,
    type_of_value,
)
from steersman_cluster.apiserver.meta.go_messages import float_text

_WHOLE: Final = re.compile(r"([+-]?)([0-9]+)\Z", re.ASCII)
_NATURAL: Final = re.compile(r"[0-9]+\Z", re.ASCII)
_DECIMAL: Final = re.compile(
    r"[+-]?(?:(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)\Z",
    re.ASCII | re.IGNORECASE,
)
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?[0-9]+\Z", re.ASCII | re.IGNORECASE
)
_TRUE: Final = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE: Final = frozenset(("0", "f", "F", "false", "FALSE", "False"))


def add(first: Any, second: Any) -> Any:
    match first, second:
        case (bool(), _) | (_, bool()):
            raise NotEvaluated
        case Uint(), Uint():
            return as_uint(int(first) + int(second))
        case (Uint(), _) | (_, Uint()):
            raise NotEvaluated
        case int(), int():
            return as_int(first + second)
        case float(), float():
            return first + second
        case str(), str():
            return first + second
        case bytes(), bytes():
            return first + second
        case list(), list():
            return added(first, second)
        case Duration(), Duration():
            return _duration(first.nanoseconds + second.nanoseconds)
        case Timestamp(), Duration():
            return within_range(first.nanoseconds + second.nanoseconds, first.offset_minutes)
        case Duration(), Timestamp():
            return within_range(first.nanoseconds + second.nanoseconds, second.offset_minutes)
        case _:
            raise NotEvaluated


def subtract(first: Any, second: Any) -> Any:
    match first, second:
        case (bool(), _) | (_, bool()):
            raise NotEvaluated
        case Uint(), Uint():
            return as_uint(int(first) - int(second))
        case (Uint(), _) | (_, Uint()):
            raise NotEvaluated
        case int(), int():
            return as_int(first - second)
        case float(), float():
            return first - second
        case (Duration(), Duration()) | (Timestamp(), Timestamp()):
            return _duration(first.nanoseconds - second.nanoseconds)
        case Timestamp(), Duration():
            return within_range(first.nanoseconds - second.nanoseconds, first.offset_minutes)
        case _:
            raise NotEvaluated


def _duration(nanoseconds: int) -> Duration:
    return Duration(as_int(nanoseconds))


def _same_numbers(first: Any, second: Any) -> type:
    of = type(first)
    if of is not type(second) or of not in (int, Uint, float):
        raise NotEvaluated
    return of


def multiply(first: Any, second: Any) -> Any:
    of = _same_numbers(first, second)
    if of is float:
        return first * second
    product = int(first) * int(second)
    return as_int(product) if of is int else as_uint(product)


def divide(first: Any, second: Any) -> Any:
    of = _same_numbers(first, second)
    if of is float:
        if second == 0:
            return (
                math.nan
                if first == 0 or math.isnan(first)
                else math.copysign(math.inf, first * math.copysign(1, second))
            )
        return first / second
    if second == 0:
        raise NotEvaluated("division by zero")
    quotient = abs(first) // abs(second)
    if of is Uint:
        return Uint(quotient)
    return as_int(quotient if (first < 0) == (second < 0) else -quotient)


def modulo(first: Any, second: Any) -> Any:
    of = _same_numbers(first, second)
    if of is float:
        raise NotEvaluated
    if second == 0:
        raise NotEvaluated("modulus by zero")
    rest = abs(first) % abs(second)
    return Uint(rest) if of is Uint else (-rest if first < 0 else rest)


def negate(value: Any) -> Any:
    if type(value) is float:
        return -value
    if type(value) is not int:
        raise NotEvaluated
    return as_int(-value)


def invert(value: Any) -> bool:
    if value is True or value is False:
        return not value
    raise NotEvaluated


def is_in(wanted: Any, within: Any) -> bool:
    if isinstance(within, list):
        return contains(within, wanted)
    if isinstance(within, dict):
        return not isinstance(wanted, list | dict) and wanted in within
    raise NotEvaluated


def size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise NotEvaluated("no such overload: size")


def _unconvertible(value: Any, to: str) -> NotEvaluated:
    return NotEvaluated(f"type conversion error from '{_name(value)}' to '{to}'")


def _name(value: Any) -> str:
    kind = kind_of(value)
    return {"null": "null_type", "timestamp": "google.protobuf.Timestamp",
            "duration": "google.protobuf.Duration"}.get(kind, kind)  # fmt: skip


def to_int(value: Any) -> int:
    match value:
        case bool():
            raise _unconvertible(value, "int")
        case int():
            return as_int(int(value))
        case float():
            if not -9.223372036854775808e18 < value < 9.223372036854775807e18:
                raise NotEvaluated("integer overflow")
            return int(value)
        case str() if found := _WHOLE.match(value):
            number = parse_digits(found[2]) * (-1 if found[1] == "-" else 1)
            if not MIN_INT <= number <= MAX_INT:
                raise _unconvertible(value, "int")
            return number
        case Timestamp():
            return value.nanoseconds // 1_000_000_000
        case Duration():
            return value.nanoseconds
        case _:
            raise _unconvertible(value, "int")


def to_uint(value: Any) -> Uint:
    match value:
        case bool():
            raise _unconvertible(value, "uint")
        case int():
            return as_uint(int(value))
        case float():
            if not 0 <= value < 1.8446744073709551615e19:
                raise NotEvaluated("unsigned integer overflow")
            return Uint(value)
        case str() if _NATURAL.match(value) and parse_digits(value) <= MAX_UINT:
            return Uint(parse_digits(value))
        case _:
            raise _unconvertible(value, "uint")


def to_double(value: Any) -> float:
    match value:
        case bool():
            raise _unconvertible(value, "double")
        case int() | float():
            return float(value)
        case str() if (number := _double(value)) is not None:
            return number
        case _:
            raise _unconvertible(value, "double")


def _double(text: str) -> float | None:
    """Return the number in a text, parsed as in Go; None if it is too large or invalid."""
    try:
        if _HEXADECIMAL.match(text):
            return float.fromhex(text)
        if not _DECIMAL.match(text):
            return None
        number = float(text)
    except (OverflowError, ValueError):
        return None
    return None if math.isinf(number) and "n" not in text.lower() else number


def to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and (value in _TRUE or value in _FALSE):
        return value in _TRUE
    raise _unconvertible(value, "bool")


def to_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise _unconvertible(value, "bytes")


def to_string(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return double_text(value)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise NotEvaluated("invalid UTF-8 in bytes, cannot convert to string") from None
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return duration_text(value)
        case _ if hasattr(value, "cel_text"):
            return str(value.cel_text())
        case _:
            raise _unconvertible(value, "string")


def double_text(value: float) -> str:
    """Return the shortest text that parses to ``value``; long numbers have an exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    return float_text(value)


def to_timestamp(value: Any) -> Timestamp:
    match value:
        case Timestamp():
            return value
        case bool():
            raise _unconvertible(value, "google.protobuf.Timestamp")
        case int():
            return within_range(value * 1_000_000_000)
        case str():
            return read_timestamp(value)
        case _:
            raise _unconvertible(value, "google.protobuf.Timestamp")


def to_duration(value: Any) -> Duration:
    match value:
        case Duration():
            return value
        case bool():
            raise _unconvertible(value, "google.protobuf.Duration")
        case int():
            return Duration(value)
        case str():
            return read_duration(value)
        case _:
            raise _unconvertible(value, "google.protobuf.Duration")


def inserted(into: dict[Any, Any], *given: Any) -> dict[Any, Any]:
    """Return the map ``into`` with more entries; raise an error if a key already exists.

    ``given`` is one key and its value, or one map.
    """
    entries = given[0] if len(given) == 1 else {given[0]: given[1]}
    for key in entries:
        if key in into:
            raise NotEvaluated(f"insert failed: key {to_string(key)} already exists")
    return {**into, **entries}


def _ordered(name: str, fits: Callable[[int], bool]) -> Function:
    def check(first: Any, second: Any) -> bool:
        if isinstance(first, list | dict):
            raise NotEvaluated(f"no such overload: {name}")
        return fits(compared(first, second))

    return check


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "!_": invert,
    "-_": negate,
    "@in": is_in,
    "_!=_": lambda first, second: not equal(first, second),
    "_%_": modulo,
    "_*_": multiply,
    "_+_": add,
    "_-_": subtract,
    "_/_": divide,
    "_<=_": _ordered("_<=_", lambda order: order <= 0),
    "_<_": _ordered("_<_", lambda order: order < 0),
    "_==_": equal,
    "_>=_": _ordered("_>=_", lambda order: order >= 0),
    "_>_": _ordered("_>_", lambda order: order > 0),
    "bool": to_bool,
    "bytes": to_bytes,
    "cel.@mapInsert": inserted,
    "double": to_double,
    "duration": to_duration,
    "int": to_int,
    "size": size,
    "string": to_string,
    "timestamp": to_timestamp,
    "type": type_of_value,
    "uint": to_uint,
}
