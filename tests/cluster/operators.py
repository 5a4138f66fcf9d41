"""Operators on the embedded server, in time that the test moves."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from random import Random
from typing import Any, TypeVar

from steersman.cache import InformerSettings
from steersman.controller import Controller
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings, Runnable
from steersman.observe import Observation
from steersman.wire import Request, Transport
from steersman_cluster.apiserver import InProcessTransport
from tests.cluster.faulty_transports import FaultyTransport
from tests.cluster.informing import HERE, Scene
from tests.transports import Answer

E = TypeVar("E")

# As people know the server.
SERVER = "https://10.0.0.1:6443"

WRITES = frozenset(("POST", "PUT", "PATCH", "DELETE"))

# Whatever is not being tested is switched off.
ALONE: Mapping[str, Any] = {
    "leader_election": False,
    "health_address": "",
    "metrics_address": "",
    "preflight": "off",
}


class Operator:
    """An operator while it runs, and what it does."""

    def __init__(self, scene: Scene, hostname: str) -> None:
        self.scene = scene
        self.hostname = hostname
        self.observed: list[Any] = []
        self.changed = asyncio.Event()  # that there is something new in there
        self.ways: list[FaultyTransport] = []
        self.stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        # What each new way says in the server's place.
        self.answer: Answer | Exception | None = None
        self.informers: InformerSettings | None = None
        self.has_ended = False

    def observe(self, observation: Observation) -> None:
        """Remember it."""
        self.observed.append(observation)
        self.changed.set()

    def connect(self) -> AbstractAsyncContextManager[Transport]:
        """A way of its own to the server: the first is for the controllers."""
        way = FaultyTransport(InProcessTransport(self.scene.api.server))
        way.answer = self.answer
        self.ways.append(way)
        return nullcontext(way)

    @property
    def writes(self) -> list[str]:
        """All that it has written so far, its events and leases apart."""
        return [
            f"{each.method} {each.path}"
            for way in self.ways
            for each in way.requests
            if each.method in WRITES and not _is_beside(each)
        ]

    def seen(self, kind: type[E]) -> list[E]:
        """What it has observed of this sort."""
        return [each for each in self.observed if isinstance(each, kind)]

    async def run(
        self,
        controllers: Sequence[Controller[Any]],
        runnables: Sequence[Runnable],
        settings: ManagerSettings,
    ) -> None:
        """Operate until stopped."""
        environment = ManagerEnvironment(
            connect=self.connect,
            namespace=HERE,
            hostname=self.hostname,
            server=SERVER,
            clock=self.scene.clock,
            rng=Random(self.hostname),
            observe=self.observe,
        )
        manager = Manager(controllers=controllers, runnables=runnables, informers=self.informers)
        await manager.operate(environment, settings=settings, stop=self.stop)
        self.has_ended = True


@asynccontextmanager
async def operating(
    scene: Scene,
    *controllers: Controller[Any],
    runnables: Sequence[Runnable] = (),
    hostname: str = "one",
    answer: Answer | Exception | None = None,
    informers: InformerSettings | None = None,
    **settings: Any,
) -> AsyncIterator[Operator]:
    """An operator that runs while the block does; it is cut off at the end."""
    operator = Operator(scene, hostname)
    operator.answer = answer
    operator.informers = informers
    given: dict[str, Any] = {**ALONE, **settings}
    chosen = ManagerSettings(**given)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(operator.run(controllers, runnables, chosen))
        try:
            yield operator
        finally:
            running.cancel()


async def is_quiet(scene: Scene, operator: Operator, *, turns: int = 5) -> None:
    """Run all tasks until nothing more is written."""
    for _ in range(50):
        before = len(operator.writes)
        for _ in range(turns):
            await scene.settle()
        if len(operator.writes) == before:
            return
    raise AssertionError("it never came to rest")


def _is_beside(request: Request) -> bool:
    return any(each in request.path for each in ("/leases", "/events", "reviews"))
