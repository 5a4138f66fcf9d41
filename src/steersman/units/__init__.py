"""The amounts, lengths of time and moments that Kubernetes writes as text.

Takes:     text as it stands in objects: "1500m", "1h30m", "2006-01-02T15:04:05Z", "25%"
Gives:     values to compute with, and the text for the way back
Promises:  - a quantity prints exactly the text it was made from
           - quantities of one value are equal, whatever their suffix
           - sums and products of quantities are exact to the nano, rounding away from zero
           - a duration reads and prints as Go reads and prints it
           - a moment is always in UTC, and a naive datetime is refused
           - text of any length is read or refused in time proportional to its length
Never:     asks what time it is, holds an amount in a float, or guesses at malformed text
"""

from steersman.units.duration import format_duration, parse_duration
from steersman.units.int_or_string import IntOrString, scaled
from steersman.units.moment import MicroTime, format_micro_time, format_time, parse_time
from steersman.units.quantity import Quantity

__all__ = [
    "IntOrString",
    "MicroTime",
    "Quantity",
    "format_duration",
    "format_micro_time",
    "format_time",
    "parse_duration",
    "parse_time",
    "scaled",
]
