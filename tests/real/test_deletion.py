"""delete and delete_all: finalizers, preconditions, propagation and selectors."""

import pytest

from steersman.client import (
    Client,
    Fields,
    Labels,
    MergePatch,
    Preconditions,
    is_gone,
)
from steersman.errors import Conflict, NotFound
from steersman.kinds import Unstructured, core_v1, meta_v1, replace
from steersman.units import Quantity
from tests.real.definitions import Widget, widget
from tests.real.objects import AnyConfigMap, config_map, create_config_maps, pod

AnyNamespace = Unstructured.of("v1", "Namespace", namespaced=False)

FINALIZER = "tests.example.com/hold"


def with_finalizer(obj: core_v1.ConfigMap) -> core_v1.ConfigMap:
    return replace(obj, metadata=replace(obj.metadata, finalizers=(FINALIZER,)))


async def remove_finalizers(client: Client, namespace: str, name: str) -> None:
    """Remove every finalizer, so that the namespace can be deleted."""
    nothing = MergePatch({"metadata": {"finalizers": None}})
    await client.patch(core_v1.ConfigMap, name, nothing, namespace=namespace)


async def names(client: Client, namespace: str) -> list[str]:
    listing = await client.list(core_v1.ConfigMap, namespace=namespace)
    return [each.name for each in listing.items]


async def test_the_response_to_a_completed_deletion_has_only_the_uid(
    client: Client, namespace: str
) -> None:
    before = await client.create(config_map(namespace, "settings"))

    response = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    assert (response.obj, response.uid, response.is_gone) == (None, before.uid, True)
    assert await names(client, namespace) == []


async def test_a_missing_object_cannot_be_deleted(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound):
        await client.delete(core_v1.ConfigMap, "nothing", namespace=namespace)


async def test_an_object_with_a_finalizer_is_returned_and_stays_until_its_removal(
    client: Client, namespace: str
) -> None:
    await client.create(with_finalizer(config_map(namespace, "settings")))

    response = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    assert response.obj is not None
    assert response.obj.deletion_time is not None
    assert response.obj == await client.get(core_v1.ConfigMap, "settings", namespace=namespace)
    assert (response.uid, response.is_gone) == (response.obj.uid, False)
    await remove_finalizers(client, namespace, "settings")
    assert await names(client, namespace) == []


async def test_the_write_that_removes_the_last_finalizer_reports_the_object_as_gone(
    client: Client, namespace: str
) -> None:
    two = replace(config_map(namespace, "settings"), data={"color": "blue"})
    with_two_finalizers = replace(
        two, metadata=replace(two.metadata, finalizers=(FINALIZER, f"{FINALIZER}-too"))
    )
    await client.create(with_two_finalizers)
    marked = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    assert marked.obj is not None
    one_less = MergePatch({"metadata": {"finalizers": [FINALIZER]}})

    still_held = await client.patch(core_v1.ConfigMap, "settings", one_less, namespace=namespace)
    nothing = MergePatch({"metadata": {"finalizers": None}})
    last = await client.patch(core_v1.ConfigMap, "settings", nothing, namespace=namespace)

    assert [is_gone(marked.obj), is_gone(still_held), is_gone(last)] == [False, False, True]
    assert still_held.resource_version != marked.obj.resource_version
    # No version of its own: a client that compares versions needs to know that this one is the
    # last.
    assert last.resource_version == still_held.resource_version
    assert await names(client, namespace) == []


async def test_an_update_without_finalizers_reports_the_object_as_gone(
    client: Client, namespace: str
) -> None:
    await client.create(with_finalizer(config_map(namespace, "settings")))
    marked = await client.delete(AnyConfigMap, "settings", namespace=namespace)
    assert marked.obj is not None

    last = await client.update(marked.obj.changed("metadata", "finalizers", to=[]))

    assert is_gone(last)
    assert last.resource_version == marked.obj.resource_version
    assert await names(client, namespace) == []


async def test_a_pod_within_its_grace_period_outlives_its_last_finalizer(
    client: Client, namespace: str
) -> None:
    web = pod(namespace, "web", node="somewhere")
    await client.create(replace(web, metadata=replace(web.metadata, finalizers=(FINALIZER,))))
    await client.delete(core_v1.Pod, "web", namespace=namespace, grace_seconds=30)
    nothing = MergePatch({"metadata": {"finalizers": None}})

    freed = await client.patch(core_v1.Pod, "web", nothing, namespace=namespace)

    assert not is_gone(freed)
    assert await client.get(core_v1.Pod, "web", namespace=namespace) == freed
    await client.delete(core_v1.Pod, "web", namespace=namespace, grace_seconds=0)


async def test_an_unstructured_object_with_a_finalizer_is_returned_too(
    client: Client, namespace: str
) -> None:
    await client.create(with_finalizer(config_map(namespace, "settings")))

    response = await client.delete(AnyConfigMap, "settings", namespace=namespace)

    assert response.obj is not None
    assert response.obj.get("metadata", "finalizers") == [FINALIZER]
    assert not response.is_gone
    await remove_finalizers(client, namespace, "settings")


async def test_a_custom_resource_is_deleted(client: Client, namespace: str, widgets: None) -> None:
    before = await client.create(widget(namespace, "one"))

    response = await client.delete(Widget, "one", namespace=namespace)

    assert (response.obj, response.uid, response.is_gone) == (None, before.uid, True)
    assert (await client.list(Widget, namespace=namespace)).items == ()


async def test_a_uid_precondition_protects_a_recreated_object(
    client: Client, namespace: str
) -> None:
    first = await client.create(config_map(namespace, "settings"))
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    second = await client.create(config_map(namespace, "settings"))

    with pytest.raises(Conflict, match="UID"):
        await client.delete(
            core_v1.ConfigMap,
            "settings",
            namespace=namespace,
            preconditions=Preconditions(uid=first.uid),
        )

    assert await client.get(core_v1.ConfigMap, "settings", namespace=namespace) == second


async def test_a_resource_version_precondition_protects_a_changed_object(
    client: Client, namespace: str
) -> None:
    before = await client.create(config_map(namespace, "settings"))
    change = MergePatch({"data": {"color": "blue"}})
    await client.patch(core_v1.ConfigMap, "settings", change, namespace=namespace)

    with pytest.raises(Conflict, match="ResourceVersion"):
        await client.delete(
            core_v1.ConfigMap,
            "settings",
            namespace=namespace,
            preconditions=Preconditions(resource_version=before.resource_version),
        )

    assert await names(client, namespace) == ["settings"]


async def test_an_unchanged_object_is_deleted_with_preconditions(
    client: Client, namespace: str
) -> None:
    seen = await client.create(config_map(namespace, "settings"))

    await client.delete(
        core_v1.ConfigMap,
        "settings",
        namespace=namespace,
        preconditions=Preconditions(uid=seen.uid, resource_version=seen.resource_version),
    )

    assert await names(client, namespace) == []


async def test_foreground_deletion_keeps_the_owner_until_its_dependents_are_deleted(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "owner")

    response = await client.delete(
        core_v1.ConfigMap, "owner", namespace=namespace, propagation="Foreground"
    )

    assert response.obj is not None
    assert response.obj.metadata.finalizers == ("foregroundDeletion",)
    assert response.obj.deletion_time is not None
    assert not response.is_gone
    await remove_finalizers(client, namespace, "owner")


async def test_orphan_deletion_keeps_the_owner_until_its_dependents_are_orphaned(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "owner")

    response = await client.delete(
        core_v1.ConfigMap, "owner", namespace=namespace, propagation="Orphan"
    )

    assert response.obj is not None
    assert response.obj.metadata.finalizers == ("orphan",)
    assert not response.is_gone
    await remove_finalizers(client, namespace, "owner")


async def test_background_deletion_removes_the_owner_immediately(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "owner")

    response = await client.delete(
        core_v1.ConfigMap, "owner", namespace=namespace, propagation="Background"
    )

    assert response.obj is None
    assert response.is_gone
    assert await names(client, namespace) == []


async def test_a_running_pod_has_a_grace_period_that_can_be_shortened(
    client: Client, namespace: str
) -> None:
    await client.create(pod(namespace, "web", node="somewhere"))

    response = await client.delete(core_v1.Pod, "web", namespace=namespace, grace_seconds=7)

    assert response.obj is not None
    assert response.obj.metadata.deletion_grace_period_seconds == 7
    assert await client.get(core_v1.Pod, "web", namespace=namespace) == response.obj
    immediate = await client.delete(core_v1.Pod, "web", namespace=namespace, grace_seconds=0)
    assert [response.is_gone, immediate.is_gone] == [False, True]
    assert immediate.uid == response.uid
    with pytest.raises(NotFound):
        await client.get(core_v1.Pod, "web", namespace=namespace)


async def test_a_pod_without_a_node_is_removed_immediately(client: Client, namespace: str) -> None:
    before = await client.create(pod(namespace, "web"))

    response = await client.delete(core_v1.Pod, "web", namespace=namespace)

    assert response.obj is not None
    assert response.obj.metadata.deletion_grace_period_seconds == 0
    assert (response.uid, response.is_gone) == (before.uid, True)
    with pytest.raises(NotFound):
        await client.get(core_v1.Pod, "web", namespace=namespace)


async def test_an_object_returned_without_a_deletion_time_is_gone(
    client: Client, namespace: str
) -> None:
    robot = core_v1.ServiceAccount(metadata=meta_v1.ObjectMeta(name="robot", namespace=namespace))
    before = await client.create(robot)

    response = await client.delete(core_v1.ServiceAccount, "robot", namespace=namespace)

    assert response.obj is not None
    assert response.obj.deletion_time is None
    assert (response.uid, response.is_gone) == (before.uid, True)
    with pytest.raises(NotFound):
        await client.get(core_v1.ServiceAccount, "robot", namespace=namespace)


async def test_a_claim_is_removed_together_with_its_protection_finalizer(
    client: Client, namespace: str
) -> None:
    claim = core_v1.PersistentVolumeClaim(
        metadata=meta_v1.ObjectMeta(name="disk", namespace=namespace),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=("ReadWriteOnce",),
            resources=core_v1.VolumeResourceRequirements(requests={"storage": Quantity("1Gi")}),
        ),
    )
    await client.create(claim)

    response = await client.delete(core_v1.PersistentVolumeClaim, "disk", namespace=namespace)
    nothing = MergePatch({"metadata": {"finalizers": None}})
    last = await client.patch(core_v1.PersistentVolumeClaim, "disk", nothing, namespace=namespace)

    assert not response.is_gone
    assert is_gone(last)
    assert (await client.list(core_v1.PersistentVolumeClaim, namespace=namespace)).items == ()


async def test_a_namespace_is_not_gone_when_its_deletion_is_requested(client: Client) -> None:
    created = await client.create(
        core_v1.Namespace(metadata=meta_v1.ObjectMeta(generate_name="ending-"))
    )

    response = await client.delete(core_v1.Namespace, created.name)

    assert response.obj is not None
    assert response.obj.deletion_time is not None
    assert not response.obj.metadata.finalizers
    assert (response.uid, response.is_gone) == (created.uid, False)
    left = await client.get(core_v1.Namespace, created.name)
    assert (left.uid, left.deletion_time is not None) == (created.uid, True)
    # No controller empties namespaces on this control plane.
    ending = await client.get(AnyNamespace, created.name)
    finalize = client.subresource(AnyNamespace, created.name, "finalize", of=AnyNamespace)
    await finalize.update(ending.changed("spec", "finalizers", to=[]))
    with pytest.raises(NotFound):
        await client.get(core_v1.Namespace, created.name)


async def test_a_dry_run_of_a_deletion_changes_nothing(client: Client, namespace: str) -> None:
    before = await client.create(with_finalizer(config_map(namespace, "settings")))

    response = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace, dry_run=True)

    assert response.obj is not None
    assert response.obj.deletion_time is not None
    assert await client.get(core_v1.ConfigMap, "settings", namespace=namespace) == before
    await remove_finalizers(client, namespace, "settings")


async def test_a_dry_run_never_reports_an_object_as_gone(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "settings")
    web = await client.create(pod(namespace, "web"))

    confirmed = await client.delete(
        core_v1.ConfigMap, "settings", namespace=namespace, dry_run=True
    )
    with_object = await client.delete(core_v1.Pod, "web", namespace=namespace, dry_run=True)

    assert confirmed.obj is None
    assert with_object.obj is not None
    assert with_object.obj.metadata.deletion_grace_period_seconds == 0
    assert [confirmed.is_gone, with_object.is_gone] == [False, False]
    assert await names(client, namespace) == ["settings"]
    assert await client.get(core_v1.Pod, "web", namespace=namespace) == web


async def test_delete_all_deletes_only_matching_objects(client: Client, namespace: str) -> None:
    for name, color in (("a", "red"), ("b", "red"), ("c", "blue")):
        await client.create(config_map(namespace, name, labels={"color": color}))

    await client.delete_all(
        core_v1.ConfigMap,
        namespace=namespace,
        labels=Labels.equal({"color": "red"}),
        fields=Fields.differ({"metadata.name": "b"}),
    )

    assert await names(client, namespace) == ["b", "c"]


async def test_delete_all_without_a_selector_deletes_every_object(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b")
    await create_config_maps(client, "default", f"beside-{namespace}")

    await client.delete_all(core_v1.ConfigMap, namespace=namespace)

    assert await names(client, namespace) == []
    await client.delete(core_v1.ConfigMap, f"beside-{namespace}", namespace="default")


async def test_a_dry_run_of_delete_all_deletes_nothing(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "a", "b")

    await client.delete_all(core_v1.ConfigMap, namespace=namespace, dry_run=True)

    assert await names(client, namespace) == ["a", "b"]


async def test_delete_all_applies_propagation_and_grace_period(
    client: Client, namespace: str
) -> None:
    await client.create(pod(namespace, "web", node="somewhere"))

    await client.delete_all(core_v1.Pod, namespace=namespace, propagation="Orphan", grace_seconds=7)

    (left,) = (await client.list(core_v1.Pod, namespace=namespace)).items
    assert left.metadata.finalizers == ("orphan",)
    assert left.metadata.deletion_grace_period_seconds == 7
    nothing = MergePatch({"metadata": {"finalizers": None}})
    await client.patch(core_v1.Pod, "web", nothing, namespace=namespace)
