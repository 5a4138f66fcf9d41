"""OpenAPI v2 as protobuf. kubectl reads it in tests/real/foreign."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.apiserver.discovery.openapi_protobuf import protobuf


def fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield the fields of a message with their numbers; values other than varints as bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            number |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return number

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            size = 8 if tag & 7 == 1 else varint()
            yield tag >> 3, data[at : at + size]
            at += size


def at(data: bytes, *numbers: int) -> list[Any]:
    """Return the values at a path of field numbers in a message."""
    found_values: list[Any] = [data]
    for number in numbers:
        found_values = [
            value for each in found_values for found, value in fields(each) if found == number
        ]
    return found_values


def defined(schema: dict[str, Any]) -> bytes:
    """Return a schema as it is encoded in a document."""
    (written,) = at(protobuf({"definitions": {"Zebra": schema}}), 9, 1, 2)
    return bytes(written)


def test_a_definition_has_its_name() -> None:
    assert at(protobuf({"swagger": "2.0", "definitions": {"Zebra": {}}}), 9, 1, 1) == [b"Zebra"]


@pytest.mark.parametrize(
    ("schema", "place", "value"),
    [
        ({"$ref": "#/definitions/A"}, (1,), b"#/definitions/A"),
        ({"description": "x" * 300}, (4,), b"x" * 300),
        ({"minimum": 0.5}, (9,), b"\0\0\0\0\0\0\xe0?"),
        ({"exclusiveMinimum": True}, (10,), 1),
        ({"minLength": 0}, (12,), 0),
        ({"maxLength": 70_000}, (11,), 70_000),
        ({"enum": [{"a": 1}]}, (20, 2), b'{"a":1}'),
        ({"type": "object"}, (22, 1), b"object"),
        ({"items": {"format": "byte"}}, (23, 1, 2), b"byte"),
        ({"additionalProperties": {"format": "byte"}}, (21, 1, 2), b"byte"),
        ({"additionalProperties": True}, (21, 2), 1),
        ({"properties": {"a": {"format": "byte"}}}, (25, 1, 1), b"a"),
        ({"properties": {"a": {"format": "byte"}}}, (25, 1, 2, 2), b"byte"),
        ({"x-kubernetes-list-type": "map"}, (31, 1), b"x-kubernetes-list-type"),
        ({"x-kubernetes-list-type": "map"}, (31, 2, 2), b'"map"'),
    ],
)
def test_each_key_of_a_schema_has_its_field_number(
    schema: dict[str, Any], place: tuple[int, ...], value: bytes | int
) -> None:
    assert at(defined(schema), *place) == [value]


def test_required_names_are_encoded_as_repeated_fields() -> None:
    assert at(defined({"required": ["a", "b"]}), 19) == [b"a", b"b"]


def test_an_operation_has_inline_and_referenced_parameters() -> None:
    operation = {
        "operationId": "patchZebra",
        "parameters": [
            {"$ref": "#/parameters/force"},
            {"name": "body", "in": "body", "schema": {"$ref": "#/definitions/Zebra"}},
        ],
        "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Zebra"}}},
        "x-kubernetes-action": "patch",
    }
    force = {"name": "force", "in": "query", "type": "boolean"}
    name = {"name": "name", "in": "path", "type": "string", "required": True}

    written = protobuf(
        {
            "paths": {"/zebras": {"patch": operation, "parameters": [name]}},
            "parameters": {"force": force},
        }
    )

    assert at(written, 8, 2, 1) == [b"/zebras"]
    assert at(written, 8, 2, 2, 8, 5) == [b"patchZebra"]
    assert at(written, 8, 2, 2, 8, 8, 2, 1) == [b"#/parameters/force"]
    assert at(written, 8, 2, 2, 8, 8, 1, 1, 5, 1) == [b"#/definitions/Zebra"]
    assert at(written, 8, 2, 2, 8, 9, 1, 2, 1, 2, 1, 1) == [b"#/definitions/Zebra"]
    assert at(written, 8, 2, 2, 8, 13, 2, 2) == [b'"patch"']
    assert at(written, 8, 2, 2, 9, 1, 2, 4, 4) == [b"name"]
    assert at(written, 10, 1, 2, 2, 3, 4) == [b"force"]
