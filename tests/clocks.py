"""Clocks for tests: time advances only when a test advances it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count


class FakeClock:
    """Advances by ``advance``, and by each ``sleep``, which returns immediately.

    A timeout expires when the clock is advanced past it, and also after its length in real time,
    for code that hangs.
    """

    def __init__(self, *, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now
        self._monotonic_seconds = 1000.0
        self._timeouts: dict[asyncio.Timeout, float] = {}

    def advance(self, seconds: float) -> None:
        """Advance the time."""
        self._monotonic_seconds += seconds
        self._now += timedelta(seconds=seconds)
        for timeout, ends_at in self._timeouts.items():
            if self._monotonic_seconds >= ends_at and not timeout.expired():
                timeout.reschedule(asyncio.get_running_loop().time())

    def monotonic(self) -> float:
        return self._monotonic_seconds

    def now(self) -> datetime:
        return self._now

    async def sleep(self, seconds: float) -> None:
        wakes_at = self._monotonic_seconds + seconds
        while True:
            # No further than the first timeout, which may be that of the sleeping task.
            ends = [at for timeout, at in self._timeouts.items() if not timeout.expired()]
            self.advance(max(0.0, min([wakes_at, *ends]) - self._monotonic_seconds))
            await asyncio.sleep(0)  # noqa: TID251 - other tasks run, and timeouts expire
            if self._monotonic_seconds >= wakes_at:
                return

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[None]:
        async with asyncio.timeout(seconds) as timeout:  # noqa: TID251 - as the class says
            if seconds is not None:
                self._timeouts[timeout] = self._monotonic_seconds + seconds
            try:
                yield
            finally:
                self._timeouts.pop(timeout, None)


class ManualClock(FakeClock):
    """Advances only by ``advance``: a task sleeps until the test advances the clock past its time.

    For periodic tasks, which would advance a ``FakeClock`` without end.
    """

    def __init__(self, *, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        super().__init__(now=now)
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = count()

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        while self._sleepers and self._sleepers[0][0] <= self.monotonic():
            _, _, awake = heappop(self._sleepers)
            if not awake.done():
                awake.set_result(None)

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)  # noqa: TID251 - no wait: other tasks run
            return
        awake = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self.monotonic() + seconds, next(self._numbers), awake))
        await awake
