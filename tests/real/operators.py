"""Operators in the test's process, on a cluster, as any user with a token."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from steersman.client import Client, ClusterConfig, find_config, open_transport, wait_for
from steersman.client.access.cluster_config import Token
from steersman.clock import SystemClock
from steersman.controller import Controller
from steersman.kinds import Resource, events_v1
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings
from steersman.observe import (
    MetricsObserver,
    Observation,
    ReconcileFinished,
    fan_out,
    ignore,
    new_registry,
)
from steersman.wire import Request, Response, Transport
from steersman_cluster.testing import ControlPlane
from tests.real.recording_observer import RecordingObserver
from tests.real.running_informers import FastClock

Obj = TypeVar("Obj", bound=Resource)
T = TypeVar("T", bound=Observation)

WRITES = frozenset(("POST", "PUT", "PATCH", "DELETE"))
BESIDE = ("/leases", "/events", "reviews")

# Whatever is not being tested is switched off.
ALONE: dict[str, Any] = {
    "leader_election": False,
    "health_address": "",
    "metrics_address": "",
    "preflight": "off",
}

# Longer than anything takes here, shorter than a test may.
WITHIN_SECONDS = 20.0
# Nothing of what an operator does by itself takes longer than this to begin.
QUIET_SECONDS = 0.5
POLL_SECONDS = 0.05


class Listening:
    """Carries requests, and notes which would write, and which of those have no answer yet."""

    def __init__(self, inner: Transport, noted: list[str], under_way: list[Request]) -> None:
        self._inner = inner
        self._noted = noted
        self._under_way = under_way

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send it."""
        if request.method not in WRITES or any(each in request.path for each in BESIDE):
            async with self._inner.open(request) as response:
                yield response
            return
        self._noted.append(f"{request.method} {request.path}")
        self._under_way.append(request)
        try:
            async with self._inner.open(request) as response:
                yield response
        finally:
            self._under_way.remove(request)


class Operator:
    """An operator while it runs: what it has observed, counted and written."""

    def __init__(self, config: ClusterConfig, namespace: str) -> None:
        self._config = config
        self._namespace = namespace
        self.seen = RecordingObserver()
        self.registry = new_registry()
        self.writes: list[str] = []
        self._under_way: list[Request] = []
        self.stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def _reach(self) -> AsyncIterator[Transport]:
        async with open_transport(self._config, clock=SystemClock(), observe=ignore) as transport:
            yield Listening(transport, self.writes, self._under_way)

    async def run(self, manager: Manager, settings: ManagerSettings) -> None:
        """Operate until stopped."""
        clock = FastClock()
        environment = ManagerEnvironment(
            connect=self._reach,
            namespace=self._namespace,
            hostname="here",
            clock=clock,
            rng=Random(0),
            observe=fan_out(self.seen, MetricsObserver(self.registry, clock=clock)),
            registry=self.registry,
        )
        await manager.operate(environment, settings=settings, stop=self.stop)

    def of(self, kind: type[T]) -> list[T]:
        """The observations of one kind."""
        return self.seen.of(kind)

    def counted(self, metric: str, /, **labels: str) -> float:
        """The value of a metric."""
        return self.registry.get_sample_value(metric, labels) or 0.0

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait for observations until the condition is true."""
        try:
            async with SystemClock().timeout(WITHIN_SECONDS):
                while not is_so():
                    await self.seen.more()
        except TimeoutError:
            last = self.of(ReconcileFinished)[-3:]
            raise AssertionError(
                f"the condition was not met; the last reconciles were {last}"
            ) from None

    async def looked(self, name: str, outcome: str = "done", *, after: int = 0) -> None:
        """Wait until an object of this name was reconciled with this outcome."""
        await self.until(
            lambda: any(
                each.ref.name == name and each.outcome == outcome
                for each in self.of(ReconcileFinished)[after:]
            )
        )

    @property
    def looks(self) -> int:
        """The number of finished reconciles."""
        return len(self.of(ReconcileFinished))

    async def wait_until_quiet(self) -> None:
        """Wait until no reconcile finished for a while and no write is in progress."""
        clock = SystemClock()
        async with clock.timeout(WITHIN_SECONDS):
            while True:
                before = self.looks
                await clock.sleep(QUIET_SECONDS)
                if before == self.looks > 0 and not self._under_way:
                    return


@asynccontextmanager
async def operating(
    cluster: ControlPlane,
    namespace: str,
    *controllers: Controller[Any],
    token: str | None = None,
    **settings: Any,
) -> AsyncIterator[Operator]:
    """An operator that runs in this namespace during the block and stops gracefully after it."""
    config = find_config(
        environ={}, home=cluster.directory, kubeconfig=cluster.kubeconfig, observe=ignore
    )
    if token is not None:
        config = replace(config, login=Token(token=token))
    operator = Operator(config, namespace)
    chosen: dict[str, Any] = {**ALONE, "namespaces": (namespace,), **settings}
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.run(Manager(controllers=controllers), ManagerSettings(**chosen)))
        try:
            yield operator
        finally:
            operator.stop.set_result("test")


async def becomes(
    client: Client, kind: type[Obj], name: str, is_so: Callable[[Obj], bool], *, namespace: str
) -> Obj:
    """The object, once it exists and meets the condition."""
    return await wait_for(
        client, kind, name, is_so, namespace=namespace, within_seconds=WITHIN_SECONDS
    )


async def event_about(client: Client, namespace: str, name: str, reason: str) -> events_v1.Event:
    """The event with this reason about the object of this name, once it exists."""
    clock = SystemClock()
    reasons: set[str | None] = set()
    try:
        async with clock.timeout(WITHIN_SECONDS):
            while True:
                for each in (await client.list(events_v1.Event, namespace=namespace)).items:
                    if each.regarding is not None and each.regarding.name == name:
                        reasons.add(each.reason)
                        if each.reason == reason:
                            return each
                await clock.sleep(POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"no event says {reason}; they say {reasons}") from None
