"""An event loop in virtual time.

The loop has no sockets and no threads. When no task can run, time advances to the next timer. If
there is no timer either, the tasks are deadlocked, and ``Deadlock`` is raised.
"""

import asyncio
import sys
from asyncio import events
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from itertools import count
from math import ceil
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple
from weakref import WeakSet

import msgspec

from steersman_cluster.errors import Deadlock
from steersman_cluster.simulation.actors import ACTOR, Actor, ActorTask, actor_in

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

# Programs with watches always have timers. If nothing but those fires for this long, the test waits
# in vain.
DEADLOCK_SECONDS: Final = 24 * 3600.0

# Time advances in whole microseconds, so that a run does not depend on its start time.
MICROS: Final = 1_000_000

# Most timers are deadlines that are cancelled. They are removed once there are this many.
MAX_CANCELLED: Final = 500

# The number of waiting tasks that a deadlock names.
NAMED: Final = 30

_INSIDE: Final = (str(Path(asyncio.__file__).parent), str(Path(__file__).parent))


class ScheduledCallback(msgspec.Struct, eq=False):
    """A scheduled callback, its context, and the actor to which the callback belongs.

    This class replaces ``asyncio.Handle``, which costs more: a simulation creates thousands of
    these objects per second.
    """

    callback: Callable[..., object] | None
    args: tuple[Any, ...]
    context: Context
    actor: Actor | None
    at: float | None = None
    loop: "VirtualLoop | None" = None

    def cancel(self) -> None:
        """Cancel the callback."""
        if self.callback is not None:
            self.callback, self.args = None, ()
            if self.loop is not None:
                self.loop.count_cancelled()

    def cancelled(self) -> bool:
        """Whether the callback was cancelled."""
        return self.callback is None

    def when(self) -> float:
        """Return the loop's time in seconds at which the callback is due; 0 without a timer."""
        return 0.0 if self.at is None else self.at


# The type checkers take a loop for abstract if it lacks a method. This one lacks those of sockets,
# processes and threads; AbstractEventLoop raises NotImplementedError for them.
if TYPE_CHECKING:
    _Loop = asyncio.BaseEventLoop
else:
    _Loop = asyncio.AbstractEventLoop


class VirtualLoop(_Loop):
    """An event loop in virtual time that runs tasks in the order in which they became ready.

    When no task is ready, virtual time advances to the next timer.
    """

    def __init__(self, *, deadlock_seconds: float = DEADLOCK_SECONDS) -> None:
        #: Now, in microseconds since the loop was made.
        self.micros = 0
        self._deadlock_seconds = deadlock_seconds
        self._ready: deque[ScheduledCallback] = deque()
        self._timers: list[
            tuple[int, int, ScheduledCallback]
        ] = []  # by microseconds, then by number
        self._cancelled = 0
        self._numbers = count(1)
        self._generators: WeakSet[AsyncGenerator[Any, Any]] = WeakSet()
        self._is_running = False
        self._is_stopping = False
        self._is_closed = False
        #: The number of times that time has advanced.
        self.leaps = 0
        self._moved = 0  # when the test itself last ran
        self._runs_for: object = None
        self._failures: list[dict[str, Any]] = []

    def __repr__(self) -> str:
        return (
            f"<VirtualLoop at {self.time():g} s: {len(self._ready)} ready,"
            f" {len(self._timers)} waiting>"
        )

    # Running

    def run_until_complete(self, future: Any) -> Any:
        """Run until ``future`` is done; raise ``Deadlock`` if it can never be done."""
        is_own = asyncio.iscoroutine(future)
        if is_own:
            future = self.create_task(future, name="main")
        future.add_done_callback(self._stop_for)
        self._runs_for = future
        try:
            self.run_forever()
        except BaseException:
            if future.done() and not future.cancelled():
                future.exception()  # or asyncio logs that it was never retrieved
            elif is_own:
                future.remove_done_callback(self._stop_for)
                self._cancel(future)
            raise
        finally:
            future.remove_done_callback(self._stop_for)
        if not future.done():
            raise RuntimeError("the loop was stopped before its future was done")
        return future.result()

    def _cancel(self, task: "asyncio.Task[Any]") -> None:
        """Cancel the task, and run until it and the tasks that it started have ended."""
        task.cancel()
        # The cause of the cancellation is raised instead.
        with suppress(Exception, asyncio.CancelledError):
            self.run_until_complete(task)

    def run_forever(self) -> None:
        """Run until ``stop`` is called; raise ``Deadlock`` if every task waits forever."""
        if self._is_closed:
            raise RuntimeError("the loop is closed")
        if self._is_running:
            raise RuntimeError("the loop is already running")
        if events._get_running_loop() is not None:  # pyright: ignore[reportPrivateUsage]
            raise RuntimeError("another loop runs in this thread")
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=self._generators.add, finalizer=self._finalize)
        events._set_running_loop(self)  # pyright: ignore[reportPrivateUsage]
        self._is_running = True
        try:
            while not self._is_stopping:
                self._turn()
        finally:
            self._is_running = self._is_stopping = False
            events._set_running_loop(None)  # pyright: ignore[reportPrivateUsage]
            sys.set_asyncgen_hooks(*before)

    def _turn(self) -> None:
        ready = self._ready
        if not ready:
            self._advance()
        # Callbacks that they make ready run in the next pass; callbacks of killed actors do not
        # run.
        while ready:
            scheduled = ready.popleft()
            callback = scheduled.callback
            if callback is None:
                continue
            try:
                scheduled.context.run(callback, *scheduled.args)
            except Exception as error:  # noqa: BLE001 - who is called by a loop has no other caller
                self._failures.append({"message": f"{callback!r} failed", "exception": error})
            if self._is_stopping:
                return

    def _advance(self) -> None:
        """Advance to the next timer."""
        timers = self._timers
        while timers and timers[0][2].callback is None:
            heappop(timers)
            self._cancelled -= 1
        if not timers or self._waits_in_vain(timers[0][0] / MICROS):
            raise Deadlock(waiting=self._waiting(), after_seconds=self.time())
        self.leaps += 1
        self.micros = max(self.micros, timers[0][0])
        while timers and timers[0][0] <= self.micros:
            scheduled = heappop(timers)[2]
            if scheduled.callback is None:
                self._cancelled -= 1
            else:
                scheduled.loop = None
                self._ready.append(scheduled)

    def _waits_in_vain(self, next_at: float) -> bool:
        if next_at <= self._moved / MICROS + self._deadlock_seconds:
            return False
        return not any(
            handle.actor is None for _, _, handle in self._timers if not handle.cancelled()
        )

    def _waiting(self) -> tuple[str, ...]:
        """Return the waiting tasks and where they wait: the test's first, oldest actors last."""
        of_actors: dict[Actor | None, list[ActorTask]] = {None: []}
        for task in self.tasks():
            if task.actor is None or not task.actor.is_dead:
                of_actors.setdefault(task.actor, []).append(task)
        own = sorted(of_actors.pop(None), key=lambda task: task is not self._runs_for)
        tasks = [*own, *(task for actor in reversed(of_actors) for task in of_actors[actor])]
        more = len(tasks) - NAMED
        lines = (f"{task.get_name()}{_where(task)}" for task in tasks[:NAMED])
        return (*lines, *((f"and {more} more",) if more > 0 else ()))

    def stop(self) -> None:
        """Make ``run_forever`` return after the current callback."""
        self._is_stopping = True

    def _stop_for(self, _: object) -> None:
        self.stop()

    def is_running(self) -> bool:
        """Whether the loop runs."""
        return self._is_running

    def is_closed(self) -> bool:
        """Whether the loop is closed."""
        return self._is_closed

    def close(self) -> None:
        """Drop all callbacks and timers; the loop cannot run again."""
        self._is_closed = True
        self._ready.clear()
        self._timers.clear()

    async def shutdown_asyncgens(self) -> None:
        """Close the asynchronous generators that are still open."""
        for each in list(self._generators):
            await each.aclose()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Do nothing: there is no executor."""

    def _finalize(self, generator: AsyncGenerator[Any, Any]) -> None:
        self._generators.discard(generator)
        if not self._is_closed:
            self.create_task(generator.aclose(), name="closing a generator")

    # Time

    def time(self) -> float:
        """Return the virtual seconds since the loop was created."""
        return self.micros / MICROS

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Run ``callback`` in the next iteration of the loop, unless its actor was killed."""
        if context is None:
            context = copy_context()
        actor = context.get(ACTOR)
        scheduled = ScheduledCallback(callback, args, context, actor)
        if actor is None:
            self._moved = self.micros
            self._ready.append(scheduled)
        elif actor.is_dead:
            actor.remains.append(scheduled)
        else:
            self._ready.append(scheduled)
        return scheduled  # type: ignore[return-value]  # it has all that asyncio needs of a handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Call ``call_soon``; no lock is needed, because only one thread runs at a time."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run ``callback`` after ``delay`` seconds of virtual time."""
        micros = ceil(round(delay * MICROS, 3))
        # A task that wakes just before its deadline sleeps again. Every sleep takes some time, so
        # that this ends.
        if micros <= 0 < delay:
            micros = 1
        micros += self.micros
        if context is None:
            context = copy_context()
        actor = context.get(ACTOR)
        scheduled = ScheduledCallback(callback, args, context, actor, micros / MICROS, self)
        if actor is not None and actor.is_dead:
            actor.remains.append(scheduled)
        else:
            heappush(self._timers, (micros, next(self._numbers), scheduled))
        return scheduled  # type: ignore[return-value]  # as above

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run ``callback`` at the time ``when``, in seconds since the loop was created.

        Callbacks with the same time run in the order in which they were scheduled.
        """
        return self.call_later(when - self.time(), callback, *args, context=context)

    def count_cancelled(self) -> None:
        """Count one more cancelled timer; once there are many, remove them all."""
        self._cancelled += 1
        if self._cancelled > MAX_CANCELLED and self._cancelled > len(self._timers) // 2:
            self._timers = [each for each in self._timers if not each[2].cancelled()]
            heapify(self._timers)
            self._cancelled = 0

    # Tasks

    def create_future(self) -> "asyncio.Future[Any]":
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> "asyncio.Task[T]":
        """Create a task that belongs to the actor of ``context`` (default: the current context)."""
        number = next(self._numbers)
        task: Any = ActorTask.__new__(ActorTask)
        task.number, task.actor = number, actor_in(context)
        task.__init__(coro, loop=self, name=name or f"task {number}", context=context)
        return task  # type: ignore[no-any-return]

    def tasks(self) -> list[ActorTask]:
        """Return the tasks that are not done, oldest first."""
        tasks = [each for each in asyncio.all_tasks(self) if isinstance(each, ActorTask)]
        return sorted(tasks, key=attrgetter("number"))

    # Kills

    def kill(self, actor: Actor) -> None:
        """Kill ``actor``: its tasks stop where they are, and its callbacks no longer run."""
        actor.is_dead = True
        actor.remains += (each for each in self.tasks() if each.actor is actor)
        ready = [*self._ready]
        # The same queue object, because the current pass reads from it.
        self._ready.clear()
        self._ready.extend(each for each in ready if each.actor is not actor)
        actor.remains += [each for each in ready if each.actor is actor]
        actor.remains += [scheduled for _, _, scheduled in self._timers if scheduled.actor is actor]
        self._timers = [each for each in self._timers if each[2].actor is not actor]
        heapify(self._timers)

    async def release(self, actor: Actor) -> None:
        """Release the tasks of a killed actor, so that their ``finally`` blocks run.

        Call this only at the end of a simulation, when the effects of the ``finally`` blocks no
        longer matter.
        """
        actor.is_dead = False
        tasks = [each for each in actor.remains if isinstance(each, ActorTask) and not each.done()]
        self._ready.extend(
            each
            for each in actor.remains
            if isinstance(each, ScheduledCallback) and each.at is None
        )
        actor.remains.clear()
        for task in tasks:
            task.cancel()
        for task in tasks:
            # The oldest task waits for those that it started: after it, few are left.
            if not task.done():
                await asyncio.wait([task])
            if not task.cancelled():
                task.exception()

    # The rest of asyncio's interface

    def get_debug(self) -> bool:
        """Return false: in a simulation, asyncio's debug mode costs time and reports nothing."""
        return False

    def set_debug(self, enabled: bool) -> None:
        """Does nothing."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Record ``context``, asyncio's description of an exception that no code has handled."""
        self._failures.append(context)

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Record ``context``, asyncio's description of an exception that no code has handled."""
        self._failures.append(context)

    @property
    def failures(self) -> tuple[str, ...]:
        """Return a line for each recorded exception that no code has handled."""
        return tuple(
            f"{each.get('message', '')}: {each.get('exception', '')!r}" for each in self._failures
        )


def _where(task: ActorTask) -> str:
    """Return the function, file and line at which the task waits, and what it waits for."""
    inner: Any = task.get_coro()
    frames = []
    while inner is not None:
        frame = getattr(inner, "cr_frame", None) or getattr(inner, "gi_frame", None)
        if frame is not None:
            frames.append(frame)
        inner = getattr(inner, "cr_await", None) or getattr(inner, "gi_yieldfrom", None)
    if not frames:
        return ""
    # Where asyncio itself waits is the same for all tasks, and the test's own directory is no news
    # to its author.
    telling = [each for each in frames if not each.f_code.co_filename.startswith(_INSIDE)]
    code, line = (telling or frames)[-1].f_code, (telling or frames)[-1].f_lineno
    outer = f"{code.co_qualname}, {Path(code.co_filename).name} line {line}"
    inner_name = frames[-1].f_code.co_qualname
    return f" ({outer})" if inner_name == code.co_qualname else f" ({outer}, in {inner_name})"
