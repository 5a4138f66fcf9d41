"""Times in Kubernetes' format: RFC 3339 in UTC, to the second or to the microsecond."""

import re
from datetime import UTC, datetime
from typing import Self

from steersman.errors import BadValue

# Stricter than datetime.fromisoformat, which also accepts week dates, 24:00 and missing zones.
_match = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
).fullmatch


class MicroTime(datetime):
    """A time in a field that Kubernetes always writes with six digits after the second.

    Leases and events have such fields. Otherwise a ``MicroTime`` is like any ``datetime``.
    """

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """Return ``moment``, a timezone-aware ``datetime``, as a ``MicroTime`` in UTC."""
        utc = _in_utc(moment)
        return cls.combine(utc.date(), utc.timetz())


def parse_time(text: str) -> datetime:
    """Return the time in ``text``, in UTC; digits beyond the microsecond are dropped."""
    try:
        if _match(text) is not None:
            return datetime.fromisoformat(text).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass  # not text, an invalid date, or outside the years 1 to 9999 in UTC
    raise BadValue(
        wanted="a time",
        value=text,
        rule="it must be an RFC 3339 date and time in the years 1 to 9999,"
        " such as 2006-01-02T15:04:05Z or 2006-01-02T15:04:05.999+07:00",
    )


def format_time(moment: datetime) -> str:
    """Return ``moment`` as text, to the second, as in a creationTimestamp: 2006-01-02T15:04:05Z."""
    return _in_utc(moment).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def format_micro_time(moment: datetime) -> str:
    """Return ``moment`` as text, to the microsecond, as in a Lease: 2006-01-02T15:04:05.000000Z."""
    return _in_utc(moment).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _in_utc(moment: datetime) -> datetime:
    try:
        if moment.utcoffset() is not None:
            return moment.astimezone(UTC)
    except (AttributeError, OverflowError):
        pass
    raise BadValue(
        wanted="a time",
        value=moment,
        rule="it must be a datetime with a tzinfo, such as UTC, in the years 1 to 9999",
    )
