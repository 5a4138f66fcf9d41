"""Clocks for tests: time goes on when the test says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count


class FakeClock:
    """Stands still until it is advanced; a sleeper advances it, and so sleeps no time at all.

    A timeout fires when the clock is advanced past it, and after so many real seconds as well: it
    is there for what really hangs.
    """

    def __init__(self, *, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now
        self._monotonic_seconds = 1000.0
        self._timeouts: dict[asyncio.Timeout, float] = {}

    def advance(self, seconds: float) -> None:
        """Let so much time pass."""
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
            # No further than the first timeout: that may be the sleeper's own.
            ends = [at for timeout, at in self._timeouts.items() if not timeout.expired()]
            self.advance(max(0.0, min([wakes_at, *ends]) - self._monotonic_seconds))
            await asyncio.sleep(0)  # noqa: TID251 - others get their turn, and timeouts theirs
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
    """Stands still until it is advanced: a sleeper sleeps until the test has gone past its time.

    For periodic tasks, which would drive a ``FakeClock`` on without end.
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
            await asyncio.sleep(0)  # noqa: TID251 - no wait: a turn is given away
            return
        awake = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self.monotonic() + seconds, next(self._numbers), awake))
        await awake
