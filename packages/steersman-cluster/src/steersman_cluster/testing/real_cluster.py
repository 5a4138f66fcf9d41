"""``RealCluster``: a control plane in other processes, with operators in this process.

Steersman's workload controllers and simulated nodes run in this process too. ``RealCluster`` has
the methods of ``SimulatedCluster``, with the same meaning as far as real time permits: ``settle``
waits until nothing has changed for a while, and ``advance`` raises an error.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from random import Random
from typing import Any, Final

from steersman.client import Client, find_config, open_transport
from steersman.clock import Clock
from steersman.controller import Controller
from steersman.errors import SteersmanError, WaitTimeout
from steersman.kinds import core_v1
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings, Runnable
from steersman.observe import (
    ControllerStarted,
    Observation,
    Observer,
    StageReached,
    fan_out,
    ignore,
)
from steersman.wire import Transport
from steersman_cluster.errors import TimeCannotBeSkipped
from steersman_cluster.kubelet import simulated_kubelet
from steersman_cluster.simulation import (
    Cluster,
    Factory,
    History,
    Operator,
    PendingWork,
    RecordedRequest,
    factory_of,
)
from steersman_cluster.testing.control_plane.control_plane import ControlPlane
from steersman_cluster.testing.recording_transport import RecordingTransport
from steersman_cluster.workloads import SINGLE_REPLICA_SETTINGS, WorkloadSettings, running_workloads

# Longer than one step of a controller takes to cause the next, on a busy machine.
QUIET_SECONDS: Final = 1.5
POLL_SECONDS: Final = 0.1

# ``settle`` waits for requeues after at most this long.
MAX_REQUEUE_SECONDS: Final = 10.0
SETTLED_WITHIN_SECONDS: Final = 60.0

USER: Final = "user"
RUNNING: Final = "running"  # the last stage of a manager's start
WORKLOADS: Final = "workloads"

Starting = Callable[[], "RealOperator"]


class RealOperator(Operator):
    """An operator that runs in this process, on a cluster in other processes."""

    def __init__(self, name: str, again: Starting, controllers: Sequence[Controller[Any]]) -> None:
        self.name = name
        self.again = again
        self.transports: list[RecordingTransport] = []
        self._is_acting = False
        # Controllers that have not started: their kinds may be served a moment later.
        self._starting = {each.name for each in controllers}
        self.stopping: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None
        self._error: SteersmanError | None = None

    def __repr__(self) -> str:
        return f"<RealOperator {self.name}>"

    @property
    def is_started(self) -> bool:
        """Whether all controllers of the operator have started."""
        return self._is_acting and not self._starting

    def observe(self, observation: Observation) -> None:
        """Update ``is_started`` from ``observation``, which the operator has reported."""
        if isinstance(observation, StageReached) and observation.stage == RUNNING:
            self._is_acting = True
        elif isinstance(observation, ControllerStarted):
            self._starting.discard(observation.controller)

    async def run(self, operation: Awaitable[None], *, over: Callable[[str], None]) -> None:
        """Run the operator by awaiting ``operation``, and then call ``over`` with its name.

        A ``SteersmanError`` that ends the operator is stored, and ``is_over`` raises it.
        """
        try:
            await operation
        except SteersmanError as error:
            self._error = error
        finally:
            over(self.name)

    async def stop(self) -> None:
        """Stop the operator as the signal SIGTERM does, and wait until the operator has ended."""
        if not self.stopping.done():
            self.stopping.set_result("SIGTERM")
        if self.task is not None:
            await asyncio.wait([self.task])

    async def kill(self) -> None:
        """Kill the operator: its ``finally`` blocks run, but all their requests fail."""
        for recording in self.transports:
            recording.is_cut = True
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])

    @property
    def is_over(self) -> bool:
        """Whether the operator has ended; if an error ended it, raise this error."""
        if self._error is not None:
            raise self._error
        return self.task is not None and self.task.done()


class RealCluster(Cluster):
    """A cluster in real time."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        connect: Callable[[], AbstractAsyncContextManager[Transport]],
        history: History,
        group: asyncio.TaskGroup,
        rng: Random,
    ) -> None:
        super().__init__(client, namespace=namespace)
        self.history = history
        self.pending = PendingWork(clock=client.clock)
        self._connect = connect
        self._group = group
        self._rng = rng
        self._operators: list[RealOperator] = []

    def __repr__(self) -> str:
        return f"<RealCluster in namespace {self.namespace}>"

    # Operators

    async def run_operator(
        self,
        *operator: Controller[Any] | Factory,
        name: str = "operator",
        runnables: Sequence[Runnable] = (),
        settings: ManagerSettings | None = None,
    ) -> RealOperator:
        """Start an operator, which runs until it is stopped or killed, or the test ends."""
        build = factory_of(operator, runnables)
        given = settings or ManagerSettings(**SINGLE_REPLICA_SETTINGS, namespaces=(self.namespace,))
        return self._operate(build, name, given)

    def _operate(
        self, build: Callable[[], Manager], name: str, settings: ManagerSettings
    ) -> RealOperator:
        manager = build()
        again = partial(self._operate, build, name, settings)
        operator = RealOperator(name, again, manager.controllers)

        @asynccontextmanager
        async def connect() -> AsyncIterator[Transport]:
            async with self._connect() as transport:
                recording = RecordingTransport(
                    transport, actor=name, history=self.history, clock=self.clock
                )
                operator.transports.append(recording)
                yield recording

        environment = ManagerEnvironment(
            connect=connect,
            namespace=self.namespace,
            hostname=name,
            clock=self.clock,
            rng=Random(self._rng.random()),
            observe=fan_out(self.observer(name), operator.observe),
        )
        # An error that ends one operator is raised by the next ``settle``, and must not end the
        # others.
        operator.task = self._group.create_task(
            operator.run(
                manager.operate(environment, settings=settings, stop=operator.stopping),
                # Its pending work ends with it.
                over=self.pending.forget,
            ),
            name=name,
        )
        self._operators.append(operator)
        return operator

    async def restart_operators(self) -> None:
        """Stop and start each operator, so that it reconciles every object again."""
        for operator in self._alive():
            await operator.stop()
            operator.again()

    async def end(self) -> None:
        """Stop all operators."""
        for operator in self._operators:
            await operator.kill()

    def observer(self, actor: str) -> Observer:
        """Return an observer that records the pending work of the operator ``actor``."""

        def observe(observation: Observation) -> None:
            self.pending.note(actor, observation)

        return observe

    # Time

    async def settle(self) -> None:
        """Wait until nothing has changed for a while, and no retry or requeue is due soon.

        Raise ``WaitTimeout`` if this takes too long.
        """
        clock = self.clock
        began_at = changed_at = clock.monotonic()
        revision = await self._revision()
        while True:
            self._check()
            now_at = clock.monotonic()
            until_at = changed_at + QUIET_SECONDS
            due_at = self.pending.due_until(changed_at + MAX_REQUEUE_SECONDS)
            if due_at is not None:
                until_at = max(until_at, due_at + QUIET_SECONDS)
            # A kind that has just been installed cannot be watched for a second or two.
            unwatched = [f"{each} has not started yet" for each in self._starting()]
            unwatched += self.pending.unwatched()
            if unwatched:
                changed_at = now_at
            failing = [str(each) for each in self.pending.failing()] + unwatched
            if now_at >= until_at and not failing:
                return
            if now_at - began_at >= SETTLED_WITHIN_SECONDS:
                raise WaitTimeout(
                    waited_for="the cluster to settle",
                    waited_seconds=now_at - began_at,
                    last_seen="; ".join(failing) or f"revision {revision}",
                )
            await clock.sleep(POLL_SECONDS)
            latest = await self._revision()
            if latest != revision:
                revision, changed_at = latest, clock.monotonic()

    async def advance(self, seconds: float) -> None:
        """Raise ``TimeCannotBeSkipped``, because a real cluster runs in real time."""
        raise TimeCannotBeSkipped(wanted=f"advance time by {seconds:g} s")

    async def _revision(self) -> str:
        # A list without a version has the latest revision of the whole store, whatever it lists.
        home = self.namespace
        return (await self.client.list(core_v1.ConfigMap, namespace=home)).resource_version

    # Writes of operators

    def history_position(self) -> int:
        """Return the current length of the history, as the argument of ``writes_since``."""
        return len(self.history)

    def writes_since(self, position: int) -> list[RecordedRequest]:
        """Return the requests by which operators changed objects since ``position``, oldest first.

        ``position`` is an earlier result of ``history_position``. Requests for events, leases and
        reviews are left out.
        """
        written = self.history.writes(since=position)
        return [each for each in written if each.actor not in (USER, WORKLOADS)]

    def _check(self) -> None:
        self._operators = self._alive()

    def _starting(self) -> list[str]:
        return [each.name for each in self._operators if not each.is_started]

    def _alive(self) -> list[RealOperator]:
        return [each for each in self._operators if not each.is_over]


@asynccontextmanager
async def running_real_cluster(
    plane: ControlPlane, *, namespace: str, settings: WorkloadSettings, clock: Clock
) -> AsyncIterator[RealCluster]:
    """Run a ``RealCluster`` on the control plane ``plane`` while the block runs.

    ``settings`` selects the controllers and nodes of steersman's workloads. ``namespace`` is the
    test's namespace.
    """
    config = find_config(
        environ={}, home=plane.directory, kubeconfig=plane.kubeconfig, observe=ignore
    )
    rng, history = Random(), History()
    connect = partial(open_transport, config, clock=clock, observe=ignore)
    async with asyncio.TaskGroup() as group, connect() as transport:
        recording = RecordingTransport(transport, actor=USER, history=history, clock=clock)
        cluster = RealCluster(
            Client(recording, clock=clock, rng=rng, observe=ignore),
            namespace=namespace,
            connect=connect,
            history=history,
            group=group,
            rng=rng,
        )
        is_started = asyncio.Event()

        def observe(observation: Observation) -> None:
            cluster.pending.note(WORKLOADS, observation)
            if isinstance(observation, StageReached) and observation.stage == RUNNING:
                is_started.set()

        async with running_workloads(
            settings,
            kubelet=simulated_kubelet,
            connect=connect,
            clock=clock,
            rng=rng,
            observe=observe,
        ):
            try:
                await is_started.wait()
                yield cluster
            finally:
                await cluster.end()
