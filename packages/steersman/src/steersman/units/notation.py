"""The notation of quantities: converts text to a number of nanos, and back.

Kubernetes rounds every quantity up to an integer number of nanos. Quantities are therefore counted
in nanos: Python's integers are exact at any size.
"""

import math
import re
from enum import Enum, auto
from typing import NamedTuple

from steersman.errors import BadValue

NANOS = 10**9

# Kubernetes accepts any number of digits, and computes for hours on "1e999999999". Within these
# limits, every text is parsed quickly, and every result can be parsed again.
MAX_DIGITS = 999
MAX_EXPONENT = 999
MAX_NANOS = 10**MAX_DIGITS - 1

# Kubernetes limits binary quantities to an int64, and does not limit decimal ones.
_MAX_BINARY_NANOS = (2**63 - 1) * NANOS

_DECIMAL_SUFFIXES = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


class Style(Enum):
    """The family of suffixes with which a quantity is printed."""

    BINARY = auto()
    DECIMAL = auto()
    EXPONENT = auto()


_SUFFIXES = {
    **{suffix: (Style.DECIMAL, 3 * index - 9) for index, suffix in enumerate(_DECIMAL_SUFFIXES)},
    **{suffix: (Style.BINARY, index) for index, suffix in enumerate(_BINARY_SUFFIXES) if suffix},
}

# Quantifiers end in + so that they do not backtrack: a failed match would otherwise try every split
# of a long row of zeros.
_PATTERN = rf"""
    ([+-]?)
    (?= \.?[0-9] )
    0*+ ([0-9]{{0,{MAX_DIGITS}}}+)
    (?: \. ([0-9]{{0,{MAX_DIGITS}}}+) )?
    ( [numkMGTPE] | [KMGTPE]i | [eE][+-]?[0-9]{{1,3}} | )
    """


def match(text: str) -> re.Match[str] | None:
    """Match ``text`` with the syntax of quantities; ``None`` if ``text`` is not a quantity."""
    # Compiled at the first use: it takes a millisecond, and many programs read no quantity.
    return re.fullmatch(_PATTERN, text, re.VERBOSE)


class Amount(NamedTuple):
    """The value of a quantity in nanos and the style of its suffix, without the text."""

    nanos: int
    style: Style


class _Parts(NamedTuple):
    """The parts of a quantity's text."""

    negative: bool
    digits: str
    places: int  # digits after the decimal point
    power: int  # of 1024 if the style is binary, else of ten
    style: Style


def read(text: str) -> Amount:
    """Return the quantity in ``text``."""
    negative, digits, places, power, style = _parts(text)
    numerator, denominator = int(digits) * NANOS, 10**places
    if style is Style.BINARY:
        numerator *= 1024**power
    elif power > 0:
        numerator *= 10**power
    else:
        denominator *= 10**-power
    nanos = divided(numerator, denominator)
    if style is Style.BINARY:
        nanos = min(nanos, _MAX_BINARY_NANOS)
        if nanos < NANOS:
            style = Style.DECIMAL
    return Amount(-nanos if negative else nanos, style)


def printed(amount: Amount) -> str:
    """Return ``amount`` as text: an integer with the largest suffix that keeps the value exact."""
    nanos, style = amount
    if nanos == 0:
        return "0"
    whole, rest = divmod(nanos, NANOS)
    if style is Style.BINARY and rest == 0 and abs(whole) >= 1024:
        number, index = without_factors(whole, 1024, most=len(_BINARY_SUFFIXES) - 1)
        return f"{number}{_BINARY_SUFFIXES[index]}"
    if style is Style.EXPONENT:
        number, index = without_factors(nanos, 1000)
        exponent = 3 * index - 9
        return f"{number}e{exponent}" if exponent else str(number)
    # Where the number would need a suffix beyond E, Kubernetes omits the suffix and prints 1000E as
    # "1". This prints 1000E.
    number, index = without_factors(nanos, 1000, most=len(_DECIMAL_SUFFIXES) - 1)
    return f"{number}{_DECIMAL_SUFFIXES[index]}"


def invalid_quantity_error(text: str) -> BadValue:
    """Return the error for ``text`` that is not a quantity."""
    return BadValue(
        wanted="a quantity",
        value=text,
        rule="it must be a number such as 1, -2.5 or .5, optionally followed by one of"
        f" {' '.join(filter(None, _SUFFIXES))} or by an exponent such as e3, with at most"
        f" {MAX_DIGITS} digits on either side of the point and three in the exponent",
    )


def is_kept_unchanged(text: str) -> bool:
    """Whether Kubernetes returns the quantity ``text`` unchanged, even if it is not canonical.

    Kubernetes does so if a quick check of the digits finds nothing to shorten: "+1", "01" and
    "1.500" stay unchanged, while "1.50" becomes "1500m".
    """
    _, digits, places, power, style = _parts(text)
    if style is Style.BINARY:
        return places == 0 and len(digits) + 3 * power <= 14 and int(digits) % 8 != 0
    scale = power - places
    return (
        len(digits) <= 18
        and scale >= -9
        and scale % 3 == 0
        and not digits.startswith("0")
        and not digits.endswith("000")
    )


def divided(numerator: int, denominator: int) -> int:
    """Return ``numerator`` divided by ``denominator``, rounded away from zero to an integer."""
    magnitude = -(-abs(numerator) // abs(denominator))
    return magnitude if (numerator < 0) == (denominator < 0) else -magnitude


def without_factors(number: int, factor: int, *, most: float = math.inf) -> tuple[int, int]:
    """Divide ``number`` by ``factor`` while the result is an integer, at most ``most`` times.

    Return the result and the number of divisions.
    """
    times = 0
    while times < most and number % factor == 0:
        number //= factor
        times += 1
    return number, times


def _parts(text: str) -> _Parts:
    matched = match(text)
    if matched is None:
        raise invalid_quantity_error(text)
    sign, whole, fraction, suffix = matched.groups(default="")
    style, power = _SUFFIXES.get(suffix) or (Style.EXPONENT, int(suffix[1:]))
    return _Parts(sign == "-", (whole or "0") + fraction, len(fraction), power, style)
