"""Time, as a dependency.

Three kinds of number have three kinds of name:

- ``*_seconds: float`` is a duration.
- ``*_at: float`` is a point in time on the monotonic clock; only differences are meaningful.
- ``*_time: datetime`` is a wall-clock time, always in UTC, as in Kubernetes objects.

No other module of steersman may import ``time``, or call ``datetime.now`` or ``asyncio.sleep``.
"""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from math import inf
from types import TracebackType
from typing import Protocol


class Clock(Protocol):
    """A clock: returns the current time, and waits."""

    def monotonic(self) -> float:
        """Return the seconds since some moment in the past; the value never decreases."""
        ...

    def now(self) -> datetime:
        """Return the wall-clock time, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for ``seconds``."""
        ...

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Return a context that cancels its block after ``seconds`` and raises ``TimeoutError``.

        With ``None``, the block has no time limit.
        """
        ...


class SystemClock:
    """The clock of this machine, which production code uses."""

    _alarm: "_Alarm | None" = None

    # Without a wrapper, because a reconcile reads the clock dozens of times.
    monotonic = staticmethod(time.monotonic)

    def now(self) -> datetime:
        """Return the wall-clock time, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait for ``seconds``."""
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Return a context that cancels its block after ``seconds`` and raises ``TimeoutError``.

        With ``None``, the block has no time limit.
        """
        return _Timeout(self, seconds)

    def alarm(self, loop: asyncio.AbstractEventLoop) -> "_Alarm":
        """The timer of ``loop``."""
        alarm = self._alarm
        if alarm is None or alarm.loop is not loop:
            alarm = self._alarm = _Alarm(loop)
        return alarm


class _Timeout:
    """A timeout like ``asyncio.timeout`` that shares its timer with others.

    Every request uses a timeout, so a separate timer would be costly.
    """

    __slots__ = ("_alarm", "_cancelling", "_clock", "_has_passed", "_seconds", "_task")

    def __init__(self, clock: SystemClock, seconds: float | None) -> None:
        self._clock = clock
        self._seconds = seconds
        self._alarm: _Alarm | None = None
        self._has_passed = False

    async def __aenter__(self) -> None:
        if self._seconds is None:
            return
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("only a task can have a timeout")
        self._task = task
        self._cancelling = task.cancelling()
        self._alarm = self._clock.alarm(loop)
        self._alarm.add(self, loop.time() + self._seconds)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._alarm is None:
            return
        self._alarm.discard(self)
        # If another caller has cancelled the task as well, the cancellation continues.
        is_alone = self._has_passed and self._task.uncancel() <= self._cancelling
        if is_alone and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def ring(self) -> None:
        """Cancel the block, because the timeout has expired."""
        self._has_passed = True
        self._task.cancel()


class _Alarm:
    """One timer of an event loop, shared by all timeouts.

    Hardly any timeout expires, and a timer for each would cost more than the rest of the timeout.
    Therefore one timer is set for the earliest timeout, and stays set when that timeout is removed.
    When the timer fires, it is set again for the earliest remaining timeout.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._due: dict[_Timeout, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = inf

    def add(self, timeout: _Timeout, due_at: float) -> None:
        """Add a timeout that expires at ``due_at``."""
        self._due[timeout] = due_at
        if due_at < self._rings_at:
            self._set(due_at)

    def discard(self, timeout: _Timeout) -> None:
        """Remove a timeout."""
        self._due.pop(timeout, None)

    def _set(self, rings_at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = rings_at
        self._timer = self.loop.call_at(rings_at, self._ring)

    def _ring(self) -> None:
        # The loop runs timers slightly early.
        now_at = max(self._rings_at, self.loop.time())
        self._timer, self._rings_at = None, inf
        over = [timeout for timeout, due_at in self._due.items() if due_at <= now_at]
        for timeout in sorted(over, key=self._due.__getitem__):
            self.discard(timeout)
            timeout.ring()
        if self._due:
            self._set(min(self._due.values()))
