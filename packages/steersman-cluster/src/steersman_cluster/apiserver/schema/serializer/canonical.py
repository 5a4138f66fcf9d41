"""The fast decoder: objects of built-in kinds as Go would encode them after decoding.

Each type is compiled to one function that changes an object in place. The function raises
``Irregular`` at the first value that Go would reject, or drop with a warning. ``inspection`` then
finds the messages. Nearly all bodies are regular, so they are decoded fast.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from steersman_cluster.apiserver.schema import scalars
from steersman_cluster.apiserver.schema.go_declarations import zero_of
from steersman_cluster.apiserver.schema.node import UNSET, Schema

# Returns the canonical form of a value that is not null; often the same value.
Walk: TypeAlias = Callable[[Any], Any]
# For the members of a struct, list or map: the type whose non-empty values are already canonical,
# the function for other values, and the function for empty values and null.
Member: TypeAlias = tuple[type | None, Walk, Walk]


class Irregular(Exception):
    """A value has the wrong type, is unknown, or is in a form that ``inspection`` must decode."""


class _Dropped:
    pass


DROPPED: Final = _Dropped()

INTEGER_BITS = {"int32": 31, "int64": 63}


class Canonical:
    """The functions of all types, each compiled at its first use."""

    def __init__(self) -> None:
        self._structs: dict[int, Walk] = {}

    def of(self, schema: Schema) -> Walk:
        """Return the function that makes values of the type ``schema`` canonical, in place."""
        if schema.format in _BY_FORMAT:
            return _BY_FORMAT[schema.format]
        if schema.format == "schema-or-other" and schema.items is not None:
            return self._schema_or_other(schema.name or "", schema.items)
        match schema.type:
            case _ if schema.preserve_unknown:
                return _anything
            case "object" if schema.additional is not None:
                return _map(*self._element(schema.additional))
            case "object":
                # Cached by the properties: all uses of a type share them, and a type may contain
                # itself.
                key = id(schema.properties)
                if key not in self._structs:
                    self._structs[key] = self._struct(schema)
                return self._structs[key]
            case "array" if schema.items is not None:
                return _list(*self._element(schema.items))
            case "string":
                return _string
            case "integer":
                return _integer(INTEGER_BITS[schema.format or "int64"])
            case "boolean":
                return _boolean
            case "number":
                return _number
            case _:
                return _anything

    def _schema_or_other(self, name: str, schema: Schema) -> Walk:
        """Return the function for a JSON schema or its alternative: a bool, strings, or schemas.

        The name of the Go type determines the alternative.
        """
        other: Walk
        if name.endswith("OrBool"):
            other = _boolean
        elif name.endswith("OrStringArray"):
            other = _list(str, _string, _with_zero(_string, ""))
        else:
            other = _list(*self._element(schema))
        walk = self.of(schema)

        def either(value: Any) -> Any:
            if value == []:
                raise Irregular
            return walk(value) if value.__class__ is dict else other(value)

        return either

    def _struct(self, schema: Schema) -> Walk:
        fields: dict[str, Member] = {}
        always: list[tuple[str, Walk | None, Any]] = []

        def build() -> None:
            for name, each in schema.properties.items():
                if each.default is not UNSET and each.default not in ("", 0, {}):
                    always.append((name, None, each.default))
                elif each.absent is not UNSET:
                    fill = self.of(each) if each.absent == {} else None
                    always.append((name, fill, each.absent))
            # Last, because non-empty fields mark the struct as built.
            fields.update((name, self._field(each)) for name, each in schema.properties.items())

        def struct(value: Any) -> Any:
            if value.__class__ is not dict:
                raise Irregular
            if not fields:
                build()
            dropped = None
            for name, each in value.items():
                if name not in fields:
                    raise Irregular
                plain, some, none = fields[name]
                if each.__class__ is plain and each:
                    continue
                new = some(each) if each else none(each)
                if new is each:
                    continue
                if new is DROPPED:
                    dropped = [name] if dropped is None else [*dropped, name]
                else:
                    value[name] = new
            if dropped is not None:
                for name in dropped:
                    del value[name]
            for name, fill, absent in always:
                if name not in value:
                    value[name] = absent if fill is None else fill({})
            return value

        return struct

    def _field(self, schema: Schema) -> Member:
        """Return how a field with this schema is decoded in a struct."""
        plain, walk = _plain(schema), self.of(schema)
        if schema.pointer:
            nothing = DROPPED if schema.absent is UNSET else None
            return plain, walk, lambda value: nothing if value is None else walk(value)
        if schema.drops_empty:
            # The canonical form of a non-empty list or number is never empty.
            stays = schema.type in ("array", "integer") and schema.format not in _BY_FORMAT
            some = walk if stays else lambda value: walk(value) or DROPPED
            return plain, some, lambda value: _empty(value, walk)
        if schema.type in ("array", "object") and schema.name is None:
            return plain, walk, lambda value: None if value is None else walk(value) or None
        return plain, walk, _with_zero(walk, zero_of(schema))

    def _element(self, schema: Schema) -> Member:
        """Return how an element of a list or map is decoded."""
        walk = self.of(schema)
        if schema.type == "array":
            return _plain(schema), walk, lambda value: [] if value is None else walk(value)
        # After storage, null bytes in a list or map are empty bytes.
        zero = "" if schema.format == "byte" else zero_of(schema)
        return _plain(schema), walk, _with_zero(walk, zero)


def _with_zero(walk: Walk, zero: Any) -> Walk:
    """Return a function that decodes null as the zero value."""
    if walk is _anything:
        return walk
    if zero == {}:
        return lambda value: walk({} if value is None else value)
    return lambda value: zero if value is None else walk(value)


def _empty(value: Any, walk: Walk) -> Any:
    # Validated although it is dropped: an empty list is not a valid number.
    if value is not None:
        walk(value)
    return DROPPED


def _plain(schema: Schema) -> type | None:
    """Return the type whose values, unless empty, are canonical already."""
    if schema.type == "string" and schema.format is None:
        return str
    return bool if schema.type == "boolean" else None


def _anything(value: Any) -> Any:
    return value


def _string(value: Any) -> Any:
    if value.__class__ is not str:
        raise Irregular
    return value


def _boolean(value: Any) -> Any:
    if value.__class__ is not bool:
        raise Irregular
    return value


def _integer(bits: int) -> Walk:
    least, most = -(2**bits), 2**bits - 1

    def integer(value: Any) -> Any:
        if value.__class__ is not int or not least <= value <= most:
            raise Irregular
        return value

    return integer


def _number(value: Any) -> Any:
    if value.__class__ is float:
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    return _int64(value)


def _int_or_string(value: Any) -> Any:
    return value if value.__class__ is str else _int32(value)


def _text(canonical: Callable[[str], str | None]) -> Walk:
    def text(value: Any) -> Any:
        if value.__class__ is not str:
            raise Irregular
        try:
            return canonical(value)
        except scalars.BadScalar:
            raise Irregular from None

    return text


def _quantity(value: Any) -> Any:
    # Go parses a quantity from the text of a number, which a float does not preserve.
    return _quantity_text(str(value) if value.__class__ is int else value)


def _list(plain: type | None, some: Walk, none: Walk) -> Walk:
    def items(value: Any) -> Any:
        if value.__class__ is not list:
            raise Irregular
        for index, each in enumerate(value):
            if each.__class__ is plain:
                continue
            new = some(each) if each else none(each)
            if new is not each:
                value[index] = new
        return value

    return items


def _map(plain: type | None, some: Walk, none: Walk) -> Walk:
    def entries(value: Any) -> Any:
        if value.__class__ is not dict:
            raise Irregular
        for key, each in value.items():
            if each.__class__ is plain:
                continue
            new = some(each) if each else none(each)
            if new is not each:
                value[key] = new
        return value

    return entries


_int32 = _integer(31)
_int64 = _integer(63)
_quantity_text = _text(scalars.quantity)

_BY_FORMAT: dict[str, Walk] = {
    "quantity": _quantity,
    "int-or-string": _int_or_string,
    "date-time": _text(scalars.moment),
    "micro-time": _text(scalars.micro_moment),
    "byte": _text(scalars.base64),
}
