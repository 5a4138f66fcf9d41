"""Helpers for the tests of the reflector: a scripted source, and a sink that records its calls."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any, TypeAlias

from steersman.client import Bookmark, DecodeFailure, ObjectDeleted, ObjectWritten, WatchEvent
from steersman.errors import InvalidObject, SteersmanError
from steersman.kinds import DecodedList, Resource, core_v1, meta_v1
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import Observation
from steersman.watch import Reflector, ReflectorSettings
from tests.clocks import FakeClock
from tests.embedded import turns

ConfigMap: TypeAlias = core_v1.ConfigMap
Event: TypeAlias = WatchEvent[ConfigMap]


def obj(name: str, version: str | int, **data: str) -> ConfigMap:
    """A ConfigMap at this version."""
    return core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(
            name=name, namespace="default", uid=f"uid-{name}", resource_version=str(version)
        ),
        data=data or None,
    )


def wrote(name: str, version: str | int) -> Event:
    """An event: the object was created or updated."""
    return ObjectWritten(obj(name, version))


def removed(name: str, version: str | int) -> Event:
    """An event: the object was deleted."""
    return ObjectDeleted(obj(name, version))


def bookmark(version: str | int, *, ends: bool = False) -> Event:
    return Bookmark(str(version), ends)


def invalid(name: str) -> InvalidObject:
    """The error for an object that does not decode."""
    return InvalidObject(
        ref=f"ConfigMap default/{name}",
        into="ConfigMap",
        problem="it is odd",
        body={"metadata": {"name": name, "namespace": "default"}},
    )


def undecodable(name: str, version: str | int, *, is_gone: bool = False) -> Event:
    """An event with an object that does not decode."""
    return DecodeFailure(invalid(name), str(version), is_gone)


def page(*objects: ConfigMap, version: str | int, decode_failures: Sequence[str] = ()) -> Any:
    """One page of a list."""
    return DecodedList(
        items=objects,
        invalid=tuple(invalid(each) for each in decode_failures),
        resource_version=str(version),
        continue_token="",
        remaining=None,
    )


# A function is called in its place: it advances the clock, or waits.
Piece: TypeAlias = Event | SteersmanError | Callable[[], object]


@dataclass(frozen=True, slots=True)
class Listing:
    """The response to a list: its pages, or an error in the place of one."""

    pages: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Watching:
    """The response to a watch, which ends after these events, errors and functions."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Probing:
    """The response to a probe."""

    error: SteersmanError | None = None


Answer: TypeAlias = Listing | Watching | Probing | SteersmanError


def listing(*pages: Any) -> Listing:
    """The response to a list."""
    return Listing(pages)


def watching(*pieces: Piece) -> Watching:
    """The response to a watch."""
    return Watching(pieces)


def ended(*pieces: Piece) -> tuple[Answer, ...]:
    """A watch that ends normally, and a probe that confirms the version."""
    return watching(*pieces), Probing()


class ScriptedSource:
    """Returns the responses of its script in order; after the last, requests hang."""

    resource = "configmaps"
    ref = ObjectRef("ConfigMap", "default", "*")

    def __init__(self, *script: Answer, clock: FakeClock) -> None:
        self._script = list(script)
        self._clock = clock
        self.is_finished = asyncio.Event()
        self.requested: list[str] = []
        self.requested_at: list[float] = []
        self.timeouts: list[float] = []
        self.open_watches = 0

    async def pages(self, *, page_size: int | None) -> AsyncIterator[Any]:
        answer = await self._answer("list" if page_size is None else f"list by {page_size}")
        assert isinstance(answer, Listing), answer
        for each in answer.pages:
            if isinstance(each, SteersmanError):
                raise each
            yield each

    @asynccontextmanager
    async def watch(
        self, *, version: str | None, initial_events: bool, timeout_seconds: float
    ) -> AsyncIterator[AsyncIterator[Event]]:
        self.timeouts.append(timeout_seconds)
        answer = await self._answer("stream" if initial_events else f"watch {version}")
        assert isinstance(answer, Watching), answer
        self.open_watches += 1
        try:
            yield self._events(answer)
        finally:
            self.open_watches -= 1

    async def probe(self, version: str) -> None:
        answer = await self._answer(f"probe {version}")
        assert isinstance(answer, Probing), answer
        if answer.error is not None:
            raise answer.error

    async def _events(self, answer: Watching) -> AsyncIterator[Event]:
        for piece in answer.pieces:
            if isinstance(piece, SteersmanError):
                raise piece
            if isinstance(piece, ObjectWritten | ObjectDeleted | Bookmark | DecodeFailure):
                yield piece
            else:
                outcome = piece()
                if asyncio.iscoroutine(outcome):
                    await outcome

    async def _answer(self, request: str) -> Answer:
        self.requested.append(request)
        self.requested_at.append(self._clock.monotonic())
        if not self._script:
            self.is_finished.set()
            await asyncio.Event().wait()
        answer = self._script.pop(0)
        if isinstance(answer, SteersmanError):
            raise answer
        return answer


class RecordingSink:
    """Records its calls in order."""

    def __init__(self) -> None:
        self.objects: dict[str, str] = {}
        self.received: list[str] = []
        self.decode_failures: list[str] = []
        self.reached_version = ""

    def replace(
        self,
        objects: Mapping[ObjectKey, Resource],
        decode_failures: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        self.objects = {each.name: each.resource_version for each in objects.values()}
        self.decode_failures = [each.ref for each in decode_failures]
        self.reached_version = version
        self.received.append(f"{'rewound' if rewound else 'replace'} at {version}")

    def upsert(self, obj: Resource) -> None:
        self.objects[obj.name] = obj.resource_version
        self.received.append(f"{obj.name} {obj.resource_version}")

    def delete(self, obj: Resource) -> None:
        self.objects.pop(obj.name, None)
        self.received.append(f"{obj.name} gone {obj.resource_version}")

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        self.received.append(f"{error.ref} {'gone' if is_gone else 'odd'} {version}")

    def progress(self, version: str) -> None:
        self.reached_version = version
        self.received.append(f"reached {version}")


class ReflectorRun:
    """A reflector with a scripted source."""

    def __init__(
        self,
        *script: Answer,
        clock: FakeClock | None = None,
        sink: RecordingSink | None = None,
        **settings: Any,
    ) -> None:
        self.clock = clock or FakeClock()
        self.source = ScriptedSource(*script, clock=self.clock)
        self.sink = sink or RecordingSink()
        self.observed: list[Observation] = []
        self.reflector = Reflector(
            self.source,
            self.sink,
            clock=self.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=ReflectorSettings(**settings),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the reflector during the block."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.reflector.run())
            try:
                await turns()
                yield
            finally:
                task.cancel()

    async def play(self) -> None:
        """Run the script to its end."""
        async with self.running():
            await self.source.is_finished.wait()
            await turns()

    def seen(self, kind: type[Any]) -> list[Any]:
        """The observations of one type."""
        return [each for each in self.observed if isinstance(each, kind)]

    @property
    def requested(self) -> list[str]:
        """The requests in order, without the last, which has no response."""
        return self.source.requested[:-1]

    @property
    def waits(self) -> list[float]:
        """The times between successive requests."""
        moments = self.source.requested_at
        return [after - before for before, after in pairwise(moments)]
