"""A server, its informers, and a transport with faults between them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Literal, TypeVar

from steersman.cache import (
    Caches,
    Delta,
    Informer,
    Scope,
)
from steersman.client import Client, ClientSettings, MergePatch, RetryPolicy
from steersman.errors import (
    NotWatched,
    Unreachable,
)
from steersman.kinds import Part, Resource, core_v1, metadata_only
from steersman_cluster.apiserver import InProcessTransport
from tests.clocks import ManualClock
from tests.cluster.faulty_transports import FaultyTransport
from tests.embedded import EmbeddedServer, turns
from tests.real.definitions import GROUP, WIDGETS, Octopus, Widget, install, widget
from tests.real.objects import create_config_maps

E = TypeVar("E")

ConfigMap = core_v1.ConfigMap
HERE = "here"
THERE = "there"


class Color(Part):
    """A spec with one field."""

    color: Literal["red", "blue"] | None = None


class Colored(Resource, group=GROUP, version="v1", kind="Widget", plural="widgets"):
    """A Widget with only the field ``color``, which allows only these values."""

    spec: Color = Color()


WidgetMetadata = metadata_only(Widget)


class Scene:
    """A server, a transport with faults, and a clock that the test advances."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.api = EmbeddedServer(clock=self.clock)
        self.server = self.api.client()
        self.transport = FaultyTransport(InProcessTransport(self.api.server))
        self.observed: list[Any] = []
        self.client = Client(
            self.transport,
            clock=self.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=ClientSettings(retry=RetryPolicy(attempts=1)),
        )

    def informer(self, kind: type[Any] = ConfigMap, **rest: Any) -> Informer[Any]:
        rest.setdefault("scope", Scope(namespaces=() if kind is Octopus else (HERE,)))
        return Informer(self.client, kind, observe=self.observed.append, **rest)

    def caches(self, **rest: Any) -> Caches:
        return Caches(self.client, observe=self.observed.append, **rest)

    def seen(self, kind: type[E]) -> list[E]:
        return [each for each in self.observed if isinstance(each, kind)]

    async def until(self, is_so: Callable[[], object], *, seconds: float = 0.0) -> None:
        """Run all tasks until the condition is true, and advance the clock if needed."""
        for _ in range(2000):
            if is_so():
                return
            await turns()
            if seconds:
                self.clock.advance(seconds)
        raise AssertionError("the condition was never met")

    async def settle(self) -> None:
        """Deliver the events of all writes."""
        for _ in range(20):
            await turns()

    @asynccontextmanager
    async def gap(self) -> AsyncIterator[None]:
        """Drop the events of the block, so that only the next list has its changes."""
        self.transport.fixed_response = Unreachable("gone for a while")
        self.transport.cut()
        yield
        self.api.server.compactor.compact_all()
        await self.settle()
        self.transport.fixed_response = None

    async def patch(self, name: str, namespace: str = HERE, **data: str | None) -> Any:
        return await self.server.patch(
            ConfigMap, name, MergePatch({"data": data}), namespace=namespace
        )

    async def paint(self, name: str, color: str) -> Any:
        patch = MergePatch({"spec": {"color": color}})
        return await self.server.patch(Widget, name, patch, namespace=HERE)

    async def delete(self, name: str, namespace: str = HERE) -> None:
        await self.server.delete(ConfigMap, name, namespace=namespace)


async def two_namespaces() -> Scene:
    """A server with two namespaces, of which ``there`` is empty."""
    scene = Scene()
    for namespace in (HERE, THERE):
        await scene.api.asked("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    await create_config_maps(scene.server, HERE, "one", "two")
    await install(scene.server, WIDGETS)
    for name in ("one", "two"):
        await scene.server.create(widget(HERE, name, size=3))
    return scene


class RecordingHandler:
    """A handler that records its deltas."""

    def __init__(self) -> None:
        self.deltas: list[Delta[Any]] = []

    def __call__(self, delta: Delta[Any]) -> None:
        self.deltas.append(delta)

    async def of(self, scene: Scene, changes: int) -> None:
        """Wait until so many deltas were received."""
        await scene.until(lambda: len(self.deltas) >= changes)

    @property
    def scenario(self) -> list[tuple[str, str]]:
        return [(type(delta).__name__, delta.key.name) for delta in self.deltas]


def names(informer: Informer[Any]) -> list[str]:
    return sorted(obj.name for obj in informer.lister.list())


async def outcome(work: Any) -> Exception | None:
    """The error of the work, if it failed."""
    try:
        await work
    except NotWatched as error:
        return error
    return None
