"""Protobuf messages, written from the JSON that they stand for.

A message is a row of numbered values; a table says which key of an object is which of them.
"""

from collections.abc import Callable, Mapping
from struct import pack
from typing import Any, NamedTuple, TypeAlias

import msgspec

_VARINT, _FIXED64, _SIZED = range(3)
_SHORT = tuple(bytes((size,)) for size in range(0x80))

Write: TypeAlias = Callable[[Any], bytes]


class Value(NamedTuple):
    """How a value is written: a wire type, and what makes bytes of it."""

    wire_type: int
    write: Write


class Field(NamedTuple):
    """One field of a message: what stands before each value, and how it is written."""

    tag: bytes
    write: Write
    repeated: bool


class Message:
    """A type of messages, and its ``value`` in another. What is in no field is left out."""

    def __init__(self, fields: Mapping[str, Field], *, extensions: Field | None = None) -> None:
        """``extensions``: where keys go that begin with ``x-``, each with its value."""
        self._fields = fields
        self._extensions = extensions
        self.value = Value(_SIZED, lambda content: _sized(self.write(content)))

    def write(self, content: Mapping[str, Any]) -> bytes:
        """The message itself, without its size."""
        parts: list[bytes] = []
        for key, value in content.items():
            if (field := self._fields.get(key)) is not None:
                for each in value if field.repeated else (value,):
                    parts += (field.tag, field.write(each))
            elif self._extensions is not None and key.startswith("x-"):
                parts += (self._extensions.tag, self._extensions.write((key, value)))
        return b"".join(parts)


def one(number: int, value: Value) -> Field:
    """A field with a single value."""
    return Field(_tag(number, value.wire_type), value.write, repeated=False)


def many(number: int, value: Value) -> Field:
    """A field with a list of values."""
    return Field(_tag(number, value.wire_type), value.write, repeated=True)


def wrapped(number: int, value: Value) -> Value:
    """A message that has nothing but this."""
    tag = _tag(number, value.wire_type)
    return Value(_SIZED, lambda content: _sized(tag + value.write(content)))


def named(value: Value) -> Value:
    """A message of a name and a value, from a pair of them."""
    name_tag, value_tag = _tag(1, _SIZED), _tag(2, value.wire_type)

    def write(pair: tuple[str, Any]) -> bytes:
        name, content = pair
        return _sized(name_tag + TEXT.write(name) + value_tag + value.write(content))

    return Value(_SIZED, write)


def mapped(value: Value, *, number: int = 1) -> Value:
    """A message that is a map: its entries, each with a name."""
    tag, write = _tag(number, _SIZED), named(value).write
    return Value(
        _SIZED,
        lambda content: _sized(b"".join([tag + write(pair) for pair in content.items()])),
    )


def either(which: Callable[[Any], Value]) -> Value:
    """A message that is this or that, as the content says."""
    return Value(_SIZED, lambda content: which(content).write(content))


def _varint(number: int) -> bytes:
    if number < 0:
        number += 1 << 64  # two's complement
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _sized(content: bytes) -> bytes:
    size = len(content)
    return (_SHORT[size] if size < len(_SHORT) else _varint(size)) + content


TEXT = Value(_SIZED, lambda value: _sized(value.encode()))
FLAG = Value(_VARINT, lambda value: _SHORT[value])
INTEGER = Value(_VARINT, _varint)
NUMBER = Value(_FIXED64, lambda value: pack("<d", value))
JSON_TEXT = Value(_SIZED, lambda value: _sized(msgspec.json.encode(value)))
