"""A server with invalid responses: the client limits their effect."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from steersman import errors
from steersman.cache import Informer, InformerSettings
from steersman.client import Deletion
from steersman.kinds import core_v1
from steersman.names import ObjectKey
from steersman.observe import Listed, OutOfOrder, WatchFailed, WatchStarted
from steersman.watch import ReflectorSettings
from tests.cluster.informer_setup import HERE, Scene, names
from tests.real.objects import config_map
from tests.transports import error_response, json_response

FUTURE = str(2**62)


@asynccontextmanager
async def following(scene: Scene, **settings: Any) -> AsyncIterator[Informer[Any]]:
    """A running informer on the misbehaving server."""
    informer = scene.informer(settings=InformerSettings(reflector=ReflectorSettings(**settings)))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(informer.run())
        try:
            yield informer
        finally:
            running.cancel()


@pytest.mark.parametrize("asked", ["3600", "9" * 400])
async def test_a_retry_after_of_an_hour_delays_an_informer_by_a_minute_at_most(
    scene: Scene, asked: str
) -> None:
    async with following(scene) as informer:
        scene.transport.fixed_response = error_response(
            429, "TooManyRequests", headers={"retry-after": asked}
        )
        await scene.until(lambda: scene.seen(WatchFailed), seconds=0.1)
        scene.transport.fixed_response = None
        begun_at = scene.clock.monotonic()
        await scene.until(lambda: informer.has_synced, seconds=1.0)

    assert 50.0 <= scene.clock.monotonic() - begun_at <= 65.0


async def test_the_maximum_retry_after_is_a_setting(scene: Scene) -> None:
    async with following(scene, max_retry_after_seconds=5.0) as informer:
        scene.transport.fixed_response = error_response(
            429, "TooManyRequests", headers={"retry-after": "3600"}
        )
        await scene.until(lambda: scene.seen(WatchFailed), seconds=0.1)
        scene.transport.fixed_response = None
        begun_at = scene.clock.monotonic()
        await scene.until(lambda: informer.has_synced, seconds=0.5)

    assert scene.clock.monotonic() - begun_at <= 10.0


async def test_an_endless_list_is_a_failure_with_backoff(scene: Scene) -> None:
    page = {
        "kind": "ConfigMapList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7", "continue": "again"},
        "items": [{"metadata": {"name": "one", "namespace": HERE}}],
    }
    async with following(scene) as informer:
        scene.transport.fixed_response = json_response(page)
        begun_at = scene.clock.monotonic()
        await scene.until(lambda: scene.clock.monotonic() > begun_at + 60.0, seconds=0.5)
        asked = len(scene.transport.requests)
        scene.transport.fixed_response = None
        await scene.until(lambda: informer.has_synced, seconds=1.0)

    assert {type(each.error) for each in scene.seen(WatchFailed)} == {errors.EndlessList}
    # Two requests for each try, with a backoff that doubles.
    assert asked <= 20


def number_in(informer: Informer[Any]) -> str | None:
    """The current number in the patched ConfigMap."""
    one = informer.lister.get("one", namespace=HERE)
    return None if one is None else (one.data or {}).get("number")


async def until_observed(scene: Scene, kind: type[Any], times: int) -> None:
    """Wait until this many of the observations are recorded."""
    await scene.until(lambda: len(scene.seen(kind)) >= times, seconds=0.5)


def with_future_versions(piece: bytes, count: int) -> bytes:
    """The events in a chunk, each followed by ``count`` events with future versions."""
    lines = []
    for line in piece.splitlines(True):
        lines.append(line)
        event = msgspec.json.decode(line)
        if event["type"] == "BOOKMARK":
            continue
        for number in range(count):
            metadata = {
                "name": f"ghost-{number}",
                "namespace": HERE,
                "uid": f"u-{number}",
                "resourceVersion": str(int(FUTURE) + number),
            }
            ghost = {"type": "ADDED", "object": {**event["object"], "metadata": metadata}}
            lines.append(msgspec.json.encode(ghost) + b"\n")
    return b"".join(lines)


async def test_a_flood_of_objects_with_future_versions_leaves_no_state(scene: Scene) -> None:
    async with following(scene) as informer:
        await scene.until(lambda: informer.has_synced)
        most = 0
        scene.transport.garble = lambda piece: with_future_versions(piece, 1000)
        for floods in range(1, 6):
            await until_observed(scene, WatchStarted, floods)
            await scene.patch("one", number=str(floods))
            await until_observed(scene, OutOfOrder, floods)
            most = max(most, len(informer))
        scene.transport.garble = bytes
        await scene.patch("one", number="last")
        await scene.until(
            lambda: number_in(informer) == "last",
            seconds=0.5,
        )

    # None of them is in the cache, and real events are applied.
    assert most == 2
    assert names(informer) == ["one", "two"]
    assert len(scene.seen(Listed)) <= 7


async def test_own_writes_are_visible_after_a_list_with_a_future_version(
    scene: Scene,
) -> None:
    async with following(scene) as informer:
        await scene.until(lambda: informer.has_synced)
        scene.transport.garble = lambda piece: with_future_versions(piece, 1)
        await scene.patch("one", number="1")
        await scene.until(lambda: scene.seen(OutOfOrder), seconds=0.1)

        # The watch is closed and the list has not arrived: only the overlay has the write.
        await informer.record_write(scene.server.create(config_map(HERE, "three")))

        assert "three" in names(informer)
        scene.transport.garble = bytes
        watches = len(scene.seen(WatchStarted))
        await scene.until(lambda: len(scene.seen(WatchStarted)) > watches, seconds=0.5)
        assert names(informer) == ["one", "three", "two"]


async def from_the_future(write: Any) -> Any:
    """The response to a write, with a version far in the future."""
    response = await write
    obj: Any = response.obj if isinstance(response, Deletion) else response
    metadata = msgspec.structs.replace(obj.metadata, resource_version=FUTURE)
    forged = msgspec.structs.replace(obj, metadata=metadata)
    if isinstance(response, Deletion):
        return msgspec.structs.replace(response, obj=forged)
    return forged


async def test_a_response_with_a_future_version_hides_no_later_change(
    scene: Scene,
) -> None:
    async with following(scene) as informer:
        await scene.until(lambda: informer.has_synced)
        await informer.record_write(from_the_future(scene.patch("one", number="ours")))
        await scene.patch("one", number="theirs")
        await scene.until(lambda: number_in(informer) == "theirs", seconds=0.5)


async def test_a_deletion_with_a_future_version_does_not_hide_a_recreated_object(
    scene: Scene,
) -> None:
    async def delete() -> Any:
        one = await scene.server.get(core_v1.ConfigMap, "one", namespace=HERE)
        await scene.delete("one")
        return Deletion(
            resource_type=one.resource_type,
            key=ObjectKey(HERE, "one"),
            obj=one,
            uid=one.uid,
            is_gone=True,
        )

    async with following(scene) as informer:
        await scene.until(lambda: informer.has_synced)
        await informer.record_write(from_the_future(delete()))
        assert names(informer) == ["two"]
        await scene.server.create(config_map(HERE, "one"))
        await scene.until(lambda: names(informer) == ["one", "two"], seconds=0.5)


async def test_a_listed_object_with_a_future_version_is_still_updated(
    scene: Scene,
) -> None:
    informer = scene.informer()
    async with informer.running():
        part = informer._children[HERE]
        objects = dict(part.fifo.known)
        version = part.fifo.position
        for key, obj in objects.items():
            forged = msgspec.structs.replace(obj.metadata, resource_version=FUTURE)
            objects[key] = msgspec.structs.replace(obj, metadata=forged)
        part.replace(objects, (), version, rewound=False)

        await scene.patch("one", number="1")
        await scene.until(
            lambda: number_in(informer) == "1",
            seconds=0.5,
        )
