"""The schedules of CronJobs: ``*/5 * * * *``, ``@daily``, ``@every 1h30m``.

    minute  hour  day of the month  month  day of the week
    0-59    0-23  1-31              1-12   0-6, from Sunday

A day must match both day fields if one of them is a star, and either of them if none is. When
clocks are put forward, runs in the skipped hour do not happen; when they are put back, runs in the
repeated hour happen twice.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple, TypeAlias

import msgspec

from steersman.errors import BadValue
from steersman.units.duration import parse_duration
from steersman.units.duration_words import duration_problem
from steersman.units.go_quote import quoted
from steersman.units.zones import time_zone

_DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_integer = re.compile("[+-]?[0-9]+").fullmatch
_MOST: Final = 2**63

_SECOND: Final = timedelta(seconds=1)
_DAY: Final = timedelta(days=1)
# As in cron. The next February 29 may be eight years away, around a turn of the century.
_YEARS_AHEAD: Final = 5


class _Field(NamedTuple):
    low: int
    high: int
    names: Mapping[str, int]


_FIELDS: Final = (
    _Field(0, 59, {}),
    _Field(0, 23, {}),
    _Field(1, 31, {}),
    _Field(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


class _Chosen(msgspec.Struct, frozen=True):
    """The values of a field that the schedule contains, one bit each."""

    bits: int
    is_star: bool

    def __contains__(self, value: int) -> bool:
        return bool(self.bits >> value & 1)


class CalendarSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule of certain minutes of certain hours on certain days, in a time zone."""

    minutes: _Chosen
    hours: _Chosen
    days: _Chosen
    months: _Chosen
    weekdays: _Chosen
    zone: tzinfo

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time after ``moment`` at which this schedule is due.

        Return ``None`` if the schedule is not due in the next years, such as on February 30.
        """
        at = moment.astimezone(UTC).replace(microsecond=0) + _SECOND
        local = at.astimezone(self.zone)
        last_year = local.year + _YEARS_AHEAD
        while local.year <= last_year:
            if local.month not in self.months:
                at = self._first_of(_next_month(local))
            elif not self._has_day(local):
                at = self._first_of(local + _DAY)
            elif local.hour not in self.hours:
                # In steps of elapsed time, because clock changes skip and repeat local hours.
                at += timedelta(minutes=60 - local.minute, seconds=-local.second)
            elif local.minute not in self.minutes or local.second:
                at += timedelta(minutes=self._minutes_on(local), seconds=-local.second)
            else:
                return at
            local = at.astimezone(self.zone)
        return None

    def _has_day(self, local: datetime) -> bool:
        of_month = local.day in self.days
        of_week = local.isoweekday() % 7 in self.weekdays
        if self.days.is_star or self.weekdays.is_star:
            return of_month and of_week
        return of_month or of_week

    def _minutes_on(self, local: datetime) -> int:
        """Return the minutes until the next minute of the schedule or the end of the hour."""
        later = (each for each in range(local.minute + 1, 60) if each in self.minutes)
        return next(later, 60) - local.minute

    def _first_of(self, local: datetime) -> datetime:
        """Return the first moment of a day; some days have no midnight."""
        midnight = datetime(local.year, local.month, local.day, tzinfo=self.zone)
        return midnight.astimezone(UTC)


class IntervalSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule that is due at a fixed interval in seconds, counted from the previous time."""

    seconds: int

    def after(self, moment: datetime) -> datetime | None:
        """Return the time one interval after ``moment``; ``None`` beyond the year 9999."""
        try:
            at = moment.astimezone(UTC).replace(microsecond=0)
            return at + timedelta(seconds=self.seconds)
        except OverflowError:
            return None


Schedule: TypeAlias = CalendarSchedule | IntervalSchedule


def parse_schedule(text: str, *, zone: str | None = None) -> Schedule:
    """Return the schedule that ``text`` describes.

    Its times are in the time zone ``zone``, or in the time zone that ``text`` names. If ``text`` is
    invalid, raise ``BadValue``, whose ``rule`` is the error message of the parser in
    kube-controller-manager.
    """
    spec, name = text, zone or ""
    if text.startswith(("TZ=", "CRON_TZ=")):
        name, space, spec = text.partition("=")[2].partition(" ")
        if not space:
            # The original parser panics while it searches for the space, and recovers.
            raise _bad(
                text, "invalid schedule format: runtime error: slice bounds out of range [:-1]"
            )
        spec = spec.strip()
    try:
        chosen = time_zone(name)
    except BadValue as error:
        raise _bad(text, f"provided bad location {name}: {error.rule}") from error
    try:
        return _read(spec, chosen)
    except _Unreadable as error:
        raise _bad(text, str(error)) from None


class _Unreadable(Exception):
    """An error with the message of kube-controller-manager's parser for an invalid text."""


def _read(spec: str, zone: tzinfo) -> Schedule:
    if spec.startswith("@every "):
        return _interval(spec)
    if spec.startswith("@"):
        if spec not in _DESCRIPTORS:
            raise _Unreadable(f"unrecognized descriptor: {spec}")
        spec = _DESCRIPTORS[spec]
    texts = spec.split()
    if len(texts) != len(_FIELDS):
        listed = " ".join(texts)
        raise _Unreadable(f"expected exactly {len(_FIELDS)} fields, found {len(texts)}: [{listed}]")
    minutes, hours, days, months, weekdays = map(_chosen, texts, _FIELDS)
    return CalendarSchedule(
        minutes=minutes, hours=hours, days=days, months=months, weekdays=weekdays, zone=zone
    )


def _interval(descriptor: str) -> IntervalSchedule:
    length = descriptor.removeprefix("@every ")
    try:
        seconds = parse_duration(length)
    except BadValue:
        problem = duration_problem(length) or f"time: invalid duration {quoted(length)}"
        raise _Unreadable(f"failed to parse duration {descriptor}: {problem}") from None
    return IntervalSchedule(seconds=max(1, int(seconds)))


def _chosen(text: str, field: _Field) -> _Chosen:
    bits, is_star = 0, False
    for part in text.split(","):
        if part:
            some, has_star = _range(part, field)
            bits |= some
            is_star |= has_star
    return _Chosen(bits, is_star)


def _range(text: str, field: _Field) -> tuple[int, bool]:
    limits, *steps = text.split("/")
    lowest, *highest = limits.split("-")
    is_star = lowest in ("*", "?")
    if is_star:
        first, last = field.low, field.high
    else:
        first = last = _number(lowest, field.names)
        if len(highest) == 1:
            last = _number(highest[0], field.names)
        elif highest:
            raise _Unreadable(f"too many hyphens: {text}")
    step = 1
    if len(steps) == 1:
        step = _number(steps[0], {})
        if not highest:
            last = field.high
    elif steps:
        raise _Unreadable(f"too many slashes: {text}")
    if first < field.low:
        raise _Unreadable(f"beginning of range ({first}) below minimum ({field.low}): {text}")
    if last > field.high:
        raise _Unreadable(f"end of range ({last}) above maximum ({field.high}): {text}")
    if first > last:
        raise _Unreadable(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if step == 0:
        raise _Unreadable(f"step of range should be a positive number: {text}")
    return sum(1 << value for value in range(first, last + 1, step)), is_star and step == 1


def _number(text: str, names: Mapping[str, int]) -> int:
    if (named := names.get(text.lower())) is not None:
        return named
    failed = f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}"
    if not _integer(text):
        raise _Unreadable(f"{failed}: invalid syntax")
    # A longer number is out of range, and parsing it would take time.
    if len(text.lstrip("+-0")) > 19 or not -_MOST <= (number := int(text)) < _MOST:
        raise _Unreadable(f"{failed}: value out of range")
    if number < 0:
        raise _Unreadable(f"negative number ({number}) not allowed: {text}")
    return number


def _next_month(local: datetime) -> datetime:
    # The first of a month plus 32 days is always in the next month.
    return (local.replace(day=1) + 32 * _DAY).replace(day=1)


def _bad(text: str, problem: str) -> BadValue:
    return BadValue(wanted="a schedule", value=text, rule=problem)
