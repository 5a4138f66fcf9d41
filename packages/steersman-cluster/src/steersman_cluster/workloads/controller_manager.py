"""The controllers and runnables of all parts of a cluster, in one manager."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from random import Random
from types import ModuleType
from typing import Any, Final, TypeAlias

from steersman.cache import background_tasks
from steersman.clock import Clock
from steersman.controller import Controller
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings, Runnable
from steersman.observe import ApiWarned, Observation, Observer
from steersman.wire import Transport
from steersman_cluster.workloads.settings import WorkloadSettings

# The settings of a manager that is the only replica in its cluster: no lease, no probes, no
# metrics, and no check of permissions.
SINGLE_REPLICA_SETTINGS: Final[Mapping[str, Any]] = {
    "leader_election": False,
    "health_address": "",
    "metrics_address": "",
    "preflight": "off",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workloads:
    """The controllers and runnables of a simulated control plane, which one manager runs."""

    controllers: tuple[Controller[Any], ...]
    runnables: tuple[Runnable, ...]

    def manager(self, settings: ManagerSettings | None = None) -> Manager:
        """Return a manager that runs these controllers and runnables."""
        return Manager(controllers=self.controllers, runnables=self.runnables, settings=settings)


#: Returns what runs the Pods of the cluster's nodes.
Kubelet: TypeAlias = Callable[[WorkloadSettings], Workloads]


def workloads(settings: WorkloadSettings, *, kubelet: Kubelet | None = None) -> Workloads:
    """Return the controllers and runnables of the parts in ``settings.parts``.

    ``kubelet`` returns the controllers and runnables of the simulated kubelet. It is called only if
    the part ``nodes`` is selected. If ``kubelet`` is ``None``, no node is registered and no Pod
    runs.
    """
    controllers: list[Controller[Any]] = []
    runnables: list[Runnable] = []
    for part in settings.parts:
        if part == "nodes" and kubelet is not None:
            nodes = kubelet(settings)
            controllers += nodes.controllers
            runnables += nodes.runnables
        package = import_module(_package(part))
        controllers += _made(package, "controllers", settings)
        runnables += _made(package, "runnables", settings)
    return Workloads(controllers=tuple(controllers), runnables=tuple(runnables))


@asynccontextmanager
async def running_workloads(
    settings: WorkloadSettings,
    *,
    kubelet: Kubelet | None,
    connect: Callable[[], AbstractAsyncContextManager[Transport]],
    clock: Clock,
    rng: Random,
    observe: Observer,
) -> AsyncIterator[None]:
    """Run the controllers of the parts in ``settings.parts`` during an ``async with`` block.

    ``connect`` opens the transport to the API server. The controllers take the time from ``clock``,
    and random numbers from ``rng``. ``observe`` receives their observations, except API warnings.
    """
    environment = ManagerEnvironment(
        connect=connect,
        namespace="kube-system",
        hostname="workloads",
        clock=clock,
        rng=rng,
        observe=partial(_without_warnings, observe),
    )

    async def operate() -> None:
        for part in settings.parts:
            import_module(_package(part))
            # Importing them all takes a while, and other tasks of this loop need to run, too.
            await clock.sleep(0)
        manager = workloads(settings, kubelet=kubelet).manager()
        await manager.operate(
            environment, settings=ManagerSettings(**SINGLE_REPLICA_SETTINGS), stop=_never()
        )

    async with background_tasks() as start:
        start(operate(), name="workloads")
        yield


def _without_warnings(observe: Observer, observation: Observation) -> None:
    # These controllers maintain deprecated kinds on purpose, Endpoints among them.
    if not isinstance(observation, ApiWarned):
        observe(observation)


async def _never() -> str:
    for_ever: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    return await for_ever


def _package(part: str) -> str:
    return f"steersman_cluster.workloads.{part}"


def _made(package: ModuleType, what: str, settings: WorkloadSettings) -> tuple[Any, ...]:
    make = getattr(package, what, None)
    return () if make is None else make(settings)
