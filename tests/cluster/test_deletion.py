"""Deletion: at once, after a grace period, after the last finalizer, or rejected."""

from datetime import timedelta

import pytest

from steersman.client import Client, Labels, MergePatch, Preconditions
from steersman.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from steersman.kinds import apps_v1, core_v1, meta_v1
from tests.embedded import EmbeddedServer
from tests.real.objects import config_map, create_config_maps, deployment, pod

HELD = MergePatch({"metadata": {"finalizers": ["example.com/held"]}})
LET_GO = MergePatch({"metadata": {"finalizers": None}})


async def is_there(client: Client, name: str, namespace: str) -> bool:
    listed = await client.list(core_v1.ConfigMap, namespace=namespace)
    return name in [each.name for each in listed.items]


async def test_an_object_without_finalizers_is_deleted_at_once(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")

    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    assert not await is_there(client, "settings", namespace)


async def test_a_missing_object_cannot_be_deleted(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound):
        await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_an_object_is_deleted_only_after_its_last_finalizer_is_removed(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")
    await client.patch(core_v1.ConfigMap, "settings", HELD, namespace=namespace)

    held = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    with pytest.raises(AlreadyExists, match="object is being deleted"):
        await create_config_maps(client, namespace, "settings")
    await client.patch(core_v1.ConfigMap, "settings", LET_GO, namespace=namespace)

    assert held.obj is not None
    assert held.obj.metadata.deletion_timestamp == api.clock.now()
    assert held.obj.metadata.deletion_grace_period_seconds == 0
    assert not await is_there(client, "settings", namespace)


async def test_a_second_deletion_of_a_terminating_object_changes_nothing(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")
    await client.patch(core_v1.ConfigMap, "settings", HELD, namespace=namespace)
    first = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    api.clock.advance(60.0)

    again = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    assert again == first


async def test_no_finalizer_can_be_added_during_deletion(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "settings")
    await client.patch(core_v1.ConfigMap, "settings", HELD, namespace=namespace)
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    more = MergePatch({"metadata": {"finalizers": ["example.com/held", "example.com/more"]}})

    with pytest.raises(Invalid, match="no new finalizers can be added"):
        await client.patch(core_v1.ConfigMap, "settings", more, namespace=namespace)


@pytest.mark.parametrize(
    "wrong", [Preconditions(uid="another"), Preconditions(resource_version="1")]
)
async def test_a_deletion_with_a_wrong_precondition_is_rejected(
    wrong: Preconditions, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")

    with pytest.raises(Conflict, match="in the precondition"):
        await client.delete(core_v1.ConfigMap, "settings", namespace=namespace, preconditions=wrong)

    assert await is_there(client, "settings", namespace)


async def test_a_deletion_with_a_met_precondition_succeeds(client: Client, namespace: str) -> None:
    created = await client.create(config_map(namespace, "settings"))
    expected = Preconditions(uid=created.metadata.uid, resource_version=created.resource_version)

    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace, preconditions=expected)

    assert not await is_there(client, "settings", namespace)


POLICIES = {
    "Background": None,
    "Foreground": ("foregroundDeletion",),
    "Orphan": ("orphan",),
}


@pytest.mark.parametrize("policy", POLICIES)
async def test_the_propagation_policy_is_stored_as_a_finalizer(
    policy: str, client: Client, namespace: str
) -> None:
    await client.create(deployment(namespace, "web"))

    await client.delete(
        apps_v1.Deployment,
        "web",
        namespace=namespace,
        propagation=policy,  # type: ignore[arg-type]
    )

    left = await client.list(apps_v1.Deployment, namespace=namespace)
    finalizers = [each.metadata.finalizers for each in left.items]
    assert finalizers == ([] if POLICIES[policy] is None else [POLICIES[policy]])


async def test_only_a_bound_pod_gets_a_grace_period(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await client.create(pod(namespace, "running", node="n1"))
    await client.create(pod(namespace, "waiting"))

    ending = await client.delete(core_v1.Pod, "running", namespace=namespace)
    await client.delete(core_v1.Pod, "waiting", namespace=namespace)

    assert ending.obj is not None
    assert ending.obj.metadata.deletion_grace_period_seconds == 30
    assert ending.obj.metadata.deletion_timestamp == api.clock.now() + timedelta(seconds=30)
    left = await client.list(core_v1.Pod, namespace=namespace)
    assert [each.name for each in left.items] == ["running"]


async def test_a_grace_period_can_become_shorter_and_never_longer(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await client.create(pod(namespace, "web", node="n1"))
    start = api.clock.now()

    ends = []
    for grace_seconds in (20, 5, 60):
        response = await client.delete(
            core_v1.Pod, "web", namespace=namespace, grace_seconds=grace_seconds
        )
        assert response.obj is not None
        ends.append(response.obj.metadata.deletion_timestamp)

    assert ends == [start + timedelta(seconds=seconds) for seconds in (20, 5, 5)]


async def test_a_deletion_with_a_zero_grace_period_removes_a_pod(
    client: Client, namespace: str
) -> None:
    await client.create(pod(namespace, "web", node="n1"))
    await client.delete(core_v1.Pod, "web", namespace=namespace)

    await client.delete(core_v1.Pod, "web", namespace=namespace, grace_seconds=0)

    assert (await client.list(core_v1.Pod, namespace=namespace)).items == ()


async def test_deletecollection_deletes_only_selected_objects(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "a", labels={"old": "yes"}))
    await client.create(config_map(namespace, "b"))
    await client.create(config_map(namespace, "c", labels={"old": "yes"}))

    await client.delete_all(
        core_v1.ConfigMap, namespace=namespace, labels=Labels.equal({"old": "yes"})
    )

    left = await client.list(core_v1.ConfigMap, namespace=namespace)
    assert [each.name for each in left.items] == ["b"]


async def test_a_terminating_namespace_accepts_no_objects_and_waits_for_its_finalizer(
    api: EmbeddedServer, client: Client
) -> None:
    name = await api.namespace()
    await create_config_maps(client, name, "settings")

    ending = await client.delete(core_v1.Namespace, name)
    with pytest.raises(Forbidden, match="because it is being terminated") as refused:
        await create_config_maps(client, name, "more")

    assert ending.obj is not None
    assert ending.obj.status == core_v1.NamespaceStatus(phase="Terminating")
    assert refused.value.causes[0].reason == "NamespaceTerminating"
    assert await is_there(client, "settings", name)


async def test_a_finalized_namespace_is_deleted(api: EmbeddedServer, client: Client) -> None:
    name = await api.namespace()
    await client.delete(core_v1.Namespace, name)
    finalized = {"metadata": {"name": name}, "spec": {"finalizers": []}}

    await api.asked("PUT", f"/api/v1/namespaces/{name}/finalize", finalized)

    with pytest.raises(NotFound):
        await client.get(core_v1.Namespace, name)


async def test_system_namespaces_cannot_be_deleted(client: Client) -> None:
    for name in ("default", "kube-public", "kube-system"):
        with pytest.raises(Forbidden, match="this namespace may not be deleted"):
            await client.delete(core_v1.Namespace, name)


async def test_an_object_with_an_owner_can_be_deleted(client: Client, namespace: str) -> None:
    owner = await client.create(config_map(namespace, "owner"))
    owned = core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(
            name="owned",
            namespace=namespace,
            owner_references=(
                meta_v1.OwnerReference(
                    api_version="v1",
                    kind="ConfigMap",
                    name="owner",
                    uid=owner.metadata.uid or "",
                ),
            ),
        )
    )
    await client.create(owned)

    await client.delete(core_v1.ConfigMap, "owned", namespace=namespace)

    assert await is_there(client, "owner", namespace)
    assert not await is_there(client, "owned", namespace)
