"""Operators on the embedded server, with a clock that the test advances."""

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
from tests.cluster.informer_setup import HERE, Scene
from tests.transports import FakeResponse

E = TypeVar("E")

# The name of the server for users.
SERVER = "https://10.0.0.1:6443"

WRITES = frozenset(("POST", "PUT", "PATCH", "DELETE"))

# Features that are not tested are disabled.
ALONE: Mapping[str, Any] = {
    "leader_election": False,
    "health_address": "",
    "metrics_address": "",
    "preflight": "off",
}


class Operator:
    """A running operator, with its observations and requests."""

    def __init__(self, scene: Scene, hostname: str) -> None:
        self.scene = scene
        self.hostname = hostname
        self.observed: list[Any] = []
        self.changed = asyncio.Event()  # set by each observation
        self.transports: list[FaultyTransport] = []
        self.stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        # Replaces the responses on each new transport.
        self.response: FakeResponse | Exception | None = None
        self.informers: InformerSettings | None = None
        self.has_ended = False

    def observe(self, observation: Observation) -> None:
        """Record an observation."""
        self.observed.append(observation)
        self.changed.set()

    def connect(self) -> AbstractAsyncContextManager[Transport]:
        """A new transport to the server; the controllers use the first."""
        transport = FaultyTransport(InProcessTransport(self.scene.api.server))
        transport.fixed_response = self.response
        self.transports.append(transport)
        return nullcontext(transport)

    @property
    def writes(self) -> list[str]:
        """All its writes so far, without events and leases."""
        return [
            f"{each.method} {each.path}"
            for transport in self.transports
            for each in transport.requests
            if each.method in WRITES and not _is_beside(each)
        ]

    def seen(self, kind: type[E]) -> list[E]:
        """The observations of this kind."""
        return [each for each in self.observed if isinstance(each, kind)]

    async def run(
        self,
        controllers: Sequence[Controller[Any]],
        runnables: Sequence[Runnable],
        settings: ManagerSettings,
    ) -> None:
        """Run until stopped."""
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
    response: FakeResponse | Exception | None = None,
    informers: InformerSettings | None = None,
    **settings: Any,
) -> AsyncIterator[Operator]:
    """An operator that runs inside the block, and is cancelled at its end."""
    operator = Operator(scene, hostname)
    operator.response = response
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
    """Run all tasks until the operator writes nothing more."""
    for _ in range(50):
        before = len(operator.writes)
        for _ in range(turns):
            await scene.settle()
        if len(operator.writes) == before:
            return
    raise AssertionError("it never came to rest")


def _is_beside(request: Request) -> bool:
    return any(each in request.path for each in ("/leases", "/events", "reviews"))
