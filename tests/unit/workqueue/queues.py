"""Work queues for tests, and functions that run them."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from random import Random
from typing import TypeVar

from steersman.clock import Clock
from steersman.errors import QueueClosed
from steersman.observe import Observer, ignore
from steersman.workqueue import RateLimiter, WorkQueue, default_limiter
from tests.clocks import FakeClock

K = TypeVar("K", bound=Hashable)


def new_queue(
    *,
    clock: Clock | None = None,
    observe: Observer = ignore,
    limiter: RateLimiter[str] | None = None,
) -> WorkQueue[str]:
    """An empty queue, with its own clock unless one is given."""
    clock = clock or FakeClock()
    limiter = limiter or default_limiter(clock=clock, rng=Random(0))
    return WorkQueue("apps", limiter=limiter, clock=clock, observe=observe)


async def settle() -> None:
    """Run all tasks until each of them waits."""
    for _ in range(12):
        await asyncio.sleep(0)  # noqa: TID251 - turns of the loop, not time


async def everything_in(queue: WorkQueue[K]) -> list[K]:
    """The keys that a worker gets until it would have to wait."""
    taken: list[K] = []
    while queue.num_waiting:
        async with queue.take() as key:
            taken.append(key)
    return taken


class Workers:
    """Workers that record their keys, and hold each until it is released."""

    def __init__(self, queue: WorkQueue[str], group: asyncio.TaskGroup) -> None:
        self._queue = queue
        self._group = group
        self.taken: list[str] = []
        self.held: list[str] = []
        self.ended = 0
        self._release: dict[str, asyncio.Event] = {}

    def start_worker(self, *, holds: bool = False) -> asyncio.Task[None]:
        return self._group.create_task(self._work(holds))

    def release(self, key: str) -> None:
        self._release.pop(key).set()

    async def _work(self, holds: bool) -> None:
        try:
            while True:
                async with self._queue.take() as key:
                    self.taken.append(key)
                    if holds:
                        released = self._release[key] = asyncio.Event()
                        self.held.append(key)
                        try:
                            await released.wait()
                        finally:
                            self.held.remove(key)
        except QueueClosed:
            self.ended += 1


@asynccontextmanager
async def working(queue: WorkQueue[str]) -> AsyncIterator[Workers]:
    async with asyncio.TaskGroup() as group:
        yield Workers(queue, group)
        queue.shut_down()
