"""Time zones by name, with Go's errors for invalid names."""

from datetime import UTC, tzinfo
from pathlib import Path

from steersman.errors import BadValue


def time_zone(name: str) -> tzinfo:
    """Return the time zone called ``name``; UTC if ``name`` is empty or "Local".

    If ``name`` is invalid, raise ``BadValue``, whose ``rule`` is Go's error message.
    """
    # Controllers of a cluster run in containers, whose local time is UTC.
    if name in ("", "UTC", "Local"):
        return UTC
    if ".." in name or name[0] in "/\\":
        raise _no_zone(name, "time: invalid location name")
    # Imported here, because time zones are rare, and the import takes as long as the rest.
    from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except ValueError as error:
        raise _no_zone(name, "malformed time zone information") from error
    except (ZoneInfoNotFoundError, OSError) as error:
        is_directory = any(Path(root, name).is_dir() for root in TZPATH)
        problem = "is a directory" if is_directory else f"unknown time zone {name}"
        raise _no_zone(name, problem) from error


def _no_zone(name: str, problem: str) -> BadValue:
    return BadValue(wanted="a time zone", value=name, rule=problem)
