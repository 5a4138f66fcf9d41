"""Descriptions of fields, which ``kubectl explain`` prints."""

import subprocess
import sys
from typing import Any

import pytest

from steersman_cluster.apiserver.discovery import (
    Descriptions,
    OpenApi,
    Swagger,
    installed_descriptions,
)
from steersman_cluster.apiserver.discovery.descriptions import NO_DESCRIPTIONS, descriptions_in
from tests.unit.apiserver.discovery.sample_documents import BUILTIN, SCHEMAS, ZOO, content, custom

JSON = "application/json"
POD, POD_LIST = "io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.PodList"
ZEBRA = ".".join([*reversed(ZOO.split(".")), "v1", "Zebra"])
SCHEMA = {
    "type": "object",
    "description": "Has stripes.",
    "properties": {"spec": {"type": "object", "description": "What it is to be."}},
}


def text(description: str) -> dict[str, str]:
    return {"description": description}


TEXTS = Descriptions(
    {
        POD: {
            "description": "A pod.",
            "properties": {
                "apiVersion": text("Which version."),
                "kind": text("Which kind."),
                "metadata": text("About it."),
                "spec": text("Its wishes."),
            },
        },
        POD_LIST: {
            "properties": {
                "apiVersion": text("Which version."),
                "kind": text("Which kind."),
                "metadata": text("About them. More info: https://example.com/doc.md#lists"),
            }
        },
    }
)


def documents(descriptions: Descriptions) -> OpenApi:
    found = OpenApi(SCHEMAS.written, find_descriptions=lambda: descriptions)
    found.serve([*BUILTIN, custom()], {custom().gvk: SCHEMA})
    return found


def schemas(found: OpenApi, root: str) -> Any:
    return content(found.find(f"/openapi/v3/{root}"))["components"]["schemas"]


def definitions(found: OpenApi) -> Any:
    return content(Swagger(found).find(JSON))["definitions"]


def test_built_in_types_and_fields_are_described_in_both_documents() -> None:
    found = documents(TEXTS)

    for described in (schemas(found, "api/v1"), definitions(found)):
        assert described[POD]["description"] == "A pod."
        assert described[POD]["properties"]["spec"]["description"] == "Its wishes."
        assert described[POD]["properties"]["metadata"]["description"] == "About it."
        assert "description" not in described[POD]["properties"]["status"]


def test_a_custom_kind_has_its_own_descriptions_and_those_of_every_object() -> None:
    found = documents(TEXTS)

    for described in (schemas(found, f"apis/{ZOO}/v1"), definitions(found)):
        descriptions = {
            key: each["description"] for key, each in described[ZEBRA]["properties"].items()
        }
        assert described[ZEBRA]["description"] == "Has stripes."
        assert descriptions == {
            "apiVersion": "Which version.",
            "kind": "Which kind.",
            "metadata": "About it.",
            "spec": "What it is to be.",
        }


def test_the_list_of_a_custom_kind_is_described() -> None:
    found = documents(TEXTS)

    for described in (schemas(found, f"apis/{ZOO}/v1"), definitions(found)):
        listed = described[f"{ZEBRA}List"]
        assert listed["description"] == "ZebraList is a list of Zebra"
        assert listed["properties"]["items"]["description"] == (
            "List of zebras. More info: https://example.com/doc.md"
        )
        assert listed["properties"]["metadata"]["description"].startswith("About them.")


def test_documents_without_descriptions_equal_those_without_the_package() -> None:
    plain = OpenApi(SCHEMAS.written)
    plain.serve([*BUILTIN, custom()], {custom().gvk: SCHEMA})

    found = documents(NO_DESCRIPTIONS)

    assert schemas(found, f"apis/{ZOO}/v1") == schemas(plain, f"apis/{ZOO}/v1")
    assert definitions(found) == definitions(plain)
    assert definitions(found)[ZEBRA]["properties"]["kind"] == {"type": "string"}


def test_descriptions_are_read_once_for_the_first_document() -> None:
    looked: list[str] = []

    def find() -> Descriptions:
        looked.append("now")
        return TEXTS

    found = OpenApi(SCHEMAS.written, find_descriptions=find)
    found.serve([*BUILTIN, custom()], {custom().gvk: SCHEMA})
    before = list(looked)
    schemas(found, "api/v1")
    definitions(found)

    assert before == []
    assert looked == ["now"]


def test_the_package_describes_nearly_every_field_of_every_built_in_type() -> None:
    described = installed_descriptions().described(SCHEMAS.written)

    fields = [
        each for schema in described.values() for each in schema.get("properties", {}).values()
    ]
    silent = [each for each in fields if not each.get("description")]
    assert len(fields) > 2000
    assert len(silent) < len(fields) / 50
    assert "APIVersion defines the versioned schema" in str(
        described[POD]["properties"]["apiVersion"]["description"]
    )


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{}", b'{"$defs": {"io.k8s.api": []}}'])
def test_an_invalid_file_contains_no_descriptions(content: bytes) -> None:
    assert descriptions_in(content) is NO_DESCRIPTIONS


def test_the_package_is_not_imported() -> None:
    program = (
        "import sys;"
        "from steersman_cluster.apiserver.discovery import installed_descriptions as find;"
        "from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas;"
        "found = find().described(BuiltinSchemas.read().written);"
        f"print('description' in found['{POD}'], 'kubernetes_validate' in sys.modules)"
    )

    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert finished.stdout.split() == [b"True", b"False"]
