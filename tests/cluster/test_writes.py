"""Create, update, patch, apply, status and scale: accepted and rejected writes."""

import pytest

from steersman.client import Client, JsonPatch, MergePatch, Patch, StrategicMergePatch
from steersman.errors import AlreadyExists, Conflict, Invalid, NotFound
from steersman.kinds import Unstructured, apps_v1, autoscaling_v1, core_v1, meta_v1
from tests.embedded import APPLY, MERGE_PATCH, EmbeddedServer
from tests.real.objects import AnyConfigMap, config_map, container, deployment

AnyDeployment = Unstructured.of("apps/v1", "Deployment")


async def test_a_new_object_gets_its_server_side_fields(client: Client, namespace: str) -> None:
    created = await client.create(deployment(namespace, "web"))

    about = created.metadata
    assert about.uid
    assert about.resource_version
    assert about.creation_timestamp is not None
    assert about.generation == 1
    assert created.spec is not None
    assert created.spec.replicas == 1  # the default of the kind


async def test_the_same_name_cannot_be_created_twice(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, "settings"))

    with pytest.raises(AlreadyExists):
        await client.create(config_map(namespace, "settings"))


async def test_generated_names_have_the_prefix_and_differ(client: Client, namespace: str) -> None:
    beginning = core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(generate_name="settings-", namespace=namespace)
    )

    made = [(await client.create(beginning)).name for _ in range(5)]

    assert all(name.startswith("settings-") and len(name) == 14 for name in made)
    assert len(set(made)) == 5


async def test_an_object_in_a_missing_namespace_is_rejected(client: Client) -> None:
    with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
        await client.create(config_map("nowhere", "settings"))


async def test_an_update_with_an_old_version_is_a_conflict_and_changes_nothing(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings"))
    old = await client.get(AnyConfigMap, "settings", namespace=namespace)
    await client.update(AnyConfigMap({**old.body, "data": {"a": "theirs"}}))

    with pytest.raises(Conflict, match="the object has been modified"):
        await client.update(AnyConfigMap({**old.body, "data": {"a": "ours"}}))

    found = await client.get(core_v1.ConfigMap, "settings", namespace=namespace)
    assert found.data == {"a": "theirs"}


async def test_a_write_that_changes_nothing_keeps_the_resource_version(
    client: Client, namespace: str
) -> None:
    created = await client.create(config_map(namespace, "settings", a="b"))

    again = await client.patch(
        core_v1.ConfigMap, "settings", MergePatch({"data": {"a": "b"}}), namespace=namespace
    )

    assert again.resource_version == created.resource_version


PATCHES: dict[str, Patch] = {
    "json": JsonPatch(
        JsonPatch.test("/spec/replicas", 1),
        JsonPatch.replace("/spec/replicas", 3),
        JsonPatch.add("/spec/template/spec/containers/-", {"name": "side", "image": "side:1"}),
    ),
    "merge": MergePatch(
        {
            "spec": {
                "replicas": 3,
                "template": {
                    "spec": {
                        "containers": [
                            {"name": "main", "image": "main:1"},
                            {"name": "side", "image": "side:1"},
                        ]
                    }
                },
            }
        }
    ),
    "strategic": StrategicMergePatch(
        {
            "spec": {
                "replicas": 3,
                "template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}},
            }
        }
    ),
}


@pytest.mark.parametrize("language", PATCHES)
async def test_a_patch_of_each_type_changes_the_named_fields(
    language: str, client: Client, namespace: str
) -> None:
    await client.create(deployment(namespace, "web", container("main", "main:1")))

    patched = await client.patch(
        AnyDeployment, "web", PATCHES[language], namespace=namespace, field_manager="tests"
    )

    spec = patched.body["spec"]
    assert spec["replicas"] == 3
    images = {each["name"]: each["image"] for each in spec["template"]["spec"]["containers"]}
    assert images == {"main": "main:1", "side": "side:1"}
    assert patched.body["metadata"]["generation"] == 2


async def test_an_invalid_patch_is_rejected_and_changes_nothing(
    client: Client, namespace: str
) -> None:
    created = await client.create(deployment(namespace, "web"))

    with pytest.raises(Invalid) as refused:
        await client.patch(
            apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": -1}}), namespace=namespace
        )

    assert [cause.field for cause in refused.value.causes] == ["spec.replicas"]
    assert await client.get(apps_v1.Deployment, "web", namespace=namespace) == created


async def test_an_apply_creates_an_object_and_a_smaller_apply_removes_fields(
    client: Client, namespace: str
) -> None:
    await client.apply(config_map(namespace, "settings", a="1", b="2"), field_manager="us")

    less = await client.apply(config_map(namespace, "settings", a="1"), field_manager="us")

    assert less.data == {"a": "1"}


async def test_applying_a_field_of_another_manager_is_a_conflict_unless_forced(
    client: Client, namespace: str
) -> None:
    await client.apply(config_map(namespace, "settings", a="theirs"), field_manager="them")
    ours = config_map(namespace, "settings", a="ours")

    with pytest.raises(Conflict, match='conflict with "them"'):
        await client.apply(ours, field_manager="us")
    forced = await client.apply(ours, field_manager="us", force=True)

    assert forced.data == {"a": "ours"}
    assert {entry.manager for entry in forced.metadata.managed_fields or ()} == {"us"}


async def test_a_repeated_apply_has_no_new_version(client: Client, namespace: str) -> None:
    first = await client.apply(config_map(namespace, "settings", a="1"), field_manager="us")

    again = await client.apply(config_map(namespace, "settings", a="1"), field_manager="us")

    assert again == first


async def test_applying_with_a_uid_never_creates(client: Client, namespace: str) -> None:
    created = await client.create(config_map(namespace, "settings"))
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    applied = core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(name="settings", namespace=namespace, uid=created.metadata.uid)
    )

    with pytest.raises(Conflict, match="uid mismatch"):
        await client.apply(applied, field_manager="us")
    with pytest.raises(NotFound):
        await client.get(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_applying_without_a_field_manager_is_rejected(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/settings"

    response = await api.ask("PATCH", path, b"{}", sends=APPLY)

    assert response.status == 422
    assert "fieldManager: Required value: is required for apply patch" in response.json["message"]


async def test_the_status_and_the_spec_are_written_separately(
    client: Client, namespace: str
) -> None:
    await client.create(deployment(namespace, "web"))
    both = MergePatch({"spec": {"replicas": 5}, "status": {"replicas": 4}})

    as_a_whole = await client.patch(AnyDeployment, "web", both, namespace=namespace)
    status = client.status(AnyDeployment, "web", namespace=namespace)
    as_status = await status.patch(MergePatch({"spec": {"replicas": 9}, "status": {"replicas": 4}}))

    assert as_a_whole.body["spec"]["replicas"] == 5
    assert "replicas" not in as_a_whole.body["status"]
    assert as_status.body["spec"]["replicas"] == 5
    assert as_status.body["status"]["replicas"] == 4
    assert as_status.body["metadata"]["generation"] == 2


async def test_a_scale_reads_and_writes_the_same_replicas(client: Client, namespace: str) -> None:
    await client.create(deployment(namespace, "web", replicas=2))
    scale = client.scale(apps_v1.Deployment, "web", namespace=namespace)

    read = await scale.get()
    await scale.patch(MergePatch({"spec": {"replicas": 7}}))

    assert read.spec == autoscaling_v1.ScaleSpec(replicas=2)
    found = await client.get(apps_v1.Deployment, "web", namespace=namespace)
    assert found.spec is not None
    assert found.spec.replicas == 7
    assert found.metadata.generation == 2


async def test_a_write_of_an_outdated_scale_is_a_conflict(client: Client, namespace: str) -> None:
    await client.create(deployment(namespace, "web", replicas=2))
    scale = client.scale(apps_v1.Deployment, "web", namespace=namespace)
    read = await scale.get()
    await scale.patch(MergePatch({"spec": {"replicas": 3}}))

    with pytest.raises(Conflict):
        await scale.update(read)


WRITES = {
    "create": ("POST", "", {"metadata": {"name": "new"}}, "application/json"),
    "update": ("PUT", "/settings", {"metadata": {"name": "settings"}}, "application/json"),
    "patch": ("PATCH", "/settings", {"data": {"a": "changed"}}, MERGE_PATCH),
    "apply": (
        "PATCH",
        "/settings",
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "new"}},
        APPLY,
    ),
    "apply of something new": (
        "PATCH",
        "/new",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}},
        APPLY,
    ),
    "delete": ("DELETE", "/settings", None, "application/json"),
    "delete of a collection": ("DELETE", "", None, "application/json"),
}


@pytest.mark.parametrize("write", WRITES)
async def test_a_dry_run_writes_nothing(write: str, api: EmbeddedServer, namespace: str) -> None:
    method, rest, body, sends = WRITES[write]
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.asked("POST", path, {"metadata": {"name": "settings"}, "data": {"a": "old"}})
    before, revision = (await api.ask("GET", path)).body, api.log.revision
    manager = "&fieldManager=us" if sends == APPLY else ""

    response = await api.ask(method, f"{path}{rest}?dryRun=All{manager}", body, sends=sends)

    assert response.status in (200, 201)
    assert api.log.revision == revision
    assert (await api.ask("GET", path)).body == before


async def test_a_dry_run_is_rejected_if_the_write_would_be(
    api: EmbeddedServer, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps?dryRun=All"

    response = await api.ask("POST", path, {"metadata": {"name": "Not A Name"}})

    assert response.status == 422


async def test_an_object_read_in_protobuf_can_be_written_unchanged(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    protobuf = "application/vnd.kubernetes.protobuf"
    await client.create(deployment(namespace, "web"))
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web"
    shown = await api.asked("GET", path)

    response = await api.ask("GET", path, accept=protobuf)
    written = await api.asked("PUT", path, response.body, sends=protobuf)

    assert (response.status, response.header("content-type")) == (200, protobuf)
    assert written == shown
