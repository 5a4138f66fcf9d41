"""Protobuf messages for a schema, some of them damaged."""

from random import Random

from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.protobuf.messages import MAGIC
from tests.fuzz.values import Oddities

_VARINT, _BYTES = 0, 2


def varint(number: int) -> bytes:
    """A number in varint encoding."""
    number &= 2**64 - 1
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | _BYTES) + varint(len(content)) + content


class Messages:
    """Generates bodies in protobuf."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._odd = Oddities(rng)

    def body(self, schema: Schema, *, api_version: str, kind: str) -> bytes:
        """An object in its envelope."""
        rng = self._rng
        raw = self._message(schema, 0)
        if self._odd.chance(0.2):
            raw = self._odd.garbled(raw)
        if self._odd.chance(0.05):
            return MAGIC + rng.randbytes(rng.randrange(40))
        kinds = field(1, api_version.encode()) + field(2, kind.encode())
        return MAGIC + field(1, kinds) + field(2, raw)

    def _message(self, schema: Schema, depth: int) -> bytes:
        written = b""
        for each in schema.properties.values():
            if each.number and self._odd.chance(0.4 if depth < 6 else 0.02):
                content = self._field(each.number[-1], each, depth)
                for number in each.number[-2::-1]:
                    content = field(number, content)
                written += content
        return written

    def _field(self, number: int, schema: Schema, depth: int) -> bytes:
        rng = self._rng
        if self._odd.chance(0.03):
            return varint(rng.randrange(2**10)) + rng.randbytes(rng.randrange(9))
        match schema.type:
            case "integer" | "boolean":
                return varint(number << 3 | _VARINT) + varint(
                    int(rng.choice((0, 1, 80, -1, 2**40)))
                )
            case "array" if schema.items is not None:
                return b"".join(
                    self._field(number, schema.items, depth + 1) for _ in range(rng.randrange(3))
                )
            case "object" if schema.additional is not None:
                entry = field(1, self._odd.word().encode())
                return field(number, entry + self._field(2, schema.additional, depth + 1))
            case "object":
                return field(number, self._message(schema, depth + 1))
            case _:
                text = self._odd.text() if self._odd.chance(0.1) else self._odd.word()
                return field(number, text.encode("utf-8", "surrogatepass"))
