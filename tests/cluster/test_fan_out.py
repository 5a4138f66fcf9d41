"""Many watchers of one kind with many writes."""

import asyncio
import hashlib
from random import Random
from typing import Any

import msgspec

from tests.embedded import MERGE_PATCH, EmbeddedServer, config_map, name_of, turns

WATCHERS = 200
WRITES = 3_000
NAMES = 500

# The writer yields only after so many writes, so that watchers lag behind.
MAX_CONSECUTIVE = 60


async def write_at_random(api: EmbeddedServer, path: str, rng: Random) -> list[tuple[str, str]]:
    """Create, change and delete objects; the events in order."""
    done: list[tuple[str, str]] = []
    there: set[str] = set()
    while len(done) < WRITES:
        for _ in range(min(rng.randint(1, MAX_CONSECUTIVE), WRITES - len(done))):
            name = f"cm-{rng.randrange(NAMES)}"
            if name not in there:
                await api.asked("POST", path, config_map(name, n=str(len(done))))
                there.add(name)
                done.append(("ADDED", name))
            elif rng.random() < 0.7:
                patch = {"data": {"n": str(len(done))}}
                await api.asked("PATCH", f"{path}/{name}", patch, sends=MERGE_PATCH)
                done.append(("MODIFIED", name))
            else:
                await api.asked("DELETE", f"{path}/{name}")
                there.remove(name)
                done.append(("DELETED", name))
        await turns()
    return done


class Watcher:
    """Reads at its own rate, and keeps only a digest of all events."""

    def __init__(self, *, idle_turns: int) -> None:
        self._idle_turns = idle_turns
        self._digest = hashlib.sha256()
        self.events = 0

    async def read(self, api: EmbeddedServer, path: str) -> None:
        async with api.pieces(path) as pieces:
            async for piece in pieces:
                self._digest.update(piece)
                self.events += piece.count(b"\n")
                if self.events >= WRITES:
                    return
                for _ in range(self._idle_turns):
                    await turns()

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


async def everything_since(api: EmbeddedServer, path: str, version: str) -> tuple[list[Any], str]:
    """All events from one watch, with the digest of their bytes."""
    digest = hashlib.sha256()
    events: list[Any] = []
    async with api.pieces(f"{path}?resourceVersion={version}") as pieces:
        while len(events) < WRITES:
            piece = await anext(pieces)
            digest.update(piece)
            events += map(msgspec.json.decode, piece.splitlines())
    return events, digest.hexdigest()


async def test_every_watcher_sees_every_event_once_and_in_order() -> None:
    api, rng = EmbeddedServer(), Random(4)
    path = f"/api/v1/namespaces/{await api.namespace()}/configmaps"
    start = (await api.asked("GET", path))["metadata"]["resourceVersion"]
    watchers = [Watcher(idle_turns=number % 5) for number in range(WATCHERS)]

    async with asyncio.TaskGroup() as group:
        for watcher in watchers:
            group.create_task(watcher.read(api, f"{path}?resourceVersion={start}"))
        await turns()
        done = await write_at_random(api, path, rng)

    events, digest = await everything_since(api, path, start)
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert [(event["type"], name_of(event["object"])) for event in events] == done
    assert versions == sorted(set(versions))
    assert {watcher.digest for watcher in watchers} == {digest}
