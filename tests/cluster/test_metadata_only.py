"""Responses with only metadata."""

import pytest

from steersman.client import Client
from tests.embedded import EmbeddedServer
from tests.real.definitions import GROUP, WIDGETS, install, widget
from tests.real.objects import create_config_maps

OBJECT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
HEAD = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}


@pytest.fixture
async def config_maps(client: Client, namespace: str) -> str:
    """The path of two ConfigMaps."""
    await create_config_maps(client, namespace, "one", "two")
    return f"/api/v1/namespaces/{namespace}/configmaps"


@pytest.fixture
async def widgets(client: Client, namespace: str) -> str:
    """The path of one Widget."""
    await install(client, WIDGETS)
    await client.create(widget(namespace, "one"))
    return f"/apis/{GROUP}/v1/namespaces/{namespace}/widgets"


async def test_a_get_can_return_metadata_only(api: EmbeddedServer, config_maps: str) -> None:
    whole = await api.asked("GET", f"{config_maps}/one")

    shown = await api.asked("GET", f"{config_maps}/one", accept=OBJECT)

    assert shown == {**HEAD, "metadata": whole["metadata"]}


async def test_a_list_can_return_metadata_only(api: EmbeddedServer, config_maps: str) -> None:
    whole = await api.asked("GET", f"{config_maps}?limit=1")

    shown = await api.asked("GET", f"{config_maps}?limit=1", accept=LIST)

    assert shown["kind"] == "PartialObjectMetadataList"
    assert shown["metadata"] == whole["metadata"]
    assert shown["items"] == [{**HEAD, "metadata": whole["items"][0]["metadata"]}]


async def test_a_list_of_a_custom_kind_omits_an_empty_continue(
    api: EmbeddedServer, widgets: str
) -> None:
    shown = await api.asked("GET", widgets, accept=LIST)

    assert set(shown["metadata"]) == {"resourceVersion"}
    assert [each["metadata"]["name"] for each in shown["items"]] == ["one"]


async def test_an_empty_list_has_no_items(api: EmbeddedServer, namespace: str) -> None:
    shown = await api.asked("GET", f"/api/v1/namespaces/{namespace}/pods", accept=LIST)

    assert shown["items"] is None


async def test_a_write_can_return_metadata_only(api: EmbeddedServer, config_maps: str) -> None:
    settings = {"metadata": {"name": "settings"}, "data": {"color": "blue"}}

    created = await api.asked("POST", config_maps, settings, accept=OBJECT)
    deleted = await api.asked("DELETE", f"{config_maps}/settings", accept=OBJECT)

    assert set(created) == {"kind", "apiVersion", "metadata"}
    assert (deleted["kind"], deleted["status"]) == ("Status", "Success")


async def test_list_and_object_metadata_are_not_interchangeable(
    api: EmbeddedServer, config_maps: str
) -> None:
    many = await api.ask("GET", config_maps, accept=OBJECT)
    one = await api.ask("GET", f"{config_maps}/one", accept=LIST)

    assert (many.status, one.status) == (406, 406)
    assert many.json["message"] == (
        "you requested PartialObjectMetadata, but the requested object is a list"
        " (*core.ConfigMapList)"
    )
    assert one.json["message"] == (
        "you requested PartialObjectMetadataList, but the requested object is not a list"
        " (*core.ConfigMap)"
    )


async def test_a_custom_object_is_not_served_as_list_metadata(
    api: EmbeddedServer, widgets: str
) -> None:
    many = await api.ask("GET", widgets, accept=OBJECT)
    one = await api.ask("GET", f"{widgets}/one", accept=LIST)

    assert many.json["message"].endswith("is a list (*unstructured.UnstructuredList)")
    assert (one.status, one.json["message"]) == (500, "content is not a list")


async def test_a_watch_can_return_metadata_only(api: EmbeddedServer, config_maps: str) -> None:
    async with api.watch(config_maps, accept=OBJECT) as lines:
        first, second = await lines.first(2)

    assert [first["type"], second["type"]] == ["ADDED", "ADDED"]
    assert set(first["object"]) == {"kind", "apiVersion", "metadata"}
    assert second["object"]["metadata"]["name"] == "two"


async def test_a_failed_metadata_watch_has_an_error_event(
    api: EmbeddedServer, config_maps: str
) -> None:
    future = f"{config_maps}?resourceVersion=9999&sendInitialEvents=true"
    match = "resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

    async with api.watch(f"{future}&{match}", accept=OBJECT) as lines:
        last = await anext(lines)

    assert (last["type"], last["object"]["kind"]) == ("ERROR", "Status")


async def test_a_watch_as_list_metadata_is_empty(api: EmbeddedServer, config_maps: str) -> None:
    async with api.pieces(config_maps, accept=LIST) as pieces:
        assert [piece async for piece in pieces] == []
