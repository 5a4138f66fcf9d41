"""Threads for plain functions: so many, and whoever holds them all is named.

A plain function runs in a thread, and what it asks of its context is done by the task that waits
for it, in the loop:

    thread   ──call──▶   task        one at a time: while the task works, the thread waits
             ◀─answer─

A thread cannot be stopped. Once its task has gone, because of a timeout or the end, each call that
it makes raises ``ContextEnded``; until it ends of itself it holds its place.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from steersman.errors import ContextEnded
from steersman.observe import Observer, ThreadsExhausted

T = TypeVar("T")


class Desk(Protocol):
    """Where a thread asks for something to be done in the loop."""

    def ask(self, make: Callable[[], Awaitable[T]], /) -> T:
        """Have it awaited in the loop, and wait for what comes of it."""
        ...


class Threads:
    """A bounded number of threads."""

    def __init__(self, most: int, *, observe: Observer) -> None:
        if most < 1:
            raise ValueError(f"there must be at least one thread, got {most}")
        self._most = most
        self._observe = observe
        self._free = asyncio.Semaphore(most)
        self._waiting = 0
        self._jobs: set[Job[Any]] = set()

    def __repr__(self) -> str:
        return f"<Threads {len(self._jobs)} of {self._most} busy, {self._waiting} waiting>"

    async def start(
        self, function: Callable[[Desk], T], *, holder: str, ended: Callable[[], ContextEnded]
    ) -> "Job[T]":
        """Run ``function`` in a thread, once there is one, and no other for the same holder."""
        for before in [job for job in self._jobs if job.holder == holder]:
            await before.ended()
        self._waiting += 1
        try:
            if self._free.locked():
                self._tell()
            await self._free.acquire()
        finally:
            self._waiting -= 1
        job = Job(function, holder=holder, ended=ended, over=self._over)
        try:
            job.begin()
        except BaseException:  # The machine has no more threads, and this one will never end.
            self._free.release()
            raise
        self._jobs.add(job)
        return job

    def _tell(self) -> None:
        self._observe(
            ThreadsExhausted(
                threads=self._most,
                waiting=self._waiting,
                held_by=tuple(sorted(job.holder for job in self._jobs)),
            )
        )

    def _over(self, job: "Job[Any]") -> None:
        self._jobs.discard(job)
        self._free.release()


class Job(Generic[T]):
    """One function in a thread."""

    def __init__(
        self,
        function: Callable[[Desk], T],
        *,
        holder: str,
        ended: Callable[[], ContextEnded],
        over: "Callable[[Job[T]], None]",
    ) -> None:
        self.holder = holder
        self._function = function
        self._ended = ended
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._asked: deque[tuple[Callable[[], Awaitable[Any]], Future[Any]]] = deque()
        self._something = asyncio.Event()
        self._result: Future[T] = Future()
        self._lock = threading.Lock()
        self._is_served = True
        self._has_ended = asyncio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether its thread has."""
        return self._has_ended.is_set()

    async def ended(self) -> None:
        """Wait until its thread has."""
        await self._has_ended.wait()

    def begin(self) -> None:
        """Start its thread."""
        # A daemon: one that hangs for ever must not keep the process alive.
        threading.Thread(target=self._run, name=self.holder, daemon=True).start()

    async def result(self) -> T:
        """Do what the thread asks for until it ends; what it returned, or what it raised."""
        try:
            while not self.has_ended:
                await self._something.wait()
                self._something.clear()
                while self._asked:
                    await self._do(*self._asked.popleft())
            return self._result.result()
        finally:
            self._leave()

    # In the thread

    def ask(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Have it awaited in the loop, and wait for what comes of it."""
        answer: Future[Any] = Future()
        with self._lock:
            if not self._is_served:
                raise self._ended()
            self._asked.append((make, answer))
        self._loop.call_soon_threadsafe(self._something.set)
        return answer.result()

    def _run(self) -> None:
        try:
            returned = self._function(self)
        except Exception as error:  # noqa: BLE001  raised again by whoever waits
            self._result.set_exception(error)
        except BaseException as error:  # noqa: BLE001
            # To end the thread, as sys.exit() does, is not to end the operator.
            failure = RuntimeError(f"it raised {type(error).__name__}")
            failure.__cause__ = error
            self._result.set_exception(failure)
        else:
            self._result.set_result(returned)
        with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
            self._loop.call_soon_threadsafe(self._end)

    # In the loop

    def _end(self) -> None:
        self._something.set()
        self._has_ended.set()
        self._over(self)

    async def _do(self, make: Callable[[], Awaitable[Any]], answer: "Future[Any]") -> None:
        try:
            answer.set_result(await make())
        except Exception as error:  # noqa: BLE001  it belongs to whoever asked
            answer.set_exception(error)
        except BaseException:
            answer.set_exception(self._ended())
            raise

    def _leave(self) -> None:
        with self._lock:
            self._is_served = False
            left = list(self._asked)
        for _, answer in left:
            answer.set_exception(self._ended())
