"""OpenAPI v2. tests/real compares the definitions of built-in kinds with kube-apiserver's."""

from typing import Any

import pytest

from steersman_cluster.apiserver.discovery import OpenApiDocument, Swagger
from tests.unit.apiserver.discovery.sample_documents import BUILTIN, ZOO, content, custom, open_api

META = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1"
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
FROM_KUBECTL = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def found(swagger: Swagger, accept: str = "") -> OpenApiDocument:
    document = swagger.find(accept)
    assert document is not None
    return document


def published(**properties: Any) -> Any:
    """Return these properties of a Zebra as the document contains them."""
    zebra = {"type": "object", "properties": properties}
    document = content(found(Swagger(open_api({custom(): zebra}))))
    return document["definitions"]["com.example.zoo.v1.Zebra"]["properties"]


def test_every_reference_has_a_definition() -> None:
    document = content(found(Swagger(open_api({custom(): {"type": "object"}}))))

    references = set(references_in(document))

    assert references <= {
        *(f"#/definitions/{name}" for name in document["definitions"]),
        *(f"#/parameters/{name}" for name in document["parameters"]),
    }
    assert f"{META}.ObjectMeta" in references
    assert "#/parameters/fieldValidation" in references


def references_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for each in value.values() for found in references_in(each)]
    if isinstance(value, list):
        return [found for each in value for found in references_in(each)]
    return []


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/json;as=Table", "application/json"),
        (FROM_KUBECTL, PROTOBUF),
        (PROTOBUF, PROTOBUF),
        (f"application/json;q=0.5,{PROTOBUF}", PROTOBUF),
    ],
)
def test_the_format_with_the_highest_weight_is_returned(accept: str, form: str) -> None:
    document = found(Swagger(open_api()), accept)

    assert document.headers(hashed=False)["Content-Type"] == form


@pytest.mark.parametrize("accept", ["application/yaml", "text/html"])
def test_an_unsupported_format_has_no_document(accept: str) -> None:
    assert Swagger(open_api()).find(accept) is None


def test_a_document_is_created_once_and_both_formats_have_the_same_etag() -> None:
    swagger = Swagger(open_api())

    first = found(swagger)

    assert found(swagger) is first
    assert found(swagger, PROTOBUF).etag == first.etag


def test_the_etag_changes_with_the_kinds() -> None:
    documents = open_api()
    before = found(Swagger(documents))

    documents.serve([*BUILTIN, custom()], {custom().gvk: {"type": "object"}})

    assert found(Swagger(documents)).etag != before.etag


def test_a_custom_kind_has_the_fields_of_every_object() -> None:
    definitions = content(found(Swagger(open_api({custom(): {"type": "object"}}))))["definitions"]

    assert definitions["com.example.zoo.v1.Zebra"] == {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"$ref": f"{META}.ObjectMeta"},
        },
        "x-kubernetes-group-version-kind": [{"group": ZOO, "version": "v1", "kind": "Zebra"}],
    }
    assert definitions["com.example.zoo.v1.ZebraList"]["properties"]["items"] == {
        "type": "array",
        "items": {"$ref": "#/definitions/com.example.zoo.v1.Zebra"},
    }


def test_a_custom_kind_that_preserves_unknown_fields_has_no_properties() -> None:
    anything = {
        "type": "object",
        "properties": {"spec": {"type": "object"}},
        "x-kubernetes-preserve-unknown-fields": True,
    }

    definitions = content(found(Swagger(open_api({custom(): anything}))))["definitions"]

    assert set(definitions["com.example.zoo.v1.Zebra"]) == {
        "type",
        "x-kubernetes-group-version-kind",
    }


def test_a_nullable_or_untyped_field_has_no_type() -> None:
    fields = {"properties": {"a": {"type": "string"}}}

    schemas = published(
        maybe={"type": "object", "nullable": True, **fields},
        anything={"type": "object", "x-kubernetes-preserve-unknown-fields": True, **fields},
    )

    assert schemas["maybe"] == {}
    assert schemas["anything"] == {"x-kubernetes-preserve-unknown-fields": True}


def test_a_nullable_field_is_not_required() -> None:
    schemas = published(
        spec={
            "type": "object",
            "required": ["size", "color"],
            "properties": {
                "size": {"type": "integer"},
                "color": {"type": "string", "nullable": True},
            },
        },
        status={
            "type": "object",
            "required": ["color"],
            "properties": {"color": {"type": "string", "nullable": True}},
        },
    )

    assert schemas["spec"]["required"] == ["size"]
    assert "required" not in schemas["status"]


def test_keywords_that_v2_does_not_support_are_omitted() -> None:
    schemas = published(
        spec={
            "type": "object",
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            "anyOf": [],
            "allOf": [{"required": ["a"]}],
            "not": {"required": ["c"]},
            "default": {},
            "maxProperties": 2,
            "additionalProperties": {"type": "string", "default": "a"},
        }
    )

    assert schemas["spec"] == {
        "type": "object",
        "maxProperties": 2,
        "additionalProperties": {"type": "string"},
    }


def test_an_embedded_object_has_the_fields_of_every_object() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}

    schemas = published(
        foal={**embedded, "required": ["kind"]},
        other={**embedded, "x-kubernetes-preserve-unknown-fields": True},
    )

    assert schemas["foal"]["required"] == ["kind", "apiVersion"]
    assert schemas["foal"]["properties"]["metadata"] == {"$ref": f"{META}.ObjectMeta"}
    assert "properties" not in schemas["other"]


def test_the_type_of_int_or_string_is_string() -> None:
    definitions = content(found(Swagger(open_api())))["definitions"]

    assert definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] == {
        "type": "string",
        "format": "int-or-string",
    }


def test_a_path_lists_its_media_types_and_parameters() -> None:
    document = content(found(Swagger(open_api())))

    path = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]

    assert path["patch"]["consumes"][-1] == "application/strategic-merge-patch+json"
    assert path["patch"]["parameters"] == [
        {"name": "body", "in": "body", "required": True, "schema": {"$ref": f"{META}.Patch"}},
        {"$ref": "#/parameters/dryRun"},
        {"$ref": "#/parameters/fieldManager"},
        {"$ref": "#/parameters/fieldValidation"},
        {"$ref": "#/parameters/force"},
    ]
    assert document["parameters"]["force"] == {
        "name": "force",
        "in": "query",
        "type": "boolean",
        "uniqueItems": True,
    }
