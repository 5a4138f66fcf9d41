"""Fields with a number or a percentage, as in Go's package ``intstr``: ``maxSurge: 25%``."""

import re
from typing import TypeAlias

from steersman.errors import BadValue

IntOrString: TypeAlias = int | str

_percentage = re.compile(r"([+-]?[0-9]{1,18})%").fullmatch


def scaled(value: IntOrString, total: int, *, round_up: bool) -> int:
    """Return ``value`` if it is a number, or the percentage ``value`` of ``total``.

    A fraction is rounded up if ``round_up`` is true, and otherwise down.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    matched = _percentage(value) if isinstance(value, str) else None
    if matched is None:
        raise BadValue(
            wanted="a number or a percentage",
            value=value,
            rule="it must be an int, or a string of digits and a percent sign, such as '25%'",
        )
    hundredths = int(matched[1]) * total
    return -(-hundredths // 100) if round_up else hundredths // 100
