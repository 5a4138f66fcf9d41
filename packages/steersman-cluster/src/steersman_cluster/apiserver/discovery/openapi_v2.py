"""OpenAPI v2, for clients that do not support v3: one document for the complete API."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha512
from typing import Any

import msgspec

from steersman.names import GroupVersionKind
from steersman.openapi import VERSION
from steersman_cluster.apiserver.discovery.openapi_paths import Json
from steersman_cluster.apiserver.discovery.openapi_protobuf import protobuf
from steersman_cluster.apiserver.discovery.openapi_v3 import (
    OpenApi,
    OpenApiDocument,
    as_kind,
    custom_name,
    list_of,
    marked,
    object_properties,
    selectable,
)
from steersman_cluster.apiserver.request.negotiation import JSON, accepted_format
from steersman_cluster.apiserver.schema.builtin_schemas import REF

PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_FORMS = {
    JSON: JSON,
    # Not a valid media type, but the one that kubectl requests.
    PROTOBUF.replace("v2.v1", "v2@v1"): PROTOBUF,
    PROTOBUF: PROTOBUF,
}

_REF = "#/definitions/"
_UNKNOWN = "x-kubernetes-preserve-unknown-fields"


class Swagger:
    """The OpenAPI v2 document of the currently served resources, created on the first request."""

    def __init__(self, open_api: OpenApi) -> None:
        self._open_api = open_api

    def find(self, accept: str) -> OpenApiDocument | None:
        """Return the OpenAPI v2 document in the media type preferred by the header ``accept``.

        Returns None if no accepted media type is supported.
        """
        wanted = accepted_format(accept, _FORMS)
        return self._made[_FORMS[wanted]] if wanted else None

    @cached_property
    def _made(self) -> dict[str, OpenApiDocument]:
        content = _everything(self._open_api)
        body = msgspec.json.encode(content)
        etag = f'"{sha512(body).hexdigest().upper()}"'
        return {
            JSON: OpenApiDocument(body=body, etag=etag),
            PROTOBUF: OpenApiDocument(body=protobuf(content), etag=etag, content_type=PROTOBUF),
        }


def _everything(open_api: OpenApi) -> Json:
    parameters: Json = {}
    paths = {path: _path(each, parameters) for path, each in open_api.paths()}
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(_definitions(open_api))),
        "parameters": dict(sorted(parameters.items())),
    }


def _definitions(open_api: OpenApi) -> Iterator[tuple[str, Json]]:
    for name, written in open_api.written.items():
        # v2 has no oneOf, as in IntOrString: such types become strings.
        form = {"type": "string"} if "oneOf" in written else {}
        yield name, {**_schema(written), **form}
    describe = open_api.descriptions
    for gvk, plural, written in open_api.custom():
        name = custom_name(gvk)
        yield name, describe.of_object(_kind(written, gvk))
        listed = describe.of_list(list_of(name, gvk, written), kind=gvk.kind, plural=plural)
        yield f"{name}List", _schema(listed)


def _kind(written: Mapping[str, Any], gvk: GroupVersionKind) -> Json:
    if written.get(_UNKNOWN):
        # Without properties, because kubectl rejects fields that are not among them.
        return {"type": "object", **selectable(written), **marked(gvk, gvk.kind)}
    return _schema(as_kind(written, gvk))


def _schema(written: Mapping[str, Any]) -> Json:
    """Convert a v3 schema, as far as v2 can express it and kubectl supports it."""
    schema: Json = {}
    for key, value in written.items():
        match key:
            case "allOf" if value and "$ref" in value[0]:
                schema["$ref"] = _ref(value[0]["$ref"])
            case "allOf" | "anyOf" | "default" | "not" | "nullable" | "oneOf":
                pass
            case "$ref":
                schema[key] = _ref(value)
            case "properties":
                if value:
                    schema[key] = {name: _schema(each) for name, each in value.items()}
            case "items" | "additionalProperties" if isinstance(value, dict):
                schema[key] = _schema(value)
            case "required":
                schema[key] = [name for name in value if not _is_nullable(written, name)]
            case _:
                schema[key] = value
    if written.get("nullable") or written.get(_UNKNOWN):
        # v2 has no nullable types: the schema allows any value.
        for key in ("type", "items", "properties"):
            schema.pop(key, None)
    if written.get("x-kubernetes-embedded-resource") and not written.get(_UNKNOWN):
        own = _schema({"properties": object_properties()})["properties"]
        schema["properties"] = {**schema.get("properties", {}), **own}
        required = schema.get("required", [])
        schema["required"] = [
            *required,
            *(name for name in ("kind", "apiVersion") if name not in required),
        ]
    return {key: value for key, value in schema.items() if value is not False and value != []}


def _is_nullable(written: Mapping[str, Any], name: str) -> bool:
    return bool(written.get("properties", {}).get(name, {}).get("nullable"))


def _ref(reference: str) -> str:
    return reference.replace(REF, _REF)


def _path(operations: Json, parameters: Json) -> Json:
    """Convert the operations at a path; add new shared parameters to ``parameters``."""
    return {
        key: _parameters(each, parameters) if key == "parameters" else _operation(each, parameters)
        for key, each in operations.items()
    }


def _operation(operation: Json, parameters: Json) -> Json:
    body = operation.get("requestBody")
    responses = operation["responses"]
    own = _parameters(operation.get("parameters", ()), parameters)
    if body is not None:
        own = [_body(body), *own]
    apart = ("requestBody", "parameters")
    return {
        **{key: value for key, value in operation.items() if key not in apart},
        "consumes": ["*/*"] if body is None else list(body["content"]),
        "produces": list(responses["200"]["content"]),
        "schemes": ["https"],
        **({"parameters": own} if own else {}),
        "responses": {
            code: {
                "description": each["description"],
                **({"schema": _content(each)} if "content" in each else {}),
            }
            for code, each in responses.items()
        },
    }


def _parameters(written: Iterable[Json], parameters: Json) -> list[Json]:
    for each in written:
        if each["name"] not in parameters:
            rest = {key: value for key, value in each.items() if key != "schema"}
            parameters[each["name"]] = {**rest, **each["schema"]}
    return [{"$ref": f"#/parameters/{each['name']}"} for each in written]


def _body(body: Json) -> Json:
    return {
        "name": "body",
        "in": "body",
        "required": body.get("required", False),
        "schema": _content(body),
    }


def _content(described: Json) -> Json:
    """Return the schema of a request or response body, which is the same for all media types."""
    (schema, *_) = described["content"].values()
    return _schema(schema["schema"])
