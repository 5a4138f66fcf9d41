"""Running informers, their deltas, and checks of both."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from steersman.cache import (
    Added,
    Deleted,
    Delta,
    Informer,
    InformerSettings,
    Scope,
    Sync,
    Updated,
    key_of,
)
from steersman.client import Client, MergePatch, RetryPolicy
from steersman.clock import SystemClock
from steersman.errors import AlreadyExists, NotFound, SteersmanError
from steersman.kinds import Resource, Unstructured, core_v1
from steersman.names import ObjectKey
from steersman.observe import HandlerFailed, WatchFailed, WatchStarted
from steersman.watch import ReflectorSettings, is_older
from tests.real.objects import config_map
from tests.real.recording_observer import RecordingObserver

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# An API server is back within seconds, and then the informer within a few more.
WITHIN_SECONDS = 30.0


class FastClock(SystemClock):
    """A clock for tests that do not depend on the delays between retries."""

    async def sleep(self, seconds: float) -> None:
        """Sleep for a tenth of ``seconds``, and at most 0.3 seconds."""
        await super().sleep(min(seconds / 10, 0.3))


class Scenario(Generic[Obj]):
    """A handler that records all deltas, and those that cannot have happened.

    ``may_rewind``: from now on an object may also become older, because the server's history was
    rewound.
    """

    def __init__(self) -> None:
        self.deltas: list[Delta[Obj]] = []
        self.impossible: list[str] = []
        self.may_rewind = False
        self._last: dict[ObjectKey, Obj] = {}
        self._more = asyncio.Event()

    def __call__(self, delta: Delta[Obj]) -> None:
        self.impossible += [f"{delta}: {why}" for why in self._doubts(delta)]
        self.deltas.append(delta)
        if isinstance(delta, Deleted):
            self._last.pop(delta.key, None)
        else:
            self._last[delta.key] = delta.obj
        self._more.set()

    def _doubts(self, delta: Delta[Obj]) -> Iterable[str]:
        last, obj = self._last.get(delta.key), delta.obj
        if key_of(obj) != delta.key:
            yield "the key is another object's"
        match delta:
            case Added():
                if last is not None:
                    yield "it was there"
                return
            case Updated(old=old):
                if old is not last:
                    yield "the old state differs from the last delta"
            case Deleted(is_missed=is_missed):
                if is_missed and obj is not last:
                    yield "the tombstone differs from the last delta"
            case Sync():
                if obj is not last:
                    yield "it differs from the last delta"
                return
        if last is None:
            yield "it was not there"
        elif last.uid != obj.uid:
            yield "it is another object of that name"
        elif obj is last:
            if isinstance(delta, Updated):
                yield "nothing changed"
        elif not self.may_rewind and not is_older(last.resource_version, than=obj.resource_version):
            yield f"it was at {last.resource_version} before"

    @property
    def present(self) -> dict[ObjectKey, tuple[str, str]]:
        """What is there, from the deltas: the uid and the version of each object."""
        return {key: (obj.uid, obj.resource_version) for key, obj in self._last.items()}

    @property
    def missed(self) -> set[str]:
        """The names of those of which only the absence was noticed."""
        return {
            each.key.name for each in self.deltas if isinstance(each, Deleted) and each.is_missed
        }

    def of(self, name: str) -> list[str]:
        """What became of the objects of this name, in order."""
        return [type(each).__name__ for each in self.deltas if each.key.name == name]

    async def more(self) -> None:
        """Wait for the next delta."""
        self._more.clear()
        await self._more.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed(Generic[Obj]):
    """A running informer, and its deltas."""

    informer: Informer[Obj]
    scenario: Scenario[Obj]
    seen: RecordingObserver

    async def settled(self, client: Client) -> None:
        """Return once handlers and cache have what a new list has; no client may write."""
        fresh = await listed(client, self.informer.kind, self.informer.scope)
        with suppress(TimeoutError):
            async with SystemClock().timeout(WITHIN_SECONDS):
                while self.scenario.present != fresh:
                    await self.scenario.more()
        assert self.scenario.present == fresh, (self.informer, self.seen.of(WatchFailed))
        held = self.informer.lister.list()
        assert {key_of(obj): (obj.uid, obj.resource_version) for obj in held} == fresh


async def listed(client: Client, kind: type[Obj], scope: Scope) -> dict[ObjectKey, tuple[str, str]]:
    """The uid and the version of each object there is."""
    return {
        key_of(obj): (obj.uid, obj.resource_version)
        for namespace in scope.parts()
        for obj in (
            await client.list(kind, namespace=namespace, labels=scope.labels, fields=scope.fields)
        ).items
    }


@asynccontextmanager
async def started(
    client: Client,
    kind: type[Obj],
    *,
    seen: RecordingObserver,
    scope: Scope | None = None,
    settings: ReflectorSettings | None = None,
) -> AsyncIterator[Followed[Obj]]:
    """An informer that runs during the block; all its notifications are checked."""
    scenario = Scenario[Obj]()
    informer = Informer(
        client,
        kind,
        observe=seen,
        scope=scope,
        settings=InformerSettings(reflector=settings or ReflectorSettings(), detect_mutations=True),
    )
    informer.add_handler(scenario)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(informer.run())
        try:
            yield Followed(informer=informer, scenario=scenario, seen=seen)
        finally:
            running.cancel()
    informer.check_mutations()
    assert scenario.impossible == []
    assert seen.of(HandlerFailed) == []


@asynccontextmanager
async def following(
    client: Client,
    kind: type[Obj],
    *,
    seen: RecordingObserver,
    scope: Scope | None = None,
    settings: ReflectorSettings | None = None,
) -> AsyncIterator[Followed[Obj]]:
    """The same, entered once all initial objects were received."""
    async with started(client, kind, seen=seen, scope=scope, settings=settings) as followed:
        await followed.informer.synced()
        await seen.first(WatchStarted)
        yield followed


class Writer:
    """A client that keeps writing ConfigMaps, whatever happens to the server."""

    def __init__(self, client: Client, namespace: str) -> None:
        # What fails may be forgotten: there is always something else to write.
        self._client = client.with_settings(retry=RetryPolicy(attempts=1), deadline_seconds=5.0)
        self._namespace = namespace
        self._rng = Random(0)
        self._there: set[str] = set()
        self._is_done = False
        self.writes = 0
        self.began = asyncio.Event()

    async def write(self) -> None:
        """Create, change and delete, until done."""
        while not self._is_done:
            name = f"busy-{self._rng.randrange(5)}"
            try:
                await self._write_once(name)
            except AlreadyExists:
                self._there.add(name)
            except NotFound:
                self._there.discard(name)
            except SteersmanError:
                await self._client.clock.sleep(0.01)  # no response
            else:
                self.writes += 1
                self.began.set()

    async def _write_once(self, name: str) -> None:
        namespace = self._namespace
        if name not in self._there:
            await self._client.create(config_map(namespace, name))
            self._there.add(name)
        elif self._rng.random() < 0.7:
            patch = MergePatch({"data": {"number": str(self.writes)}})
            await self._client.patch(core_v1.ConfigMap, name, patch, namespace=namespace)
        else:
            await self._client.delete(core_v1.ConfigMap, name, namespace=namespace)
            self._there.remove(name)

    def stop(self) -> None:
        """Finish what was begun, and nothing more."""
        self._is_done = True


@asynccontextmanager
async def writing(client: Client, namespace: str) -> AsyncIterator[Writer]:
    """A client writes while the block runs, and is done when it has ended."""
    writer = Writer(client, namespace)
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.write())
        try:
            await writer.began.wait()
            yield writer
        finally:
            writer.stop()
