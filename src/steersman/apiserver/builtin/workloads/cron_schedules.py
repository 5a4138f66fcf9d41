"""Schedules and time zones of CronJobs: what is wrong with one, in the words of the real parser."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError

from steersman.apiserver.field_errors import shown
from steersman.apiserver.go_durations import duration_problem

_DESCRIPTORS: Final = frozenset(
    ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
)
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_integer = re.compile("[+-]?[0-9]+").fullmatch
_zone_part = re.compile(r"(?!-)(?!\.\.?$)[A-Za-z._0-9+-]{1,14}").fullmatch
_MOST: Final = 2**63


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


def schedule_problem(schedule: str) -> str:
    """Why nobody could follow ``schedule``; "" if somebody could."""
    try:
        _read(schedule)
    except ValueError as error:
        return str(error)
    return ""


def _read(schedule: str) -> None:
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, space, rest = schedule.partition("=")[2].partition(" ")
        if not space:
            # Where it looks for the space, the real parser falls over and is caught.
            raise ValueError(
                "invalid schedule format: runtime error: slice bounds out of range [:-1]"
            )
        if problem := _location_problem(zone):
            raise ValueError(f"provided bad location {zone}: {problem}")
        schedule = rest.strip()
    if schedule.startswith("@"):
        _read_descriptor(schedule)
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        listed = " ".join(fields)
        raise ValueError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{listed}]")
    for text, field in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            if part:
                _read_range(part, field)


def _read_descriptor(descriptor: str) -> None:
    if descriptor in _DESCRIPTORS:
        return
    if not descriptor.startswith("@every "):
        raise ValueError(f"unrecognized descriptor: {descriptor}")
    if problem := duration_problem(descriptor.removeprefix("@every ")):
        raise ValueError(f"failed to parse duration {descriptor}: {problem}")


def _read_range(text: str, field: _Field) -> None:
    limits, *steps = text.split("/")
    lowest, *highest = limits.split("-")
    if lowest in ("*", "?"):
        first, last = field.low, field.high
    else:
        first = last = _number(lowest, field.names)
        if len(highest) == 1:
            last = _number(highest[0], field.names)
        elif highest:
            raise ValueError(f"too many hyphens: {text}")
    step = 1
    if len(steps) == 1:
        step = _number(steps[0], {})
        if not highest:
            last = field.high
    elif steps:
        raise ValueError(f"too many slashes: {text}")
    if first < field.low:
        raise ValueError(f"beginning of range ({first}) below minimum ({field.low}): {text}")
    if last > field.high:
        raise ValueError(f"end of range ({last}) above maximum ({field.high}): {text}")
    if first > last:
        raise ValueError(f"beginning of range ({first}) beyond end of range ({last}): {text}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {text}")


def _number(text: str, names: Mapping[str, int]) -> int:
    if (named := names.get(text.lower())) is not None:
        return named
    failed = f"failed to parse int from {text}: strconv.Atoi: parsing {shown(text)}"
    if not _integer(text):
        raise ValueError(f"{failed}: invalid syntax")
    # What is longer than any number that fits is not read at all: reading takes its time.
    if len(text.lstrip("+-0")) > 19 or not -_MOST <= (number := int(text)) < _MOST:
        raise ValueError(f"{failed}: value out of range")
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number


def zone_problems(zone: str) -> list[str]:
    """Why no clock could go by ``zone``."""
    if not zone:
        return ["timeZone must be nil or non-empty string"]
    if not all(map(_zone_part, zone.split("/"))):
        return [f"unknown time zone {zone}"]
    problems = []
    if zone.lower() == "local":
        problems.append(
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    if problem := _location_problem(zone):
        problems.append(problem)
    return problems


def _location_problem(name: str) -> str:
    if name in ("", "UTC", "Local"):
        return ""
    if ".." in name or name[0] in "/\\":
        return "time: invalid location name"
    try:
        ZoneInfo(name)
    except ValueError:
        return "malformed time zone information"
    except (ZoneInfoNotFoundError, OSError):
        is_directory = any(Path(root, name).is_dir() for root in TZPATH)
        return "is a directory" if is_directory else f"unknown time zone {name}"
    return ""
