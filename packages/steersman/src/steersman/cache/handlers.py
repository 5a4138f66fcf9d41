"""Handlers of an informer: functions that receive each change of an object.

Each handler has its own buffer and its own task, so a slow handler delays no other handler. A
handler that raises an exception still receives the next change. Only inline handlers have neither a
buffer nor a task: the reflector calls them directly.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Generic, Protocol, TypeAlias, TypeVar

from steersman.cache.background import is_cancelled
from steersman.cache.delta_fifo import Added, Deleted, Delta, Sync, Updated
from steersman.clock import Clock
from steersman.errors import AUTHOR_ERRORS, NotWatched, failure_of
from steersman.kinds import Resource, Unstructured
from steersman.observe import HandlerFailed, HandlerStuck, Observer
from steersman.watch import newest_first

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# A handler that has been busy with one change for this long is reported.
STUCK_SECONDS = 30.0

# Plain functions never yield to the event loop, and an initial list may have 100,000 objects; other
# tasks run after this number of calls.
BATCH = 500


class Handler(Protocol[Obj]):
    """A function, async or not, that receives a delta."""

    def __call__(self, delta: Delta[Obj], /) -> Awaitable[None] | None:
        """Handle one change. When this is called, the cache already contains the change."""
        ...


HandlerResult: TypeAlias = Awaitable[None] | None


def handler_funcs(
    *,
    added: Callable[[Obj], HandlerResult] | None = None,
    updated: Callable[[Obj, Obj], HandlerResult] | None = None,
    deleted: Callable[[Obj], HandlerResult] | None = None,
) -> Handler[Obj]:
    """Return a handler that calls ``added(obj)``, ``updated(old, obj)`` or ``deleted(obj)``.

    The handler corresponds to client-go's ``ResourceEventHandlerFuncs``. In a resync, it calls
    ``updated(obj, obj)``, with the unchanged object as both arguments.
    """

    def handle(delta: Delta[Obj]) -> HandlerResult:
        match delta:
            case Added(obj=obj):
                return added(obj) if added is not None else None
            case Updated(old=old, obj=obj):
                return updated(old, obj) if updated is not None else None
            case Sync(obj=obj):
                return updated(obj, obj) if updated is not None else None
            case Deleted(obj=obj):
                return deleted(obj) if deleted is not None else None

    return handle


class Registration(Generic[Obj]):
    """A handler that is registered with an informer, until ``remove_handler`` removes it."""

    def __init__(
        self,
        handler: Handler[Obj],
        *,
        name: str,
        resource: str,
        resync_seconds: float | None,
        newest_first: bool,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self.name = name
        self.resync_seconds = resync_seconds
        self._is_newest_first = newest_first
        self._handler = handler
        self._resource = resource
        self._clock = clock
        self._observe = observe
        self._waiting: deque[Delta[Obj]] = deque()
        self._arrived = asyncio.Event()
        self._initial_left: int | None = None
        self._caught_up = asyncio.Event()
        self._resynced_left = 0
        self._busy_with: Delta[Obj] | None = None
        self._busy_since_at = 0.0
        self._is_reported = False
        self._is_ended = False

    def __repr__(self) -> str:
        return f"<Registration {self.name}, {len(self._waiting)} waiting>"

    def __len__(self) -> int:
        """The number of changes that the handler has not finished handling."""
        return len(self._waiting) + (self._busy_with is not None)

    @property
    def has_synced(self) -> bool:
        """Whether the handler has received every object of the initial list."""
        return self._initial_left == 0

    async def synced(self) -> None:
        """Wait until the handler has received every object of the initial list.

        Raise ``NotWatched`` if the handler is removed earlier.
        """
        await self._caught_up.wait()
        if not self.has_synced:
            raise NotWatched(
                wanted=f"wait for the handler {self.name} of {self._resource}",
                problem="it was removed before it had received all existing objects",
                what_now="Wait first, then remove it.",
            )

    def notify(self, deltas: Sequence[Delta[Obj]]) -> None:
        """Add ``deltas`` to the handler's buffer."""
        if not self._is_ended:
            self._waiting.extend(self._ordered(deltas))
            self._arrived.set()

    def _ordered(self, deltas: Sequence[Delta[Obj]]) -> Sequence[Delta[Obj]]:
        """Return the deltas, with existing objects sorted newest first if that was requested."""
        if not self._is_newest_first or self._initial_left is not None:
            return deltas
        there = [delta for delta in deltas if type(delta) is Added]
        # An object may have to be deleted before another of its name is added.
        others = [delta for delta in deltas if type(delta) is not Added]
        return [*others, *newest_first(there, [each.version for each in there])]

    def resync(self, deltas: Sequence[Delta[Obj]]) -> None:
        """Buffer the Sync ``deltas`` of a resync, unless the previous resync is unfinished."""
        # Otherwise the buffer of a handler that is slower than its resync would grow for ever.
        if not self._resynced_left:
            self.notify(deltas)
            self._resynced_left = len(self)

    def end(self) -> None:
        """Stop calling the handler, and drop the buffered changes."""
        self._waiting.clear()
        self._is_ended = True
        self._caught_up.set()

    def end_initial(self) -> None:
        """Record that all objects of the initial list have been added to the buffer."""
        self._initial_left = len(self)
        if self._initial_left == 0:
            self._caught_up.set()

    def check(self) -> None:
        """Report the handler if it has been handling one change for too long.

        The same change is reported only once.
        """
        if self._busy_with is None or self._is_reported:
            return
        busy_seconds = self._clock.monotonic() - self._busy_since_at
        if busy_seconds >= STUCK_SECONDS:
            self._is_reported = True
            self._observe(
                HandlerStuck(
                    handler=self.name,
                    resource=self._resource,
                    ref=self._busy_with.obj.ref,
                    busy_seconds=busy_seconds,
                    waiting=len(self._waiting),
                )
            )

    async def run(self) -> None:
        """Call the handler with one buffered change after another, until this task is cancelled."""
        delivered = 0
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            delta = self._waiting.popleft()
            try:
                answer = self._handler(delta)
                if answer is not None:
                    await self._await_handler(delta, answer)
            except asyncio.CancelledError:
                if is_cancelled():
                    raise
                # Only an operation that the handler awaited was cancelled, not this task.
                self._failed(delta, RuntimeError("an operation that it awaited was cancelled"))
            except AUTHOR_ERRORS as error:
                self._failed(delta, failure_of(error))
            self._count_delivered()
            delivered += 1
            if delivered % BATCH == 0:
                await self._clock.sleep(0)

    def _count_delivered(self) -> None:
        if self._initial_left:
            self._initial_left -= 1
            if self._initial_left == 0:
                self._caught_up.set()
        if self._resynced_left:
            self._resynced_left -= 1

    def _failed(self, delta: Delta[Obj], error: Exception) -> None:
        self._observe(
            HandlerFailed(
                handler=self.name, resource=self._resource, ref=delta.obj.ref, error=error
            )
        )

    async def _await_handler(self, delta: Delta[Obj], answer: Awaitable[None]) -> None:
        self._busy_with, self._busy_since_at = delta, self._clock.monotonic()
        self._is_reported = False
        try:
            await answer
        finally:
            self._busy_with = None


class InlineRegistration(Registration[Obj]):
    """A registered handler that the reflector calls directly, without a task.

    With ``may_yield``, a large number of changes is delivered by a task instead, which ends after
    the last of these changes.
    """

    def __init__(
        self,
        handler: Handler[Obj],
        *,
        name: str,
        resource: str,
        resync_seconds: float | None,
        newest_first: bool,
        clock: Clock,
        observe: Observer,
        may_yield: bool,
    ) -> None:
        super().__init__(
            handler,
            name=name,
            resource=resource,
            resync_seconds=resync_seconds,
            newest_first=newest_first,
            clock=clock,
            observe=observe,
        )
        self._most_at_once = BATCH if may_yield else inf
        self._start_delivery: Callable[[], object] | None = None
        self._is_delivering = False

    def deliver_with(self, start_delivery: Callable[[], object] | None) -> None:
        """Set the function that starts a delivery task when too many changes arrive together.

        ``start_delivery`` must start a task that runs ``deliver_waiting``. If it is ``None``, such
        changes wait until a later call of this method sets a function.
        """
        self._start_delivery = start_delivery
        self._is_delivering = False
        self._start_delivery_if_needed()

    def notify(self, deltas: Sequence[Delta[Obj]]) -> None:
        """Call the handler with each of ``deltas``, or buffer them if there are too many."""
        if self._is_ended:
            return
        ordered = self._ordered(deltas)
        if self._waiting or len(ordered) > self._most_at_once:
            self._waiting.extend(ordered)
            self._start_delivery_if_needed()
            return
        for delta in ordered:
            self._deliver(delta)

    def _start_delivery_if_needed(self) -> None:
        if self._waiting and self._start_delivery is not None and not self._is_delivering:
            self._is_delivering = True
            self._start_delivery()

    async def deliver_waiting(self) -> None:
        """Deliver the buffered changes in batches; other tasks can run between two batches."""
        delivered = 0
        while self._waiting:
            self._deliver(self._waiting.popleft())
            self._count_delivered()
            delivered += 1
            if delivered % BATCH == 0:
                await self._clock.sleep(0)
        self._is_delivering = False

    def _deliver(self, delta: Delta[Obj]) -> None:
        if self._is_ended:
            return
        try:
            if self._handler(delta) is not None:
                raise TypeError("an inline handler must be a plain function that returns None")
        except asyncio.CancelledError:
            # Only an operation of the handler was cancelled; the reflector continues.
            self._failed(delta, RuntimeError("an operation that it used was cancelled"))
        except AUTHOR_ERRORS as error:
            self._failed(delta, failure_of(error))
