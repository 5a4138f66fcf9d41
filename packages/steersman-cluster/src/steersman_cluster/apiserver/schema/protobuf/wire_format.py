"""The protobuf wire format, decoded to JSON.

A message is a sequence of numbered values. It contains neither the names nor the exact types of the
values, so a decoder requires the declarations of the fields. Error texts are Go's.
"""

import re
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from struct import unpack
from typing import Any, NamedTuple, TypeAlias

from steersman_cluster.apiserver.meta.strategy import Object

VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 = range(6)
_SIZES = {FIXED64: 8, FIXED32: 4}

_UNREADABLE = re.compile("[\udc80-\udcff]")
_UNEXPECTED_END = "unexpected EOF"
_NEGATIVE_LENGTH = "proto: negative length found during unmarshaling"

Read: TypeAlias = Callable[[Any], Any]
Put: TypeAlias = Callable[[Object, Any], None]


class Malformed(Exception):
    """The bytes are not a message of the type; the error text is Go's."""


class ValueDecoder(NamedTuple):
    """The decoder of a value: a wire type, and a function that converts the value to JSON."""

    wire_type: int
    read: Read


class FieldDecoder(NamedTuple):
    """The decoder of one field of a message.

    It consists of the field's name in error texts, and of a function that sets the field in an
    object.
    """

    go_name: str
    wire_type: int
    put: Put
    put_packed: Put | None = None  # sets packed values of a repeated field


class MessageDecoder:
    """The decoder of a message type; it ignores unknown fields."""

    def __init__(self, name: str, fields: Mapping[int, FieldDecoder]) -> None:
        self._name = name
        self._fields = fields

    def read(self, data: bytes, into: Object) -> Object:
        """Decode the message ``data`` into the object ``into``, and return ``into``.

        Raises ``Malformed`` if that fails.
        """
        find = self._fields.get
        at, end = 0, len(data)
        while at < end:
            start, tag = at, data[at]
            # A shortcut: nearly all tags have one byte.
            if tag < 128:
                at += 1
            else:
                tag, at = _varint(data, at)
            field, wire_type = find(tag >> 3), tag & 7
            if field is None or wire_type == GROUP_END:
                self._check_unknown(tag)
                at = _end_of_field(data, start)
                continue
            put = field.put
            if wire_type != field.wire_type:
                if wire_type != BYTES or field.put_packed is None:
                    raise Malformed(
                        f"proto: wrong wireType = {wire_type} for field {field.go_name}"
                    )
                put = field.put_packed
            if wire_type == VARINT:
                value, at = _varint(data, at)
                put(into, value)
            else:
                size, at = (8, at) if wire_type == FIXED64 else _varint(data, at)
                start, at = at, at + size
                if at > end:
                    raise Malformed(_UNEXPECTED_END if size < 2**63 else _NEGATIVE_LENGTH)
                put(into, data[start:at])
        return into

    def _check_unknown(self, tag: int) -> None:
        if tag & 7 == GROUP_END:
            raise Malformed(f"proto: {self._name}: wiretype end group for non-group")
        if (number := _signed(tag >> 3, 32)) <= 0:
            raise Malformed(f"proto: {self._name}: illegal tag {number} (wire type {tag})")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode the varint at ``at``, and return the number and the end of the varint.

    A varint has at most 64 bits, with the least significant bits first.
    """
    if at < len(data) and data[at] < 128:
        return data[at], at + 1
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Malformed(_UNEXPECTED_END)
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number & (2**64 - 1), at
    raise Malformed("proto: integer overflow")


def _end_of_field(data: bytes, at: int) -> int:
    """Return the end of an unknown field; a group ends with its end tag."""
    depth = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire_type = tag & 7
        if wire_type == VARINT:
            _, at = _varint(data, at)
        elif wire_type == BYTES:
            size, at = _varint(data, at)
            if size >= 2**63:
                raise Malformed(_NEGATIVE_LENGTH)
            at += size
        elif wire_type in _SIZES:
            at += _SIZES[wire_type]
        elif wire_type in (GROUP, GROUP_END):
            depth += 1 if wire_type == GROUP else -1
        else:
            raise Malformed(f"proto: illegal wireType {wire_type}")
        if depth == 0 and at <= len(data):
            return at
    raise Malformed(_UNEXPECTED_END)


def _signed(number: int, bits: int) -> int:
    number &= 2**bits - 1
    return number - 2**bits if number >> bits - 1 else number


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        # Go writes one replacement character for each invalid byte, Python one for several.
        return _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", data.decode(errors="surrogateescape"))


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def _float(data: bytes) -> float:
    (number,) = unpack("<d", data)
    return float(number)


TEXT = ValueDecoder(BYTES, _text)
CONTENT = ValueDecoder(BYTES, bytes)
BASE64 = ValueDecoder(BYTES, _base64)
BOOLEAN = ValueDecoder(VARINT, bool)
INT32 = ValueDecoder(VARINT, lambda number: _signed(number, 32))
INT64 = ValueDecoder(VARINT, lambda number: _signed(number, 64))
FLOAT = ValueDecoder(FIXED64, _float)


def one(name: str, go_name: str, value: ValueDecoder) -> FieldDecoder:
    """Return the decoder of a field with one value.

    If the field occurs several times in a message, the last value counts.
    """
    read = value.read

    def put(obj: Object, written: Any) -> None:
        obj[name] = read(written)

    return FieldDecoder(go_name, value.wire_type, put)


def many(name: str, go_name: str, value: ValueDecoder) -> FieldDecoder:
    """Return the decoder of a repeated field.

    A message contains the field once for each element; if the elements are numeric, they may be
    packed into one value.
    """
    read = value.read

    def put(obj: Object, written: Any) -> None:
        obj.setdefault(name, []).append(read(written))

    def put_packed(obj: Object, written: bytes) -> None:
        at = 0
        while at < len(written):
            number, at = _varint(written, at)
            put(obj, number)

    return FieldDecoder(
        go_name, value.wire_type, put, put_packed if value.wire_type == VARINT else None
    )


def part(name: str, go_name: str, message: MessageDecoder) -> FieldDecoder:
    """Return the decoder of a field that contains a message.

    If the field occurs twice, the second message is merged into the first.
    """

    def put(obj: Object, written: bytes) -> None:
        obj[name] = message.read(written, obj.get(name, {}))

    return FieldDecoder(go_name, BYTES, put)


def entries(name: str, go_name: str, value: ValueDecoder) -> FieldDecoder:
    """Return the decoder of a map field, which is one message for each key and its value."""
    entry = MessageDecoder("Entry", {1: one("key", "Key", TEXT), 2: one("value", "Value", value)})

    def put(obj: Object, written: bytes) -> None:
        found = entry.read(written, {})
        obj.setdefault(name, {})[found.get("key", "")] = found.get("value")

    return FieldDecoder(go_name, BYTES, put)


def embedded(go_name: str, message: MessageDecoder) -> FieldDecoder:
    """Return the decoder of a message whose fields JSON inlines into the enclosing object."""

    def put(obj: Object, written: bytes) -> None:
        message.read(written, obj)

    return FieldDecoder(go_name, BYTES, put)
