"""OpenAPI v3. tests/real compares the documents of built-in kinds with kube-apiserver's."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.apiserver.discovery.sample_documents import BUILTIN, ZOO, content, custom, open_api

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
ZEBRA = {
    "type": "object",
    "description": "A thing with stripes.",
    "properties": {
        "metadata": {"type": "object", "properties": {"name": {"maxLength": 10}}},
        "spec": {
            "type": "object",
            "required": ["stripes"],
            "properties": {
                "stripes": {"type": "integer", "default": 3},
                "width": {"x-kubernetes-int-or-string": True},
                "foal": {
                    "type": "object",
                    "required": ["spec"],
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "names": {"type": "array", "items": {"x-kubernetes-int-or-string": True}},
            },
        },
    },
}
IN_THE_ZOO = f"/openapi/v3/apis/{ZOO}/v1"


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(found := value.get("$ref"), str):
            yield found
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_the_index_contains_each_document_with_its_hash() -> None:
    documents = open_api({custom(): ZEBRA})

    index = content(documents.find("/openapi/v3"))["paths"]

    assert {"api/v1", "apis/apps/v1", f"apis/{ZOO}/v1"} <= set(index)
    found = documents.find("/openapi/v3/apis/apps/v1")
    assert found is not None
    assert found.etag is not None
    url = f"/openapi/v3/apis/apps/v1?hash={found.etag[1:-1]}"
    assert index["apis/apps/v1"]["serverRelativeURL"] == url


@pytest.mark.parametrize("root", ["api/v1", "apis/apps/v1", f"apis/{ZOO}/v1"])
def test_every_reference_in_a_document_has_a_schema_in_the_same_document(root: str) -> None:
    document = content(open_api({custom(): ZEBRA}).find(f"/openapi/v3/{root}"))

    schemas = document["components"]["schemas"]
    assert {f"#/components/schemas/{name}" for name in schemas} >= set(references(document))


def test_an_unchanged_document_is_not_created_again() -> None:
    documents = open_api()
    before = documents.find("/openapi/v3/apis/apps/v1")

    documents.serve([*BUILTIN, custom()], {custom().gvk: ZEBRA})

    assert documents.find("/openapi/v3/apis/apps/v1") is before


def test_a_schema_change_changes_the_etag() -> None:
    documents = open_api({custom(): ZEBRA})
    before = documents.find(IN_THE_ZOO)

    documents.serve([*BUILTIN, custom()], {custom().gvk: {**ZEBRA, "description": "Other."}})

    after = documents.find(IN_THE_ZOO)
    assert before is not None
    assert after is not None
    assert before.etag != after.etag


def test_a_removed_kind_has_no_document() -> None:
    documents = open_api({custom(): ZEBRA})
    documents.find(IN_THE_ZOO)

    documents.serve(BUILTIN, {})

    assert documents.find(IN_THE_ZOO) is None
    assert documents.find("/openapi/v3/nope") is None


def test_the_schema_of_a_custom_kind_expands_its_extensions() -> None:
    schemas = content(open_api({custom(): ZEBRA}).find(IN_THE_ZOO))["components"]["schemas"]

    zebra = schemas["com.example.zoo.v1.Zebra"]
    metadata = {"allOf": [{"$ref": f"#/components/schemas/{META}.ObjectMeta"}]}
    assert zebra["description"] == "A thing with stripes."
    assert zebra["x-kubernetes-group-version-kind"] == [
        {"group": ZOO, "version": "v1", "kind": "Zebra"}
    ]
    assert zebra["properties"]["metadata"] == metadata
    assert zebra["properties"]["kind"] == {"type": "string"}
    spec = zebra["properties"]["spec"]["properties"]
    assert spec["width"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert spec["names"]["items"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert spec["foal"]["properties"]["metadata"] == metadata
    assert spec["foal"]["required"] == ["spec", "kind", "apiVersion"]
    items = schemas["com.example.zoo.v1.ZebraList"]["properties"]["items"]
    assert items["items"] == {"$ref": "#/components/schemas/com.example.zoo.v1.Zebra"}


def test_a_custom_kind_without_a_schema_preserves_unknown_fields() -> None:
    schemas = content(open_api({custom(): None}).find(IN_THE_ZOO))["components"]["schemas"]

    assert schemas["com.example.zoo.v1.Zebra"]["x-kubernetes-preserve-unknown-fields"] is True


def test_a_custom_kind_does_not_support_strategic_merge_patch() -> None:
    paths = content(open_api({custom(): ZEBRA}).find(IN_THE_ZOO))["paths"]

    zebra = paths[f"/apis/{ZOO}/v1/namespaces/{{namespace}}/zebras/{{name}}"]
    assert set(zebra["patch"]["requestBody"]["content"]) == {
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    }
    assert zebra["patch"]["operationId"] == "patchZooExampleComV1NamespacedZebra"
    assert zebra["patch"]["tags"] == ["zooExampleCom_v1"]
    scale = paths[f"/apis/{ZOO}/v1/namespaces/{{namespace}}/zebras/{{name}}/scale"]
    assert scale["get"]["x-kubernetes-group-version-kind"]["kind"] == "Zebra"
    shown = scale["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert shown["$ref"].endswith(".autoscaling.v1.Scale")


def test_a_document_requested_by_its_hash_can_be_cached_forever() -> None:
    found = open_api().find("/openapi/v3/apis/apps/v1")

    assert found is not None
    assert found.headers(hashed=True)["Cache-Control"] == "public, immutable"
    assert found.headers(hashed=False)["Cache-Control"] == "no-cache, private"
    assert found.headers(hashed=False)["Etag"] == found.etag
