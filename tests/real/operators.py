"""Operators in the test process, as the admin or as a user with a token."""

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
UNCOUNTED_PATHS = ("/leases", "/events", "reviews")

# Features that these tests do not need.
DISABLED_FEATURES: dict[str, Any] = {
    "leader_election": False,
    "health_address": "",
    "metrics_address": "",
    "preflight": "off",
}

# Shorter than the timeout of a test.
WITHIN_SECONDS = 20.0
# An idle operator starts no reconcile after this time.
QUIET_SECONDS = 0.5
POLL_SECONDS = 0.05


class RecordingTransport:
    """Sends requests, and records the writes and those that are in progress."""

    def __init__(self, inner: Transport, writes: list[str], in_progress: list[Request]) -> None:
        self._inner = inner
        self._writes = writes
        self._in_progress = in_progress

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send the request."""
        if request.method not in WRITES or any(each in request.path for each in UNCOUNTED_PATHS):
            async with self._inner.open(request) as response:
                yield response
            return
        self._writes.append(f"{request.method} {request.path}")
        self._in_progress.append(request)
        try:
            async with self._inner.open(request) as response:
                yield response
        finally:
            self._in_progress.remove(request)


class Operator:
    """A running operator: its observations, metrics and writes."""

    def __init__(self, config: ClusterConfig, namespace: str) -> None:
        self._config = config
        self._namespace = namespace
        self.seen = RecordingObserver()
        self.registry = new_registry()
        self.writes: list[str] = []
        self._in_progress: list[Request] = []
        self.stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Transport]:
        async with open_transport(self._config, clock=SystemClock(), observe=ignore) as transport:
            yield RecordingTransport(transport, self.writes, self._in_progress)

    async def run(self, manager: Manager, settings: ManagerSettings) -> None:
        """Run until ``stop`` is set."""
        clock = FastClock()
        environment = ManagerEnvironment(
            connect=self._connect,
            namespace=self._namespace,
            hostname="localhost",
            clock=clock,
            rng=Random(0),
            observe=fan_out(self.seen, MetricsObserver(self.registry, clock=clock)),
            registry=self.registry,
        )
        await manager.operate(environment, settings=settings, stop=self.stop)

    def of(self, kind: type[T]) -> list[T]:
        """The observations of one kind."""
        return self.seen.of(kind)

    def metric_value(self, metric: str, /, **labels: str) -> float:
        """The value of a metric."""
        return self.registry.get_sample_value(metric, labels) or 0.0

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for observations until the condition is true."""
        try:
            async with SystemClock().timeout(WITHIN_SECONDS):
                while not condition():
                    await self.seen.more()
        except TimeoutError:
            last = self.of(ReconcileFinished)[-3:]
            raise AssertionError(
                f"the condition was not met; the last reconciles were {last}"
            ) from None

    async def wait_for_reconcile(self, name: str, outcome: str = "done", *, after: int = 0) -> None:
        """Wait until an object with this name is reconciled with this outcome."""
        await self.until(
            lambda: any(
                each.ref.name == name and each.outcome == outcome
                for each in self.of(ReconcileFinished)[after:]
            )
        )

    @property
    def reconcile_count(self) -> int:
        """The number of finished reconciles."""
        return len(self.of(ReconcileFinished))

    async def wait_until_quiet(self) -> None:
        """Wait until no reconcile finished for a while and no write is in progress."""
        clock = SystemClock()
        async with clock.timeout(WITHIN_SECONDS):
            while True:
                before = self.reconcile_count
                await clock.sleep(QUIET_SECONDS)
                if before == self.reconcile_count > 0 and not self._in_progress:
                    return


@asynccontextmanager
async def running_operator(
    cluster: ControlPlane,
    namespace: str,
    *controllers: Controller[Any],
    token: str | None = None,
    **settings: Any,
) -> AsyncIterator[Operator]:
    """An operator that runs in this namespace during the block, and then stops gracefully."""
    config = find_config(
        environ={}, home=cluster.directory, kubeconfig=cluster.kubeconfig, observe=ignore
    )
    if token is not None:
        config = replace(config, login=Token(token=token))
    operator = Operator(config, namespace)
    chosen: dict[str, Any] = {**DISABLED_FEATURES, "namespaces": (namespace,), **settings}
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.run(Manager(controllers=controllers), ManagerSettings(**chosen)))
        try:
            yield operator
        finally:
            operator.stop.set_result("test")


async def wait_for_object(
    client: Client, kind: type[Obj], name: str, condition: Callable[[Obj], bool], *, namespace: str
) -> Obj:
    """Wait until the object exists and meets the condition."""
    return await wait_for(
        client, kind, name, condition, namespace=namespace, within_seconds=WITHIN_SECONDS
    )


async def wait_for_event(client: Client, namespace: str, name: str, reason: str) -> events_v1.Event:
    """Wait for an event with this reason about the object with this name."""
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
        raise AssertionError(
            f"no event has the reason {reason}; the reasons are {reasons}"
        ) from None
