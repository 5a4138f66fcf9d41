"""The protobuf encoder of built-in types: from JSON objects to messages.

The encoder produces the same bytes as Go's generated marshalers, from the same tables as the
decoder. Fields are in the order of their numbers, and maps are in the order of their keys. A field
that is neither a pointer, a list nor a map is encoded even if it is empty.
"""

from binascii import a2b_base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from struct import pack
from typing import Any, NamedTuple, TypeAlias

import msgspec

from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.protobuf.messages import MAGIC, is_struct, type_name
from steersman_cluster.apiserver.schema.protobuf.wire_format import BYTES, FIXED64, VARINT

# Encodes a value. The encoding of a field begins with its tag.
Encode: TypeAlias = Callable[[Any], bytes]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_BYTE = tuple(bytes((number,)) for number in range(0x80))
# The tag and the size of shorter fields are precomputed. Nearly all strings are shorter.
_SHORT = 0x80


def varint(number: int) -> bytes:
    """Encode ``number``, an integer of 64 bits, as a varint: least significant bits first.

    A negative number is encoded in two's complement.
    """
    if 0 <= number < 0x80:
        return _ONE_BYTE[number]
    number &= 2**64 - 1
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def field_tag(number: int, wire_type: int) -> bytes:
    """Return the tag of the field ``number``; the encoded value follows the tag."""
    return varint(number << 3 | wire_type)


def sized(content: bytes) -> bytes:
    """Return ``content`` with its length in front."""
    return varint(len(content)) + content


class _Value(NamedTuple):
    """The encoding of a type: its wire type, its encoder (without the size), and its zero value."""

    wire_type: int
    encode: Encode
    # None: a struct, or a type whose zero value is not written, such as nil bytes.
    zero: bytes | None


def _quantity(value: str) -> bytes:
    return b"\x0a" + sized(value.encode())


def _int_or_string(value: int | str) -> bytes:
    if isinstance(value, str):
        return b"\x08\x01\x10\x00\x1a" + sized(value.encode())
    return b"\x08\x00\x10" + varint(value) + b"\x1a\x00"


# Timestamps repeat: in the managers of one write, and in the objects that a client writes within a
# second.
@lru_cache(maxsize=1024)
def _time(value: str) -> bytes:
    since = datetime.fromisoformat(value) - _EPOCH
    seconds = since.days * 86400 + since.seconds
    return b"\x08" + varint(seconds) + b"\x10" + varint(since.microseconds * 1000)


def _raw(value: Any) -> bytes:
    return b"\x0a" + sized(msgspec.json.encode(value))


def _sorted_raw(value: Any) -> bytes:
    # Go decodes these values and encodes them again; it sorts the keys of maps.
    return b"\x0a" + sized(msgspec.json.encode(value, order="sorted"))


_TEXT = _Value(BYTES, str.encode, b"")
_INTEGER = _Value(VARINT, varint, b"\0")
_BY_FORMAT: Mapping[str | None, _Value] = {
    "byte": _Value(BYTES, a2b_base64, None),
    "date-time": _Value(BYTES, _time, b""),
    "micro-time": _Value(BYTES, _time, b""),
    "quantity": _Value(BYTES, _quantity, _quantity("0")),
    "int-or-string": _Value(BYTES, _int_or_string, _int_or_string(0)),
    "int32": _INTEGER,
    "int64": _INTEGER,
}
_BY_TYPE: Mapping[str | None, _Value] = {
    "string": _TEXT,
    "boolean": _Value(VARINT, lambda value: b"\1" if value else b"\0", b"\0"),
    "integer": _INTEGER,
    "number": _Value(FIXED64, lambda value: pack("<d", value), bytes(8)),
}


class _Field(NamedTuple):
    """One field of a message: its key in JSON, its encoder, and its bytes if JSON omits the field.

    An embedded struct has no key: the input of its encoder is the enclosing object.
    """

    key: str
    encode: Encode
    absent: bytes


class MessageEncoders:
    """The encoders of built-in types, each created at its first use."""

    def __init__(self) -> None:
        self._structs: dict[int, Encode] = {}

    def of(self, schema: Schema) -> Encode:
        """Return the function that encodes objects of a type, without a size in front."""
        # Cached by the properties: all uses of a type share them, and a type may contain itself.
        key = id(schema.properties)
        if key not in self._structs:
            self._structs[key] = _message(lambda: self._fields(schema))
        return self._structs[key]

    def _fields(self, schema: Schema) -> list[_Field]:
        inside: dict[tuple[int, ...], dict[int, _Field]] = {(): {}}
        for key, each in schema.properties.items():
            path = each.number
            for depth in range(1, len(path)):
                inside.setdefault(path[:depth], {})
            if path:
                inside[path[:-1]][path[-1]] = self._field(key, path[-1], each)
        # Embedded Go structs are separate messages. The innermost come first.
        for path in sorted(inside, key=len, reverse=True):
            if path:
                inside[path[:-1]][path[-1]] = _embedded(path[-1], _in_order(inside[path]))
        return _in_order(inside[()])

    def _field(self, key: str, number: int, schema: Schema) -> _Field:
        if schema.type == "array" and schema.items is not None and schema.go_type != "v1.Verbs":
            encode = _encoded(number, self._value(schema.items))
            return _Field(key, lambda values: b"".join(map(encode, values)), b"")
        if schema.additional is not None:
            return _Field(key, _entries(number, self._value(schema.additional)), b"")
        value = self._value(schema)
        zero = value.encode({}) if is_struct(schema) and not schema.pointer else value.zero
        absent = b""
        if not schema.pointer and zero is not None:
            absent = field_tag(number, value.wire_type)
            absent += sized(zero) if value.wire_type == BYTES else zero
        return _Field(key, _encoded(number, value), absent)

    def _value(self, schema: Schema) -> _Value:
        if schema.format == "schema-or-other" and schema.items is not None:
            return self._schema_or_other(schema, self.of(schema.items))
        if schema.preserve_unknown:
            return _Value(BYTES, _sorted_raw if type_name(schema) == "JSON" else _raw, b"")
        if schema.format in _BY_FORMAT:
            return _BY_FORMAT[schema.format]
        if schema.type in _BY_TYPE:
            return _BY_TYPE[schema.type]
        if schema.type == "array" and schema.items is not None:
            # Protobuf has no lists in maps or lists. An inner list is a message with one repeated
            # field.
            encode = _encoded(1, self._value(schema.items))
            return _Value(BYTES, lambda values: b"".join(map(encode, values)), b"")
        return _Value(BYTES, self.of(schema), None)

    def _schema_or_other(self, schema: Schema, props: Encode) -> _Value:
        name, whole = type_name(schema), _Value(BYTES, props, b"")
        if name.endswith("OrBool"):
            with_schema = _encoded(2, whole)
            return _Value(
                BYTES,
                lambda value: (
                    b"\x08\1" + with_schema(value)
                    if isinstance(value, dict)
                    else b"\x08" + varint(value)
                ),
                None,
            )
        one, other = _encoded(1, whole), _encoded(2, _TEXT)
        if name.endswith("OrArray"):
            other = _encoded(2, whole)
        return _Value(
            BYTES,
            lambda value: one(value) if isinstance(value, dict) else b"".join(map(other, value)),
            None,
        )


def _message(make_fields: Callable[[], list[_Field]]) -> Encode:
    absents: list[bytes] = []  # the encoded fields of an empty object
    places: dict[str, tuple[int, Encode]] = {}
    embedded: list[tuple[int, Encode]] = []

    def make() -> None:
        for at, (key, encode, absent) in enumerate(make_fields()):
            absents.append(absent)
            if key:
                places[key] = at, encode
            else:
                embedded.append((at, encode))

    def message(value: Object) -> bytes:
        if not absents:
            # Deferred to the first object: the zero value of a field may need a type that is still
            # being compiled.
            make()
        # Most fields are absent in most objects, so that only the present ones are replaced.
        pieces = absents.copy()
        for key, found in value.items():
            if found is not None and key in places:
                at, encode = places[key]
                pieces[at] = encode(found)
        for at, encode in embedded:
            pieces[at] = encode(value)
        return b"".join(pieces)

    return message


def _in_order(fields: Mapping[int, _Field]) -> list[_Field]:
    return [fields[number] for number in sorted(fields)]


def _embedded(number: int, fields: list[_Field]) -> _Field:
    return _Field("", _encoded(number, _Value(BYTES, _message(lambda: fields), b"")), b"")


def _encoded(number: int, value: _Value) -> Encode:
    """Return an encoder of a field: the tag, the size if the wire type has one, and the value."""
    head, encode = field_tag(number, value.wire_type), value.encode
    if value.wire_type != BYTES:
        return lambda found: head + encode(found)
    heads = _heads(number)

    def field(found: Any) -> bytes:
        content = encode(found)
        size = len(content)
        return heads[size] + content if size < _SHORT else head + varint(size) + content

    return field


def field_of(number: int) -> Encode:
    """Return a function that makes a message the field ``number`` of another message."""
    return _encoded(number, _Value(BYTES, bytes, b""))


@lru_cache(maxsize=256)
def _heads(number: int) -> tuple[bytes, ...]:
    return tuple(field_tag(number, BYTES) + varint(size) for size in range(_SHORT))


def _entries(number: int, value: _Value) -> Encode:
    """Return an encoder of a map: one message for each key and its value."""
    key_of, value_of = _encoded(1, _TEXT), _encoded(2, value)
    entry = _encoded(number, _Value(BYTES, lambda pair: key_of(pair[0]) + value_of(pair[1]), b""))
    return lambda found: b"".join(map(entry, sorted(found.items())))


@lru_cache(maxsize=1024)
def _envelope_opening(api_version: str, kind: str) -> bytes:
    text = _encoded(1, _TEXT)(api_version) + _encoded(2, _TEXT)(kind)
    return MAGIC + b"\x0a" + sized(text) + b"\x12"


def enveloped(api_version: str, kind: str, message: bytes) -> bytes:
    """Return a complete body: an envelope with ``api_version``, ``kind`` and ``message``."""
    # contentEncoding and contentType are empty strings.
    opening = _envelope_opening(api_version, kind)
    return b"".join((opening, varint(len(message)), message, b"\x1a\x00\x22\x00"))


def watch_frame(event_type: bytes, body: bytes) -> bytes:
    """Return the frame of a watch event: its length, then a WatchEvent that contains ``body``."""
    # Field 2 of the event is a RawExtension, whose field 1 is the body.
    raw = b"\x0a" + varint(len(body))
    opening = b"\x0a" + sized(event_type) + b"\x12" + varint(len(raw) + len(body)) + raw
    return pack(">I", len(opening) + len(body)) + opening + body
