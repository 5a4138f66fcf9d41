"""Ages and durations as kubectl prints them, with at most two units."""

from datetime import datetime, timedelta

from steersman.errors import BadValue
from steersman.units import parse_time

UNKNOWN = "<unknown>"

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY

# Each step: the limit in seconds, the unit in seconds, its letter, and the same of a smaller unit
# that is also shown (0: none).
_STEPS = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)

# The longest duration in Go, which counts nanoseconds: 292 years.
_LONGEST = timedelta(microseconds=2**63 // 1000)

# Go's zero time.
_NEVER = "0001-01-01T00:00:00Z"

# The tolerated difference between the clocks of two machines; a later timestamp is invalid.
_TOLERATED_SECONDS = 1


def human_duration(length: timedelta) -> str:
    """Format a duration with one or two units: 119s, 3m5s, 27h, 5d2h, 3y40d."""
    seconds = int(length.total_seconds())
    if seconds < -_TOLERATED_SECONDS:
        return "<invalid>"
    seconds = max(seconds, 0)
    for limit, unit, name, smaller_unit, smaller_name in _STEPS:
        if seconds < limit:
            text = f"{seconds // unit}{name}"
            rest = seconds % unit // smaller_unit if smaller_unit else 0
            return f"{text}{rest}{smaller_name}" if rest else text
    return f"{seconds // _YEAR}y"


class Ages:
    """Formats ages relative to one moment; the text for each timestamp is cached."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._known: dict[str, str] = {}

    def since(self, moment: str | None) -> str:
        """Return the time from the timestamp ``moment`` until now.

        The result is ``<unknown>`` if ``moment`` is missing or zero, and ``<invalid>`` if it is
        malformed.
        """
        if not moment or moment == _NEVER:
            return UNKNOWN
        known = self._known.get(moment)
        if known is None:
            known = self._known[moment] = self._since(moment)
        return known

    def _since(self, moment: str) -> str:
        try:
            return human_duration(min(self._now - parse_time(moment), _LONGEST))
        except BadValue:
            return "<invalid>"


def between(start: str, end: str) -> str:
    """Return the duration from the timestamp ``start`` to the timestamp ``end`` as text."""
    return human_duration(parse_time(end) - parse_time(start))
