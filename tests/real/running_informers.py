"""Runs informers, and checks their deltas and caches."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from steersman.cache import Added, Deleted, Delta, Informer, InformerSettings, Scope, Sync, Updated
from steersman.client import Client, MergePatch, RetryPolicy
from steersman.clock import SystemClock
from steersman.errors import AlreadyExists, NotFound, SteersmanError
from steersman.kinds import Resource, Unstructured, core_v1
from steersman.names import ObjectKey
from steersman.observe import HandlerFailed, WatchFailed, WatchStarted
from steersman.watch import ReflectorSettings, is_older, key_of
from tests.real.objects import config_map
from tests.real.recording_observer import RecordingObserver

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# An API server restarts within seconds, and the informer reconnects a few seconds later.
WITHIN_SECONDS = 30.0


class FastClock(SystemClock):
    """A clock for tests that do not depend on the delays between retries."""

    async def sleep(self, seconds: float) -> None:
        """Sleep for a tenth of ``seconds``, and at most 0.3 seconds."""
        await super().sleep(min(seconds / 10, 0.3))


class CheckingHandler(Generic[Obj]):
    """A handler that records all deltas, and the violations of their invariants.

    While ``may_rewind`` is true, an object may become older, because the server was restored from a
    backup.
    """

    def __init__(self) -> None:
        self.deltas: list[Delta[Obj]] = []
        self.impossible: list[str] = []
        self.may_rewind = False
        self._last: dict[ObjectKey, Obj] = {}
        self._more = asyncio.Event()

    def __call__(self, delta: Delta[Obj]) -> None:
        self.impossible += [f"{delta}: {why}" for why in self._violations(delta)]
        self.deltas.append(delta)
        if isinstance(delta, Deleted):
            self._last.pop(delta.key, None)
        else:
            self._last[delta.key] = delta.obj
        self._more.set()

    def _violations(self, delta: Delta[Obj]) -> Iterable[str]:
        last, obj = self._last.get(delta.key), delta.obj
        if key_of(obj) != delta.key:
            yield "the key is that of another object"
        match delta:
            case Added():
                if last is not None:
                    yield "the object already existed"
                return
            case Updated(old=old):
                if old is not last:
                    yield "the old state differs from the last delta"
            case Deleted(is_missed=is_missed):
                if is_missed and obj is not last:
                    yield "the tombstone differs from the last delta"
            case Sync():
                if obj is not last:
                    yield "the object differs from the last delta"
                return
        if last is None:
            yield "the object did not exist"
        elif last.uid != obj.uid:
            yield "the uid differs from the last delta"
        elif obj is last:
            if isinstance(delta, Updated):
                yield "nothing changed"
        elif not self.may_rewind and not is_older(last.resource_version, than=obj.resource_version):
            yield f"the last version was {last.resource_version}"

    @property
    def present(self) -> dict[ObjectKey, tuple[str, str]]:
        """The uid and version of each existing object, according to the deltas."""
        return {key: (obj.uid, obj.resource_version) for key, obj in self._last.items()}

    @property
    def missed(self) -> set[str]:
        """The names of the objects whose Deleted is a tombstone of a missed deletion."""
        return {
            each.key.name for each in self.deltas if isinstance(each, Deleted) and each.is_missed
        }

    def of(self, name: str) -> list[str]:
        """The types of the deltas for objects with this name, in order."""
        return [type(each).__name__ for each in self.deltas if each.key.name == name]

    async def more(self) -> None:
        """Wait for the next delta."""
        self._more.clear()
        await self._more.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningInformer(Generic[Obj]):
    """A running informer and its handler."""

    informer: Informer[Obj]
    handler: CheckingHandler[Obj]
    seen: RecordingObserver

    async def wait_until_current(self, client: Client) -> None:
        """Wait until handler and cache equal a new list; no client may write meanwhile."""
        fresh = await list_versions(client, self.informer.kind, self.informer.scope)
        with suppress(TimeoutError):
            async with SystemClock().timeout(WITHIN_SECONDS):
                while self.handler.present != fresh:
                    await self.handler.more()
        assert self.handler.present == fresh, (self.informer, self.seen.of(WatchFailed))
        held = self.informer.lister.list()
        assert {key_of(obj): (obj.uid, obj.resource_version) for obj in held} == fresh


async def list_versions(
    client: Client, kind: type[Obj], scope: Scope
) -> dict[ObjectKey, tuple[str, str]]:
    """List the uid and version of each object."""
    return {
        key_of(obj): (obj.uid, obj.resource_version)
        for namespace in scope.parts()
        for obj in (
            await client.list(kind, namespace=namespace, labels=scope.labels, fields=scope.fields)
        ).items
    }


@asynccontextmanager
async def running_informer(
    client: Client,
    kind: type[Obj],
    *,
    seen: RecordingObserver,
    scope: Scope | None = None,
    settings: ReflectorSettings | None = None,
) -> AsyncIterator[RunningInformer[Obj]]:
    """Run an informer during the block, and check all its deltas."""
    handler = CheckingHandler[Obj]()
    informer = Informer(
        client,
        kind,
        observe=seen,
        scope=scope,
        settings=InformerSettings(reflector=settings or ReflectorSettings(), detect_mutations=True),
    )
    informer.add_handler(handler)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        try:
            yield RunningInformer(informer=informer, handler=handler, seen=seen)
        finally:
            task.cancel()
    informer.check_mutations()
    assert handler.impossible == []
    assert seen.of(HandlerFailed) == []


@asynccontextmanager
async def synced_informer(
    client: Client,
    kind: type[Obj],
    *,
    seen: RecordingObserver,
    scope: Scope | None = None,
    settings: ReflectorSettings | None = None,
) -> AsyncIterator[RunningInformer[Obj]]:
    """Run an informer during the block, which starts when it is synced and watches."""
    async with running_informer(client, kind, seen=seen, scope=scope, settings=settings) as running:
        await running.informer.synced()
        await seen.first(WatchStarted)
        yield running


class RandomWriter:
    """Writes random ConfigMaps, and ignores errors."""

    def __init__(self, client: Client, namespace: str) -> None:
        # A failed write is not retried: the next one replaces it.
        self._client = client.with_settings(retry=RetryPolicy(attempts=1), deadline_seconds=5.0)
        self._namespace = namespace
        self._rng = Random(0)
        self._existing: set[str] = set()
        self._is_stopped = False
        self.writes = 0
        self.began = asyncio.Event()

    async def write(self) -> None:
        """Create, change and delete until stopped."""
        while not self._is_stopped:
            name = f"busy-{self._rng.randrange(5)}"
            try:
                await self._write_once(name)
            except AlreadyExists:
                self._existing.add(name)
            except NotFound:
                self._existing.discard(name)
            except SteersmanError:
                await self._client.clock.sleep(0.01)  # no response
            else:
                self.writes += 1
                self.began.set()

    async def _write_once(self, name: str) -> None:
        namespace = self._namespace
        if name not in self._existing:
            await self._client.create(config_map(namespace, name))
            self._existing.add(name)
        elif self._rng.random() < 0.7:
            patch = MergePatch({"data": {"number": str(self.writes)}})
            await self._client.patch(core_v1.ConfigMap, name, patch, namespace=namespace)
        else:
            await self._client.delete(core_v1.ConfigMap, name, namespace=namespace)
            self._existing.remove(name)

    def stop(self) -> None:
        """Stop after the current write."""
        self._is_stopped = True


@asynccontextmanager
async def running_writer(client: Client, namespace: str) -> AsyncIterator[RandomWriter]:
    """Write random ConfigMaps during the block."""
    writer = RandomWriter(client, namespace)
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.write())
        try:
            await writer.began.wait()
            yield writer
        finally:
            writer.stop()
