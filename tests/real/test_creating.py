"""create and update: whole objects."""

import pytest

from steersman.client import Client
from steersman.errors import AlreadyExists, ApiError, Conflict, Invalid
from steersman.kinds import Unstructured, core_v1, meta_v1, rbac_v1, scheduling_v1
from tests.real.definitions import AnyWidget, any_widget
from tests.real.objects import AnyConfigMap, config_map, container, deployment, pod
from tests.real.recording_observer import RecordingObserver

# A ConfigMap's data may be 1 MiB, an object in etcd 1.5 MiB, and a request 3 MiB.
MEBIBYTE = 2**20


def managers(obj: Unstructured) -> list[str]:
    return [entry["manager"] for entry in obj.metadata["managedFields"]]


async def test_creating_a_typed_object_returns_the_fields_set_by_the_server(
    client: Client, namespace: str
) -> None:
    response = await client.create(pod(namespace, "web"))

    assert response.uid
    assert response.spec is not None
    assert response.spec.restart_policy == "Always"
    assert response == await client.get(core_v1.Pod, "web", namespace=namespace)


async def test_an_unstructured_object_is_created(client: Client, namespace: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": namespace},
        "data": {"color": "blue"},
    }

    response = await client.create(AnyConfigMap(body))

    assert response.uid
    assert response == await client.get(AnyConfigMap, "settings", namespace=namespace)


async def test_the_server_completes_a_generate_name(client: Client, namespace: str) -> None:
    unnamed = core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(generate_name="settings-", namespace=namespace)
    )

    first, second = await client.create(unnamed), await client.create(unnamed)

    assert first.name.startswith("settings-")
    assert first.name != second.name


async def test_a_second_object_of_the_same_name_raises_already_exists(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings", color="blue"))

    with pytest.raises(AlreadyExists) as error:
        await client.create(config_map(namespace, "settings", color="red"))

    assert (error.value.code, error.value.reason) == (409, "AlreadyExists")
    kept = await client.get(core_v1.ConfigMap, "settings", namespace=namespace)
    assert kept.data == {"color": "blue"}


async def test_the_error_for_an_invalid_object_has_every_cause(
    client: Client, namespace: str
) -> None:
    broken = deployment(
        namespace, "web", container(name="not_a_label"), container(image=""), replicas=-1
    )

    with pytest.raises(Invalid) as error:
        await client.create(broken)

    causes = {cause.field: cause for cause in error.value.causes}
    assert causes.keys() == {
        "spec.replicas",
        "spec.template.spec.containers[0].name",
        "spec.template.spec.containers[1].image",
    }
    assert causes["spec.template.spec.containers[1].image"].reason == "FieldValueRequired"
    assert "greater than or equal to 0" in causes["spec.replicas"].message


async def test_a_create_records_its_field_manager(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, "settings", a="b"), field_manager="first")
    stored = await client.get(AnyConfigMap, "settings", namespace=namespace)

    updated = await client.update(stored.changed("data", "c", to="d"), field_manager="second")

    assert managers(updated) == ["first", "second"]


async def test_a_cluster_scoped_object_is_created_and_read(client: Client) -> None:
    priority = scheduling_v1.PriorityClass(
        metadata=meta_v1.ObjectMeta(generate_name="urgent-"), value=7
    )

    created = await client.create(priority)
    found = await client.get(scheduling_v1.PriorityClass, created.name)
    listed = await client.list(scheduling_v1.PriorityClass)
    await client.delete(scheduling_v1.PriorityClass, created.name)

    assert found == created
    assert created in listed.items


@pytest.mark.parametrize(
    "name", ["system:thing", "with space", "q?u=e&r#y", "a+b;c,d@e!$'()*", "grün", "a\\b"]
)
async def test_an_object_with_any_character_in_its_name_can_be_read(
    client: Client, namespace: str, name: str
) -> None:
    role = rbac_v1.Role(metadata=meta_v1.ObjectMeta(name=name, namespace=namespace), rules=())

    created = await client.create(role)

    assert created.name == name
    assert await client.get(rbac_v1.Role, name, namespace=namespace) == created


async def test_an_update_keeps_unchanged_fields(client: Client, namespace: str) -> None:
    labelled = config_map(namespace, "settings", labels={"app": "web"}, color="blue", age="7")
    await client.create(labelled)
    stored = await client.get(AnyConfigMap, "settings", namespace=namespace)

    updated = await client.update(stored.changed("data", "color", to="red"))

    assert updated.body["data"] == {"color": "red", "age": "7"}
    assert updated.labels == {"app": "web"}
    assert updated.uid == stored.uid


async def test_an_update_with_a_stale_resource_version_is_a_conflict(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings", color="blue"))
    stale = await client.get(AnyConfigMap, "settings", namespace=namespace)
    newer = await client.update(stale.changed("data", "color", to="red"))

    with pytest.raises(Conflict, match="Read the object again"):
        await client.update(stale.changed("data", "color", to="green"))

    assert await client.get(AnyConfigMap, "settings", namespace=namespace) == newer


async def test_a_megabyte_is_written_and_read_back(client: Client, namespace: str) -> None:
    large = "x" * 1_000_000

    await client.create(config_map(namespace, "large", text=large))

    found = await client.get(core_v1.ConfigMap, "large", namespace=namespace)
    assert found.data == {"text": large}


async def test_a_config_map_over_its_limit_is_invalid(client: Client, namespace: str) -> None:
    with pytest.raises(Invalid, match="Too long") as error:
        await client.create(config_map(namespace, "large", text="x" * (3 * MEBIBYTE // 2)))

    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("size", "code"), [(3 * MEBIBYTE // 2, 500), (4 * MEBIBYTE, 413)], ids=["store", "server"]
)
async def test_an_object_over_the_size_limit_is_rejected_without_a_retry(
    client: Client, namespace: str, widgets: None, seen: RecordingObserver, size: int, code: int
) -> None:
    with pytest.raises(ApiError, match="too large") as error:
        await client.create(any_widget(namespace, "large", color="x" * size))

    assert error.value.code == code
    assert seen.last_attempts == 1
    assert (await client.list(AnyWidget, namespace=namespace)).items == ()
