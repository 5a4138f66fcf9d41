"""Converts durations in Go's format, "1h30m", to seconds, and back."""

import math
import re
from decimal import Decimal
from itertools import repeat

from steersman.errors import BadValue

_NANOS_IN = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # U+00B5, the micro sign
    "μs": 10**3,  # U+03BC, the Greek letter mu
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}

_TERM = rf"(?=\.?[0-9])0*+([0-9]{{0,19}}+)(?:\.([0-9]*+))?({'|'.join(_NANOS_IN)})"
_TERMS = rf"[+-]?(?:0|(?:{_TERM})+)"

_MAX_NANOS = 2**63 - 1  # about 292 years


def parse_duration(text: str) -> float:
    """Return the number of seconds in ``text``, by the rules of Go's ``time.ParseDuration``."""
    try:
        matched = re.fullmatch(_TERMS, text)
    except TypeError:
        matched = None
    if matched is None:
        raise BadValue(
            wanted="a duration",
            value=text,
            rule="it must consist of numbers, each with a unit, such as 300ms, 1.5h or 1h30m;"
            " the units are ns, us, µs, ms, s, m and h",
        )
    nanos = sum(
        int(whole or "0") * _NANOS_IN[unit] + _fraction_nanos(fraction, _NANOS_IN[unit])
        for whole, fraction, unit in (term.groups(default="") for term in re.finditer(_TERM, text))
    )
    nanos = -nanos if text.startswith("-") else nanos
    _check_range(nanos, text)
    return nanos / 10**9


def format_duration(seconds: float) -> str:
    """Return ``seconds``, rounded to the nanosecond, in the format of Go's ``Duration.String``."""
    # The shortest text for this float is used: 1234567890.123 means three decimal places, not the
    # exact value 1234567890.1229999065399169921875.
    try:
        numerator, denominator = Decimal(repr(seconds)).as_integer_ratio()
    except (ArithmeticError, ValueError):
        raise BadValue(
            wanted="a duration", value=seconds, rule="it must be a finite number of seconds"
        ) from None
    nanos = (2 * abs(numerator) * 10**9 + denominator) // (2 * denominator)
    sign = "-" if numerator < 0 else ""
    _check_range(-nanos if sign else nanos, seconds)
    if nanos == 0:
        return "0s"
    if nanos < 10**9:
        unit = next(unit for unit in ("ms", "µs", "ns") if nanos >= _NANOS_IN[unit])
        return f"{sign}{_with_fraction(nanos, _NANOS_IN[unit])}{unit}"
    minutes, nanos = divmod(nanos, _NANOS_IN["m"])
    hours, minutes = divmod(minutes, 60)
    hours_and_minutes = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{hours_and_minutes}{_with_fraction(nanos, 10**9)}s"


def _check_range(nanos: int, value: object) -> None:
    if not -_MAX_NANOS - 1 <= nanos <= _MAX_NANOS:
        raise BadValue(
            wanted="a duration", value=value, rule="it must be less than 2^63 ns, about 292 years"
        )


def _fraction_nanos(digits: str, unit_nanos: int) -> int:
    # With floats, and as many digits as an int64 has, because the last nanosecond must equal Go's.
    significant = digits.lstrip("0")
    if not significant:
        return 0
    kept = significant[:19]
    if int(kept) > 2**63:
        kept = kept[:-1]
    places = len(digits) - len(significant) + len(kept)
    return int(int(kept) * (unit_nanos / math.prod(repeat(10.0, places))))


def _with_fraction(nanos: int, unit_nanos: int) -> str:
    whole, rest = divmod(nanos, unit_nanos)
    places = len(str(unit_nanos)) - 1
    return f"{whole}.{rest:0{places}}".rstrip("0").rstrip(".")
