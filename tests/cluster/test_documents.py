"""The discovery and OpenAPI documents of the server."""

from steersman.client import Client
from tests.embedded import EmbeddedServer
from tests.real.definitions import GROUP, WIDGETS, install

FROM_KUBECTL = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


async def test_the_v2_document_is_served_in_two_formats(api: EmbeddedServer) -> None:
    json = await api.ask("GET", "/openapi/v2")
    protobuf = await api.ask("GET", "/openapi/v2", accept=FROM_KUBECTL)
    neither = await api.ask("GET", "/openapi/v2", accept="application/yaml")

    assert json.json["swagger"] == "2.0"
    assert protobuf.header("content-type") == FROM_KUBECTL.replace("@", ".")
    assert (neither.status, neither.body) == (406, b"")


async def test_the_v2_document_supports_etags(api: EmbeddedServer) -> None:
    first = await api.ask("GET", "/openapi/v2")
    etag = first.header("etag") or ""

    again = await api.ask("GET", "/openapi/v2", if_none_match=etag)

    assert (again.status, again.body) == (304, b"")


async def test_the_v2_document_contains_a_kind_as_soon_as_it_is_served(
    api: EmbeddedServer, client: Client
) -> None:
    before = await api.asked("GET", "/openapi/v2")
    await install(client, WIDGETS)

    after = await api.asked("GET", "/openapi/v2")

    name = ".".join([*reversed(GROUP.split(".")), "v1", "Widget"])
    assert name not in before["definitions"]
    assert after["definitions"][name]["properties"]["kind"]["type"] == "string"


async def test_the_document_of_a_custom_group_contains_only_its_kinds(
    api: EmbeddedServer, client: Client
) -> None:
    await install(client, WIDGETS)

    document = await api.asked("GET", f"/openapi/v3/apis/{GROUP}/v1")

    root = f"/apis/{GROUP}/v1"
    assert f"{root}/" not in document["paths"]
    assert all(path.startswith(f"{root}/") for path in document["paths"])
    operations = [
        operation
        for path in document["paths"].values()
        for method, operation in path.items()
        if method != "parameters"
    ]
    assert operations
    assert all(each.get("parameters") != [] for each in operations)
    assert document["info"]["title"] == "Kubernetes CRD Swagger"


async def test_the_documents_list_the_selectable_fields_of_a_custom_kind(
    api: EmbeddedServer, client: Client
) -> None:
    await install(client, WIDGETS)

    v3 = await api.asked("GET", f"/openapi/v3/apis/{GROUP}/v1")
    v2 = await api.asked("GET", "/openapi/v2")

    name = ".".join([*reversed(GROUP.split(".")), "v1", "Widget"])
    fields = [{"fieldPath": "spec.color"}]
    for schemas in (v3["components"]["schemas"], v2["definitions"]):
        for kind in (name, f"{name}List"):
            assert schemas[kind]["x-kubernetes-selectable-fields"] == fields
