"""Protobuf messages, encoded from JSON objects.

A message is a sequence of numbered fields; a table maps the keys of the JSON object to the field
numbers.
"""

from collections.abc import Callable, Mapping
from struct import pack
from typing import Any, NamedTuple, TypeAlias

import msgspec

from steersman_cluster.apiserver.schema.protobuf.encoder import field_tag, sized, varint
from steersman_cluster.apiserver.schema.protobuf.wire_format import BYTES, FIXED64, VARINT

Write: TypeAlias = Callable[[Any], bytes]


class ValueEncoder(NamedTuple):
    """The encoding of a protobuf value: its wire type and its encoder function."""

    wire_type: int
    write: Write


class FieldEncoder(NamedTuple):
    """One field of a protobuf message: the tag that precedes each value, and the encoder."""

    tag: bytes
    write: Write
    repeated: bool


class MessageEncoder:
    """The encoder of one protobuf message type.

    ``value`` encodes the message as a field of another message. A key that is not in ``fields`` is
    omitted, unless it is an extension.
    """

    def __init__(
        self, fields: Mapping[str, FieldEncoder], *, extensions: FieldEncoder | None = None
    ) -> None:
        """``fields`` maps the keys of the JSON object to fields of the message.

        ``extensions`` is the repeated field for all keys that start with ``x-``, with their values.
        """
        self._fields = fields
        self._extensions = extensions
        self.value = ValueEncoder(BYTES, lambda content: sized(self.write(content)))

    def write(self, content: Mapping[str, Any]) -> bytes:
        """Return ``content`` encoded as a message, without a size prefix."""
        parts: list[bytes] = []
        for key, value in content.items():
            if (field := self._fields.get(key)) is not None:
                for each in value if field.repeated else (value,):
                    parts += (field.tag, field.write(each))
            elif self._extensions is not None and key.startswith("x-"):
                parts += (self._extensions.tag, self._extensions.write((key, value)))
        return b"".join(parts)


def one(number: int, value: ValueEncoder) -> FieldEncoder:
    """Return the field ``number``, which contains a single value."""
    return FieldEncoder(field_tag(number, value.wire_type), value.write, repeated=False)


def many(number: int, value: ValueEncoder) -> FieldEncoder:
    """Return the repeated field ``number``."""
    return FieldEncoder(field_tag(number, value.wire_type), value.write, repeated=True)


def wrapped(number: int, value: ValueEncoder) -> ValueEncoder:
    """Return the encoder of a message whose only field, ``number``, contains the value."""
    tag = field_tag(number, value.wire_type)
    return ValueEncoder(BYTES, lambda content: sized(tag + value.write(content)))


def named(value: ValueEncoder) -> ValueEncoder:
    """Return the encoder of a pair, as a message with a name and a value."""
    name_tag, value_tag = field_tag(1, BYTES), field_tag(2, value.wire_type)

    def write(pair: tuple[str, Any]) -> bytes:
        name, content = pair
        return sized(name_tag + TEXT.write(name) + value_tag + value.write(content))

    return ValueEncoder(BYTES, write)


def mapped(value: ValueEncoder, *, number: int = 1) -> ValueEncoder:
    """Return the encoder of a map, as a message whose repeated field contains the entries.

    ``number`` is the number of that field. Each entry is a message with a name and a value.
    """
    tag, write = field_tag(number, BYTES), named(value).write
    return ValueEncoder(
        BYTES,
        lambda content: sized(b"".join([tag + write(pair) for pair in content.items()])),
    )


def either(which: Callable[[Any], ValueEncoder]) -> ValueEncoder:
    """Return an encoder that encodes each value with the encoder ``which(value)``."""
    return ValueEncoder(BYTES, lambda content: which(content).write(content))


TEXT = ValueEncoder(BYTES, lambda value: sized(value.encode()))
FLAG = ValueEncoder(VARINT, varint)
INTEGER = ValueEncoder(VARINT, varint)
NUMBER = ValueEncoder(FIXED64, lambda value: pack("<d", value))
JSON_TEXT = ValueEncoder(BYTES, lambda value: sized(msgspec.json.encode(value)))
