"""Type names and values as Go prints them, for error messages that clients expect."""

from decimal import Decimal
from typing import Any, Final

from steersman_cluster.apiserver.meta.go_json import Number, Pairs

# The Go type into which kube-apiserver decodes a body to determine its kind.
TYPE_META: Final = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\"";'
    r' Kind string "json:\"kind,omitempty\"" }'
)

_TYPES: Final = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
}


def what_is(value: Any) -> str:
    """Return the name that Go's JSON decoder gives to the type of a value that is not null."""
    match value:
        case bool():
            return "bool"
        case Number() | int() | float():
            return "number"
        case str():
            return "string"
        case Pairs() | dict():
            return "object"
        case _:
            return "array"


def cannot_unmarshal(value: Any, where: str) -> str:
    """Return the message of Go's JSON decoder for a value of the wrong type.

    ``where`` is what the decoder requires, as Go's message names it.
    """
    return f"json: cannot unmarshal {what_is(value)} into Go {where}"


def go_type(value: Any) -> str:
    """Return the Go type of ``value``, as Go's format ``%T`` prints it."""
    return _TYPES.get(type(value), "%!s(<nil>)")


def go_text(value: Any) -> str:
    """Return ``value`` as Go's format ``%v`` prints it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return float_text(value)
        case dict():
            return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(go_text, value))}]"
        case _:
            return str(value)


def float_text(value: float) -> str:
    """Return a float as Go's format ``%v`` prints it.

    The text has as few digits as the float requires. It has an exponent if the float is at least a
    million, or is below 0.0001.
    """
    digits, _, exponent = f"{Decimal(repr(value)).normalize():e}".partition("e")
    power = int(exponent)
    if -5 < power < 6:
        return f"{Decimal(repr(value)).normalize():f}"
    return f"{digits}e{'-' if power < 0 else '+'}{abs(power):02}"
