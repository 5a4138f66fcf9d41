"""The workers that sleep until a key is available or, in one worker, a delay has ended."""

import asyncio
from collections import deque
from contextlib import suppress

from steersman.clock import Clock


class Waiters:
    """The workers that sleep until a key is available.

    If there are delayed keys, one of these workers is the timed waiter: it sleeps only until the
    next delay ends. So delays need no task, and a hundred idle workers share one timer. A worker
    that wakes up checks the queue itself, so an extra wake-up does no harm. One worker is woken for
    each new key. If the timed waiter takes that key, the woken worker finds no key and becomes the
    timed waiter.
    """

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._asleep: deque[asyncio.Future[None]] = deque()
        self._timed_waiter: asyncio.Future[None] | None = None
        self._timed_until_at = 0.0

    async def sleep(self, until_at: float | None) -> None:
        """Sleep until another method wakes this worker.

        If there is no timed waiter and ``until_at`` is given, this worker becomes the timed waiter,
        and sleeps until ``until_at`` at most.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if until_at is None or self._timed_waiter is not None:
            self._asleep.append(future)
            try:
                await future
            except asyncio.CancelledError:
                with suppress(ValueError):  # a woken worker is no longer in the list
                    self._asleep.remove(future)
                raise
        else:
            self._timed_waiter = future
            self._timed_until_at = until_at
            try:
                with suppress(TimeoutError):
                    async with self._clock.timeout(until_at - self._clock.monotonic()):
                        await future
            finally:
                self._timed_waiter = None

    def wake_one(self) -> None:
        """Wake one worker; wake the timed waiter only if no other worker sleeps."""
        if self._asleep:
            _wake(self._asleep.popleft())
        elif self._timed_waiter is not None:
            _wake(self._timed_waiter)

    def wake_all(self) -> None:
        """Wake all workers."""
        while self._asleep:
            _wake(self._asleep.popleft())
        if self._timed_waiter is not None:
            _wake(self._timed_waiter)

    def replace_timed_waiter(self) -> None:
        """If there is no timed waiter, wake a worker, which then becomes the timed waiter."""
        if self._timed_waiter is None and self._asleep:
            _wake(self._asleep.popleft())

    def wake_at(self, due_at: float) -> None:
        """Make a sleeping worker, if there is one, wake up at ``due_at`` or earlier."""
        if self._timed_waiter is None:
            self.replace_timed_waiter()
        elif due_at < self._timed_until_at:
            _wake(self._timed_waiter)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
