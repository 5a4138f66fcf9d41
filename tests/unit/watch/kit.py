"""What the tests of the reflector share: a source with a script, and a sink that remembers."""

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
    """It was written."""
    return ObjectWritten(obj(name, version))


def removed(name: str, version: str | int) -> Event:
    """It is gone."""
    return ObjectDeleted(obj(name, version))


def bookmark(version: str | int, *, ends: bool = False) -> Event:
    """A bookmark."""
    return Bookmark(str(version), ends)


def invalid(name: str) -> InvalidObject:
    """It does not fit its class."""
    return InvalidObject(
        ref=f"ConfigMap default/{name}",
        into="ConfigMap",
        problem="it is odd",
        body={"metadata": {"name": name, "namespace": "default"}},
    )


def undecodable(name: str, version: str | int, *, is_gone: bool = False) -> Event:
    """It was written, and does not fit its class."""
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


# A function is called when its turn comes: the clock is moved, or something is waited for.
Piece: TypeAlias = Event | SteersmanError | Callable[[], object]


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer to a list: its pages, or where one of them should be, an error."""

    pages: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Watching:
    """The answer to a watch: events, errors, and what happens in between; then it ends."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Probing:
    """The answer to a probe."""

    error: SteersmanError | None = None


Answer: TypeAlias = Listing | Watching | Probing | SteersmanError


def listing(*pages: Any) -> Listing:
    """The answer to a list."""
    return Listing(pages)


def watching(*pieces: Piece) -> Watching:
    """The answer to a watch."""
    return Watching(pieces)


def ended(*pieces: Piece) -> tuple[Answer, ...]:
    """A watch that ends in good order, and a server that knows as much as we do afterwards."""
    return watching(*pieces), Probing()


class ScriptedSource:
    """Gives the answers of its script one after another; past its end, questions hang."""

    resource = "configmaps"
    ref = ObjectRef("ConfigMap", "default", "*")

    def __init__(self, *script: Answer, clock: FakeClock) -> None:
        self._script = list(script)
        self._clock = clock
        self.played_out = asyncio.Event()
        self.asked: list[str] = []
        self.asked_at: list[float] = []
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

    async def _answer(self, question: str) -> Answer:
        self.asked.append(question)
        self.asked_at.append(self._clock.monotonic())
        if not self._script:
            self.played_out.set()
            await asyncio.Event().wait()
        answer = self._script.pop(0)
        if isinstance(answer, SteersmanError):
            raise answer
        return answer


class Mirror:
    """A sink that remembers the order of its calls."""

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


class Scene:
    """A reflector on a script."""

    def __init__(
        self,
        *script: Answer,
        clock: FakeClock | None = None,
        mirror: Mirror | None = None,
        **settings: Any,
    ) -> None:
        self.clock = clock or FakeClock()
        self.source = ScriptedSource(*script, clock=self.clock)
        self.mirror = mirror or Mirror()
        self.observed: list[Observation] = []
        self.reflector = Reflector(
            self.source,
            self.mirror,
            clock=self.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=ReflectorSettings(**settings),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the block runs, so does the reflector."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.reflector.run())
            try:
                await turns()
                yield
            finally:
                task.cancel()

    async def play(self) -> None:
        """Let the script be played to its end."""
        async with self.running():
            await self.source.played_out.wait()
            await turns()

    def seen(self, kind: type[Any]) -> list[Any]:
        """The observations of one kind."""
        return [each for each in self.observed if isinstance(each, kind)]

    @property
    def asked(self) -> list[str]:
        """The questions, in order; the last is one that has no answer."""
        return self.source.asked[:-1]

    @property
    def waits(self) -> list[float]:
        """How much time passed between one question and the next."""
        moments = self.source.asked_at
        return [after - before for before, after in pairwise(moments)]
