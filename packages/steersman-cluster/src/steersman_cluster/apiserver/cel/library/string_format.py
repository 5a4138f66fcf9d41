"""The CEL method ``format``: format strings with placeholders for values."""

import math
import string
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, Final, NamedTuple

from steersman_cluster.apiserver.cel.cel_types import CelType
from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.library.operators import to_string
from steersman_cluster.apiserver.cel.library.times import duration_text, timestamp_text
from steersman_cluster.apiserver.cel.values import (
    MAX_INT,
    Duration,
    Timestamp,
    Uint,
    kind_of,
    parse_digits,
)
from steersman_cluster.apiserver.meta.field_errors import shown

_PLAIN_PRECISION: Final = 6
_MAX_PRECISION: Final = 1_000_000
_RAISED: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_UNFIT: Final = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists,"
    " types, durations, and timestamps",
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "X": "only integers, byte buffers, and strings can be formatted as hex",
    "o": "octal clause can only be used on integers",
}
# The kinds of values that each clause accepts.
TAKES: Final = {
    "s": frozenset(("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes"))
    | {"duration", "type", "null"},
    "d": frozenset(("int", "uint")),
    "f": frozenset(("double",)),
    "e": frozenset(("double",)),
    "b": frozenset(("int", "uint", "bool")),
    "x": frozenset(("string", "bytes", "int", "uint")),
    "X": frozenset(("string", "bytes", "int", "uint")),
    "o": frozenset(("int", "uint")),
}
NOT_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")


class Clause(NamedTuple):
    """A part of a format string: literal text, or the letter of a placeholder."""

    text: str
    letter: str = ""
    precision: int = _PLAIN_PRECISION


class BadFormat(Exception):
    """A format string cannot be parsed."""


def clauses(text: str) -> Iterator[Clause]:
    """Yield the parts of the format string ``text``.

    An invalid part raises ``BadFormat`` only after the parts before it were yielded.
    """
    at = 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter != "%":
            yield Clause(letter)
            continue
        if at >= len(text):
            raise BadFormat("unexpected end of string")
        if text[at] == "%":
            yield Clause("%")
            at += 1
            continue
        yield Clause("", "?")
        precision = _PLAIN_PRECISION
        if text[at] == ".":
            precision, at = _precision(text, at + 1)
        if text[at] not in TAKES:
            raise BadFormat(
                f'could not parse formatting clause: unrecognized formatting clause "{text[at]}"'
            )
        yield Clause("", text[at], precision)
        at += 1


def _precision(text: str, at: int) -> tuple[int, int]:
    why = "could not parse formatting clause: error while parsing precision: "
    digits = "".join(takewhile(string.digits.__contains__, text[at:]))
    if at + len(digits) >= len(text):
        raise BadFormat(f"{why}could not find end of precision specifier")
    if not digits:
        raise BadFormat(
            f"{why}error while converting precision to integer:"
            ' strconv.Atoi: parsing "": invalid syntax'
        )
    if parse_digits(digits) > MAX_INT:
        raise BadFormat(
            f"{why}error while converting precision to integer:"
            f" strconv.Atoi: parsing {shown(digits)}: value out of range"
        )
    return parse_digits(digits), at + len(digits)


def unfit(letter: str, kind: str) -> str:
    """Return the error message for a value that the placeholder ``letter`` does not accept.

    ``kind`` is the value's type.
    """
    names = {
        "timestamp": "google.protobuf.Timestamp",
        "duration": "google.protobuf.Duration",
        "null": "null_type",
    }
    return f"error during formatting: {_UNFIT[letter]}, was given {names.get(kind, kind)}"


def formatted(text: str, values: list[Any]) -> str:
    """Return the format string ``text`` with each placeholder replaced by its value."""
    out: list[str] = []
    index = 0
    try:
        for literal, letter, precision in clauses(text):
            if not letter:
                out.append(literal)
            elif letter == "?":
                if index >= len(values):
                    raise BadFormat(f"index {index} out of range")
            else:
                out.append(_written(values[index], letter, precision))
                index += 1
    except BadFormat as error:
        raise NotEvaluated(str(error)) from None
    return "".join(out)


def _written(value: Any, letter: str, precision: int) -> str:
    kind = kind_of(value)
    if kind not in TAKES[letter] and not (letter in "fe" and value in NOT_NUMBERS):
        raise BadFormat(unfit(letter, kind))
    match letter:
        case "s":
            return _text(value)
        case "d":
            return str(int(value))
        case "f":
            return _fixed(float(value), precision)
        case "e":
            return _scientific(float(value))
        case "b" | "o":
            return f"{int(value):{letter}}"
        case _:
            if isinstance(value, int):
                return f"{int(value):{letter}}"
            written = (value.encode() if isinstance(value, str) else value).hex()
            return written.upper() if letter == "X" else written


def _fixed(value: float, precision: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if precision // 10 > _MAX_PRECISION:
        return "%!(NOVERB)"
    return f"{value:,.{precision % 256}f}"  # kube-apiserver keeps the precision in a byte


def _scientific(value: float) -> str:
    if math.isnan(value) or math.isinf(value):
        return _fixed(value, 0)
    digits, _, power = f"{value:.6e}".partition("e")
    exponent = power.removeprefix("+").translate(_RAISED)
    return f"{digits}×10{exponent}"


def _text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case CelType():
            return type_name(value)
        case list():
            return f"[{', '.join(map(_inside, value))}]"
        case dict():
            entries = sorted((_key(key), _inside(each)) for key, each in value.items())
            return f"{{{', '.join(f'{key}:{each}' for key, each in entries)}}}"
        case _:
            try:
                return to_string(value)
            except NotEvaluated as error:
                raise BadFormat(
                    f'error during formatting: could not convert argument "{error}" to string'
                ) from None


def type_name(of: CelType) -> str:
    """Return the name of the type ``of`` without its type parameters."""
    names = {
        "timestamp": "google.protobuf.Timestamp",
        "duration": "google.protobuf.Duration",
        "null": "null_type",
    }
    return of.name or names.get(of.kind, of.kind)


def _key(key: Any) -> str:
    if kind_of(key) not in ("string", "bool", "int", "uint"):
        raise BadFormat(f"no formatting function for map key of type {kind_of(key)}")
    return _inside(key)


_INSIDE: Final[dict[type, Callable[[Any], str]]] = {
    str: shown,
    float: lambda value: (
        f"{value:.6f}"
        if math.isfinite(value)
        else {"inf": '"+Inf"', "-inf": '"-Inf"'}.get(str(value), '"NaN"')
    ),
    Timestamp: lambda value: f'timestamp("{timestamp_text(value)}")',
    Duration: lambda value: f'duration("{duration_text(value)}")',
    bytes: lambda value: f"b{shown(value.decode(errors='replace'))}",
    Uint: lambda value: str(int(value)),
    CelType: lambda value: f"type({type_name(value)})",
}


def _inside(value: Any) -> str:
    """Return a value as text inside a list or a map, where strings are quoted."""
    write = _INSIDE.get(type(value))
    if write is not None:
        return write(value)
    kind = kind_of(value)
    if kind not in TAKES["s"]:
        raise BadFormat(f"no formatting function for {kind}")
    return _text(value)
