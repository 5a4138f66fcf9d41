"""Watches: their start, events, bookmarks and end."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

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
from steersman.client.watch_events import WatchEvent
from steersman.errors import Expired, TooLargeResourceVersion
from steersman.kinds import core_v1
from tests.embedded import EmbeddedServer, turns
from tests.real.objects import config_map, create_config_maps


async def version(client: Client, namespace: str) -> str:
    return (await client.list(core_v1.ConfigMap, namespace=namespace)).resource_version


def summary(event: WatchEvent[Any]) -> tuple[str, str]:
    """The event and its object."""
    match event:
        case ObjectWritten(obj, is_new=is_new):
            return "added" if is_new else "changed", obj.name
        case ObjectDeleted(obj):
            return "removed", obj.name
        case Bookmark(ends_initial_events=True):
            return "bookmark", "initial events end"
        case Bookmark(resource_version=at):
            return "bookmark", at
        case _:
            raise AssertionError(event)


async def first(number: int, events: AsyncIterator[WatchEvent[Any]]) -> list[tuple[str, str]]:
    return [summary(await anext(events)) for _ in range(number)]


async def all_until_the_end(
    events: AsyncIterator[WatchEvent[Any]], api: EmbeddedServer, *, within_seconds: int
) -> list[tuple[float, tuple[str, str]]]:
    """The events with the seconds until each; the watch must end by itself."""
    start = api.clock.monotonic()

    async def listen() -> list[tuple[float, tuple[str, str]]]:
        return [(api.clock.monotonic() - start, summary(event)) async for event in events]

    async with asyncio.TaskGroup() as group:
        listener = group.create_task(listen())
        await api.after(within_seconds)
        return listener.result()


def paint(color: str) -> MergePatch:
    return MergePatch({"metadata": {"labels": {"color": color}}})


async def test_a_watch_without_a_version_starts_with_all_objects(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "b", "a")

    async with client.watch(core_v1.ConfigMap, namespace=namespace) as events:
        before = await first(3, events)
        await create_config_maps(client, namespace, "c")
        after = await first(1, events)

    assert before == [("added", "a"), ("added", "b"), ("bookmark", "initial events end")]
    assert after == [("added", "c")]


async def test_a_watch_from_a_version_has_only_later_events(client: Client, namespace: str) -> None:
    await create_config_maps(client, namespace, "old")
    start = await version(client, namespace)
    await create_config_maps(client, namespace, "new")
    await client.patch(core_v1.ConfigMap, "new", paint("red"), namespace=namespace)
    await client.delete(core_v1.ConfigMap, "old", namespace=namespace)

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start
    ) as events:
        received = await first(3, events)

    assert received == [("added", "new"), ("changed", "new"), ("removed", "old")]


async def test_a_waiting_watch_receives_events_at_once(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    moment = api.clock.monotonic()

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start
    ) as events:
        received, _ = await asyncio.gather(
            first(1, events), create_config_maps(client, namespace, "new")
        )

    assert received == [("added", "new")]
    assert api.clock.monotonic() == moment


async def test_initial_events_end_with_an_annotated_bookmark(
    client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a", "b")

    async with client.watch(core_v1.ConfigMap, namespace=namespace, initial_events=True) as events:
        received = await first(3, events)
        await create_config_maps(client, namespace, "c")
        received += await first(1, events)

    assert received == [
        ("added", "a"),
        ("added", "b"),
        ("bookmark", "initial events end"),
        ("added", "c"),
    ]


async def test_initial_events_without_objects_are_a_bookmark(
    client: Client, namespace: str
) -> None:
    async with client.watch(core_v1.ConfigMap, namespace=namespace, initial_events=True) as events:
        received = await first(1, events)

    assert received == [("bookmark", "initial events end")]


async def test_a_watch_with_a_label_selector_adds_and_deletes_by_label_changes(
    client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    await client.create(config_map(namespace, "settings", labels={"color": "blue"}))
    for color in ("red", "red", "green", "red"):
        await client.patch(core_v1.ConfigMap, "settings", paint(color), namespace=namespace)
    await client.patch(
        core_v1.ConfigMap, "settings", MergePatch({"data": {"a": "b"}}), namespace=namespace
    )
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    async with client.watch(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=start,
        labels=Labels.equal({"color": "red"}),
    ) as events:
        received = [await anext(events) for _ in range(5)]

    assert [summary(each)[0] for each in received] == [
        "added",
        "removed",
        "added",
        "changed",
        "removed",
    ]


async def test_a_delete_event_by_selector_has_the_last_matching_object(
    client: Client, namespace: str
) -> None:
    red = await client.create(config_map(namespace, "settings", labels={"color": "red"}))
    green = await client.patch(core_v1.ConfigMap, "settings", paint("green"), namespace=namespace)

    async with client.watch(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=red.resource_version,
        labels=Labels.equal({"color": "red"}),
    ) as events:
        removed = await anext(events)

    assert isinstance(removed, ObjectDeleted)
    assert removed.obj.metadata.labels == {"color": "red"}
    assert removed.obj.resource_version == green.resource_version


async def test_a_watch_with_a_name_selector_has_only_that_object(
    client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    await create_config_maps(client, namespace, "a", "b")
    await client.delete(core_v1.ConfigMap, "b", namespace=namespace)

    async with client.watch(
        core_v1.ConfigMap,
        namespace=namespace,
        resource_version=start,
        fields=Fields.equal({"metadata.name": "b"}),
    ) as events:
        received = await first(2, events)

    assert received == [("added", "b"), ("removed", "b")]


async def test_a_bookmark_comes_every_minute_and_one_shortly_before_the_end(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    start = await version(client, namespace)

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start, timeout_seconds=150
    ) as events:
        received = await all_until_the_end(events, api, within_seconds=151)

    assert received == [(at, ("bookmark", start)) for at in (60, 120, 148)]


async def test_a_bookmark_has_the_version_of_changes_outside_the_selector(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    elsewhere = await api.namespace()
    await create_config_maps(client, elsewhere, "unseen")
    now = await version(client, namespace)

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start, timeout_seconds=61
    ) as events:
        received = await all_until_the_end(events, api, within_seconds=62)

    assert received[0] == (59, ("bookmark", now))


async def test_a_watch_without_bookmarks_has_none_and_ends_at_its_timeout(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, bookmarks=False, timeout_seconds=100
    ) as events:
        received = await all_until_the_end(events, api, within_seconds=101)

    assert received == []


async def test_a_watch_without_a_timeout_ends_after_half_an_hour_to_an_hour(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    ended: list[float] = []
    start = api.clock.monotonic()

    async def listen() -> None:
        async with client.watch(core_v1.ConfigMap, namespace=namespace, bookmarks=False) as events:
            async for _ in events:
                raise AssertionError("nothing happens")
        ended.append(api.clock.monotonic() - start)

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(listen())
        await api.after(3601)

    assert len(set(ended)) == 3
    assert all(1800 <= each <= 3601 for each in ended)


async def test_a_watch_from_before_a_compaction_gets_an_error_that_its_version_expired(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    await create_config_maps(client, namespace, "a", "b")
    api.log.compact(api.log.revision)

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start
    ) as events:
        with pytest.raises(Expired, match="too old resource version"):
            await anext(events)


async def test_a_compaction_does_not_disturb_a_watch_that_has_received_everything(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    await create_config_maps(client, namespace, "a")

    async with client.watch(core_v1.ConfigMap, namespace=namespace, bookmarks=False) as events:
        received = await first(1, events)
        await turns()
        api.log.compact(api.log.revision)
        await create_config_maps(client, namespace, "b")
        received += await first(1, events)

    assert received == [("added", "a"), ("added", "b")]


async def test_a_watch_of_an_unchanged_object_has_no_events_of_others(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    start = await version(client, namespace)

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start
    ) as events:
        async with asyncio.TaskGroup() as group:
            received = group.create_task(first(1, events))
            await turns()
            await api.namespace()
            api.log.compact(api.log.revision)
            await create_config_maps(client, namespace, "a")

    assert received.result() == [("added", "a")]


async def test_initial_events_at_a_future_version_are_an_error_event(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    async with client.watch(
        core_v1.ConfigMap,
        namespace=namespace,
        initial_events=True,
        resource_version=str(api.log.revision + 1000),
    ) as events:
        with pytest.raises(TooLargeResourceVersion):
            await anext(events)


async def test_a_watch_of_one_namespace_has_no_events_of_one_with_the_same_prefix(
    api: EmbeddedServer, client: Client, namespace: str
) -> None:
    start = await version(client, namespace)
    longer = f"{namespace}-and-more"
    await api.asked("POST", "/api/v1/namespaces", {"metadata": {"name": longer}})
    await create_config_maps(client, longer, "unseen")
    await create_config_maps(client, namespace, "seen")

    async with client.watch(
        core_v1.ConfigMap, namespace=namespace, resource_version=start
    ) as events:
        received = await first(1, events)

    assert received == [("added", "seen")]
