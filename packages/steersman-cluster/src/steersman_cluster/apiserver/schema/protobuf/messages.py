"""Built-in kinds in protobuf, which Kubernetes' own clients send.

The decoded objects are the same as those in JSON. The field numbers come from Go's types. As in
proto2, a field that is not a pointer is always encoded, even if it is empty. The canonical form of
the decoded object omits empty fields again.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from steersman.units import format_micro_time, format_time
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.protobuf.wire_format import (
    BASE64,
    BOOLEAN,
    BYTES,
    CONTENT,
    FLOAT,
    INT32,
    INT64,
    TEXT,
    FieldDecoder,
    Malformed,
    MessageDecoder,
    ValueDecoder,
    embedded,
    entries,
    many,
    one,
    part,
)

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_TYPE_META = MessageDecoder(
    "TypeMeta", {1: one("apiVersion", "APIVersion", TEXT), 2: one("kind", "Kind", TEXT)}
)
_ENVELOPE = MessageDecoder(
    "Unknown",
    {
        1: embedded("TypeMeta", _TYPE_META),
        2: one("raw", "Raw", CONTENT),
        3: one("contentEncoding", "ContentEncoding", TEXT),
        4: one("contentType", "ContentType", TEXT),
    },
)


class Envelope(NamedTuple):
    """The envelope of an object (``runtime.Unknown``): its kind, and its encoded message."""

    api_version: str
    kind: str
    raw: bytes


def open_envelope(body: bytes) -> Envelope:
    """Decode the envelope of ``body``; raise ``Malformed`` if that fails."""
    if not body:
        raise Malformed("empty data")
    if not body.startswith(MAGIC):
        raise Malformed(
            "provided data does not appear to be a protobuf message,"
            f" expected prefix [{' '.join(map(str, MAGIC))}]"
        )
    if len(body) == len(MAGIC):
        raise Malformed("empty body")
    found = _ENVELOPE.read(body[len(MAGIC) :], {})
    api_version = found.get("apiVersion", "")
    # kube-apiserver ignores an apiVersion that it cannot parse.
    if api_version.count("/") > 1:
        api_version = ""
    return Envelope(api_version, found.get("kind", ""), found.get("raw", b""))


def _wrapping(
    name: str, fields: Mapping[int, FieldDecoder], read: Callable[[Object], Any]
) -> ValueDecoder:
    """Return a decoder of a message that JSON represents as a value of another type."""
    message = MessageDecoder(name, fields)
    return ValueDecoder(BYTES, lambda written: read(message.read(written, {})))


def _moment(found: Object) -> str:
    return format_time(_since_epoch(found, with_fraction=False))


def _micro_moment(found: Object) -> str:
    return format_micro_time(_since_epoch(found, with_fraction=True))


def _since_epoch(found: Object, *, with_fraction: bool) -> datetime:
    # int() rounds toward zero, as Go does.
    microseconds = int(found.get("nanos", 0) / 1000) if with_fraction else 0
    try:
        return _EPOCH + timedelta(seconds=found.get("seconds", 0), microseconds=microseconds)
    except OverflowError:
        raise Malformed("Time: year outside of range [0,9999]") from None


def _int_or_string(found: Object) -> int | str:
    value: int | str = found.get("strVal", "") if found.get("type") else found.get("intVal", 0)
    return value


def _json(found: Object) -> Any:
    try:
        return msgspec.json.decode(found["raw"]) if found.get("raw") else None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise Malformed(f"json parse error: {problem}") from None


def _time(format_moment: Callable[[Object], str]) -> ValueDecoder:
    fields = {1: one("seconds", "Seconds", INT64), 2: one("nanos", "Nanos", INT32)}
    message = MessageDecoder("Timestamp", fields)
    # An empty message is a null time, not the epoch.
    return ValueDecoder(BYTES, lambda data: format_moment(message.read(data, {})) if data else None)


_BY_FORMAT: Mapping[str | None, ValueDecoder] = {
    "byte": BASE64,
    "date-time": _time(_moment),
    "micro-time": _time(_micro_moment),
    "quantity": _wrapping(
        "Quantity", {1: one("string", "String_", TEXT)}, lambda found: found.get("string", "0")
    ),
    "int-or-string": _wrapping(
        "IntOrString",
        {
            1: one("type", "Type", INT64),
            2: one("intVal", "IntVal", INT32),
            3: one("strVal", "StrVal", TEXT),
        },
        _int_or_string,
    ),
    "int32": INT32,
    "int64": INT64,
}
_BY_TYPE: Mapping[str | None, ValueDecoder] = {
    "string": TEXT,
    "boolean": BOOLEAN,
    "integer": INT64,
    "number": FLOAT,
}


class Messages:
    """The decoders of the messages of built-in types, each created at its first use."""

    def __init__(self) -> None:
        self._structs: dict[int, MessageDecoder] = {}

    def of(self, schema: Schema) -> MessageDecoder:
        """Return the decoder of the message of ``schema``, which is the schema of a struct."""
        # Cached by the properties: all uses of a type share them, and a type may contain itself.
        key = id(schema.properties)
        if key not in self._structs:
            fields: dict[int, FieldDecoder] = {}
            self._structs[key] = MessageDecoder(type_name(schema), fields)
            self._fill(fields, schema)
        return self._structs[key]

    def _fill(self, fields: dict[int, FieldDecoder], schema: Schema) -> None:
        inside: dict[tuple[int, ...], dict[int, FieldDecoder]] = {(): fields}
        for name, each in schema.properties.items():
            for depth, struct in enumerate(each.go_embedding.split(".")[:-1], start=1):
                path = each.number[:depth]
                if path and path not in inside:
                    inside[path] = {}
                    message = MessageDecoder(struct, inside[path])
                    inside[path[:-1]][path[-1]] = embedded(struct, message)
            if each.number:
                inside[each.number[:-1]][each.number[-1]] = self._field(name, each)

    def _field(self, name: str, schema: Schema) -> FieldDecoder:
        if schema.type == "array" and schema.items is not None:
            return many(name, schema.go_name, self._value(schema.items))
        if schema.additional is not None:
            return entries(name, schema.go_name, self._value(schema.additional))
        if is_struct(schema):
            return part(name, schema.go_name, self.of(schema))
        return one(name, schema.go_name, self._value(schema))

    def _value(self, schema: Schema) -> ValueDecoder:
        if schema.format == "schema-or-other" and schema.items is not None:
            return self._schema_or_other(schema, self.of(schema.items))
        if schema.preserve_unknown:
            return _wrapping(type_name(schema), {1: one("raw", "Raw", CONTENT)}, _json)
        if schema.format in _BY_FORMAT:
            return _BY_FORMAT[schema.format]
        if schema.type in _BY_TYPE:
            return _BY_TYPE[schema.type]
        if schema.type == "array" and schema.items is not None:
            # Protobuf has no lists in maps or lists. An inner list is a message with one repeated
            # field.
            items = many("items", "Items", self._value(schema.items))
            return _wrapping(type_name(schema), {1: items}, lambda found: found.get("items", []))
        message = self.of(schema)
        return ValueDecoder(BYTES, lambda written: message.read(written, {}))

    def _schema_or_other(self, schema: Schema, props: MessageDecoder) -> ValueDecoder:
        name = type_name(schema)
        whole = ValueDecoder(BYTES, lambda written: props.read(written, {}))
        if name.endswith("OrBool"):
            fields = {1: one("other", "Allows", BOOLEAN), 2: one("schema", "Schema", whole)}
            return _wrapping(
                name, fields, lambda found: found.get("schema", found.get("other", False))
            )
        other = many("other", "Property", TEXT)
        if name.endswith("OrArray"):
            other = many("other", "JSONSchemas", whole)
        fields = {1: one("schema", "Schema", whole), 2: other}
        return _wrapping(name, fields, lambda found: found.get("other", found.get("schema")))


def is_struct(schema: Schema) -> bool:
    """Return whether the type has its own message, and is an object in JSON."""
    return (
        schema.type == "object"
        and not schema.preserve_unknown
        and schema.format not in (*_BY_FORMAT, "schema-or-other")
    )


def type_name(schema: Schema) -> str:
    """Return the name of a type in its Go package."""
    return (schema.name or schema.go_type).rpartition(".")[2]
