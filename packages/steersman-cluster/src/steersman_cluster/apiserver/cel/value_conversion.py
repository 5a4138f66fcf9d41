"""The conversion of JSON values to CEL values, as the schema declares their types."""

import binascii
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.cel.library.times import (
    parse_date,
    parse_duration,
    parse_timestamp,
)
from steersman_cluster.apiserver.cel.values import Broken, Duration, MapList, SetList, Timestamp
from steersman_cluster.apiserver.schema.scalars import (
    BadScalar,
    base64,
    date_problem,
    local_moment_problem,
)

Convert: TypeAlias = Callable[[Any], Any]

_COUNTED: Final = re.compile(r"(\d+)\s*([A-Za-zµ]+)", re.ASCII)
_OF_URLS: Final = str.maketrans("-_+/", "+/-_")
_SECOND: Final = 1_000_000_000
_LONG_UNITS: Final = (
    (("ns", "nano"), 1),
    (("us", "µs", "micro"), 1_000),
    (("ms", "milli"), 1_000_000),
    (("s", "sec"), _SECOND),
    (("m", "min"), 60 * _SECOND),
    (("h", "hr", "hour"), 3600 * _SECOND),
    (("d", "day"), 86400 * _SECOND),
    (("w", "wk", "week"), 7 * 86400 * _SECOND),
)


def converter(written: Mapping[str, Any]) -> Convert | None:
    """Return the function that converts values of the schema ``written`` to CEL values.

    The result is None if such values need no conversion.
    """
    found = _converter(written)
    return None if found is None else lambda value: value if type(value) is Broken else found(value)


def _converter(written: Mapping[str, Any]) -> Convert | None:
    if written.get("x-kubernetes-int-or-string"):
        return None
    match written.get("type"):
        case "object":
            return _object(written)
        case "array":
            return _list(written)
        case "string":
            found = _FORMATS.get(written.get("format") or "")
            return None if found is None else partial(_text, found)
        case "number":
            return _number
        case _:
            return None


def _object(written: Mapping[str, Any]) -> Convert | None:
    inside: dict[str, Convert] = {}
    for name, each in (written.get("properties") or {}).items():
        if (found := converter(each)) is not None:
            inside[name] = found
    additional = written.get("additionalProperties")
    if not written.get("properties") and isinstance(additional, Mapping):
        values = converter(additional)
        return None if values is None else _values(values)
    if not inside:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        converted = dict(value)
        for name, each in inside.items():
            if converted.get(name) is not None:
                converted[name] = each(converted[name])
        return converted

    return convert


def _values(each: Convert) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: None if held is None else each(held) for key, held in value.items()}

    return convert


def _list(written: Mapping[str, Any]) -> Convert | None:
    items = written.get("items")
    element = converter(items) if isinstance(items, Mapping) else None
    keys = tuple(written.get("x-kubernetes-list-map-keys") or ())
    kind = written.get("x-kubernetes-list-type")
    if element is None and kind not in ("set", "map"):
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        held = value
        if element is not None:
            held = [None if each is None else element(each) for each in value]
        if kind == "set":
            return SetList(held)
        return MapList(held, keys) if kind == "map" else held

    return convert


def _number(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _text(read: Convert, value: Any) -> Any:
    if isinstance(value, str):
        return read(value)
    # Schema validation accepts a list in place of a formatted string.
    return Broken("invalid data, expected string, got []interface {}")


def _duration(text: Any) -> Any:
    found = parse_duration(text)
    if found is not None:
        return found
    total, counted = 0, False
    for number, unit in _COUNTED.findall(text):
        for names, size in _LONG_UNITS:
            if unit.lower() in names or unit.lower().startswith(names[-1]):
                total, counted = total + int(number) * size, True
                break
    if counted:
        return Duration(total)
    return Broken(f"Invalid duration {text}: unable to parse {text} as duration")


def _date(text: Any) -> Any:
    found = parse_date(text)
    return found or Broken(f"Invalid date formatted string {text}: {date_problem(text)}")


def _date_time(text: Any) -> Any:
    """Return a timestamp; a text without a time zone and an empty text are accepted, too."""
    if not text:
        return Timestamp(0)
    whole = f"{text[:11]}0{text[11:]}" if text[12:13] == ":" else text
    found = parse_timestamp(whole) or parse_timestamp(f"{whole}Z")
    why = f"Invalid date-time formatted string {text}: "
    return found or Broken(f"{why}{local_moment_problem(text)}")


def _bytes(text: Any) -> Any:
    # kube-apiserver accepts only the URL-safe base64 alphabet here.
    try:
        return binascii.a2b_base64(base64(text.translate(_OF_URLS)))
    except BadScalar as error:
        return Broken(f"Invalid byte formatted string {text}: {error}")


_FORMATS: Final[Mapping[str, Convert]] = {
    "byte": _bytes,
    "date": _date,
    "date-time": _date_time,
    "duration": _duration,
}
