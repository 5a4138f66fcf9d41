"""``ManagerRun``: starts an operator in this order, and stops it in reverse.

    probes ──▶ permissions ──▶ lifespan ──▶ caches ──▶ leadership ──▶ workers
    probes ◀────────────────── lifespan ◀── caches ◀── release ◀───── workers, within the grace

Each controller has caches of its own kinds. A controller whose kinds cannot be listed starts later,
and delays neither the other controllers nor leader election.

A replica that does not lead keeps its caches synced. A replica that has lost its lease stops its
workers immediately, and becomes a candidate again.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from steersman.cache import Caches, InformerSettings, background_tasks
from steersman.client import Client, ClientSettings, RetryPolicy
from steersman.controller import (
    Controller,
    ControlLoop,
    IsLeader,
    RbacRule,
    SyncedController,
    ThreadPool,
    run_while_leader,
    synced_controller,
    wait_until_leader,
)
from steersman.errors import (
    AUTHOR_ERRORS,
    ManagerFailed,
    NotLeading,
    SteersmanError,
    failure_of,
)
from steersman.manager.endpoints.health_checks import HealthChecks
from steersman.manager.endpoints.listener import serving
from steersman.manager.endpoints.operator_checks import cache_checks, live_checks, server_checks
from steersman.manager.endpoints.probes import Check, Routes, failing, named_objects, probe_pages
from steersman.manager.leader_election.election import LeaseSettings, unique_identity
from steersman.manager.leader_election.fence import Fence, FencedTransport
from steersman.manager.lifespan import entered
from steersman.manager.options import ManagerOptions, register
from steersman.manager.permissions import lease_name, needed_rules
from steersman.manager.preflight import missing_permissions
from steersman.manager.runnables import ManagerEnvironment, Runnable, Services
from steersman.manager.server_probe import ServerProbe
from steersman.manager.settings.manager_settings import ManagerSettings
from steersman.manager.stall_watch import Stall, StallWatch
from steersman.manager.startup import Startup
from steersman.names import ObjectRef
from steersman.observe import (
    LivenessChanged,
    LoopBlocked,
    Observation,
    ReadinessChanged,
    RunnableFailed,
    StageReached,
    StopOverdue,
    StopRequested,
    fan_out,
)

if TYPE_CHECKING:
    from steersman.manager.leader_election.leadership import Leadership

# The interval at which missing permissions are checked again.
PREFLIGHT_SECONDS = 5.0

# A later check of the event loop is observed. No reconcile should compute for this long without a
# pause, and losing the lease takes longer.
LATE_SECONDS = 0.5

# The wait of a runnable without leadership before it checks again.
LOST_LEAD_SECONDS = 1.0


class ManagerRun:
    """One run of an operator."""

    def __init__(
        self,
        controllers: Sequence[Controller[Any]],
        runnables: Sequence[Runnable],
        *,
        settings: ManagerSettings,
        informers: InformerSettings,
        options: ManagerOptions,
        environment: ManagerEnvironment,
    ) -> None:
        self._controllers = controllers
        self._runnables = runnables
        self._settings = settings
        self._informers = informers
        self._options = options
        self._environment = environment
        self._clock = environment.clock
        # Observers are called in the middle of other code, and must not raise there.
        self._observe = fan_out(environment.observe)
        self._identity = unique_identity(environment.hostname, rng=environment.rng)
        self._fence = Fence(environment.clock)
        # Without an election, no other replica can lead.
        self._leads = self._fence.leads if settings.leader_election else None
        self._started_at = environment.clock.monotonic()
        self._is_permitted = False
        self._missing: tuple[RbacRule, ...] | None = None
        self._caches: Caches | None = None
        self._startup: Startup | None = None
        self._stopping = asyncio.Event()
        self._loops: list[ControlLoop[Any]] = []
        self._is_acting = False
        self._checked_at = self._started_at
        self._healthz, self._readyz = (
            HealthChecks(checks, clock=self._clock) for checks in (options.healthz, options.readyz)
        )
        self._workers: list[asyncio.Task[None]] = []
        self._candidacy: Leadership | None = None
        self._server: ServerProbe | None = None

    async def run(self, stop: Awaitable[str]) -> None:
        """Run the operator until ``stop`` returns a reason; then stop within the grace period."""
        try:
            async with asyncio.TaskGroup() as group:
                work = group.create_task(self._live(), name="operation")
                end = group.create_task(self._end(work, stop), name="end of the operation")
                work.add_done_callback(lambda _: end.cancel())
        except BaseExceptionGroup as failed:
            raise _single_error(failed) from None

    # Shutdown

    async def _end(self, work: asyncio.Task[None], stop: Awaitable[str]) -> None:
        why = await stop
        grace_seconds = self._settings.grace_seconds
        self._observe(StopRequested(signal=why, grace_seconds=grace_seconds))
        self._stopping.set()
        if not self._is_acting:
            work.cancel()
            return
        for loop in self._loops:
            loop.stop()
        try:
            async with self._clock.timeout(grace_seconds):
                await asyncio.wait([work])
        except TimeoutError:
            self._observe(StopOverdue(what="work in hand", seconds=grace_seconds))
            work.cancel()

    # Run

    async def _live(self) -> None:
        environment = self._environment
        async with environment.connect() as transport, environment.connect() as apart:
            # With two connections to the server, controllers cannot delay the renewal of the lease.
            fenced = FencedTransport(transport, self._fence, observe=self._observe)
            # Each client has its own retries, so that no other requests use up those of the lease.
            # Permissions are checked on the connections that the caches use afterwards.
            client = self._client(fenced, self._options.client)
            asking, reviewing, leasing = map(self._client, (transport, apart, apart))
            managers = frozenset(each.field_manager for each in self._controllers)
            self._caches = caches = Caches(
                client,
                observe=self._observe,
                settings=replace(
                    self._informers,
                    kept_managers=self._informers.kept_managers | managers,
                ),
                options=self._options.caches,
            )
            services = Services(
                client=client,
                caches=caches,
                clock=self._clock,
                rng=environment.rng,
                observe=self._observe,
                leads=self._leads,
            )
            async with self._served(reviewing), background_tasks() as start:
                start(self._check_loop(), name="checks of the operator")
                if environment.server_probe and self._informers.reflector.silence_seconds != inf:
                    self._server = self._server_probe(asking, (client, reviewing, leasing), caches)
                    start(self._server.run(), name="server probe")
                await self._run_preflight(asking)
                async with caches.running(), self._entered(services) as services:
                    await self._run_replica(client, caches, services, leasing)

    @asynccontextmanager
    async def _entered(self, services: Services) -> AsyncIterator[Services]:
        """Yield the services with the lifespan's value, and run the health checks that use them."""
        lifespan, grace_seconds = self._options.lifespan, self._settings.grace_seconds
        async with entered(lifespan, services, grace_seconds=grace_seconds) as services:
            async with background_tasks() as start:
                for checks in (self._healthz, self._readyz):
                    checks.begin(services, start)
                try:
                    yield services
                finally:
                    for checks in (self._healthz, self._readyz):
                        checks.end()

    async def _run_replica(
        self, client: Client, caches: Caches, services: Services, leasing: Client
    ) -> None:
        """Start the caches, and run the controllers whenever this replica leads."""
        self._startup = startup = self._new_startup(client, caches, services)
        async with startup.running(), background_tasks() as start:
            await startup.settled()
            for runnable in self._runnables:
                if not runnable.needs_leadership:
                    start(self._run(runnable, services), name=runnable.name)
            if not any(each.needs_leadership for each in self._runnables):
                # Leadership has no use before a controller can start.
                await startup.more(min(len(self._controllers), 1) - 1)
            self._candidacy = leadership = self._leadership(leasing)
            while not self._stopping.is_set():
                async with self._leading(leadership) as lost:
                    self._reached("leading")
                    await self._act(startup, services, lost)

    async def _act(
        self,
        startup: Startup,
        services: Services,
        lost: Callable[[], Awaitable[None]],
    ) -> None:
        """Run controllers and runnables until the operator stops or leadership is lost."""
        async with background_tasks() as start:
            led = [
                start(self._run(each, services), name=each.name)
                for each in self._runnables
                if each.needs_leadership
            ]
            ready = startup.ready
            self._loops = [each.loop() for each in ready]
            self._is_acting = True
            try:
                work = start(self._work(startup, ready), name="workers")
                start(_cancel_after(lost, work, *led), name="watch on the lead")
                self._reached("running")
                await asyncio.wait([work])
            finally:
                self._is_acting = False
                self._loops = []
                self._workers = []

    async def _work(self, startup: Startup, ready: Sequence[SyncedController[Any]]) -> None:
        async with asyncio.TaskGroup() as group:
            self._workers = [group.create_task(loop.run(), name=repr(loop)) for loop in self._loops]
            if startup.is_complete and len(ready) == len(self._controllers):
                await self._stopping.wait()
                return
            late = group.create_task(self._start_late(startup, ready, group), name="late starts")
            await self._stopping.wait()
            late.cancel()

    async def _start_late(
        self, startup: Startup, ready: Sequence[SyncedController[Any]], group: asyncio.TaskGroup
    ) -> None:
        """Start each remaining controller when its caches have synced."""
        started = list(ready)
        while len(started) < len(self._controllers):
            await startup.more(len(started))
            if self._stopping.is_set():
                return  # the running control loops were stopped; a new one would not be
            for each in startup.ready:
                if each not in started:
                    started.append(each)
                    loop = each.loop()
                    self._loops.append(loop)
                    self._workers.append(group.create_task(loop.run(), name=repr(loop)))

    async def _run(self, runnable: Runnable, services: Services) -> None:
        try:
            if runnable.needs_leadership and self._leads is not None:
                await self._run_leading(runnable, services, self._leads)
            else:
                await runnable.run(services)
        except AUTHOR_ERRORS as raised:
            if isinstance(raised, NotLeading) and runnable.needs_leadership:
                return  # the leader runs it
            error = failure_of(raised)
            self._observe(RunnableFailed(runnable=runnable.name, error=error))
            raise ManagerFailed(
                problem=f"the runnable {runnable.name} raised {type(error).__name__}: {error}",
                what_now="Handle this exception in the runnable; the manager cannot.",
            ) from error

    async def _run_leading(self, runnable: Runnable, services: Services, leads: IsLeader) -> None:
        while True:
            work = _awaiting(runnable.run(services))
            try:
                return await run_while_leader(work, leads, wanted=runnable.name)
            except NotLeading:
                # If leadership is lost, this task is cancelled soon. If the lease was renewed at
                # the last moment, the term continues, and so must the runnable.
                await self._clock.sleep(LOST_LEAD_SECONDS)
                await wait_until_leader(leads, self._clock)

    # Before the start

    def _client(self, transport: Any, settings: ClientSettings | None = None) -> Client:
        agent = self._settings.user_agent
        return Client(
            transport,
            clock=self._clock,
            rng=self._environment.rng,
            observe=self._observe,
            settings=replace(settings or ClientSettings(), user_agent=agent) if agent else settings,
        )

    async def _run_preflight(self, client: Client) -> None:
        """Report the missing permissions.

        With ``preflight="wait"``, also wait until all permissions that are not optional are
        granted.
        """
        settings = self._settings
        # A failed check is repeated soon, and is logged once, not for each attempt.
        client = client.with_settings(retry=RetryPolicy(attempts=1))
        if settings.preflight != "off":
            rules = needed_rules(
                self._controllers,
                settings=settings,
                namespace=self._environment.namespace,
                runnables=self._runnables,
                caches=self._options.caches,
            )
            while not await self._has(client, rules) and settings.preflight == "wait":
                await self._clock.sleep(PREFLIGHT_SECONDS)
        self._is_permitted = True
        self._reached("permissions checked")

    async def _has(self, client: Client, rules: Sequence[RbacRule]) -> bool:
        observed: list[Observation] = []
        try:
            missing = await missing_permissions(client, rules, observe=observed.append)
        except SteersmanError:
            return False  # the server does not respond, which the client has reported
        if missing != self._missing:
            self._missing = missing
            for each in observed:
                self._observe(each)
        return not any(rule.is_needed for rule in missing)

    def _server_probe(
        self, client: Client, beside: Sequence[Client], caches: Caches
    ) -> ServerProbe:
        settings = self._settings
        return ServerProbe(
            client,
            beside=beside,
            caches=caches,
            server=self._environment.server,
            probe_seconds=settings.server_probe_seconds,
            timeout_seconds=settings.server_timeout_seconds,
            clock=self._clock,
            observe=self._observe,
        )

    def _new_startup(self, client: Client, caches: Caches, services: Services) -> Startup:
        settings = self._settings
        threads = ThreadPool(
            settings.max_threads,
            policy=self._environment.thread_policy,
            observe=self._observe,
        )
        return Startup(
            self._controllers,
            prepare=partial(
                synced_controller,
                client=client,
                caches=caches,
                namespaces=settings.namespaces,
                threads=threads,
                instance=self._identity,
                observe=self._observe,
                leads=self._leads,
                lifespan=services.lifespan_value,
                options=self._options.caches,
            ),
            filled=partial(self._reached, "caches filled"),
            sync_seconds=settings.cache_sync_seconds,
            clock=self._clock,
            observe=self._observe,
        )

    # Leadership

    @property
    def _lease(self) -> LeaseSettings:
        settings = self._settings
        return LeaseSettings(
            namespace=settings.lease_namespace or self._environment.namespace,
            name=settings.lease_name or lease_name(self._controllers),
            identity=self._identity,
            lease_seconds=settings.lease_seconds,
            renew_seconds=settings.renew_seconds,
            retry_seconds=settings.retry_seconds,
        )

    def _leadership(self, client: Client) -> "Leadership | None":
        if not self._settings.leader_election:
            return None
        # Imported here: it imports a kind, and not every operator elects a leader.
        from steersman.manager.leader_election.leadership import Leadership

        return Leadership(
            client,
            settings=self._lease,
            fence=self._fence,
            clock=self._clock,
            rng=self._environment.rng,
            observe=self._observe,
        )

    @asynccontextmanager
    async def _leading(
        self, leadership: "Leadership | None"
    ) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        if leadership is None:
            self._fence.extend_to(inf)
            try:
                yield _never
            finally:
                self._fence.close()
        else:
            async with leadership.term() as term:
                yield term.wait_until_lost

    # Endpoints and checks

    @asynccontextmanager
    async def _served(self, client: Client) -> AsyncIterator[None]:
        settings, observe = self._settings, self._observe
        async with AsyncExitStack() as stack:
            if settings.health is not None:
                pages = probe_pages(live=self._live_checks, ready=self._checks)
                await stack.enter_async_context(
                    serving(
                        Routes(pages, observe=observe),
                        settings.health,
                        tls=None,
                        what="probes",
                        observe=observe,
                    )
                )
            if settings.metrics is not None and self._environment.registry is not None:
                for collector in self._options.metrics:
                    register(self._environment.registry, collector)
                    stack.callback(self._environment.registry.unregister, collector)
                # Imported here: not every operator has metrics.
                from steersman.manager.endpoints.metrics_access import metrics_endpoint

                door = metrics_endpoint(
                    self._environment.registry,
                    settings,
                    client=client,
                    clock=self._clock,
                    observe=observe,
                )
                await stack.enter_async_context(
                    serving(
                        door.handler,
                        settings.metrics,
                        tls=door.tls,
                        what="metrics",
                        observe=observe,
                    )
                )
            yield

    def _checks(self) -> Sequence[Check]:
        def ready_if(is_ready: bool, reason: str) -> Callable[[], str | None]:
            return lambda: None if is_ready else reason

        informers = self._caches.informers if self._caches is not None else ()
        return (
            Check("running", ready_if(not self._stopping.is_set(), "the operator is stopping")),
            Check("permissions", ready_if(self._is_permitted, "some permissions are missing")),
            *server_checks(self._server),
            *cache_checks(self._startup, informers),
            *self._readyz.checks(before="the check has not run yet"),
            *map(_hanging_objects, self._loops),
        )

    def _live_checks(self) -> Sequence[Check]:
        is_stopping = self._stopping.is_set()
        own = live_checks(
            loop_idle_seconds=self._clock.monotonic() - self._checked_at,
            loop_check_seconds=self._environment.loop_check_seconds,
            informers=self._caches.informers if self._caches is not None else (),
            # While stopping, cancelled tasks end within the grace period.
            workers=() if is_stopping else self._workers,
            leadership=None if is_stopping else self._candidacy,
            lease_seconds=self._settings.lease_seconds,
        )
        # A starting operator counts as alive.
        return (*own, *self._healthz.checks(before=None))

    async def _check_loop(self) -> None:
        """Report a blocked event loop, and changes of readiness and liveness."""
        is_ready, is_alive = False, True
        check_seconds = self._environment.loop_check_seconds
        with self._stall_watch() as stalls:
            while True:
                why_not = failing(self._checks())
                # A stopping operator is not ready, and its probes report that immediately.
                if is_ready is bool(why_not) and not self._stopping.is_set():
                    is_ready = not why_not
                    self._observe(ReadinessChanged(is_ready=is_ready, failing=why_not))
                self._checked_at = slept_at = self._clock.monotonic()
                why_not = failing(self._live_checks())
                if is_alive is bool(why_not):
                    is_alive = not why_not
                    self._observe(LivenessChanged(is_alive=is_alive, failing=why_not))
                if stalls is not None:
                    stalls.expect(slept_at + check_seconds)
                await self._clock.sleep(check_seconds)
                late_seconds = self._clock.monotonic() - slept_at - check_seconds
                if late_seconds > LATE_SECONDS:
                    self._observe(_blocked(late_seconds, stalls.found if stalls else None))

    def _stall_watch(self) -> AbstractContextManager[StallWatch | None]:
        stall_seconds = self._environment.stall_seconds
        if stall_seconds == inf:
            return nullcontext()
        return StallWatch(after_seconds=stall_seconds, about=self._about, clock=self._clock)

    def _about(self, task: asyncio.Task[Any]) -> tuple[str, ObjectRef] | None:
        for loop in self._loops:
            ref = loop.object_of_task(task)
            if ref is not None:
                return loop.name, ref
        return None

    def _reached(self, stage: str) -> None:
        took_seconds = self._clock.monotonic() - self._started_at
        self._observe(StageReached(stage=stage, took_seconds=took_seconds))


async def _cancel_after(lost: Callable[[], Awaitable[None]], *work: asyncio.Task[None]) -> None:
    await lost()
    for each in work:
        each.cancel()


def _hanging_objects(loop: ControlLoop[Any]) -> Check:
    """Return a check that never fails and whose detail names the hanging objects."""
    return Check(
        f"objects-of-{loop.name}",
        lambda: None,
        detail=lambda: named_objects("slow or hanging", loop.stuck),
    )


def _blocked(late_seconds: float, stall: Stall | None) -> LoopBlocked:
    if stall is None:
        return LoopBlocked(seconds=late_seconds)
    return LoopBlocked(
        seconds=late_seconds, controller=stall.controller, ref=stall.ref, stack=stall.stack
    )


async def _awaiting(work: Awaitable[None]) -> None:
    await work


async def _never() -> None:
    await asyncio.get_running_loop().create_future()


def _single_error(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error in ``failed`` if it contains only one, also in nested groups.

    Of several errors that all say what to do, return the first one. Otherwise return ``failed``.
    """
    inner = failed.exceptions[0]
    if len(failed.exceptions) > 1 and failed.split(SteersmanError)[1] is not None:
        return failed
    return _single_error(inner) if isinstance(inner, BaseExceptionGroup) else inner
