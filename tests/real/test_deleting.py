"""delete and delete_all: who goes, when, and under which conditions."""

import pytest

from steersman.client import Client, Fields, Labels, MergePatch, Preconditions
from steersman.errors import Conflict, NotFound
from steersman.kinds import core_v1, replace
from tests.real.definitions import Widget, widget
from tests.real.objects import AnyConfigMap, config_map, create_config_maps, pod

HOLD = "tests.example.com/hold"


def held(obj: core_v1.ConfigMap) -> core_v1.ConfigMap:
    return replace(obj, metadata=replace(obj.metadata, finalizers=(HOLD,)))


async def let_go(client: Client, namespace: str, name: str) -> None:
    """Take every finalizer off, so that nothing outlives its namespace."""
    nothing = MergePatch({"metadata": {"finalizers": None}})
    await client.patch(core_v1.ConfigMap, name, nothing, namespace=namespace)


async def names(client: Client, namespace: str) -> list[str]:
    listing = await client.list(core_v1.ConfigMap, namespace=namespace)
    return [each.name for each in listing.items]


async def test_a_deleted_object_is_gone_and_there_is_nothing_more_to_say_of_it(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "settings")

    answer = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    assert answer is None
    assert await names(client, namespace) == []


async def test_what_is_not_there_cannot_be_deleted(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound):
        await client.delete(core_v1.ConfigMap, "nothing", namespace=namespace)


async def test_an_object_with_a_finalizer_is_answered_and_stays_until_it_is_taken_off(
    client: Client, namespace: str
) -> None:
    await client.create(held(config_map(namespace, "settings")))

    answer = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    assert answer is not None
    assert answer.deletion_time is not None
    assert answer == await client.get(core_v1.ConfigMap, "settings", namespace=namespace)
    await let_go(client, namespace, "settings")
    assert await names(client, namespace) == []


async def test_an_unstructured_object_with_a_finalizer_is_answered_too(
    client: Client, namespace: str
) -> None:
    await client.create(held(config_map(namespace, "settings")))

    answer = await client.delete(AnyConfigMap, "settings", namespace=namespace)

    assert answer is not None
    assert answer.get("metadata", "finalizers") == [HOLD]
    await let_go(client, namespace, "settings")


async def test_a_custom_resource_is_deleted(client: Client, namespace: str, widgets: None) -> None:
    await client.create(widget(namespace, "one"))

    assert await client.delete(Widget, "one", namespace=namespace) is None

    assert (await client.list(Widget, namespace=namespace)).items == ()


async def test_another_object_of_the_same_name_is_not_deleted(
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


async def test_an_object_that_was_changed_meanwhile_is_not_deleted(
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


async def test_an_object_that_still_is_as_it_was_seen_is_deleted(
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


async def test_an_owner_waits_in_the_foreground_for_what_it_owns(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "owner")

    answer = await client.delete(
        core_v1.ConfigMap, "owner", namespace=namespace, propagation="Foreground"
    )

    assert answer is not None
    assert answer.metadata.finalizers == ("foregroundDeletion",)
    assert answer.deletion_time is not None
    await let_go(client, namespace, "owner")


async def test_an_owner_waits_until_what_it_owns_is_orphaned(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "owner")

    answer = await client.delete(
        core_v1.ConfigMap, "owner", namespace=namespace, propagation="Orphan"
    )

    assert answer is not None
    assert answer.metadata.finalizers == ("orphan",)
    await let_go(client, namespace, "owner")


async def test_an_owner_goes_at_once_if_what_it_owns_follows_in_the_background(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "owner")

    answer = await client.delete(
        core_v1.ConfigMap, "owner", namespace=namespace, propagation="Background"
    )

    assert answer is None
    assert await names(client, namespace) == []


async def test_a_pod_that_runs_is_given_its_grace_and_can_be_hurried(
    client: Client, namespace: str
) -> None:
    await client.create(pod(namespace, "web", node="somewhere"))

    answer = await client.delete(core_v1.Pod, "web", namespace=namespace, grace_seconds=7)

    assert answer is not None
    assert answer.metadata.deletion_grace_period_seconds == 7
    assert await client.get(core_v1.Pod, "web", namespace=namespace) == answer
    await client.delete(core_v1.Pod, "web", namespace=namespace, grace_seconds=0)
    with pytest.raises(NotFound):
        await client.get(core_v1.Pod, "web", namespace=namespace)


async def test_a_deletion_that_is_only_tried_leaves_everything_as_it_was(
    client: Client, namespace: str
) -> None:
    before = await client.create(held(config_map(namespace, "settings")))

    answer = await client.delete(core_v1.ConfigMap, "settings", namespace=namespace, dry_run=True)

    assert answer is not None
    assert answer.deletion_time is not None
    assert await client.get(core_v1.ConfigMap, "settings", namespace=namespace) == before
    await let_go(client, namespace, "settings")


async def test_all_that_match_are_deleted_and_no_others(client: Client, namespace: str) -> None:
    for name, color in (("a", "red"), ("b", "red"), ("c", "blue")):
        await client.create(config_map(namespace, name, labels={"color": color}))

    await client.delete_all(
        core_v1.ConfigMap,
        namespace=namespace,
        labels=Labels.equal({"color": "red"}),
        fields=Fields.differ({"metadata.name": "b"}),
    )

    assert await names(client, namespace) == ["b", "c"]


async def test_all_are_deleted_if_nothing_is_said_of_them(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "a", "b")
    await create_config_maps(client, "default", f"beside-{namespace}")

    await client.delete_all(core_v1.ConfigMap, namespace=namespace)

    assert await names(client, namespace) == []
    await client.delete(core_v1.ConfigMap, f"beside-{namespace}", namespace="default")


async def test_all_are_left_if_their_deletion_is_only_tried(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "a", "b")

    await client.delete_all(core_v1.ConfigMap, namespace=namespace, dry_run=True)

    assert await names(client, namespace) == ["a", "b"]


async def test_propagation_and_grace_hold_for_all(client: Client, namespace: str) -> None:
    await client.create(pod(namespace, "web", node="somewhere"))

    await client.delete_all(core_v1.Pod, namespace=namespace, propagation="Orphan", grace_seconds=7)

    (left,) = (await client.list(core_v1.Pod, namespace=namespace)).items
    assert left.metadata.finalizers == ("orphan",)
    assert left.metadata.deletion_grace_period_seconds == 7
    nothing = MergePatch({"metadata": {"finalizers": None}})
    await client.patch(core_v1.Pod, "web", nothing, namespace=namespace)
