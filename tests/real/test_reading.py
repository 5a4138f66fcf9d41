"""get, list, iterate and pages return the objects that the server stores."""

import json

import pytest

from steersman.client import Client
from steersman.errors import NotFound, TooLargeResourceVersion
from steersman.kinds import DecodedList, Unstructured, core_v1
from steersman_cluster.testing import RealControlPlane
from tests.real.objects import AnyConfigMap, config_map, create_config_maps

FIVE = ("a", "b", "c", "d", "e")


async def test_an_object_is_read_as_its_class(client: Client, namespace: str) -> None:
    created = await client.create(config_map(namespace, "settings", color="blue"))

    found = await client.get(core_v1.ConfigMap, "settings", namespace=namespace)

    assert isinstance(found, core_v1.ConfigMap)
    assert found.data == {"color": "blue"}
    assert found == created


async def test_an_object_is_read_unstructured_with_every_field_in_its_order(
    client: Client, control_plane: RealControlPlane, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings", color="blue", age="7"))

    found = await client.get(AnyConfigMap, "settings", namespace=namespace)

    with control_plane.caller() as api:
        stored = api.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/settings").json()
    assert json.dumps(found.body) == json.dumps(stored)


async def test_a_read_at_a_resource_version_is_not_older_than_it(
    client: Client, namespace: str
) -> None:
    created = await client.create(config_map(namespace, "settings"))

    at_least = await client.get(
        core_v1.ConfigMap,
        "settings",
        namespace=namespace,
        resource_version=created.resource_version,
    )
    anything = await client.get(
        core_v1.ConfigMap, "settings", namespace=namespace, resource_version="0"
    )

    assert at_least == anything == created


async def test_a_missing_object_is_not_found(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound) as error:
        await client.get(core_v1.ConfigMap, "nothing", namespace=namespace)

    assert (error.value.code, error.value.reason) == (404, "NotFound")
    assert f"could not get ConfigMap {namespace}/nothing: " in str(error.value)
    assert error.value.message == 'configmaps "nothing" not found'


async def test_a_kind_that_the_server_does_not_serve_is_not_found(client: Client) -> None:
    ghost = Unstructured.of("missing.example.com/v1", "Ghost")

    with pytest.raises(NotFound):
        await client.list(ghost)


async def test_a_list_is_complete_whatever_its_page_size(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, *FIVE)

    listing = await client.list(core_v1.ConfigMap, namespace=namespace, page_size=2)

    assert tuple(each.name for each in listing.items) == FIVE
    assert {(each.api_version, each.kind) for each in listing.items} == {("v1", "ConfigMap")}


async def test_an_unstructured_list_has_whole_objects(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, *FIVE)

    listing = await client.list(AnyConfigMap, namespace=namespace, page_size=2)

    assert tuple(each.name for each in listing.items) == FIVE
    assert listing.items[0] == await client.get(AnyConfigMap, "a", namespace=namespace)


async def test_all_pages_are_of_the_first_pages_resource_version(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, *FIVE)

    pages: list[DecodedList[core_v1.ConfigMap]] = []
    async for page in client.pages(core_v1.ConfigMap, namespace=namespace, page_size=2):
        if not pages:
            await client.create(config_map(namespace, "f"))
            await client.delete(core_v1.ConfigMap, "e", namespace=namespace)
        pages.append(page)

    assert [[each.name for each in page.items] for page in pages] == [["a", "b"], ["c", "d"], ["e"]]
    assert [page.remaining for page in pages] == [3, 1, None]
    assert len({page.resource_version for page in pages}) == 1


async def test_iterate_yields_every_object_once_and_in_order(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, *FIVE)

    names = [
        each.name
        async for each in client.iterate(core_v1.ConfigMap, namespace=namespace, page_size=2)
    ]

    assert tuple(names) == FIVE


async def test_a_list_without_a_namespace_covers_all_namespaces(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")
    await create_config_maps(client, "default", f"beside-{namespace}")

    listing = await client.list(core_v1.ConfigMap)
    await client.delete(core_v1.ConfigMap, f"beside-{namespace}", namespace="default")

    places = {(each.namespace, each.name) for each in listing.items}
    assert {(namespace, "settings"), ("default", f"beside-{namespace}")} <= places


async def test_a_list_at_an_exact_version_has_the_objects_of_that_version(
    client: Client, namespace: str
) -> None:
    before = await client.create(config_map(namespace, "first"))
    await create_config_maps(client, namespace, "second")

    listing = await client.list(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=before.resource_version,
        resource_version_match="Exact",
    )

    assert listing.items == (before,)
    assert listing.resource_version == before.resource_version


async def test_a_list_not_older_than_a_version_has_all_writes_up_to_it(
    client: Client, namespace: str
) -> None:
    created = await client.create(config_map(namespace, "settings"))

    listing = await client.list(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=created.resource_version,
        resource_version_match="NotOlderThan",
    )

    assert listing.items == (created,)
    assert int(listing.resource_version) >= int(created.resource_version)


async def test_a_future_resource_version_is_too_large(client: Client, namespace: str) -> None:
    with pytest.raises(TooLargeResourceVersion) as error:
        await client.list(
            core_v1.ConfigMap,
            namespace=namespace,
            resource_version=str(2**62),
            resource_version_match="NotOlderThan",
        )

    assert error.value.code == 504
