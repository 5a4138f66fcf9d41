"""wait_for, wait_until_gone and retry_on_conflict with concurrent changes."""

import asyncio

import pytest

from steersman.client import (
    Client,
    MergePatch,
    has_condition,
    retry_on_conflict,
    wait_for,
    wait_until_gone,
)
from steersman.errors import Conflict, WaitTimeout
from steersman.kinds import Unstructured, apps_v1, core_v1
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from steersman.observe import ignore
from steersman_cluster.testing import ControlPlane
from tests.clocks import ManualClock
from tests.real.clients import connected
from tests.real.definitions import ANYTHING, GROUP, Widget, definition, version, widget
from tests.real.objects import AnyConfigMap, config_map, create_config_maps, deployment

# Longer than any wait of these tests on a busy machine.
WITHIN_SECONDS = 30.0

AVAILABLE = {"type": "Available", "status": "True", "reason": "Tests", "message": ""}


def is_blue(obj: core_v1.ConfigMap) -> bool:
    return (obj.data or {}).get("color") == "blue"


async def test_an_object_that_meets_the_condition_is_returned_immediately(
    client: Client, namespace: str
) -> None:
    created = await client.create(config_map(namespace, "settings", color="blue"))

    found = await wait_for(
        client,
        core_v1.ConfigMap,
        "settings",
        is_blue,
        namespace=namespace,
        within_seconds=WITHIN_SECONDS,
    )

    assert found == created


async def test_wait_for_accepts_an_object_that_does_not_exist_yet(
    client: Client, namespace: str
) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(
            wait_for(
                client,
                core_v1.ConfigMap,
                "settings",
                is_blue,
                namespace=namespace,
                within_seconds=WITHIN_SECONDS,
            )
        )
        await create_config_maps(client, namespace, "other", "settings")
        patched = await client.patch(
            core_v1.ConfigMap,
            "settings",
            MergePatch({"data": {"color": "blue"}}),
            namespace=namespace,
        )

    assert waiting.result() == patched


async def test_wait_for_finds_a_condition_of_typed_and_unstructured_objects(
    client: Client, namespace: str
) -> None:
    await client.create(deployment(namespace, "web"))
    any_deployment = Unstructured.of("apps/v1", "Deployment")
    available = has_condition("Available")

    async with asyncio.TaskGroup() as group:
        typed = group.create_task(
            wait_for(
                client,
                apps_v1.Deployment,
                "web",
                available,
                namespace=namespace,
                within_seconds=WITHIN_SECONDS,
            )
        )
        untyped = group.create_task(
            wait_for(
                client,
                any_deployment,
                "web",
                available,
                namespace=namespace,
                within_seconds=WITHIN_SECONDS,
            )
        )
        await client.status(apps_v1.Deployment, "web", namespace=namespace).patch(
            MergePatch({"status": {"conditions": [AVAILABLE]}})
        )

    assert available(typed.result())
    assert available(untyped.result())
    assert not has_condition("Available", "False")(typed.result())


async def test_wait_for_returns_once_the_kind_of_a_definition_is_served(client: Client) -> None:
    crd = definition("Brief", "briefs", version(spec=ANYTHING))
    await client.create(crd)

    await wait_for(
        client,
        CustomResourceDefinition,
        crd.name,
        has_condition("Established"),
        within_seconds=WITHIN_SECONDS,
    )

    assert (await client.list(Unstructured.of(f"{GROUP}/v1", "Brief"))).items == ()
    await client.delete(CustomResourceDefinition, crd.name)
    await wait_until_gone(client, CustomResourceDefinition, crd.name, within_seconds=WITHIN_SECONDS)


async def test_a_condition_that_is_never_met_raises_a_timeout(
    client: Client, control_plane: ControlPlane, namespace: str, widgets: None
) -> None:
    created = await client.create(widget(namespace, "one"))
    clock = ManualClock()

    def ready_in_time(obj: Widget) -> bool:
        clock.advance(WITHIN_SECONDS)  # the timeout expires after the first look at the object
        return has_condition("Ready")(obj)

    async with connected(control_plane, observe=ignore, clock=clock) as waiting:
        with pytest.raises(WaitTimeout) as raised:
            await wait_for(
                waiting,
                Widget,
                "one",
                ready_in_time,
                namespace=namespace,
                within_seconds=WITHIN_SECONDS,
                waited_for="readiness",
            )

    assert f"waited 30 s for readiness of Widget {namespace}/one" in str(raised.value)
    assert raised.value.last_seen == f"version {created.resource_version}"


async def test_wait_until_gone_returns_after_the_deletion(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "settings")

    async with asyncio.TaskGroup() as group:
        group.create_task(
            wait_until_gone(
                client,
                core_v1.ConfigMap,
                "settings",
                namespace=namespace,
                within_seconds=WITHIN_SECONDS,
            )
        )
        await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_wait_until_gone_with_a_uid_ignores_a_recreated_object(
    client: Client, namespace: str
) -> None:
    first = await client.create(config_map(namespace, "settings"))
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    await client.create(config_map(namespace, "settings"))

    await wait_until_gone(
        client,
        core_v1.ConfigMap,
        "settings",
        uid=first.uid,
        namespace=namespace,
        within_seconds=WITHIN_SECONDS,
    )
    with pytest.raises(WaitTimeout):
        await wait_until_gone(
            client, core_v1.ConfigMap, "settings", namespace=namespace, within_seconds=0.2
        )


async def test_retry_on_conflict_loses_none_of_ten_concurrent_increments(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "counter", count="0"))

    async def count() -> None:
        read = await client.get(AnyConfigMap, "counter", namespace=namespace)
        more = str(int(read.get("data", "count")) + 1)
        await client.update(read.changed("data", "count", to=more))

    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(
                retry_on_conflict(count, clock=client.clock, rng=client.rng, attempts=30)
            )

    counter = await client.get(core_v1.ConfigMap, "counter", namespace=namespace)
    assert counter.data == {"count": "10"}


async def test_a_permanent_conflict_is_raised_after_the_last_attempt(
    client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "settings", color="blue"))
    stale = await client.get(AnyConfigMap, "settings", namespace=namespace)
    await client.update(stale.changed("data", "color", to="red"))

    with pytest.raises(Conflict):
        await retry_on_conflict(
            lambda: client.update(stale.changed("data", "color", to="green")),
            clock=client.clock,
            rng=client.rng,
            attempts=3,
        )
