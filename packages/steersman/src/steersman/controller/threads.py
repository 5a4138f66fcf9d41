"""Threads for plain functions: so many, and whoever holds them all is named.

A plain function runs in a thread, and what it asks of its context is done by the task that waits
for it, in the loop:

    thread   ──call──▶   task        one at a time: while the task works, the thread waits
             ◀─answer─

With ``ThreadPolicy.HANDOVER`` the loop waits as well while the thread works: then only one of all
threads runs at any time, and always the same one next, so that a run can be repeated exactly. A
function that holds a lock during such a call blocks a second function that waits for the lock, and
with it the loop: neither ever goes on.

A thread cannot be stopped. Once its task has gone, because of a timeout or the end, each call that
it makes raises ``ContextEnded``; until it ends of itself it holds its place.
"""

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from enum import Enum
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from steersman.errors import AUTHOR_ERRORS, ContextEnded, failure_of
from steersman.observe import Observer, ThreadsExhausted

T = TypeVar("T")

_ENDS: Final = (signal.SIGINT, signal.SIGTERM)


class ThreadPolicy(Enum):
    """Whether the event loop runs while a plain function does."""

    #: It does, and several plain functions run at a time.
    CONCURRENT = "concurrent"
    #: It waits, and one plain function runs at a time, always in the same order.
    HANDOVER = "handover"


class LoopCaller(Protocol):
    """Through which a thread calls functions in the event loop."""

    def call(self, make: Callable[[], Awaitable[T]], /) -> T:
        """Await it in the loop, and wait for its result."""
        ...


def start_thread(thread: threading.Thread) -> None:
    """Start a thread to which the kernel delivers no signal that asks the process to end.

    Python handles signals in its main thread. A signal that another thread receives does not
    interrupt what the main thread waits for: where that never comes, it is not handled at all.
    """
    # A thread begins with the mask of the one that starts it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ThreadPool:
    """A bounded number of threads."""

    def __init__(self, most: int, *, policy: ThreadPolicy, observe: Observer) -> None:
        if most < 1:
            raise ValueError(f"there must be at least one thread, got {most}")
        self._most = most
        self._policy = policy
        self._observe = observe
        self._free = asyncio.Semaphore(most)
        self._waiting = 0
        self._jobs: set[Job[Any]] = set()

    def __repr__(self) -> str:
        return f"<ThreadPool {len(self._jobs)} of {self._most} busy, {self._waiting} waiting>"

    async def start(
        self, function: Callable[[LoopCaller], T], *, holder: str, ended: Callable[[], ContextEnded]
    ) -> "Job[T]":
        """Run ``function`` in a thread, once there is one, and no other for the same holder."""
        for before in [job for job in self._jobs if job.holder == holder]:
            await before.ended()
        self._waiting += 1
        try:
            if self._free.locked():
                self._report_exhausted()
            await self._free.acquire()
        finally:
            self._waiting -= 1
        job = Job(function, holder=holder, ended=ended, release=self._release, policy=self._policy)
        try:
            job.begin()
        except BaseException:  # The machine has no more threads, and this one will never end.
            self._free.release()
            raise
        self._jobs.add(job)
        return job

    def _report_exhausted(self) -> None:
        self._observe(
            ThreadsExhausted(
                threads=self._most,
                waiting=self._waiting,
                held_by=tuple(sorted(job.holder for job in self._jobs)),
            )
        )

    def _release(self, job: "Job[Any]") -> None:
        self._jobs.discard(job)
        self._free.release()


class Job(Generic[T]):
    """One function in a thread."""

    def __init__(
        self,
        function: Callable[[LoopCaller], T],
        *,
        holder: str,
        ended: Callable[[], ContextEnded],
        release: "Callable[[Job[T]], None]",
        policy: ThreadPolicy,
    ) -> None:
        self.holder = holder
        # With HANDOVER, set while the thread waits for the loop or has ended.
        self._pause = threading.Event() if policy is ThreadPolicy.HANDOVER else None
        self._function = function
        self._ended = ended
        self._release = release
        self._loop = asyncio.get_running_loop()
        # What the thread wakes belongs to whoever has started it.
        self._context = copy_context()
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
        start_thread(threading.Thread(target=self._run, name=self.holder, daemon=True))
        self._wait_for_pause()

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

    def call(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Await it in the loop, and wait for its result."""
        answer: Future[Any] = Future()
        with self._lock:
            if not self._is_served:
                raise self._ended()
            self._asked.append((make, answer))
        self._wake(self._something.set)
        return answer.result()

    def _run(self) -> None:
        try:
            returned = self._function(self)
        except AUTHOR_ERRORS as error:
            # A thread gets no signals: to end it, as sys.exit() does, is not to end the operator.
            self._result.set_exception(failure_of(error))
        except BaseException as error:  # noqa: BLE001  raised again by whoever waits
            failure = RuntimeError(f"it raised {type(error).__name__}")
            failure.__cause__ = error
            self._result.set_exception(failure)
        else:
            self._result.set_result(returned)
        with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
            self._wake(self._end)

    def _wake(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, context=self._context)
        finally:
            if self._pause is not None:
                self._pause.set()

    # In the loop

    def _wait_for_pause(self) -> None:
        """With HANDOVER, let the thread run until it waits for the loop."""
        if self._pause is not None:
            self._pause.wait()

    def _end(self) -> None:
        self._something.set()
        self._has_ended.set()
        self._release(self)

    async def _do(self, make: Callable[[], Awaitable[Any]], answer: "Future[Any]") -> None:
        try:
            done = await make()
        except Exception as error:  # noqa: BLE001  it belongs to whoever asked
            self._go_on(partial(answer.set_exception, error))
        except BaseException:
            self._go_on(partial(answer.set_exception, self._ended()))
            raise
        else:
            self._go_on(partial(answer.set_result, done))

    def _go_on(self, tell: Callable[[], None]) -> None:
        if self._pause is not None:
            self._pause.clear()
        tell()
        self._wait_for_pause()

    def _leave(self) -> None:
        with self._lock:
            self._is_served = False
            left = list(self._asked)
        for _, answer in left:
            self._go_on(partial(answer.set_exception, self._ended()))
