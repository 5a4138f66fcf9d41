"""``SimulatedCluster``: an API server, its controllers, and operators on one loop."""

import asyncio
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from itertools import chain, count
from math import inf
from random import Random
from typing import Any, Final, TypeVar

import msgspec

from steersman.client import Client
from steersman.controller import Controller, ThreadPolicy, token_text
from steersman.errors import WaitTimeout
from steersman.kinds import Codec, core_v1
from steersman.manager import HealthCheck, Manager, ManagerEnvironment, ManagerSettings, Runnable
from steersman.names import GroupResource
from steersman.observe import Observation
from steersman.watch import ReflectorSettings
from steersman.wire import Transport
from steersman_cluster.apiserver import (
    ApiServer,
    InProcessTransport,
    NoWebhookTransport,
    RevisionLog,
)
from steersman_cluster.kubelet import has_pending_changes, simulated_kubelet
from steersman_cluster.simulation.actors import Actor
from steersman_cluster.simulation.clock import VirtualClock
from steersman_cluster.simulation.cluster import DEFAULT_SETTINGS, Cluster, Operator
from steersman_cluster.simulation.factory import Factory, factory_of
from steersman_cluster.simulation.history import History, RecordedRequest
from steersman_cluster.simulation.lazy_start import TRIGGERS, start_on_first_write
from steersman_cluster.simulation.loop import VirtualLoop
from steersman_cluster.simulation.nested_loop import run_nested
from steersman_cluster.simulation.pending_work import PendingWork
from steersman_cluster.simulation.scenarios.faults import SingleFault
from steersman_cluster.simulation.transport import FaultInjector, NoFaults, SimulatedTransport
from steersman_cluster.workloads import SINGLE_REPLICA_SETTINGS, WorkloadSettings, workloads

T = TypeVar("T")

# The longest latency of a request.
LATENCY_SECONDS: Final = 0.002

# Longer than anything takes that was not delayed on purpose.
QUIET_SECONDS: Final = 1.0

# ``settle`` waits for requeues after at most this long; later ones run when time is advanced.
MAX_REQUEUE_SECONDS: Final = 60.0

# An hour of backoff and the retry, twice.
LIMIT_SECONDS: Final = 3 * 3600.0

# An operator that has written one object this often will not stop.
MAX_WRITES: Final = 400

NAMESPACE: Final = "default"
KUBELET: Final = "kubelet"
WORKLOADS: Final = "workloads"

# No fault is injected between the cluster's own controllers and its server: one watch of each kind
# lasts, and need not be checked for silence.
CONTROLLER_REFLECTOR: Final = ReflectorSettings(
    initial="streamed", watch_seconds=7 * 86400.0, silence_seconds=inf
)

# The same for operators, which list first, as everywhere. Reopening the watches of all operators
# every few minutes, and a bookmark a minute for each, would be most of the cost of an hour;
# ``survives_cut_watches`` reopens each watch at every event.
OPERATOR_REFLECTOR: Final = ReflectorSettings(watch_seconds=7 * 86400.0, silence_seconds=inf)

# Periodic checks of an operator run less often by this factor. They never find anything, since
# nothing in virtual time is late, and each costs more than all else in a quiet hour.
IDLE_CHECK_SECONDS: Final = 3600.0

_PODS: Final = GroupResource("", "pods")


# Fewer bytes are not a secret, and may occur anywhere.
MIN_TOKEN_LENGTH: Final = 8


class RecordedRandom(Random):
    """A random generator that records the results of ``randbytes``, to recognize tokens later."""

    drawn: list[bytes]

    def randbytes(self, n: int) -> bytes:
        """Return ``n`` random bytes, and record them."""
        drawn = super().randbytes(n)
        self.drawn.append(drawn)
        return drawn


class SimulatedOperator(Operator):
    """An operator on the loop."""

    def __init__(
        self, cluster: "SimulatedCluster", actor: Actor, again: Callable[[], Any], *, part: str
    ) -> None:
        self.name = actor.name
        # The cluster's own controllers share a name, and each has its own pending work.
        self.pending_key = f"{actor.name}/{part}" if part else actor.name
        self.actor = actor
        self.again = again
        self.transports: list[SimulatedTransport] = []
        self._cluster = cluster
        self._stop: asyncio.Future[str] = cluster.loop.create_future()
        self._died: asyncio.Future[None] = cluster.loop.create_future()
        self.task: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<SimulatedOperator {self.name}{', dead' if self.actor.is_dead else ''}>"

    def start(self, operation: Callable[[Awaitable[str]], Any]) -> None:
        """Start the operator."""
        self.task = self._cluster.loop.create_task(
            operation(self._stop), name=self.name, context=self.actor.context()
        )

    async def stop(self) -> None:
        """Stop the operator as the signal SIGTERM does, and wait until the operator has ended.

        Raise the error that ended the operator, if there is one.
        """
        if not self._stop.done():
            self._stop.set_result("SIGTERM")
        await self.ended()
        # Only after its end: its last observations must not stay pending.
        self._cluster.remove(self)
        self.check()

    async def ended(self) -> None:
        """Wait until the operator has ended, or was killed while ending."""
        if self.task is not None:
            await asyncio.wait([self.task, self._died], return_when=asyncio.FIRST_COMPLETED)

    async def kill(self) -> None:
        """Kill the operator like SIGKILL: none of its ``finally`` blocks runs."""
        self.kill_now()

    def kill_now(self) -> None:
        """Kill the operator as ``kill`` does; even a task of the operator itself can call this."""
        if self.actor.is_dead:
            return
        self.cut()
        self._cluster.loop.kill(self.actor)
        self._died.set_result(None)
        self._cluster.remove(self)
        self._cluster.dead.append(self)

    def cut(self) -> None:
        """Disconnect the operator from the API server: from now on, all its requests fail."""
        for transport in self.transports:
            transport.is_cut = True

    def check(self) -> None:
        """Raise the error that ended the operator, if there is one."""
        if self.task is not None and self.task.done():
            self.task.result()


class SimulatedCluster(Cluster):
    """A complete cluster in one process, in virtual time.

    With the same ``seed``, a test always has the same course.
    """

    def __init__(
        self,
        *,
        loop: VirtualLoop,
        seed: int,
        rng: Random,
        log: RevisionLog,
        latency_seconds: float,
        fault_injector: FaultInjector,
    ) -> None:
        self.loop = loop
        self.seed = seed
        self.rng = rng
        self.history = History()
        self.fault_injector = fault_injector
        self.operators: list[SimulatedOperator] = []
        self._drawn: list[bytes] = []
        self.dead: list[SimulatedOperator] = []
        self._latency_seconds = latency_seconds
        self._codec = Codec()
        self._clock = clock = VirtualClock(loop)
        self.pending = PendingWork(clock=clock)
        self.server = ApiServer(
            log=log,
            tokens={},
            clock=clock,
            rng=Random(self.rng.random()),
            observe=self._observer("apiserver"),
            outbound=NoWebhookTransport(),
            has_initial_objects=True,
        )
        self._bookmark_seconds = self.server.store.bookmark_seconds
        self.server.store.bookmark_seconds = inf
        self._users = Actor("user")
        self.user_transport = self._transport(self._users, NoFaults())
        super().__init__(
            Client(
                self.user_transport,
                clock=clock,
                rng=Random(self.rng.random()),
                observe=self._observer("user"),
            ),
            namespace=NAMESPACE,
        )

    def __repr__(self) -> str:
        return f"<SimulatedCluster of seed {self.seed} at {self.clock.monotonic():g} s>"

    # Operators

    async def run_operator(
        self,
        *operator: Controller[Any] | Factory,
        name: str = "operator",
        runnables: Sequence[Runnable] = (),
        settings: ManagerSettings | None = None,
    ) -> SimulatedOperator:
        """Start an operator, which runs until it is stopped or killed, or the test ends."""
        build = factory_of(operator, runnables)
        settings = settings or ManagerSettings(**SINGLE_REPLICA_SETTINGS)
        return self.operate(build, self._unused(name), settings, self.fault_injector)

    def operate(
        self,
        build: Callable[[], Manager],
        name: str,
        settings: ManagerSettings,
        fault_injector: FaultInjector,
        reflector: ReflectorSettings | None = None,
        *,
        part: str = "",
    ) -> SimulatedOperator:
        """Start an operator that ``build`` builds, with the given name, settings and faults.

        ``part`` distinguishes operators with the same name. Without ``reflector``, an operator with
        the default reflector settings gets those of the simulation, unless a custom fault injector
        is used.
        """
        actor = Actor(name)
        built = build()
        if reflector is None:
            is_default = built.informers.reflector == ReflectorSettings()
            if is_default and (
                type(fault_injector) is NoFaults or isinstance(fault_injector, SingleFault)
            ):
                reflector = OPERATOR_REFLECTOR
            else:  # bookmarks show whether its watches are silent
                self.server.store.bookmark_seconds = self._bookmark_seconds

        def again() -> SimulatedOperator:
            return self.operate(build, name, settings, fault_injector, reflector, part=part)

        operator = SimulatedOperator(self, actor, again, part=part)

        manager = _slowed(built, reflector)

        def connect() -> AbstractAsyncContextManager[Transport]:
            transport = self._transport(actor, fault_injector)
            operator.transports.append(transport)
            return nullcontext(transport)

        rng = RecordedRandom(self.rng.random())
        rng.drawn = self._drawn
        environment = ManagerEnvironment(
            connect=connect,
            namespace=NAMESPACE,
            hostname=name,
            clock=self.clock,
            rng=rng,
            observe=self._observer(operator.pending_key),
            # In a fixed order, so that equal seeds give equal runs.
            thread_policy=ThreadPolicy.HANDOVER,
            loop_check_seconds=IDLE_CHECK_SECONDS,
            stall_seconds=inf,
            server_probe=False,
        )
        operator.start(lambda stop: manager.operate(environment, settings=settings, stop=stop))
        self.operators.append(operator)
        return operator

    def remove(self, operator: SimulatedOperator) -> None:
        """Remove ``operator``, which has ended, and drop its pending work."""
        if operator in self.operators:
            self.operators.remove(operator)
            self.pending.forget(operator.pending_key)

    async def restart_operators(self) -> None:
        """Stop and start each operator, so that it reconciles every object again."""
        for operator in [each for each in self.operators if each.name != WORKLOADS]:
            await operator.stop()
            operator.again()

    # Time

    async def settle(
        self,
        *,
        quiet_seconds: float = QUIET_SECONDS,
        max_requeue_seconds: float = MAX_REQUEUE_SECONDS,
        limit_seconds: float = LIMIT_SECONDS,
    ) -> None:
        """Wait until the operators and the cluster's own controllers have nothing left to do.

        That is: nothing has been written for ``quiet_seconds``, no retry is due, every requeue with
        a delay of at most ``max_requeue_seconds`` is done, and no Pod is about to change. Raise an
        error if this takes more than ``limit_seconds``.
        """
        clock = self.clock
        began_at, mark = clock.monotonic(), self.history_position()
        while True:
            for operator in self.operators:
                operator.check()
            now_at = clock.monotonic()
            changed_at = self._changed_at(began_at)
            due_at = self.pending.due_until(changed_at + max_requeue_seconds) or changed_at
            until_at = max(changed_at, due_at) + quiet_seconds
            if now_at >= until_at:
                until_at = max([until_at, *(at + quiet_seconds for at in self._pods_due())])
            failing = self.pending.failing()
            if now_at >= until_at and not failing:
                return
            hot = self._hot_since(mark)
            if hot or now_at - began_at >= limit_seconds:
                raise WaitTimeout(
                    waited_for="the operator to settle",
                    waited_seconds=now_at - began_at,
                    last_seen="; ".join([*hot, *map(str, failing)]) or "writes continue",
                )
            await clock.sleep(max(until_at - now_at, quiet_seconds))

    async def advance(self, seconds: float) -> None:
        """Advance the time by exactly ``seconds``, and run all work that becomes due meanwhile."""
        await self.clock.sleep(seconds)

    def _hot_since(self, position: int) -> list[str]:
        """Return the requests that operators have repeated endlessly since ``position``."""
        often = Counter(
            (each.actor, each.method, each.target.partition("?")[0])
            for each in self.writes_since(position)
        )
        return [
            f"{actor} has sent {method} {path} {number} times"
            for (actor, method, path), number in often.most_common(3)
            if number >= MAX_WRITES
        ]

    def _changed_at(self, not_before: float) -> float:
        for each in reversed(self.history.requests):
            if each.at <= not_before:
                break
            if each.is_change and each.is_write:
                return each.at
        return not_before

    def _pods_due(self) -> Iterator[float]:
        """Yield the time of the next change of each Pod, however far ahead."""
        for ref, due_at in self.pending.due_to(WORKLOADS, KUBELET):
            pod = self.server.store.find(_PODS, ref.namespace or "", ref.name)
            if pod is None:
                continue
            said = self._codec.decode(core_v1.Pod, self._codec.encode(pod), wanted=str(ref))
            if has_pending_changes(said):
                yield due_at

    # Writes of operators

    def history_position(self) -> int:
        """Return the current length of the history, as the argument of ``writes_since``."""
        return len(self.history)

    def writes_since(self, position: int) -> list[RecordedRequest]:
        """Return the requests by which operators changed objects since ``position``, oldest first.

        ``position`` is an earlier result of ``history_position``. Requests for events, leases and
        reviews are left out.
        """
        return [
            each
            for each in self.history.writes(since=position)
            if each.actor not in (WORKLOADS, self._users.name)
        ]

    def tokens(self) -> dict[str, int]:
        """Return the number of each token that operators have drawn, by the token's encodings."""
        return {
            written: number
            for number, drawn in enumerate(self._drawn)
            if len(drawn) >= MIN_TOKEN_LENGTH
            for written in _written(drawn)
        }

    # Inside

    async def end(self) -> None:
        """Stop all operators, and release the tasks of the operators that were killed."""
        # Cancelling an operator's main task takes half as long as cancelling each of its tasks.
        alive = [*self.operators]
        for operator in alive:
            operator.cut()
            if operator.task is not None:
                operator.task.cancel()
        for operator in alive:
            await operator.ended()
        left = {each.actor for each in self.loop.tasks()}
        for operator in [*self.operators]:
            if operator.actor in left:
                operator.kill_now()
        for operator in self.dead:
            await self.loop.release(operator.actor)

    def _unused(self, name: str) -> str:
        """Return ``name``, with a number appended if a running operator has that name."""
        taken = {each.name for each in self.operators}
        numbered = (f"{name}-{number}" for number in count(2))
        return next(each for each in chain((name,), numbered) if each not in taken)

    def _transport(self, actor: Actor, fault_injector: FaultInjector) -> SimulatedTransport:
        return SimulatedTransport(
            InProcessTransport(self.server),
            actor=actor,
            fault_injector=fault_injector,
            revision=lambda: self.server.store.log.revision,
            history=self.history,
            # The cluster's own controllers have little latency: the seed decides when the others'
            # requests arrive.
            latency_seconds=0.0 if actor.name == WORKLOADS else self._latency_seconds,
            clock=self._clock,
            rng=self.rng,
        )

    def _observer(self, actor: str) -> Callable[[Observation], None]:
        return partial(self.pending.note, actor)


def _slowed(manager: Manager, reflector: ReflectorSettings | None) -> Manager:
    """Return the manager with ``reflector``, if given, and with less frequent periodic checks."""

    def slowed(checks: Iterable[HealthCheck]) -> list[HealthCheck] | None:
        return [
            msgspec.structs.replace(each, every_seconds=each.every_seconds * IDLE_CHECK_SECONDS)
            for each in checks
        ] or None

    own, options = manager.informers, manager.options
    return manager.with_options(
        informers=msgspec.structs.replace(
            own,
            reflector=reflector or own.reflector,
            check_seconds=own.check_seconds * IDLE_CHECK_SECONDS,
        ),
        healthz=slowed(options.healthz),
        readyz=slowed(options.readyz),
    )


def _written(drawn: bytes) -> Iterator[str]:
    for text in (token_text(drawn), drawn.hex()):
        yield text
        yield b64encode(text.encode()).decode()
    yield b64encode(drawn).decode()


@asynccontextmanager
async def running_simulated_cluster(
    *,
    seed: int = 0,
    settings: WorkloadSettings = DEFAULT_SETTINGS,
    latency_seconds: float = LATENCY_SECONDS,
    fault_injector: FaultInjector | None = None,
) -> AsyncIterator[SimulatedCluster]:
    """Open a settled cluster on the running virtual loop; end it when the block ends."""
    cluster = SimulatedCluster(
        loop=_running_loop(),
        seed=seed,
        rng=Random(f"seed {seed}"),
        log=_settled(settings).fork(),
        latency_seconds=latency_seconds,
        fault_injector=fault_injector or NoFaults(),
    )
    _start_controllers(
        cluster, settings, idle=[each for each in settings.parts if each in TRIGGERS]
    )
    try:
        yield cluster
    finally:
        await cluster.end()


def simulate(
    main: Callable[[SimulatedCluster], Awaitable[T]],
    *,
    seed: int = 0,
    settings: WorkloadSettings = DEFAULT_SETTINGS,
) -> T:
    """Run ``main`` with a simulated cluster on a new virtual loop, and return its result."""

    async def run() -> T:
        async with running_simulated_cluster(seed=seed, settings=settings) as cluster:
            return await main(cluster)

    return run_nested(run())


# The common contents of all clusters are written once: the server's initial objects, and the
# accounts, nodes and so on of the cluster's own controllers. That takes longer than most tests.


@cache
def _settled(settings: WorkloadSettings) -> RevisionLog:
    """Return the revision log of a cluster in which nothing is left to do."""
    log = _filled().fork()

    async def settle() -> None:
        # Not from a test's seed: its uids must not occur again.
        cluster = SimulatedCluster(
            loop=_running_loop(),
            seed=0,
            rng=Random("before any seed"),
            log=log,
            latency_seconds=0.0,
            fault_injector=NoFaults(),
        )
        _start_controllers(cluster, settings)
        await cluster.settle()
        await cluster.end()

    if settings.parts:
        run_nested(settle())
    return log


@cache
def _filled() -> RevisionLog:
    """Return the revision log of a server before the first request."""
    log = RevisionLog()
    ApiServer(
        log=log,
        tokens={},
        clock=VirtualClock(VirtualLoop()),
        rng=Random(0),
        observe=lambda _: None,
        outbound=NoWebhookTransport(),
    )
    return log


def _start_controllers(
    cluster: SimulatedCluster, settings: WorkloadSettings, *, idle: Sequence[str] = ()
) -> None:
    settings = replace(settings, on_first_write=cluster.server.on_first_write)

    def operate(settings: WorkloadSettings, part: str = "") -> None:
        parts = workloads(settings, kubelet=simulated_kubelet)
        manager_settings = ManagerSettings(**SINGLE_REPLICA_SETTINGS)
        cluster.operate(
            parts.manager, WORKLOADS, manager_settings, NoFaults(), CONTROLLER_REFLECTOR, part=part
        )

    def start(part: str) -> None:
        # A start creates only what was there before: if it is gone, it was deleted on purpose.
        operate(replace(settings, parts=(part,), storage_class=False), part)

    if started := tuple(each for each in settings.parts if each not in idle):
        operate(replace(settings, parts=started))
    start_on_first_write(idle, cluster.server, start)


def _running_loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        raise TypeError("a simulated cluster needs a VirtualLoop; run it with `simulate`")
    return loop
