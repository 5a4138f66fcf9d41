"""``ThreadPool``: a bounded number of threads for functions that are not async.

Such a function runs in a thread. Its calls to the context run in the event loop, in the task that
waits for the thread:

    thread   ──call──▶   task        one at a time: while the task runs the call, the thread waits
             ◀─result─

With ``ThreadPolicy.HANDOVER``, the event loop also waits while the thread runs. Only one thread
runs at any time, in a fixed order, so an execution can be repeated exactly. This policy has a
danger of deadlock: if a function holds a lock during a call to the context, and a second function
waits for the lock, then neither the functions nor the event loop can continue.

A thread cannot be stopped. When the task has ended before its thread, by a timeout or at shutdown,
each further call of the thread to the context raises ``ContextEnded``. The thread counts against
the limit until it ends.
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
    """Whether the event loop continues while a function that is not async runs in a thread."""

    #: The loop continues, and several plain functions run concurrently.
    CONCURRENT = "concurrent"
    #: The loop waits, and one plain function runs at a time, always in the same order.
    HANDOVER = "handover"


class LoopCaller(Protocol):
    """A protocol with which a thread calls functions in the event loop."""

    def call(self, make: Callable[[], Awaitable[T]], /) -> T:
        """Call ``make`` in the event loop, await the result, and return the awaited value."""
        ...


def start_thread(thread: threading.Thread) -> None:
    """Start ``thread`` with SIGINT and SIGTERM blocked in it.

    Python handles signals in the main thread. A signal that the kernel delivers to another thread
    does not interrupt a wait of the main thread, and may therefore never be handled.
    """
    # A new thread inherits the signal mask of the thread that starts it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ThreadPool:
    """Runs functions that are not async, in a bounded number of threads."""

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
        """Run ``function`` in a free thread, and return its job.

        The function starts after all earlier functions of the same ``holder`` have ended. A thread
        cannot be stopped: if the task that waits for the job has ended, each further call of the
        function to its context raises the error that ``ended`` returns.
        """
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
        except BaseException:  # the system has no more threads, so this one never ends
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
    """One function that runs in a thread."""

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
        # With HANDOVER: set while the thread waits for the loop, and when it has ended.
        self._pause = threading.Event() if policy is ThreadPolicy.HANDOVER else None
        self._function = function
        self._ended = ended
        self._release = release
        self._loop = asyncio.get_running_loop()
        # Callbacks from the thread run with the context variables of its starter.
        self._context = copy_context()
        self._calls: deque[tuple[Callable[[], Awaitable[Any]], Future[Any]]] = deque()
        self._wakeup = asyncio.Event()
        self._result: Future[T] = Future()
        self._lock = threading.Lock()
        self._is_served = True
        self._has_ended = asyncio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether the thread of the job has ended."""
        return self._has_ended.is_set()

    async def ended(self) -> None:
        """Wait until the thread of the job has ended."""
        await self._has_ended.wait()

    def begin(self) -> None:
        """Start the thread of the job."""
        # A daemon thread: one that hangs must not keep the process alive.
        start_thread(threading.Thread(target=self._run, name=self.holder, daemon=True))
        self._wait_for_pause()

    async def result(self) -> T:
        """Run the thread's calls to the context in the event loop until the thread ends.

        Return the function's result, or raise its exception.
        """
        try:
            while not self.has_ended:
                await self._wakeup.wait()
                self._wakeup.clear()
                while self._calls:
                    await self._do(*self._calls.popleft())
            return self._result.result()
        finally:
            self._stop_serving()

    # In the thread

    def call(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Call ``make`` in the event loop, await the result, and return the awaited value."""
        answer: Future[Any] = Future()
        with self._lock:
            if not self._is_served:
                raise self._ended()
            self._calls.append((make, answer))
        self._wake(self._wakeup.set)
        return answer.result()

    def _run(self) -> None:
        try:
            returned = self._function(self)
        except AUTHOR_ERRORS as error:
            # sys.exit() in a thread ends the thread, not the operator.
            self._result.set_exception(failure_of(error))
        except BaseException as error:  # noqa: BLE001  raised again by ``result``
            failure = RuntimeError(f"it raised {type(error).__name__}")
            failure.__cause__ = error
            self._result.set_exception(failure)
        else:
            self._result.set_result(returned)
        with suppress(RuntimeError):  # The loop is closed.
            self._wake(self._end)

    def _wake(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, context=self._context)
        finally:
            if self._pause is not None:
                self._pause.set()

    # In the loop

    def _wait_for_pause(self) -> None:
        """With HANDOVER, block the event loop until the thread waits for it or ends."""
        if self._pause is not None:
            self._pause.wait()

    def _end(self) -> None:
        self._wakeup.set()
        self._has_ended.set()
        self._release(self)

    async def _do(self, make: Callable[[], Awaitable[Any]], answer: "Future[Any]") -> None:
        try:
            done = await make()
        except Exception as error:  # noqa: BLE001  raised in the thread
            self._resume(partial(answer.set_exception, error))
        except BaseException:
            self._resume(partial(answer.set_exception, self._ended()))
            raise
        else:
            self._resume(partial(answer.set_result, done))

    def _resume(self, set_answer: Callable[[], None]) -> None:
        if self._pause is not None:
            self._pause.clear()
        set_answer()
        self._wait_for_pause()

    def _stop_serving(self) -> None:
        with self._lock:
            self._is_served = False
            left = list(self._calls)
        for _, answer in left:
            self._resume(partial(answer.set_exception, self._ended()))
