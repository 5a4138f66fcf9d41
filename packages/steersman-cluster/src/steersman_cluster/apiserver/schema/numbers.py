"""Number validation, with kube-apiserver's definition of an integer and its number format."""

from collections.abc import Callable, Mapping
from math import trunc
from typing import Any, Final

from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid, shown

_MAX_SAFE: Final = float((1 << 53) - 1)
_INTEGER_BITS: Final = {"int32": 32}
_MAX_FLOAT32: Final = 3.4028235677973366e38  # larger values round to infinity


def is_integral(value: float) -> bool:
    """Return whether kube-apiserver treats the float ``value`` as an integer.

    A float counts as an integer if it is close to an integer and is not too large.
    """
    if not -_MAX_SAFE <= value <= _MAX_SAFE:
        return False
    nearest = float(trunc(value))
    if value == nearest:
        return True
    return value > 0 and nearest > 0 and (value - nearest) / (value + nearest) < 1e-9


def number_check(
    of: type, written: Mapping[str, Any], types: tuple[str, ...], format_name: str
) -> Callable[[Any, Any, str, list[FieldError]], None] | None:
    """Return a function that checks numbers of the Python type ``of`` against a schema.

    The function checks the format, ``multipleOf`` and the bounds in the schema ``written``. Returns
    None if every number is valid.
    """
    type_name = types[0] if len(types) == 1 else ""
    if type_name not in ("integer", "number"):
        type_name = format_name = ""
    rules = [
        _multiple_of(written["multipleOf"], type_name, format_name)
        if written.get("multipleOf") is not None
        else None,
        _bound(written, "minimum", type_name, format_name),
        _bound(written, "maximum", type_name, format_name),
    ]
    given = [each for each in rules if each is not None]
    if not given and _always_fits(of, type_name, format_name):
        return None

    least, most = _whole_range(written, type_name, format_name)

    def check(value: Any, _old: Any, path: str, found: list[FieldError]) -> None:
        if type(value) is int and least <= value <= most:
            return
        if not _fits(value, type_name, format_name):
            found.append(_unfit("Checked", type_name, format_name, path))
        for each in given:
            each(value, path, found)

    return check


def _whole_range(
    written: Mapping[str, Any], type_name: str, format_name: str
) -> tuple[float, float]:
    """Return the range in which all integers are valid; it is empty if there is no such range."""
    bits = _INTEGER_BITS.get(format_name, 64) if type_name == "integer" else 64
    least, most = written.get("minimum"), written.get("maximum")
    limits = [each for each in (least, most) if each is not None]
    if written.get("multipleOf") is not None or any(int(each) != each for each in limits):
        return 1, 0
    lowest, highest = -(1 << bits - 1), (1 << bits - 1) - 1
    if not all(lowest <= each <= highest for each in limits):
        return 1, 0
    return (
        lowest if least is None else least + bool(written.get("exclusiveMinimum")),
        highest if most is None else most - bool(written.get("exclusiveMaximum")),
    )


def _always_fits(of: type, type_name: str, format_name: str) -> bool:
    if type_name == "integer":
        return of is int and format_name not in _INTEGER_BITS
    return format_name != "float"


def _fits(value: float, type_name: str, format_name: str) -> bool:
    """Return whether a field with ``type_name`` and ``format_name`` can hold ``value``."""
    if type_name == "integer":
        limit = 1 << _INTEGER_BITS.get(format_name, 64) - 1
        return -limit <= value < limit and value == trunc(value)
    return format_name != "float" or abs(value) < _MAX_FLOAT32


def _unfit(what: str, type_name: str, format_name: str, path: str) -> FieldError:
    form = f"with format {format_name}" if format_name else "(default format)"
    return invalid("", "", f"{what} value must be of type {type_name} {form} in {path}")


def _comparable_limit(value: Any, limit: float, fits: bool) -> Any:
    """Return the limit as a number that can be compared with ``value``.

    The result is an integer if ``value`` is one and the limit fits the type; otherwise a float.
    """
    if not isinstance(value, int) or not fits:
        return float(limit)
    # Go converts a limit that does not fit an int64 to the smallest int64.
    return trunc(limit) if abs(limit) < 1 << 63 else -(1 << 63)


def _multiple_of(
    factor: float, type_name: str, format_name: str
) -> Callable[[Any, str, list[FieldError]], None]:
    fits = _fits(factor, type_name, format_name)

    def check(value: Any, path: str, found: list[FieldError]) -> None:
        if not fits:
            found.append(_unfit("MultipleOf", type_name, format_name, path))
        wanted = _comparable_limit(value, factor, fits)
        if wanted <= 0:
            why = f"factor MultipleOf declared for {path} must be positive: {shown(wanted)}"
            found.append(invalid(path, wanted, why))
        elif not _divides(wanted, value):
            why = f"{path} in body should be a multiple of {shown(wanted)}"
            found.append(invalid(path, value if fits else float(value), why))

    return check


def _divides(factor: Any, value: Any) -> bool:
    if isinstance(factor, int):
        return bool(value % factor == 0)
    return is_integral(1 / factor * value if factor < 1 else value / factor)


def _bound(
    written: Mapping[str, Any], key: str, type_name: str, format_name: str
) -> Callable[[Any, str, list[FieldError]], None] | None:
    limit = written.get(key)
    if limit is None:
        return None
    is_minimum = key == "minimum"
    exclusive = bool(written.get(f"exclusive{key.capitalize()}"))
    fits = _fits(limit, type_name, format_name)
    relation = "greater than" if is_minimum else "less than"
    relation += "" if exclusive else " or equal to"

    def check(value: Any, path: str, found: list[FieldError]) -> None:
        if not fits:
            found.append(_unfit(f"{key.capitalize()} boundary", type_name, format_name, path))
        wanted = _comparable_limit(value, limit, fits)
        beyond = value < wanted if is_minimum else value > wanted
        if beyond or (exclusive and value == wanted):
            why = f"{path} in body should be {relation} {shown(wanted)}"
            found.append(invalid(path, value if fits else float(value), why))

    return check
