"""Kubernetes' text formats of quantities, durations and times, and the equality of JSON values.

Takes:     text of objects: "1500m", "1h30m", "2006-01-02T15:04:05Z", "25%",
           "*/5 * * * *"
Gives:     values to compute with, and their text; whether JSON values are equal
Promises:  - a quantity prints exactly the text it was made from
           - quantities of one value are equal, whatever their suffix
           - sums and products of quantities are exact to the nano, rounding away from zero
           - a duration is parsed and printed as in Go
           - a moment is always in UTC, and a naive datetime is rejected
           - a schedule is due at the same times as in Go
           - a schedule skips no day when clocks change at midnight
           - a boolean never equals a number
           - text of any length is parsed or rejected in time proportional to its length
Never:     reads a clock, stores a quantity in a float, or guesses at malformed text
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names

if TYPE_CHECKING:
    from steersman.units.duration import format_duration, parse_duration
    from steersman.units.duration_words import duration_problem
    from steersman.units.go_quote import quoted
    from steersman.units.intstr import IntOrString, scaled
    from steersman.units.json_equality import same_booleans, same_json
    from steersman.units.moment import MicroTime, format_micro_time, format_time, parse_time
    from steersman.units.quantity import Quantity
    from steersman.units.schedule import Schedule, parse_schedule
    from steersman.units.zones import time_zone

__all__ = [
    "IntOrString",
    "MicroTime",
    "Quantity",
    "Schedule",
    "duration_problem",
    "format_duration",
    "format_micro_time",
    "format_time",
    "parse_duration",
    "parse_schedule",
    "parse_time",
    "quoted",
    "same_booleans",
    "same_json",
    "scaled",
    "time_zone",
]

# The module of each name, which is loaded at the first use of the name: few programs read
# schedules.
_LAZY = {
    "IntOrString": "intstr",
    "MicroTime": "moment",
    "Quantity": "quantity",
    "Schedule": "schedule",
    "duration_problem": "duration_words",
    "format_duration": "duration",
    "format_micro_time": "moment",
    "format_time": "moment",
    "parse_duration": "duration",
    "parse_schedule": "schedule",
    "parse_time": "moment",
    "quoted": "go_quote",
    "same_booleans": "json_equality",
    "same_json": "json_equality",
    "scaled": "intstr",
    "time_zone": "zones",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
