"""Strings that Go parses and formats again: quantities, timestamps, and bytes.

Each function returns the text that Go would write, or raises an error with Go's message.
"""

import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from steersman.errors import BadValue
from steersman.units import Quantity, format_micro_time, format_time, parse_time

ZERO_TIME = "0001-01-01T00:00:00Z"

_QUANTITY_FORM = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
# Possessive quantifiers: no backtracking over digits.
_QUANTITY_SHAPE = re.compile(r"[+-]?([0-9]*+)(\.[0-9]*+)?([eEinumkKMGTP]*+[-+]?[0-9]*+)")
# Go parses a suffix without digits as zero.
_NO_DIGITS = re.compile(r"[+-]?\.?(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3}|)").fullmatch
_BASE64_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?").fullmatch
_SHORT_HOUR = re.compile(r"(?<=T)\d(?=:)", re.ASCII)
_FULL_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch
_MICRO_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)", re.ASCII)

# The parts of a timestamp in Go's order: the name in Go's layout, and a pattern.
_DATE_AND_HOUR = (
    ("2006", r"\d{4}"),
    ("-", "-"),
    ("01", r"\d\d"),
    ("-", "-"),
    ("02", r"\d\d"),
    ("T", "T"),
    ("15", r"\d\d?"),
    (":", ":"),
    ("04", r"\d\d"),
    (":", ":"),
    ("05", r"\d\d"),
)
_ALL = slice(None)
_RANGES = {
    "01": [("month", _ALL, range(1, 13))],
    "15": [("hour", _ALL, range(24))],
    "04": [("minute", _ALL, range(60))],
    "05": [("second", _ALL, range(60))],
    "Z07:00": [
        ("time zone offset hour", slice(1, 3), range(25)),
        ("time zone offset minute", slice(4, 6), range(61)),
    ],
}
_ZONE = ("Z07:00", r"Z|[+-]\d\d:\d\d")
_TO_SECOND = (*_DATE_AND_HOUR, ("", r"(?:[.,]\d+)?"), _ZONE)
_TO_MICROSECOND = (*_DATE_AND_HOUR, (".000000", r"[.,]\d{6}"), _ZONE)


class BadScalar(Exception):
    """Go rejects the text; the message is Go's."""


def quantity(text: str) -> str:
    """Return the quantity ``text`` in its canonical form."""
    text = text.strip()
    try:
        return Quantity(text).canonical()
    except BadValue:
        if text and _NO_DIGITS(text):
            return "0"
        raise BadScalar(_quantity_problem(text)) from None


def moment(text: str) -> str | None:
    """Return the timestamp ``text`` in UTC, to the second; None for Go's zero time."""
    return _short_moment(text) if len(text) <= _USUAL else _moment(text)


def _moment(text: str) -> str | None:
    try:
        parsed = parse_time(_with_whole_hour(text))
    except BadValue:
        raise BadScalar(_moment_problem(text, "2006-01-02T15:04:05Z07:00", _TO_SECOND)) from None
    written = text if _FULL_SECOND(text) else format_time(parsed)
    return None if written == ZERO_TIME else written


# Each write of an object contains all its timestamps again, so that parsed ones are cached.
_USUAL: Final = len("2006-01-02T15:04:05.000000000+07:00")
_short_moment = lru_cache(maxsize=1024)(_moment)


def micro_moment(text: str) -> str | None:
    """Return the timestamp ``text`` in UTC, to the microsecond; None for Go's zero time.

    The seconds in ``text`` must have six decimal places.
    """
    layout = "2006-01-02T15:04:05.000000Z07:00"
    try:
        whole = _with_whole_hour(text)
        if _MICRO_SECOND.fullmatch(whole) is not None:
            written = format_micro_time(parse_time(whole))
            return None if written.startswith("0001-01-01T00:00:00.000000") else written
    except BadValue:
        pass
    raise BadScalar(_moment_problem(text, layout, _TO_MICROSECOND))


def date_problem(text: str) -> str:
    """Return Go's message for ``text``, which is not a valid date."""
    return _moment_problem(text, "2006-01-02", _DATE_AND_HOUR[:5])


def local_moment_problem(text: str) -> str:
    """Return Go's message for ``text``, which is not a valid timestamp without a zone."""
    return _moment_problem(text, "2006-01-02T15:04:05", _TO_SECOND[:-1])


def base64(text: str) -> str:
    """Return base64 text without its line breaks.

    Raises ``BadScalar`` if ``text`` contains any other character outside of the base64 alphabet, or
    has leftover bits.
    """
    bare = text.replace("\n", "").replace("\r", "")
    if _BASE64(bare) is None:
        raise BadScalar(f"illegal base64 data at input byte {_first_bad_byte(text.encode())}")
    return _base64_of(binascii.a2b_base64(bare))


def base64_of_numbers(numbers: Iterator[int]) -> str:
    """Return the base64 text of bytes that were written as a list of numbers."""
    return _base64_of(bytes(numbers))


def _base64_of(content: bytes) -> str:
    return binascii.b2a_base64(content, newline=False).decode()


def _first_bad_byte(text: bytes) -> int:
    """Return the position of the first bad byte, as Go reports it.

    Go decodes base64 in groups of four characters.
    """
    taken = 0  # characters in the current group of four
    for at, byte in enumerate(text):
        if byte in b"\r\n":
            continue
        if byte in _BASE64_ALPHABET:
            taken = (taken + 1) % 4
        elif byte != ord("=") or taken < 2:
            return at
        else:
            return _bad_byte_after_padding(text, at, taken)
    return len(text) - taken


def _bad_byte_after_padding(text: bytes, at: int, taken: int) -> int:
    rest = [place for place in range(at + 1, len(text)) if text[place] not in b"\r\n"]
    if taken == 2:
        if not rest:
            return len(text)
        second = rest.pop(0)
        if text[second] != ord("="):
            return second - 1
    return rest[0] if rest else len(text)


def _quantity_problem(text: str) -> str:
    shaped = _QUANTITY_SHAPE.fullmatch(text)
    if not text or shaped is None:
        return f"quantities must match the regular expression '{_QUANTITY_FORM}'"
    if shaped[3]:
        return "unable to parse quantity's suffix"
    return "unable to parse numeric part of quantity"


def _with_whole_hour(text: str) -> str:
    """Return the timestamp with a two-digit hour; Go also accepts one digit."""
    return _SHORT_HOUR.sub(r"0\g<0>", text) if text[12:13] == ":" else text


def _moment_problem(text: str, layout: str, parts: tuple[tuple[str, str], ...]) -> str:
    rest = text
    for name, pattern in parts:
        part = re.match(pattern, rest, re.ASCII)
        if part is None:
            missing = f"cannot parse {_quoted(rest)} as {_quoted(name)}"
            return f"parsing time {_quoted(text)} as {_quoted(layout)}: {missing}"
        for unit, digits, fits in _RANGES.get(name, ()):
            if part[0] != "Z" and int(part[0][digits]) not in fits:
                return f"parsing time {_quoted(text)}: {unit} out of range"
        rest = rest[part.end() :]
    if rest:
        return f"parsing time {_quoted(text)}: extra text: {_quoted(rest)}"
    return f"parsing time {_quoted(text)}: day out of range"


def _quoted(text: str) -> str:
    """Quote a timestamp byte by byte, as Go does."""
    shown = (
        f"\\{chr(byte)}" if byte in b'"\\' else chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}"
        for byte in text.encode()
    )
    return f'"{"".join(shown)}"'
