"""Values as Go's own messages name and print them; clients see those sentences, so we say them."""

from typing import Any

_KINDS = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
}
_TYPES = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
}


def cannot_unmarshal(value: Any, where: str) -> str:
    """What a decoder says to a value that does not fit."""
    return f"json: cannot unmarshal {_KINDS[type(value)]} into Go {where}"


def go_type(value: Any) -> str:
    """The type's name as a message shows it."""
    return _TYPES.get(type(value), "%!s(<nil>)")


def go_text(value: Any) -> str:
    """The value as ``%v`` prints it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _float_text(value)
        case dict():
            return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(go_text, value))}]"
        case _:
            return str(value)


def _float_text(value: float) -> str:
    # Go prints an exponent from 1e+21 on, Python from 1e+16 on.
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return repr(value)
