"""Objects that are read with their metadata only."""

import pytest

from steersman.client import (
    Bookmark,
    Client,
    JsonPatch,
    Labels,
    MergePatch,
    ObjectDeleted,
    ObjectWritten,
    is_gone,
    wait_for,
)
from steersman.errors import BadValue, NotFound
from steersman.kinds import Unstructured, core_v1, metadata_only
from tests.real.definitions import Widget, widget
from tests.real.objects import AnyConfigMap, config_map, create_config_maps

ConfigMapMetadata = metadata_only(core_v1.ConfigMap)
WidgetMetadata = metadata_only(Widget)

FINALIZER = "tests.example.com/hold"


async def test_an_objects_metadata_is_read(client: Client, namespace: str) -> None:
    whole = await client.create(config_map(namespace, "settings", color="blue"))

    found = await client.get(ConfigMapMetadata, "settings", namespace=namespace)

    assert found.metadata == whole.metadata
    assert found.ref == whole.ref
    assert (found.api_version, found.kind) == ("v1", "ConfigMap")


async def test_the_not_found_error_of_a_missing_object_names_its_kind(
    client: Client, namespace: str
) -> None:
    with pytest.raises(NotFound, match=f"could not get ConfigMap {namespace}/nothing"):
        await client.get(ConfigMapMetadata, "nothing", namespace=namespace)


async def test_metadata_is_listed_completely_in_pages_and_one_by_one(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b", "c")
    whole = await client.list(core_v1.ConfigMap, namespace=namespace)

    listing = await client.list(ConfigMapMetadata, namespace=namespace)
    pages = [p async for p in client.pages(ConfigMapMetadata, namespace=namespace, page_size=2)]
    each = [
        e.name async for e in client.iterate(ConfigMapMetadata, namespace=namespace, page_size=1)
    ]

    assert [one.metadata for one in listing.items] == [one.metadata for one in whole.items]
    assert [[one.name for one in page.items] for page in pages] == [["a", "b"], ["c"]]
    assert each == ["a", "b", "c"]


async def test_an_empty_list_of_metadata_is_empty(client: Client, namespace: str) -> None:
    assert (await client.list(ConfigMapMetadata, namespace=namespace)).items == ()


async def test_the_metadata_of_a_custom_resource_is_read(
    client: Client, namespace: str, widgets: None
) -> None:
    whole = await client.create(widget(namespace, "one"))

    found = await client.get(WidgetMetadata, "one", namespace=namespace)
    (listed,) = (await client.list(WidgetMetadata, namespace=namespace)).items

    assert found.metadata == listed.metadata == whole.metadata
    assert found.ref == whole.ref


async def test_the_metadata_of_a_kind_without_a_class_is_read(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")
    kind = metadata_only(Unstructured.of("v1", "ConfigMap"))

    assert (await client.get(kind, "settings", namespace=namespace)).name == "settings"


async def test_changes_are_delivered_as_metadata(client: Client, namespace: str) -> None:
    start = (await client.list(ConfigMapMetadata, namespace=namespace)).resource_version
    await create_config_maps(client, namespace, "settings")
    red = MergePatch({"metadata": {"labels": {"color": "red"}}})
    await client.patch(core_v1.ConfigMap, "settings", red, namespace=namespace)
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    lines: list[str] = []
    async with client.watch(
        ConfigMapMetadata, namespace=namespace, resource_version=start
    ) as events:
        async for event in events:
            match event:
                case ObjectWritten(obj, is_new):
                    lines.append(f"{'new' if is_new else 'changed'} {dict(obj.labels)}")
                case ObjectDeleted(obj):
                    lines.append(f"gone {obj.ref}")
                    break
                case _:
                    lines.append(repr(event))

    assert lines == ["new {}", "changed {'color': 'red'}", f"gone ConfigMap {namespace}/settings"]


async def test_the_initial_objects_are_delivered_as_metadata_up_to_a_bookmark(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b")

    names: list[str] = []
    async with client.watch(ConfigMapMetadata, namespace=namespace, initial_events=True) as events:
        async for event in events:
            if isinstance(event, Bookmark):
                assert event.ends_initial_events
                break
            assert isinstance(event, ObjectWritten)
            names.append(event.obj.name)

    assert sorted(names) == ["a", "b"]


async def test_wait_for_works_with_metadata(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, "settings", labels={"color": "red"}))

    found = await wait_for(
        client,
        ConfigMapMetadata,
        "settings",
        lambda obj: obj.labels.get("color") == "red",
        namespace=namespace,
        within_seconds=10.0,
    )

    assert found.name == "settings"


async def test_a_patch_of_metadata_changes_nothing_else(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, "settings", color="blue"))
    merge = MergePatch({"metadata": {"labels": {"a": "1"}}})
    steps = JsonPatch({"op": "add", "path": "/metadata/labels/b", "value": "2"})

    first = await client.patch(ConfigMapMetadata, "settings", merge, namespace=namespace)
    second = await client.patch(ConfigMapMetadata, "settings", steps, namespace=namespace)

    assert (first.labels, second.labels) == ({"a": "1"}, {"a": "1", "b": "2"})
    whole = await client.get(core_v1.ConfigMap, "settings", namespace=namespace)
    assert (whole.data, whole.metadata) == ({"color": "blue"}, second.metadata)


async def test_an_object_of_which_only_metadata_was_read_is_deleted(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")
    add_finalizer = MergePatch({"metadata": {"finalizers": [FINALIZER]}})
    terminating = await client.patch(
        ConfigMapMetadata, "settings", add_finalizer, namespace=namespace
    )

    response = await client.delete(ConfigMapMetadata, "settings", namespace=namespace)
    remove_finalizer = MergePatch({"metadata": {"finalizers": None}})
    last = await client.patch(ConfigMapMetadata, "settings", remove_finalizer, namespace=namespace)

    assert response.obj is not None
    assert (response.uid, response.is_gone) == (terminating.uid, False)
    assert is_gone(last)
    assert (await client.list(ConfigMapMetadata, namespace=namespace)).items == ()


async def test_a_delete_that_responds_with_the_object_responds_with_its_metadata(
    client: Client, namespace: str
) -> None:
    any_account = Unstructured.of("v1", "ServiceAccount")
    await client.create(
        any_account(
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "robot", "namespace": namespace},
            }
        )
    )

    response = await client.delete(metadata_only(any_account), "robot", namespace=namespace)

    assert response.obj is not None
    assert (response.obj.name, response.is_gone) == ("robot", True)


async def test_delete_all_accepts_a_metadata_class(client: Client, namespace: str) -> None:
    for name, color in (("a", "red"), ("b", "blue")):
        await client.create(config_map(namespace, name, labels={"color": color}))

    await client.delete_all(
        ConfigMapMetadata, namespace=namespace, labels=Labels.equal({"color": "red"})
    )

    assert [one.name async for one in client.iterate(AnyConfigMap, namespace=namespace)] == ["b"]


async def test_metadata_alone_cannot_be_created_updated_or_applied(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings", color="blue"))
    found = await client.get(ConfigMapMetadata, "settings", namespace=namespace)

    with pytest.raises(BadValue, match="contains only metadata; patch that, or create"):
        await client.create(found)
    with pytest.raises(BadValue, match="contains only metadata; patch that, or apply"):
        await client.apply(found, field_manager="tests")
    with pytest.raises(BadValue, match="contains only metadata; patch that, or update"):
        await client.update(found)  # type: ignore[type-var]

    whole = await client.get(core_v1.ConfigMap, "settings", namespace=namespace)
    assert whole.data == {"color": "blue"}


async def test_the_status_subresource_can_be_read_as_metadata(
    client: Client, namespace: str, widgets: None
) -> None:
    whole = await client.create(widget(namespace, "one"))
    status = client.status(WidgetMetadata, "one", namespace=namespace)

    assert (await status.get()).metadata == whole.metadata
    found = await status.get()
    with pytest.raises(BadValue, match="contains only metadata"):
        await status.apply(found, field_manager="tests")
