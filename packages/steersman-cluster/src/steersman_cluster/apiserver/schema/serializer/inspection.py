"""The slow decoder: the messages of Go's decoder for a body that is not regular.

It runs after the fast decoder has failed, and visits every field, with its path, in the order of
the text. The result omits what Go would drop. Parts that Go accepts with a warning are listed as
complaints. Parts that Go rejects raise an error with Go's message.
"""

from collections.abc import Sequence
from math import isinf
from typing import Any, NamedTuple

from steersman_cluster.apiserver.meta.go_json import Number, Pairs, plain, quoted
from steersman_cluster.apiserver.meta.go_messages import what_is
from steersman_cluster.apiserver.schema import scalars
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.serializer.canonical import INTEGER_BITS

# Go's limit of errors in strict decoding.
MAX_COMPLAINTS = 100


class Undecodable(Exception):
    """Go rejects the body; the message is Go's."""


class Inspected(NamedTuple):
    """The decoded value, and the complaints about the dropped parts of the body."""

    value: Any
    complaints: list[str]


def inspect(value: Any, schema: Schema, *, path: str = "") -> Inspected:
    """Decode ``value``, a parsed body, and collect the complaints about it.

    The objects in ``value`` are ``Pairs`` or dicts, and its numbers may be ``Number``. The paths in
    complaints start with ``path``; messages about types do not contain ``path``.
    """
    inspector = _Inspector()
    left = inspector.value(value, schema, _Place(path))
    if inspector.first_problem is not None:
        raise Undecodable(inspector.first_problem)
    return Inspected(left, list(inspector.complaints)[:MAX_COMPLAINTS])


def duplicates(value: Any) -> list[str]:
    """Return the complaints about duplicate keys in ``value``, a parsed body without a schema."""
    inspector = _Inspector()
    inspector.anything(value, "")
    return list(inspector.complaints)[:MAX_COMPLAINTS]


class _Place(NamedTuple):
    """The path of a value, in two forms.

    Complaints contain the path with indexes and keys; Go's messages contain only the fields.
    """

    path: str = ""
    struct: str = ""
    fields: tuple[str, ...] = ()

    def field(self, struct: str, name: str, embedding: str) -> "_Place":
        embedded = embedding.split(".")[:-1]
        return _Place(_joined(self.path, name), struct, (*self.fields, *embedded, name))

    def entry(self, key: str) -> "_Place":
        return self._replace(path=_joined(self.path, key))

    def item(self, index: int) -> "_Place":
        return self._replace(path=f"{self.path}[{index}]")

    def mismatch(self, what: str, go_type: str) -> str:
        where = f"struct field {self.struct}.{'.'.join(self.fields)}" if self.fields else "value"
        return f"json: cannot unmarshal {what} into Go {where} of type {go_type}"


class _Inspector:
    def __init__(self) -> None:
        self.complaints: dict[str, None] = {}
        # The first type error: Go continues after it, except after an error of a type with its own
        # decoder.
        self.first_problem: str | None = None

    def value(self, value: Any, schema: Schema, place: _Place) -> Any:
        if value is None:
            return None
        if schema.format in _READ_BY_THEMSELVES:
            return self._text(value, schema, place)
        if schema.format == "schema-or-other" and schema.items is not None:
            return _schema_or_other(value, schema, place)
        if schema.preserve_unknown:
            return plain(value)
        match schema.type:
            case "object" if isinstance(value, (Pairs, dict)):
                if schema.additional is not None:
                    return self._map(value, schema.additional, place)
                return self._struct(value, schema, place)
            case "array" if isinstance(value, list) and schema.items is not None:
                return [
                    self.value(each, schema.items, place.item(index))
                    for index, each in enumerate(value)
                ]
            case "string" if schema.format == "byte":
                return self._bytes(value, schema, place)
            case "string" if isinstance(value, str) and not isinstance(value, Number):
                return value
            case "boolean" if isinstance(value, bool):
                return value
            case "integer" | "number" if what_is(value) == "number":
                return self._number(value, schema, place)
            case _:
                self._mismatch(what_is(value), schema, place)
                return None

    def anything(self, value: Any, path: str) -> None:
        if isinstance(value, list):
            for index, each in enumerate(value):
                self.anything(each, f"{path}[{index}]")
        elif isinstance(value, Pairs):
            seen = set[str]()
            for key, each in value:
                if key in seen:
                    self._complain("duplicate", _joined(path, key))
                seen.add(key)
                self.anything(each, _joined(path, key))

    def _struct(self, value: Pairs | dict[str, Any], schema: Schema, place: _Place) -> Any:
        left: dict[str, Any] = {}
        struct = (schema.name or "").rpartition(".")[2]
        for name, each in _entries(value):
            field = schema.properties.get(name)
            if field is None:
                self._complain("unknown", _joined(place.path, name))
                continue
            if name in left:
                self._complain("duplicate", _joined(place.path, name))
            new = self.value(each, field, place.field(struct, name, field.go_embedding))
            left[name] = _merged(left.get(name), new, field)
        return left

    def _map(self, value: Pairs | dict[str, Any], element: Schema, place: _Place) -> Any:
        left: dict[str, Any] = {}
        for key, each in _entries(value):
            if key in left:
                self._complain("duplicate", _joined(place.path, key))
            left[key] = self.value(each, element, place.entry(key))
        return left

    def _text(self, value: Any, schema: Schema, place: _Place) -> Any:
        what = what_is(value)
        match schema.format:
            case "quantity":
                text = str(value) if what in ("string", "number") else ""
                return _read(scalars.quantity, text)
            case "int-or-string" if what == "string":
                return value
            case "int-or-string":
                if (number := whole(value, bits=31)) is not None:
                    return number
                shown = f"number {value}" if what == "number" else what
                raise Undecodable(place.mismatch(shown, "int32"))
            case _ if what != "string":
                raise Undecodable(place.mismatch(what, "string"))
            case "date-time":
                _read(scalars.moment, value)
                return value
            case _:
                _read(scalars.micro_moment, value)
                return value

    def _bytes(self, value: Any, schema: Schema, place: _Place) -> Any:
        if isinstance(value, list):
            octets = [whole(each, bits=8) for each in value]
            if all(each is not None and each >= 0 for each in octets):
                return scalars.base64_of_numbers(each for each in octets if each is not None)
            worst = next(v for v, o in zip(value, octets, strict=True) if o is None or o < 0)
            what = what_is(worst)
            self._mismatch(f"number {worst}" if what == "number" else what, schema, place, "uint8")
            return None
        if what_is(value) != "string":
            self._mismatch(what_is(value), schema, place, "[]uint8")
            return None
        try:
            return scalars.base64(value)
        except scalars.BadScalar as problem:
            self._remember(str(problem))
            return None

    def _number(self, value: Any, schema: Schema, place: _Place) -> Any:
        number: float | None
        if schema.type == "number":
            number = _finite(value)
        else:
            number = whole(value, bits=INTEGER_BITS[schema.format or "int64"])
        if number is None:
            self._mismatch(f"number {value}", schema, place)
        return number

    def _mismatch(self, what: str, schema: Schema, place: _Place, go_type: str = "") -> None:
        self._remember(place.mismatch(what, go_type or schema.go_type))

    def _remember(self, problem: str) -> None:
        if self.first_problem is None:
            self.first_problem = problem

    def _complain(self, what: str, path: str) -> None:
        self.complaints.setdefault(f"{what} field {quoted(path)}")


def _schema_or_other(value: Any, schema: Schema, place: _Place) -> Any:
    """Decode a JSON schema, or the list or bool in its place; Go decodes each separately."""
    what, name = what_is(value), schema.name or ""
    if what == "object" and schema.items is not None:
        return _decoded_separately(value, schema.items, place)
    if name.endswith("OrBool"):
        if what != "bool":
            raise Undecodable("boolean or JSON schema expected")
        return value
    if what != "array":
        return None
    element = schema.items if name.endswith("PropsOrArray") else None
    element = element or Schema(type="string", go_type="string")
    # null elements become empty ones, as in the canonical form.
    return [_decoded_separately(each, element, place) for each in value] or None


def _decoded_separately(value: Any, schema: Schema, place: _Place) -> Any:
    """Decode a value separately: unknown fields are ignored, and a wrong type raises an error."""
    inspector = _Inspector()
    left = inspector.value(value, schema, place)
    if inspector.first_problem is not None:
        raise Undecodable(inspector.first_problem)
    return left


_READ_BY_THEMSELVES = ("quantity", "int-or-string", "date-time", "micro-time")


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if isinf(number) else number


def whole(value: Any, *, bits: int) -> int | None:
    """Return ``value`` as an integer.

    Returns None if ``value`` is not written as an integer, or has more than ``bits`` bits.
    """
    if what_is(value) != "number" or isinstance(value, float):
        return None
    try:
        number = int(value)
    except ValueError:
        return None
    return number if -(2**bits) <= number < 2**bits else None


def _read(read: Any, text: str) -> Any:
    try:
        return read(text)
    except scalars.BadScalar as problem:
        raise Undecodable(str(problem)) from None


def _entries(value: Pairs | dict[str, Any]) -> Sequence[tuple[str, Any]]:
    return value if isinstance(value, Pairs) else list(value.items())


def _merged(old: Any, new: Any, schema: Schema) -> Any:
    """Merge a second value of a field into the first, as Go does for structs and maps."""
    if schema.preserve_unknown or not isinstance(old, dict) or not isinstance(new, dict):
        return new
    for key, each in new.items():
        field = schema.properties.get(key)
        old[key] = each if field is None else _merged(old.get(key), each, field)
    return old


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
