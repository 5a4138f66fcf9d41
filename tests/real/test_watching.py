"""watch: events in order, until the watch ends."""

from collections.abc import AsyncIterator
from typing import TypeVar

import pytest

from steersman.client import (
    Bookmark,
    Client,
    Fields,
    Labels,
    MergePatch,
    ObjectDeleted,
    ObjectWritten,
)
from steersman.errors import Unreachable
from steersman.kinds import core_v1
from steersman_cluster.testing import RealControlPlane
from tests.real.clients import connected
from tests.real.objects import AnyConfigMap, config_map, create_config_maps
from tests.real.relay import relay_to

T = TypeVar("T")

# kube-apiserver sends bookmarks every minute, and two seconds before the timeout.
WATCH_SECONDS = 4


async def first(count: int, events: AsyncIterator[T]) -> list[T]:
    received: list[T] = []
    async for event in events:
        received.append(event)
        if len(received) == count:
            break
    return received


async def version(client: Client, namespace: str) -> str:
    return (await client.list(core_v1.ConfigMap, namespace=namespace)).resource_version


def color_patch(color: str) -> MergePatch:
    return MergePatch({"metadata": {"labels": {"color": color}}})


async def test_added_modified_and_deleted_events_arrive_in_order(
    client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    created = await client.create(config_map(namespace, "settings"))
    changed = await client.patch(
        core_v1.ConfigMap, "settings", color_patch("red"), namespace=namespace
    )
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start
    ) as events:
        received = await first(3, events)

    assert received[:2] == [ObjectWritten(created, is_new=True), ObjectWritten(changed)]
    assert isinstance(received[2], ObjectDeleted)
    assert received[2].obj.name == "settings"
    assert int(received[2].obj.resource_version) > int(changed.resource_version)


async def test_an_unstructured_watch_yields_whole_objects(client: Client, namespace: str) -> None:
    start = await version(client, namespace)
    await client.create(config_map(namespace, "settings", color="blue"))

    async with client.watch(AnyConfigMap, namespace=namespace, resource_version=start) as events:
        (received,) = await first(1, events)

    found = await client.get(AnyConfigMap, "settings", namespace=namespace)
    assert received == ObjectWritten(found, is_new=True)


async def test_a_watch_without_a_namespace_receives_events_of_all_namespaces(
    client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    await create_config_maps(client, namespace, "settings")

    async with client.watch(core_v1.ConfigMap, resource_version=start) as events:
        (received,) = await first(1, events)

    assert isinstance(received, ObjectWritten)
    assert (received.obj.namespace, received.obj.name) == (namespace, "settings")


async def test_initial_events_end_with_a_bookmark_and_changes_follow(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b")

    async with client.watch(core_v1.ConfigMap, namespace=namespace, initial_events=True) as events:
        received = await first(3, events)
        await create_config_maps(client, namespace, "c")
        received += await first(1, events)

    names = [event.obj.name if isinstance(event, ObjectWritten) else "" for event in received]
    assert names == ["a", "b", "", "c"]
    assert isinstance(received[2], Bookmark)
    assert received[2].ends_initial_events
    assert int(received[2].resource_version) > 0


async def test_the_server_sends_a_bookmark_and_closes_a_watch_at_its_timeout(
    client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    nothing = Fields.equal({"metadata.name": "nothing"})

    async with (
        client.watch(
            core_v1.ConfigMap,
            namespace=namespace,
            fields=nothing,
            resource_version=start,
            timeout_seconds=WATCH_SECONDS,
        ) as with_bookmarks,
        client.watch(
            core_v1.ConfigMap,
            namespace=namespace,
            fields=nothing,
            resource_version=start,
            timeout_seconds=WATCH_SECONDS,
            bookmarks=False,
        ) as without_bookmarks,
    ):
        created = await client.create(config_map(namespace, "something"))
        events = [event async for event in with_bookmarks]
        no_events = [event async for event in without_bookmarks]

    assert isinstance(events[-1], Bookmark)
    assert int(events[-1].resource_version) >= int(created.resource_version)
    assert not events[-1].ends_initial_events
    assert no_events == []


async def test_a_selector_turns_label_changes_into_added_and_deleted_events(
    client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    await client.create(config_map(namespace, "settings", labels={"color": "red"}))
    for color in ("blue", "red"):
        await client.patch(core_v1.ConfigMap, "settings", color_patch(color), namespace=namespace)

    async with client.watch(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=start,
        labels=Labels.equal({"color": "red"}),
    ) as events:
        created, left, returned = await first(3, events)

    assert isinstance(created, ObjectWritten)
    assert created.is_new
    assert isinstance(left, ObjectDeleted)
    assert left.obj.labels == {"color": "red"}
    assert isinstance(returned, ObjectWritten)
    assert returned.is_new


async def test_a_watch_with_a_field_selector_receives_only_matching_objects(
    client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    await create_config_maps(client, namespace, "a", "b")

    async with client.watch(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=start,
        fields=Fields.equal({"metadata.name": "b"}),
    ) as events:
        (received,) = await first(1, events)

    assert isinstance(received, ObjectWritten)
    assert received.obj.name == "b"


async def test_exiting_the_block_closes_the_connection(
    control_plane: RealControlPlane, namespace: str
) -> None:
    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=lambda _: None, server=relay.url) as client,
    ):
        await create_config_maps(client, namespace, "settings")

        async with client.watch(
            core_v1.ConfigMap, namespace=namespace, initial_events=True
        ) as events:
            await first(1, events)

        await relay.wait_until_unused()


async def test_a_broken_watch_is_not_resumed_silently(
    control_plane: RealControlPlane, namespace: str
) -> None:
    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=lambda _: None, server=relay.url) as client,
        client.watch(core_v1.ConfigMap, namespace=namespace, initial_events=True) as events,
    ):
        assert len(await first(1, events)) == 1

        relay.cut()

        with pytest.raises(Unreachable):
            await anext(events)
