"""Handlers: who is told of each change, each with a buffer and a task of its own.

A slow handler delays nobody but itself; one that raises is told of the next change all the same.
One that only notes what has changed can do without both.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Generic, Protocol, TypeAlias, TypeVar

from steersman.cache.background import is_cancelled
from steersman.cache.delta_fifo import Added, Deleted, Delta, Sync, Updated
from steersman.clock import Clock
from steersman.errors import AUTHOR_ERRORS, NotFollowed, failure_of
from steersman.kinds import Resource, Unstructured
from steersman.observe import HandlerFailed, HandlerStuck, Observer
from steersman.watch import newest_first

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# A handler that has been busy with one change for so long is reported: longer than anything that
# only puts a key into a queue, shorter than a person's patience.
STUCK_SECONDS = 30.0

# Plain functions never give up the thread of themselves, and an initial list may have a hundred
# thousand objects; after so many, everybody else gets a turn.
TURN = 500


class Handler(Protocol[Obj]):
    """Anything that takes a delta, as a plain function or as one to be awaited."""

    def __call__(self, delta: Delta[Obj], /) -> Awaitable[None] | None:
        """Be told of one change; the cache shows it already."""
        ...


Told: TypeAlias = Awaitable[None] | None


def on(
    *,
    added: Callable[[Obj], Told] | None = None,
    updated: Callable[[Obj, Obj], Told] | None = None,
    deleted: Callable[[Obj], Told] | None = None,
) -> Handler[Obj]:
    """A handler made of functions: ``added(obj)``, ``updated(old, obj)``, ``deleted(obj)``.

    A resync is an update from an object to itself.
    """

    def handle(delta: Delta[Obj]) -> Told:
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
    """One handler of an informer, until ``remove_handler`` ends it."""

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
        """How many changes it has not been told of yet."""
        return len(self._waiting) + (self._busy_with is not None)

    @property
    def has_synced(self) -> bool:
        """Whether it has been told of every object that was there at first."""
        return self._initial_left == 0

    async def synced(self) -> None:
        """Wait until it has; ``NotFollowed`` if it is removed before."""
        await self._caught_up.wait()
        if not self.has_synced:
            raise NotFollowed(
                wanted=f"wait for the handler {self.name} of {self._resource}",
                problem="it was removed before it had been told of all that was there",
                what_now="Wait first, then remove it.",
            )

    def tell(self, deltas: Sequence[Delta[Obj]]) -> None:
        """Put changes into its buffer."""
        if not self._is_ended:
            self._waiting.extend(self._ordered(deltas))
            self._arrived.set()

    def _ordered(self, deltas: Sequence[Delta[Obj]]) -> Sequence[Delta[Obj]]:
        """As they came; or the newest first, as long as they are of what was there."""
        if not self._is_newest_first or self._initial_left is not None:
            return deltas
        there = [delta for delta in deltas if type(delta) is Added]
        # An object may have to end before one of its name is there.
        others = [delta for delta in deltas if type(delta) is not Added]
        return [*others, *newest_first(there, [each.version for each in there])]

    def tell_again(self, deltas: Sequence[Delta[Obj]]) -> None:
        """The same for a resync, unless it is not through with the last one."""
        # Else whoever is slower than that would never catch up, and the buffer grow for ever.
        if not self._resynced_left:
            self.tell(deltas)
            self._resynced_left = len(self)

    def end(self) -> None:
        """Tell it nothing any more, not even what waits."""
        self._waiting.clear()
        self._is_ended = True
        self._caught_up.set()

    def end_initial(self) -> None:
        """What it has been told up to here is what was there at first."""
        self._initial_left = len(self)
        if self._initial_left == 0:
            self._caught_up.set()

    def check(self) -> None:
        """Report it if it has been busy with one change for too long; once for each."""
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
        """Tell the handler, change by change."""
        told = 0
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            delta = self._waiting.popleft()
            try:
                answer = self._handler(delta)
                if answer is not None:
                    await self._patiently(delta, answer)
            except asyncio.CancelledError:
                if is_cancelled():
                    raise
                # Something that the handler waited for was, which is the handler's own affair.
                self._failed(delta, RuntimeError("what it waited for was cancelled"))
            except AUTHOR_ERRORS as error:
                self._failed(delta, failure_of(error))
            self._count_told()
            told += 1
            if told % TURN == 0:
                await self._clock.sleep(0)

    def _count_told(self) -> None:
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

    async def _patiently(self, delta: Delta[Obj], answer: Awaitable[None]) -> None:
        self._busy_with, self._busy_since_at = delta, self._clock.monotonic()
        self._is_reported = False
        try:
            await answer
        finally:
            self._busy_with = None


class PromptRegistration(Registration[Obj]):
    """One that is told by whoever hears, without a task of its own.

    Unless it may be told ``by_turns`` of many changes at once: in a task that ends with the last.
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
        by_turns: bool,
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
        self._most_at_once = TURN if by_turns else inf
        self._employ: Callable[[], object] | None = None
        self._is_working_off = False

    def employ_with(self, employ: Callable[[], object] | None) -> None:
        """Have ``employ`` run ``work_off`` whenever there is more than can be told in passing.

        With ``None`` there is nobody who could, and it waits until there is.
        """
        self._employ = employ
        self._is_working_off = False
        self._work_off_if_needed()

    def tell(self, deltas: Sequence[Delta[Obj]]) -> None:
        """Tell the handler, change by change."""
        if self._is_ended:
            return
        ordered = self._ordered(deltas)
        if self._waiting or len(ordered) > self._most_at_once:
            self._waiting.extend(ordered)
            self._work_off_if_needed()
            return
        for delta in ordered:
            self._pass_on(delta)

    def _work_off_if_needed(self) -> None:
        if self._waiting and self._employ is not None and not self._is_working_off:
            self._is_working_off = True
            self._employ()

    async def work_off(self) -> None:
        """Tell of what has come together, by turns."""
        told = 0
        while self._waiting:
            self._pass_on(self._waiting.popleft())
            self._count_told()
            told += 1
            if told % TURN == 0:
                await self._clock.sleep(0)
        self._is_working_off = False

    def _pass_on(self, delta: Delta[Obj]) -> None:
        if self._is_ended:
            return
        try:
            if self._handler(delta) is not None:
                raise TypeError("a prompt handler is a plain function that returns nothing")
        except asyncio.CancelledError:
            # Whoever hears is not to end for it: something that the handler looked at was.
            self._failed(delta, RuntimeError("what it asked for was cancelled"))
        except AUTHOR_ERRORS as error:
            self._failed(delta, failure_of(error))
