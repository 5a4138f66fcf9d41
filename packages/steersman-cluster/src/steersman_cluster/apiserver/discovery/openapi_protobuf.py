"""The OpenAPI v2 document as protobuf, in which kubectl requests it.

The message type is gnostic's ``openapi.v2.Document``.
"""

from collections.abc import Mapping
from typing import Any

from steersman_cluster.apiserver.discovery.message_encoder import (
    FLAG,
    INTEGER,
    JSON_TEXT,
    NUMBER,
    TEXT,
    MessageEncoder,
    either,
    many,
    mapped,
    named,
    one,
    wrapped,
)


def protobuf(document: Mapping[str, Any]) -> bytes:
    """Return the OpenAPI v2 document ``document`` as protobuf."""
    return _DOCUMENT.write(document)


# The field contains YAML, and JSON is valid YAML.
_ANY = wrapped(2, JSON_TEXT)
_EXTENSION = named(_ANY)

# A lazy reference, because schemas contain schemas.
_A_SCHEMA = either(lambda _: _SCHEMA.value)
_ONE_SCHEMA = wrapped(1, _A_SCHEMA)
_ALL_OR_NONE = wrapped(2, FLAG)
_SCHEMA: MessageEncoder = MessageEncoder(
    {
        "$ref": one(1, TEXT),
        "format": one(2, TEXT),
        "title": one(3, TEXT),
        "description": one(4, TEXT),
        "multipleOf": one(6, NUMBER),
        "maximum": one(7, NUMBER),
        "exclusiveMaximum": one(8, FLAG),
        "minimum": one(9, NUMBER),
        "exclusiveMinimum": one(10, FLAG),
        "maxLength": one(11, INTEGER),
        "minLength": one(12, INTEGER),
        "pattern": one(13, TEXT),
        "maxItems": one(14, INTEGER),
        "minItems": one(15, INTEGER),
        "uniqueItems": one(16, FLAG),
        "maxProperties": one(17, INTEGER),
        "minProperties": one(18, INTEGER),
        "required": many(19, TEXT),
        "enum": many(20, _ANY),
        "additionalProperties": one(
            21, either(lambda content: _ALL_OR_NONE if content is True else _ONE_SCHEMA)
        ),
        "type": one(22, wrapped(1, TEXT)),
        "items": one(23, _ONE_SCHEMA),
        "properties": one(25, mapped(_A_SCHEMA)),
        "externalDocs": one(
            29, MessageEncoder({"description": one(1, TEXT), "url": one(2, TEXT)}).value
        ),
        "example": one(30, _ANY),
    },
    extensions=one(31, _EXTENSION),
)

_IN_BODY = MessageEncoder(
    {
        "name": one(2, TEXT),
        "in": one(3, TEXT),
        "required": one(4, FLAG),
        "schema": one(5, _A_SCHEMA),
    }
)
_IN_QUERY = MessageEncoder(
    {
        "required": one(1, FLAG),
        "in": one(2, TEXT),
        "name": one(4, TEXT),
        "type": one(6, TEXT),
        "uniqueItems": one(20, FLAG),
    }
)
_IN_PATH = MessageEncoder(
    {
        "required": one(1, FLAG),
        "in": one(2, TEXT),
        "name": one(4, TEXT),
        "type": one(5, TEXT),
        "uniqueItems": one(19, FLAG),
    }
)
_PLACES = {
    "body": wrapped(1, _IN_BODY.value),
    "query": wrapped(2, wrapped(3, _IN_QUERY.value)),
    "path": wrapped(2, wrapped(4, _IN_PATH.value)),
}
_PARAMETER = either(lambda content: _PLACES[content["in"]])
_WRITTEN_HERE = wrapped(1, _PARAMETER)
_WRITTEN_ELSEWHERE = wrapped(2, MessageEncoder({"$ref": one(1, TEXT)}).value)
_USED = either(lambda content: _WRITTEN_ELSEWHERE if "$ref" in content else _WRITTEN_HERE)

_RESPONSE = MessageEncoder({"description": one(1, TEXT), "schema": one(2, _ONE_SCHEMA)})
_OPERATION = MessageEncoder(
    {
        "tags": many(1, TEXT),
        "operationId": one(5, TEXT),
        "produces": many(6, TEXT),
        "consumes": many(7, TEXT),
        "parameters": many(8, _USED),
        "responses": one(9, mapped(wrapped(1, _RESPONSE.value))),
        "schemes": many(10, TEXT),
    },
    extensions=one(13, _EXTENSION),
)
_PATH = MessageEncoder(
    {
        "get": one(2, _OPERATION.value),
        "put": one(3, _OPERATION.value),
        "post": one(4, _OPERATION.value),
        "delete": one(5, _OPERATION.value),
        "patch": one(8, _OPERATION.value),
        "parameters": many(9, _USED),
    }
)
_DOCUMENT = MessageEncoder(
    {
        "swagger": one(1, TEXT),
        "info": one(2, MessageEncoder({"title": one(1, TEXT), "version": one(2, TEXT)}).value),
        "paths": one(8, mapped(_PATH.value, number=2)),
        "definitions": one(9, mapped(_A_SCHEMA)),
        "parameters": one(10, mapped(_PARAMETER)),
    }
)
