"""patch: JSON, merge and strategic merge patches change the named fields."""

import pytest

from steersman.client import Client, JsonPatch, MergePatch, StrategicMergePatch
from steersman.errors import ApiError, Conflict, Invalid, NotFound
from steersman.kinds import apps_v1, core_v1
from tests.real.definitions import AnyWidget, Widget, any_widget, widget
from tests.real.objects import AnyConfigMap, config_map, container, deployment


async def test_a_merge_patch_replaces_its_fields_and_removes_those_set_to_none(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings", color="blue", age="7", kind="x"))

    patched = await client.patch(
        core_v1.ConfigMap,
        "settings",
        MergePatch({"data": {"color": "red", "age": None, "shape": "round"}}),
        namespace=namespace,
    )

    assert patched.data == {"color": "red", "kind": "x", "shape": "round"}
    assert patched == await client.get(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_a_merge_patch_with_a_stale_version_is_a_conflict(
    client: Client, namespace: str
) -> None:
    before = await client.create(config_map(namespace, "settings", color="blue"))
    paint = MergePatch(
        {"metadata": {"resourceVersion": before.resource_version}, "data": {"color": "red"}}
    )
    await client.patch(core_v1.ConfigMap, "settings", paint, namespace=namespace)

    with pytest.raises(Conflict):
        await client.patch(core_v1.ConfigMap, "settings", paint, namespace=namespace)


async def test_a_json_patch_applies_its_operations_in_order(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, "settings", labels={"a/b": "1"}, color="blue"))

    patched = await client.patch(
        AnyConfigMap,
        "settings",
        JsonPatch(
            JsonPatch.test("/data/color", "blue"),
            JsonPatch.replace("/data/color", "red"),
            JsonPatch.add("/data/age", "7"),
            JsonPatch.remove(JsonPatch.pointer("metadata", "labels", "a/b")),
        ),
        namespace=namespace,
    )

    assert patched.body["data"] == {"color": "red", "age": "7"}
    assert patched.labels == {}


async def test_a_json_patch_whose_test_fails_changes_nothing(
    client: Client, namespace: str
) -> None:
    before = await client.create(config_map(namespace, "settings", color="blue"))

    with pytest.raises(Invalid, match="rejected our request"):
        await client.patch(
            core_v1.ConfigMap,
            "settings",
            JsonPatch(
                JsonPatch.replace("/data/color", "red"), JsonPatch.test("/data/color", "green")
            ),
            namespace=namespace,
        )

    assert await client.get(core_v1.ConfigMap, "settings", namespace=namespace) == before


async def test_a_strategic_merge_patch_merges_containers_by_name(
    client: Client, namespace: str
) -> None:
    await client.create(
        deployment(namespace, "web", container("main"), container("side", "example.com/side:1"))
    )

    patched = await client.patch(
        apps_v1.Deployment,
        "web",
        StrategicMergePatch(
            {
                "spec": {
                    "template": {
                        "spec": {"containers": [{"name": "side", "image": "example.com/side:2"}]}
                    }
                }
            }
        ),
        namespace=namespace,
    )

    assert patched.spec is not None
    assert patched.spec.template.spec is not None
    images = {each.name: each.image for each in patched.spec.template.spec.containers}
    assert images == {"main": "example.com/main:1", "side": "example.com/side:2"}


async def test_a_merge_patch_replaces_a_whole_list(client: Client, namespace: str) -> None:
    await client.create(deployment(namespace, "web", container("main"), container("side")))

    patched = await client.patch(
        apps_v1.Deployment,
        "web",
        MergePatch({"spec": {"template": {"spec": {"containers": [container("side")]}}}}),
        namespace=namespace,
    )

    assert patched.spec is not None
    assert patched.spec.template.spec is not None
    assert [each.name for each in patched.spec.template.spec.containers] == ["side"]


async def test_a_custom_resource_accepts_merge_and_json_patches_but_no_strategic_ones(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.create(widget(namespace, "one", size=3, color="blue"))
    grow = {"spec": {"size": 5}}

    with pytest.raises(ApiError) as error:
        await client.patch(Widget, "one", StrategicMergePatch(grow), namespace=namespace)
    assert (error.value.code, error.value.reason) == (415, "UnsupportedMediaType")

    await client.patch(Widget, "one", MergePatch(grow), namespace=namespace)
    patched = await client.patch(
        Widget, "one", JsonPatch(JsonPatch.remove("/spec/color")), namespace=namespace
    )
    assert (patched.spec.size, patched.spec.color) == (5, None)


async def test_a_patch_of_a_missing_object_is_not_found(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound):
        await client.patch(
            core_v1.ConfigMap, "nothing", MergePatch({"data": {}}), namespace=namespace
        )


async def test_a_patch_to_an_invalid_object_is_rejected_with_its_causes(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.create(any_widget(namespace, "one", size=3))

    with pytest.raises(Invalid) as error:
        await client.patch(
            AnyWidget, "one", MergePatch({"spec": {"size": -1}}), namespace=namespace
        )

    assert "spec.size" in [cause.field for cause in error.value.causes]


async def test_a_patch_records_its_field_manager(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, "settings", a="b"), field_manager="first")

    patched = await client.patch(
        AnyConfigMap,
        "settings",
        MergePatch({"data": {"c": "d"}}),
        namespace=namespace,
        field_manager="second",
    )

    assert [entry["manager"] for entry in patched.metadata["managedFields"]] == ["first", "second"]
