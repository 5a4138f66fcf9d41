"""Those who wait for a key, and the one among them who keeps an eye on the clock."""

import asyncio
from collections import deque
from contextlib import suppress

from steersman.clock import Clock


class Takers:
    """Workers asleep until there is something for them.

    If a delay is running, one of them is the watch: it sleeps only until the delay ends. So no
    task is needed to see to delays, and a hundred idle workers have one timer between them.
    Whoever wakes up looks for itself; to wake one too many does no harm. One is woken for each key
    that comes into line, so that there is a new watch, if anybody is left, when the old one takes a
    key: the one that was woken for it, and finds nothing.
    """

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._asleep: deque[asyncio.Future[None]] = deque()
        self._watch: asyncio.Future[None] | None = None
        self._watch_ends_at = 0.0

    async def sleep(self, until_at: float | None) -> None:
        """Until woken; and if there is no watch yet, until this moment at the latest."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if until_at is None or self._watch is not None:
            self._asleep.append(future)
            try:
                await future
            except asyncio.CancelledError:
                with suppress(ValueError):  # those who were woken are no longer there
                    self._asleep.remove(future)
                raise
        else:
            self._watch = future
            self._watch_ends_at = until_at
            try:
                with suppress(TimeoutError):
                    async with self._clock.timeout(until_at - self._clock.monotonic()):
                        await future
            finally:
                self._watch = None

    def wake_one(self) -> None:
        """Wake somebody, and the watch only if nobody else is there."""
        if self._asleep:
            _wake(self._asleep.popleft())
        elif self._watch is not None:
            _wake(self._watch)

    def wake_all(self) -> None:
        """Wake everybody."""
        while self._asleep:
            _wake(self._asleep.popleft())
        if self._watch is not None:
            _wake(self._watch)

    def replace_watch(self) -> None:
        """If there is no watch, wake somebody to keep it; for as long as is necessary then."""
        if self._watch is None and self._asleep:
            _wake(self._asleep.popleft())

    def watch_until(self, due_at: float) -> None:
        """See to it that somebody wakes up at this moment, if anybody is asleep at all."""
        if self._watch is None:
            self.replace_watch()
        elif due_at < self._watch_ends_at:
            _wake(self._watch)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
