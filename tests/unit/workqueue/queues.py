"""Queues for tests, and ways to look into them."""

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


def a_queue(
    *,
    clock: Clock | None = None,
    observe: Observer = ignore,
    limiter: RateLimiter[str] | None = None,
) -> WorkQueue[str]:
    """An empty queue, on a clock of its own if it does not matter which."""
    clock = clock or FakeClock()
    limiter = limiter or default_limiter(clock=clock, rng=Random(0))
    return WorkQueue("apps", limiter=limiter, clock=clock, observe=observe)


async def settle() -> None:
    """Let all tasks run until they wait."""
    for _ in range(12):
        await asyncio.sleep(0)  # noqa: TID251 - it is about turns, not about time


async def everything_in(queue: WorkQueue[K]) -> list[K]:
    """What a worker gets, one after the other, until it would have to wait."""
    taken: list[K] = []
    while queue.num_waiting:
        async with queue.take() as key:
            taken.append(key)
    return taken


class Workers:
    """Workers that note what they get, and hold it until they are released."""

    def __init__(self, queue: WorkQueue[str], group: asyncio.TaskGroup) -> None:
        self._queue = queue
        self._group = group
        self.got: list[str] = []
        self.holding: list[str] = []
        self.ended = 0
        self._release: dict[str, asyncio.Event] = {}

    def hire(self, *, holds: bool = False) -> asyncio.Task[None]:
        return self._group.create_task(self._work(holds))

    def release(self, key: str) -> None:
        self._release.pop(key).set()

    async def _work(self, holds: bool) -> None:
        try:
            while True:
                async with self._queue.take() as key:
                    self.got.append(key)
                    if holds:
                        released = self._release[key] = asyncio.Event()
                        self.holding.append(key)
                        try:
                            await released.wait()
                        finally:
                            self.holding.remove(key)
        except QueueClosed:
            self.ended += 1


@asynccontextmanager
async def working(queue: WorkQueue[str]) -> AsyncIterator[Workers]:
    async with asyncio.TaskGroup() as group:
        yield Workers(queue, group)
        queue.shut_down()
