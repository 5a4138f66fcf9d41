"""CEL's timestamps and durations: their text formats and their parts."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.values import (
    MAX_INT,
    Duration,
    Function,
    Timestamp,
    parse_digits,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000_000
# The range of a protobuf Timestamp: the years 1 to 9999.
_EARLIEST: Final = -62135596800 * _SECOND
_LATEST: Final = 253402300799 * _SECOND + 999_999_999

_MOMENT: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|([+-])(\d\d):(\d\d))\Z", re.ASCII
)
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)\Z", re.ASCII)
_PART: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
# The number of digits of a fraction that can affect the nanoseconds.
_MAX_DIGITS: Final = 20
_OFFSET: Final = re.compile(r"([+-]?)(\d{1,2}):(\d\d)\Z", re.ASCII)


def parse_timestamp(text: str) -> Timestamp | None:
    """Return the timestamp of ``text``; None if ``text`` is not in RFC 3339 format."""
    found = _MOMENT.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    fraction, zone, sign, zone_hours, zone_minutes = found.groups()[6:]
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    nanoseconds = int((moment - _EPOCH).total_seconds()) * _SECOND
    nanoseconds += int((fraction or "0")[:9].ljust(9, "0"))
    if zone == "Z":
        return Timestamp(nanoseconds)
    offset = int(zone_hours) * 60 + int(zone_minutes)
    offset = offset if sign == "+" else -offset
    return Timestamp(nanoseconds - offset * 60 * _SECOND, offset)


def parse_date(text: str) -> Timestamp | None:
    return parse_timestamp(f"{text}T00:00:00Z") if _DATE.match(text) else None


def read_timestamp(text: str) -> Timestamp:
    found = parse_timestamp(text)
    if found is None:
        raise NotEvaluated("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    return within_range(found.nanoseconds, found.offset_minutes)


def within_range(nanoseconds: int, offset_minutes: int = 0) -> Timestamp:
    if _EARLIEST <= nanoseconds <= _LATEST:
        return Timestamp(nanoseconds, offset_minutes)
    raise NotEvaluated("timestamp overflow")


def parse_duration(text: str) -> Duration | None:
    """Return the duration of ``text``, such as ``1h30m``; None if it is no Go duration."""
    sign, rest = 1, text
    if rest[:1] in ("+", "-"):
        sign, rest = (-1 if rest[0] == "-" else 1), rest[1:]
    if rest == "0":
        return Duration(0)
    total, at = 0, 0
    while at < len(rest):
        found = _PART.match(rest, at)
        if found is None:
            return None
        whole, _, fraction = found[1].partition(".")
        unit = _UNITS[found[2]]
        total += parse_digits(whole) * unit
        if fraction:
            digits = fraction[:_MAX_DIGITS]
            total += parse_digits(digits) * unit // 10 ** len(digits)
        at = found.end()
    if not rest or total > MAX_INT:
        return None
    return Duration(sign * total)


def read_duration(text: str) -> Duration:
    found = parse_duration(text)
    if found is None:
        raise NotEvaluated("type conversion error from 'string' to 'google.protobuf.Duration'")
    return found


def timestamp_text(value: Timestamp) -> str:
    seconds, nanoseconds = divmod(value.nanoseconds, _SECOND)
    offset = value.offset_minutes
    moment = _shifted(_EPOCH + timedelta(seconds=seconds), offset)
    fraction = f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""
    zone = "Z"
    if offset:
        zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    return f"{moment.year:04}{moment:-%m-%dT%H:%M:%S}{fraction}{zone}"


def _shifted(moment: datetime, minutes: int) -> datetime:
    # A timestamp near the limits may have a year in another time zone that Python does not support.
    try:
        return moment + timedelta(minutes=minutes)
    except OverflowError:
        raise NotEvaluated("timestamp overflow") from None


def duration_text(value: Duration) -> str:
    """Return the duration ``value`` in seconds, in the text format of CEL."""
    seconds, nanoseconds = divmod(abs(value.nanoseconds), _SECOND)
    fraction = f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""
    return f"{'-' if value.nanoseconds < 0 else ''}{seconds}{fraction}s"


def _moment(value: Timestamp, zone: str | None) -> datetime:
    moment = _EPOCH + timedelta(microseconds=value.nanoseconds // 1000)
    if zone is None or zone == "UTC":
        return moment
    if (found := _OFFSET.match(zone)) is not None:
        minutes = int(found[2]) * 60 + int(found[3])
        return _shifted(moment, -minutes if found[1] == "-" else minutes)
    try:
        return moment.astimezone(ZoneInfo(zone))
    except OverflowError:
        raise NotEvaluated("timestamp overflow") from None
    except (ValueError, OSError, KeyError):
        raise NotEvaluated(f"unknown time zone {zone}") from None


def _of_moment(part: Callable[[datetime], int]) -> Function:
    def read(value: Any, zone: str | None = None) -> int:
        if not isinstance(value, Timestamp):
            raise NotEvaluated
        return part(_moment(value, zone))

    return read


def _of_either(part: Callable[[datetime], int], unit: int) -> Function:
    """Return a function that returns ``part`` of a timestamp, or a duration in multiples of
    ``unit``.
    """

    def read(value: Any, zone: str | None = None) -> int:
        if isinstance(value, Timestamp):
            return part(_moment(value, zone))
        if isinstance(value, Duration):
            units = abs(value.nanoseconds) // unit
            return units if value.nanoseconds >= 0 else -units
        raise NotEvaluated

    return read


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "getDate": _of_moment(lambda moment: moment.day),
    "getDayOfMonth": _of_moment(lambda moment: moment.day - 1),
    "getDayOfWeek": _of_moment(lambda moment: moment.isoweekday() % 7),
    "getDayOfYear": _of_moment(lambda moment: moment.timetuple().tm_yday - 1),
    "getFullYear": _of_moment(lambda moment: moment.year),
    "getHours": _of_either(lambda moment: moment.hour, 3600 * _SECOND),
    "getMilliseconds": _of_either(lambda moment: moment.microsecond // 1000, 1_000_000),
    "getMinutes": _of_either(lambda moment: moment.minute, 60 * _SECOND),
    "getMonth": _of_moment(lambda moment: moment.month - 1),
    "getSeconds": _of_either(lambda moment: moment.second, _SECOND),
}
