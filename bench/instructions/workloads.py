"""The workloads: the measured work, and the requests of other clients during it.

Each is small enough to run under valgrind in seconds, and counts after a warm-up.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from bench.instructions.servers import TOKEN, URL
from bench.instructions.virtual_loop import VirtualClock
from steersman.client import Client, ClusterConfig, Token, connect, open_transport
from steersman.observe import MetricsObserver, Observer, fan_out, ignore, log_to, new_registry

if TYPE_CHECKING:
    # An API server, which only the recording needs.
    from bench.instructions.cluster_users import ClusterUsers

CONFIG = ClusterConfig(server=URL, source="the workload", login=Token(token=TOKEN))

LISTED = 1000
EVENTS = 500
REQUESTS = 200
APPS = 60
WATCHERS = 20
WATCHED = 50

# The number of uncounted operations before the counted ones, and the time to wait for their end.
WARM_UP = 10
QUIET_SECONDS = 5.0


class Mark(Protocol):
    """Marks the start of ``of`` operations called ``name``; without a name, their end."""

    def __call__(self, name: str = "", of: int = 1) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The measured work, and what other clients do before and during it in the recording.

    ``before`` ends before the work starts, and ``meanwhile`` runs beside it, by the clock.
    """

    play: Callable[[VirtualClock, Mark], Coroutine[Any, Any, None]]
    before: Callable[["ClusterUsers"], Coroutine[Any, Any, None]] | None = None
    meanwhile: Callable[["ClusterUsers"], Coroutine[Any, Any, None]] | None = None


# The sync of an informer from one list.


async def sync(clock: VirtualClock, mark: Mark) -> None:
    """Sync an informer of AppServices with a handler."""
    from bench.peers.clients.steersman_client import AppService
    from steersman.cache import Informer, Scope, handler_funcs

    async def follow(client: Client, namespace: str) -> int:
        seen: list[str] = []
        scope = Scope(namespaces=(namespace,))
        informer = Informer(client, AppService, observe=ignore, scope=scope)
        registration = informer.add_handler(handler_funcs(added=lambda app: seen.append(app.name)))
        async with informer.running():
            await registration.synced()
        return len(seen)

    async with connected(clock, ignore) as client:
        _expect(await follow(client, "warm"), WARM_UP)
        mark("synced object", of=LISTED)
        _expect(await follow(client, "default"), LISTED)
        mark()


async def before_sync(users: "ClusterUsers") -> None:
    """Create the counted AppServices, and a few in another namespace for the warm-up."""
    await users.serve_apps()
    await users.create_namespace("warm")
    for number in range(WARM_UP):
        await users.create_app(number, namespace="warm")
    for number in range(LISTED):
        await users.create_app(number)


# Events of a watch, through the informer to a handler.


async def follow_events(clock: VirtualClock, mark: Mark) -> None:
    """Receive each change in a handler."""
    from bench.peers.clients.steersman_client import AppService
    from steersman.cache import Informer, handler_funcs

    seen: list[int | None] = []
    async with connected(clock, ignore) as client:
        informer = Informer(client, AppService, observe=ignore)
        informer.add_handler(handler_funcs(updated=lambda _, app: seen.append(app.generation)))
        async with informer.running():
            await clock.sleep(_measured_at() - clock.monotonic())
            _expect(len(seen), WARM_UP)
            mark("watched event", of=EVENTS)
            await clock.sleep(QUIET_SECONDS)
            mark()
            _expect(len(seen), WARM_UP + EVENTS)


async def before_events(users: "ClusterUsers") -> None:
    """Create the AppServices that change."""
    await users.serve_apps()
    for number in range(WARM_UP):
        await users.create_app(number)


async def change_apps(users: "ClusterUsers") -> None:
    """Make the changes of the warm-up, and then the counted ones."""
    for number in range(WARM_UP + EVENTS):
        start_at = _warm_at() if number < WARM_UP else _measured_at()
        await users.until(start_at + 0.5 + 0.004 * number)
        await users.change_app(number % WARM_UP, size=number + 2)


# An operator, from an AppService to Deployment, Service and status.


async def reconcile_apps(clock: VirtualClock, mark: Mark) -> None:
    """Run an operator that reconciles new AppServices, and one that finds them up to date."""
    async with running_operator(clock):
        await clock.sleep(_measured_at() - clock.monotonic())
        mark("reconciled AppService", of=APPS)
        await clock.sleep(QUIET_SECONDS)
        mark()
    mark("settled AppService", of=WARM_UP + APPS)
    async with running_operator(clock):
        await clock.sleep(QUIET_SECONDS)
        mark()


@asynccontextmanager
async def running_operator(clock: VirtualClock) -> AsyncIterator[None]:
    """Run the example's controller with ten workers, logs and metrics, as in its container."""
    from opdemo.appservice import controller

    from steersman.manager import Manager, ManagerEnvironment, ManagerSettings

    stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    registry = new_registry()
    with Path(os.devnull).open("w") as log:  # noqa: ASYNC230 - /dev/null does not block
        observe = fan_out(log_to(log, clock=clock), MetricsObserver(registry, clock=clock))
        environment = ManagerEnvironment(
            connect=lambda: open_transport(CONFIG, clock=clock, observe=observe),
            namespace="default",
            hostname="workload",
            clock=clock,
            rng=Random(0),
            observe=observe,
            registry=registry,
        )
        settings = ManagerSettings(leader_election=False, health_address="", metrics_address="")
        manager = Manager(controllers=[replace(controller, workers=10)])
        async with asyncio.TaskGroup() as group:
            group.create_task(manager.operate(environment, settings=settings, stop=stop))
            yield
            stop.set_result("end of the workload")


async def before_reconcile(users: "ClusterUsers") -> None:
    """Install the kind."""
    await users.serve_apps()


async def create_apps(users: "ClusterUsers") -> None:
    """Create the AppServices, and roll out their Deployments in three steps."""
    async with asyncio.TaskGroup() as group:
        for number in range(WARM_UP + APPS):
            start_at = _warm_at() if number < WARM_UP else _measured_at()
            created_at = start_at + 0.5 + 0.005 * number
            group.create_task(_create_and_roll_out(users, number, created_at))
    await users.until(_measured_at() + QUIET_SECONDS)
    await users.check_apps_are_ready(WARM_UP + APPS)


async def _create_and_roll_out(users: "ClusterUsers", number: int, created_at: float) -> None:
    await users.until(created_at)
    await users.create_app(number)
    for step in range(3):
        await users.until(created_at + 0.1 * (step + 1))
        await users.move_deployment(number, step)


# Single requests.


async def request(clock: VirtualClock, mark: Mark) -> None:
    """Get a ConfigMap, and apply another one."""
    from bench.peers.clients.steersman_client import get_motto
    from steersman.kinds import core_v1, meta_v1

    async def get(_: int) -> None:
        await get_motto(client)

    async def apply(number: int) -> None:
        await client.apply(
            core_v1.ConfigMap(
                metadata=meta_v1.ObjectMeta(name="applied", namespace="default"),
                data={"number": str(number)},
            ),
            field_manager="workload",
        )

    work: Mapping[str, Callable[[int], Awaitable[None]]] = {"get": get, "apply": apply}
    async with connected(clock, ignore) as client:
        for name, ask in work.items():
            for number in range(WARM_UP):
                await ask(number)
            mark(name, of=REQUESTS)
            for number in range(REQUESTS):
                await ask(WARM_UP + number)
            mark()


async def before_requests(users: "ClusterUsers") -> None:
    """Create the ConfigMap that the workload gets."""
    await users.create_config_map()


# The embedded API server itself.


async def serve(clock: VirtualClock, mark: Mark) -> None:
    """Handle creates, gets, a list, and changes with many watchers."""
    from bench.instructions.cluster_users import ClusterUsers

    users = ClusterUsers(clock)
    await users.serve_apps()
    await users.create_config_map()
    for number in range(WARM_UP):
        await users.create_app(number)
        await users.get_app(number)
    mark("served create", of=REQUESTS)
    for number in range(WARM_UP, WARM_UP + REQUESTS):
        await users.create_app(number)
    mark("served get", of=REQUESTS)
    for number in range(WARM_UP, WARM_UP + REQUESTS):
        await users.get_app(number)
    mark("served object of a list", of=WARM_UP + REQUESTS)
    await users.list_apps()
    mark()
    async with asyncio.TaskGroup() as group:
        seen = [group.create_task(users.watch_apps(changes=WATCHED)) for _ in range(WATCHERS)]
        await clock.sleep(1.0)
        mark("served event", of=WATCHED * WATCHERS)
        for number in range(WATCHED):
            await users.change_app(number % WARM_UP, size=number + 2)
            await clock.sleep(0.01)
        mark()
    for each in seen:
        _expect(each.result(), WATCHED)


def connected(clock: VirtualClock, observe: Observer) -> AbstractAsyncContextManager[Client]:
    """A client of the simulated server."""
    return connect(CONFIG, clock=clock, rng=Random(0), observe=observe)


def _warm_at() -> float:
    return QUIET_SECONDS


def _measured_at() -> float:
    return 2 * QUIET_SECONDS


def _expect(seen: int, count: int) -> None:
    if seen != count:
        raise AssertionError(f"expected {count}, got {seen}")


WORKLOADS: Mapping[str, Workload] = {
    "sync": Workload(play=sync, before=before_sync),
    "events": Workload(play=follow_events, before=before_events, meanwhile=change_apps),
    "reconcile": Workload(play=reconcile_apps, before=before_reconcile, meanwhile=create_apps),
    "requests": Workload(play=request, before=before_requests),
    "serve": Workload(play=serve),
}
