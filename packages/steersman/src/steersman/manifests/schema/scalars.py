"""Schemas of types without nested values, and errors for types that have no schema."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final, get_args, get_origin
from uuid import UUID

from steersman.kinds import Unstructured
from steersman.manifests.definition.definition import INT_OR_STRING, INTEGER_OR_STRING
from steersman.manifests.schema.place import Place
from steersman.units import MicroTime, Quantity

# The valid texts of a Quantity, without length limits.
_QUANTITY: Final = (
    r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?$"
)

SCALARS: Final[Mapping[type[Any], Mapping[str, Any]]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "format": "int64"},
    float: {"type": "number"},
    bytes: {"type": "string", "format": "byte"},
    datetime: {"type": "string", "format": "date-time"},
    MicroTime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    UUID: {"type": "string", "format": "uuid"},
    Quantity: {INT_OR_STRING: True, "anyOf": INTEGER_OR_STRING, "pattern": _QUANTITY},
}

# Why a type has no schema, and what to use instead.
WRONG_TYPES: Final[Mapping[type[Any], tuple[str, str]]] = {
    set: (
        "a set has no order, but a list in JSON has one",
        "Use tuple[X, ...] with Rule(list_type='set').",
    ),
    frozenset: (
        "a set has no order, but a list in JSON has one",
        "Use tuple[X, ...] with Rule(list_type='set').",
    ),
    object: ("object does not describe any fields", "Use Any for arbitrary values."),
    timedelta: (
        "the JSON form of a timedelta is not a Kubernetes duration",
        "Use str with Rule(format='duration') and units.parse_duration, or a number of seconds.",
    ),
    time: ("Kubernetes has no type for a time of day", "Use str with a pattern."),
    Decimal: ("a number in JSON is not exact", "Use Quantity or str."),
    complex: ("JSON cannot represent a complex number", "Use a Part with two fields."),
    dict: ("the type of its values is missing", "Write Mapping[str, X]."),
    list: ("the type of its items is missing", "Write tuple[X, ...]."),
    tuple: ("the type of its items is missing", "Write tuple[X, ...]."),
    Unstructured: (
        "an Unstructured cannot be a field of another object",
        "Use Mapping[str, Any] with Rule(embedded_resource=True).",
    ),
}

_ENUM_TYPES: Final[Mapping[type[Any], str]] = {str: "string", int: "integer", bool: "boolean"}


def choices_of(hint: Any, place: Place) -> dict[str, Any]:
    """Return the schema of ``hint``, a ``Literal`` or an ``Enum``; errors name ``place``."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        values = [each.value for each in hint]
    else:
        values = [each.value if isinstance(each, Enum) else each for each in get_args(hint)]
    types = {type(value) for value in values}
    if len(types) != 1 or not types <= _ENUM_TYPES.keys():
        name = "its Literal" if get_origin(hint) else hint.__name__
        raise place.refused(
            f"the values of {name} are {', '.join(map(repr, values)) or 'none'}, but they must be"
            " all strings or all whole numbers",
            "Use values of the same type.",
        )
    return {"type": _ENUM_TYPES[types.pop()], "enum": values}
