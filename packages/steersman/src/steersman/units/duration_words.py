"""Go's errors for invalid durations."""

import json
import re
from typing import Final

_TERM: Final = re.compile(r"(?P<number>[0-9]*(?:\.[0-9]*)?)(?P<unit>[^0-9.]*)")
_NANOSECONDS: Final = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,  # U+00B5, the micro sign
    "μs": 1000,  # U+03BC, the Greek letter mu
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_MOST: Final = 1 << 63


def duration_problem(text: str) -> str:
    """Return Go's error for ``text`` as a duration; ``""`` if ``text`` is valid."""
    shown = json.dumps(text, ensure_ascii=False)
    invalid = f"time: invalid duration {shown}"
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return ""
    if not rest:
        return invalid
    total = 0
    while rest:
        term = _TERM.match(rest)
        number, unit = (term["number"], term["unit"]) if term else ("", "")
        if not number.strip("."):
            return invalid
        if not unit:
            return f"time: missing unit in duration {shown}"
        if unit not in _NANOSECONDS:
            unknown = json.dumps(unit, ensure_ascii=False)
            return f"time: unknown unit {unknown} in duration {shown}"
        whole = number.partition(".")[0].lstrip("0")
        # Further digits exceed the limit, and parsing them would take time.
        total += int(whole[:20] or "0") * _NANOSECONDS[unit]
        if total > _MOST:
            return invalid
        rest = rest[len(number) + len(unit) :]
    return ""
