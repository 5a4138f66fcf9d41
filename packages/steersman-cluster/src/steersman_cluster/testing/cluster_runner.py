"""A runner of a test and its cluster on one event loop, and the report of a failed test."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

from steersman_cluster.simulation import (
    Cluster,
    SimulatedCluster,
    VirtualLoop,
    deferred_collection,
    last_writes,
    running_simulated_cluster,
)
from steersman_cluster.workloads import WorkloadSettings

T = TypeVar("T")


class ClusterRunner:
    """An event loop and a cluster that runs on it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, cluster: Cluster) -> None:
        self.cluster = cluster
        self._loop = loop

    def run(self, what: Awaitable[T]) -> T:
        """Run the awaitable ``what`` on the event loop until it is done, and return its result."""

        # In a coroutine of its own, because not every awaitable can become a task.
        async def wait() -> T:
            return await what

        return self._loop.run_until_complete(wait())

    def steps(self, test: str) -> tuple[str, str]:
        """Return a heading and the last writes on the cluster, for the report of a failed test.

        ``test`` is the node id of the test, which the replay command of a simulated cluster
        contains.
        """
        cluster = self.cluster
        lines = last_writes(cluster.history, home=cluster.namespace)
        if not isinstance(cluster, SimulatedCluster):
            return "what was written on the cluster", "\n".join(lines)
        replay = f"replay: pytest '{test}' --steersman-seed={cluster.seed}"
        heading = f"what was written on the cluster, with seed {cluster.seed}"
        return heading, "\n".join((*lines, "", replay))


@contextmanager
def simulated_runner(*, seed: int, settings: WorkloadSettings) -> Iterator[ClusterRunner]:
    """Open a runner with a simulated cluster, on an event loop in virtual time."""
    cluster = running_simulated_cluster(seed=seed, settings=settings)
    with deferred_collection(), running_cluster(VirtualLoop(), cluster) as runner:
        yield runner


@contextmanager
def running_cluster(
    loop: asyncio.AbstractEventLoop, opened: AbstractAsyncContextManager[Cluster]
) -> Iterator[ClusterRunner]:
    """Run the cluster ``opened`` on ``loop`` while the block runs, and then close the loop."""
    try:
        keeper = _Keeper(opened)
        cluster = loop.run_until_complete(keeper.begin())
        try:
            yield ClusterRunner(loop, cluster)
        finally:
            loop.run_until_complete(keeper.end())
            loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


class _Keeper:
    """Enters and exits a cluster in the same task, as task groups require."""

    def __init__(self, opened: AbstractAsyncContextManager[Cluster]) -> None:
        self._opened = opened
        self._task: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    async def begin(self) -> Cluster:
        """Enter the cluster, and return it."""
        loop = asyncio.get_running_loop()
        begun: asyncio.Future[Cluster] = loop.create_future()
        self._task = loop.create_task(self._keep(begun), name="cluster")
        waiting: list[asyncio.Future[Any]] = [begun, self._task]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            begun.cancel()
            await self._task
        return begun.result()

    async def end(self) -> None:
        """Exit the cluster."""
        self._ended.set()
        if self._task is not None:
            await self._task

    async def _keep(self, begun: "asyncio.Future[Cluster]") -> None:
        async with self._opened as cluster:
            begun.set_result(cluster)
            await self._ended.wait()
