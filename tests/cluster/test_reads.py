"""Get and list: versions, selectors and pages."""

import pytest

from steersman.client import Client, Fields, Labels, MergePatch
from steersman.errors import BadRequest, Expired, NotFound
from steersman.kinds import core_v1
from tests.embedded import EmbeddedServer
from tests.real.objects import config_map, create_config_maps, pod


async def test_a_created_object_can_be_read(client: Client, namespace: str) -> None:
    created = await client.create(config_map(namespace, "settings", color="blue"))

    found = await client.get(core_v1.ConfigMap, "settings", namespace=namespace)

    assert found == created
    assert found.data == {"color": "blue"}


async def test_a_missing_object_is_not_found(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound, match='configmaps "settings" not found'):
        await client.get(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_a_get_at_a_future_version_is_a_timeout(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")
    future = str(api.log.revision + 1)
    path = f"/api/v1/namespaces/{namespace}/configmaps/settings?resourceVersion={future}"

    response = await api.ask("GET", path)

    assert (response.status, response.header("retry-after")) == (504, "1")
    assert response.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


async def test_a_list_is_sorted_and_of_one_or_all_namespaces(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    other = await api.namespace()
    await create_config_maps(client, namespace, "b", "a")
    await create_config_maps(client, other, "c")

    here = await client.list(core_v1.ConfigMap, namespace=namespace)
    everywhere = await client.list(core_v1.ConfigMap)

    assert [each.name for each in here.items] == ["a", "b"]
    found = [each.name for each in everywhere.items if each.namespace in (namespace, other)]
    assert sorted(found) == ["a", "b", "c"]


async def test_all_pages_of_a_list_have_the_same_revision(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "a", "b", "c", "d", "e")
    pages = client.pages(core_v1.ConfigMap, namespace=namespace, page_size=2)

    first = await anext(pages)
    await client.delete(core_v1.ConfigMap, "c", namespace=namespace)
    await client.patch(
        core_v1.ConfigMap, "d", MergePatch({"data": {"new": "yes"}}), namespace=namespace
    )
    await create_config_maps(client, namespace, "bb")
    rest = [page async for page in pages]

    assert [[each.name for each in page.items] for page in (first, *rest)] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
    ]
    assert {page.resource_version for page in (first, *rest)} == {first.resource_version}
    assert rest[0].items[1].data is None


async def test_a_page_has_the_remaining_item_count_unless_there_is_a_selector(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")
    path = f"/api/v1/namespaces/{namespace}/configmaps"

    plain = await api.asked("GET", f"{path}?limit=1")
    selected = await api.asked("GET", f"{path}?limit=1&fieldSelector=metadata.name!=b")

    assert plain["metadata"]["remainingItemCount"] == 2
    assert selected["metadata"]["continue"]
    assert "remainingItemCount" not in selected["metadata"]


async def test_pages_with_a_selector_are_full_until_the_last(
    client: Client, namespace: str
) -> None:
    for number in range(9):
        labels = {"third": "yes" if number % 3 == 0 else "no"}
        await client.create(config_map(namespace, f"cm-{number}", labels=labels))

    pages = [
        [each.name for each in page.items]
        async for page in client.pages(
            core_v1.ConfigMap,
            namespace=namespace,
            labels=Labels.equal({"third": "no"}),
            page_size=4,
        )
    ]

    assert pages == [["cm-1", "cm-2", "cm-4", "cm-5"], ["cm-7", "cm-8"]]


async def test_a_continue_token_expires_after_a_compaction(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")
    pages = client.pages(core_v1.ConfigMap, namespace=namespace, page_size=2)
    await anext(pages)

    await create_config_maps(client, namespace, "d")
    api.log.compact(api.log.revision)

    with pytest.raises(Expired, match="continue parameter is too old"):
        await anext(pages)


async def test_the_error_for_an_expired_token_has_an_inconsistent_continue_token(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    first = await api.asked("GET", f"{path}?limit=1")
    await create_config_maps(client, namespace, "aa", "d")
    api.log.compact(api.log.revision)

    refused = await api.ask("GET", f"{path}?limit=1&continue={first['metadata']['continue']}")
    token = refused.json["metadata"]["continue"]
    rest = await api.ask("GET", f"{path}?limit=3&continue={token}")

    assert (refused.status, refused.json["reason"]) == (410, "Expired")
    assert rest.names == ["aa", "b", "c"]
    assert rest.json["metadata"]["resourceVersion"] == str(api.log.revision)


async def test_a_list_at_an_exact_version_returns_the_state_of_that_version(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b")
    then = (await client.list(core_v1.ConfigMap, namespace=namespace)).resource_version
    await client.delete(core_v1.ConfigMap, "a", namespace=namespace)
    await create_config_maps(client, namespace, "c")

    exactly = await client.list(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=then,
        resource_version_match="Exact",
    )
    at_least = await client.list(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=then,
        resource_version_match="NotOlderThan",
    )

    assert [each.name for each in exactly.items] == ["a", "b"]
    assert exactly.resource_version == then
    assert [each.name for each in at_least.items] == ["b", "c"]
    assert int(at_least.resource_version) > int(then)


async def test_a_list_at_a_compacted_version_is_rejected(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    then = (await client.list(core_v1.ConfigMap, namespace=namespace)).resource_version
    await create_config_maps(client, namespace, "a")
    api.log.compact(api.log.revision)

    with pytest.raises(Expired):
        await client.list(
            core_v1.ConfigMap,
            namespace=namespace,
            resource_version=then,
            resource_version_match="Exact",
        )


async def test_a_list_at_a_future_version_is_a_timeout(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    future = str(api.log.revision + 1000)
    path = f"/api/v1/namespaces/{namespace}/configmaps?resourceVersion={future}"

    response = await api.ask("GET", path)

    assert response.status == 504
    assert response.json["message"] == (
        f"Timeout: Too large resource version: {future}, current: {api.log.revision}"
    )


async def test_objects_are_selected_by_labels_and_by_fields(client: Client, namespace: str) -> None:
    await client.create(pod(namespace, "a", node="n1", labels={"app": "web"}))
    await client.create(pod(namespace, "b", node="n2", labels={"app": "web"}))
    await client.create(pod(namespace, "c", node="n1", labels={"app": "db"}))

    listed = await client.list(
        core_v1.Pod,
        namespace=namespace,
        labels=Labels.equal({"app": "web"}),
        fields=Fields.equal({"spec.nodeName": "n1"}),
    )

    assert [each.name for each in listed.items] == ["a"]


async def test_an_unsupported_field_selector_is_rejected(client: Client, namespace: str) -> None:
    with pytest.raises(BadRequest, match="data"):
        await client.list(
            core_v1.ConfigMap, namespace=namespace, fields=Fields.equal({"data.a": "b"})
        )


REFUSED_OPTIONS = {
    "continue=nonsense": 400,
    "resourceVersion=soon": 400,
    "resourceVersionMatch=Exact": 422,
    "resourceVersion=0&resourceVersionMatch=Exact": 422,
    "resourceVersion=1&resourceVersionMatch=Roughly": 422,
    "sendInitialEvents=true": 422,
    "limit=many": 400,
    "labelSelector=a=b=c": 400,
    "fieldSelector=a": 400,
}


@pytest.mark.parametrize("options", REFUSED_OPTIONS)
async def test_invalid_list_options_are_rejected(api: EmbeddedServer, options: str) -> None:
    response = await api.ask("GET", f"/api/v1/configmaps?{options}")

    assert response.status == REFUSED_OPTIONS[options]
