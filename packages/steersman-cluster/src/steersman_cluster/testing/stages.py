"""Where a test with a cluster plays: a loop, the cluster on it, and the story for when it fails."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

from steersman_cluster.simulation import (
    SimulatedWorld,
    VirtualLoop,
    World,
    one_generation,
    simulated_world,
    story_of,
)
from steersman_cluster.workloads import WorkloadSettings

T = TypeVar("T")


class Stage:
    """A loop, and a world on it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, world: World) -> None:
        self.world = world
        self._loop = loop

    def run(self, what: Awaitable[T]) -> T:
        """What comes of it."""

        # In a coroutine of ours, because not everything that can be awaited makes a task.
        async def wait() -> T:
            return await what

        return self._loop.run_until_complete(wait())

    def story(self, test: str) -> tuple[str, str]:
        """A heading and what has happened here, for the report of a failure."""
        world = self.world
        lines = story_of(world.history, home=world.namespace)
        if not isinstance(world, SimulatedWorld):
            return "what was written on the cluster", "\n".join(lines)
        replay = f"replay: pytest '{test}' --steersman-seed={world.seed}"
        heading = f"what was written on the cluster, with seed {world.seed}"
        return heading, "\n".join((*lines, "", replay))


@contextmanager
def embedded_stage(*, seed: int, settings: WorkloadSettings) -> Iterator[Stage]:
    """A simulated cluster on a loop whose time is a number."""
    world = simulated_world(seed=seed, settings=settings)
    with one_generation(), staged(VirtualLoop(), world) as stage:
        yield stage


@contextmanager
def staged(
    loop: asyncio.AbstractEventLoop, opened: AbstractAsyncContextManager[World]
) -> Iterator[Stage]:
    """A world on a loop, while the block runs; the loop is closed at its end."""
    try:
        keeper = _Keeper(opened)
        world = loop.run_until_complete(keeper.begin())
        try:
            yield Stage(loop, world)
        finally:
            loop.run_until_complete(keeper.end())
            loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


class _Keeper:
    """Enters and leaves a world in one and the same task, as groups of tasks want it."""

    def __init__(self, opened: AbstractAsyncContextManager[World]) -> None:
        self._opened = opened
        self._task: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    async def begin(self) -> World:
        """The world, once it is there."""
        loop = asyncio.get_running_loop()
        begun: asyncio.Future[World] = loop.create_future()
        self._task = loop.create_task(self._keep(begun), name="cluster")
        waiting: list[asyncio.Future[Any]] = [begun, self._task]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            begun.cancel()
            await self._task
        return begun.result()

    async def end(self) -> None:
        """Leave it."""
        self._ended.set()
        if self._task is not None:
            await self._task

    async def _keep(self, begun: "asyncio.Future[World]") -> None:
        async with self._opened as world:
            begun.set_result(world)
            await self._ended.wait()
