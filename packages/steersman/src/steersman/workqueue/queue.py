"""``WorkQueue``: stores keys, delivers them to workers, and limits each key to one worker."""

import asyncio
from contextlib import AbstractAsyncContextManager
from enum import Enum
from math import isfinite
from types import TracebackType
from typing import Final, Generic

from steersman.clock import Clock
from steersman.errors import NotProcessing, QueueClosed
from steersman.observe import (
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    Observer,
    QueueEnded,
)
from steersman.workqueue.delayed_items import DelayedItems
from steersman.workqueue.priority_fifo import Item, K, PriorityFifo
from steersman.workqueue.rate_limiters import RateLimiter
from steersman.workqueue.waiters import Waiters

# For the keys of initial lists and resyncs: they wait behind recent changes. The number is
# controller-runtime's.
LOW_PRIORITY: Final = -100


class _Phase(Enum):
    OPEN = "open"
    DRAINING = "draining"  # no key is added
    ENDED = "shut down"  # no key is returned


class WorkQueue(Generic[K]):
    """A queue of keys to reconcile, each with one worker at a time.

    A key is in the queue at most once: if it is added several times, the earliest time and the
    highest priority apply. Therefore an ``add`` replaces an earlier ``add_after``, and the worker
    decides again when to add the key next. A higher number is a higher priority.

    Keys added to a closed queue are dropped silently: triggers cannot determine whether the queue
    is closed, and the next process lists all objects anyway. A queue belongs to one event loop and
    its thread.
    """

    #             add                take              done
    #   idle ─────────────▶ waiting ──────▶ held ─────────────▶ idle
    #     │ add_after          ▲             │ add, and delays that end
    #     └──────▶ delayed ────┤             ▼
    #                          └─────────  dirty
    #                             done

    def __init__(
        self, name: str, *, limiter: RateLimiter[K], clock: Clock, observe: Observer
    ) -> None:
        self.name = name
        self._limiter = limiter
        self._clock = clock
        self._observe = observe
        self._fifo: PriorityFifo[K] = PriorityFifo()
        self._delays: DelayedItems[K] = DelayedItems()
        self._dirty: dict[K, Item[K]] = {}
        self._held: dict[K, tuple[int, float]] = {}  # with its priority and the start time
        self._waiters = Waiters(clock=clock)
        self._phase = _Phase.OPEN
        self._draining: list[asyncio.Future[None]] = []

    def add(self, key: K, *, priority: int = 0) -> None:
        """Add a key."""
        if self._phase is not _Phase.OPEN:
            return
        now_at = self._clock.monotonic()
        if self._delays.items:
            self._end_delays(now_at)
            delayed = self._delays.take_out(key)
            if delayed is not None:
                priority = max(priority, delayed.priority)
        self._put(Item(key, priority, now_at))

    def add_after(self, key: K, seconds: float, *, priority: int = 0) -> None:
        """Add a key after ``seconds``, unless the key is added earlier by another call."""
        if not isfinite(seconds):
            raise ValueError(f"a delay must be a finite number of seconds, got {seconds}")
        if seconds <= 0:
            self.add(key, priority=priority)
        elif self._phase is _Phase.OPEN:
            self._observe(
                KeyDelayed(
                    queue=self.name,
                    key=key,
                    wait_seconds=seconds,
                    requeues=self._limiter.num_requeues(key),
                )
            )
            now_at = self._clock.monotonic()
            self._end_delays(now_at)
            coming = self._fifo.items.get(key) or self._dirty.get(key)
            if coming is not None:
                self._raise(coming, priority)
            else:
                self._delays.put(Item(key, priority, now_at + seconds))
                self._waiters.wake_at(now_at + seconds)

    def add_rate_limited(self, key: K, *, priority: int = 0) -> None:
        """Add a key after the delay that the rate limiter returns."""
        self.add_after(key, self._limiter.wait_seconds(key), priority=priority)

    def forget(self, key: K) -> None:
        """Reset the failures of ``key`` in the rate limiter; the queue itself is unchanged."""
        self._limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """Return how often ``key`` was added with a rate limit since its last ``forget``."""
        return self._limiter.num_requeues(key)

    async def get(self) -> K:
        """Wait for a key, and return it; the caller holds the key until it calls ``done``.

        Raise ``QueueClosed`` if the queue is closed and has no more keys. If a key is available, it
        is returned without yielding to the event loop. A loop that awaits nothing else must yield
        explicitly.
        """
        while True:
            now_at = self._clock.monotonic()
            if self._delays.items:
                self._end_delays(now_at)
            if self._fifo.items:
                return self._give_out(now_at)
            if self._phase is _Phase.ENDED:
                raise QueueClosed(queue=self.name)
            try:
                await self._waiters.sleep(self._delays.next_due_at)
            except asyncio.CancelledError:
                # This worker may have been woken for a key, or have been the timed waiter.
                if self._fifo:
                    self._waiters.wake_one()
                if self._delays:
                    self._waiters.replace_timed_waiter()
                raise

    def done(self, key: K) -> None:
        """Release ``key``, which the caller holds.

        If the key was added while the caller held it, it is delivered once more.
        """
        now_at = self._clock.monotonic()
        if self._delays.items:
            self._end_delays(now_at)
        held = self._held.pop(key, None)
        if held is None:
            raise NotProcessing(queue=self.name, key=key)
        if self._dirty:
            item = self._dirty.pop(key, None)
            if item is not None:
                self._fifo.push(item)
                self._waiters.wake_one()
        _, taken_at = held
        self._observe(KeyDone(queue=self.name, key=key, took_seconds=now_at - taken_at))
        if self._phase is not _Phase.OPEN:
            self._check_end()

    def take(self) -> AbstractAsyncContextManager[K]:
        """Return a context that waits for a key, and holds the key while the block runs.

        Entering the context raises ``QueueClosed`` if the queue is closed and has no more keys. If
        the block is cancelled, the key is added again with its priority. After any other exception,
        the key is done, and the worker decides whether to add it again.
        """
        return _TakeContext(self)

    def processing_priority(self, key: K) -> int:
        """Return the priority with which ``key`` was delivered to the worker that holds it.

        The worker can then add the key again with the same priority.
        """
        held = self._held.get(key)
        if held is None:
            raise NotProcessing(queue=self.name, key=key)
        return held[0]

    def processing_since_at(self, key: K) -> float:
        """Return the time at which ``key`` was delivered to the worker that holds it."""
        held = self._held.get(key)
        if held is None:
            raise NotProcessing(queue=self.name, key=key)
        return held[1]

    def shut_down(self) -> None:
        """Close the queue: deliver no more keys, and raise ``QueueClosed`` in waiting workers.

        Workers keep the keys that they hold until they call ``done``.
        """
        if self._phase is not _Phase.ENDED:
            self._phase = _Phase.ENDED
            left = len(self._fifo) + len(self._dirty) + len(self._delays)
            self._fifo.clear()
            self._dirty.clear()
            self._delays.clear()
            self._observe(QueueEnded(queue=self.name, left=left, held=len(self._held)))
            self._check_end()

    async def drain(self, *, finish_waiting: bool = False) -> None:
        """Close the queue, and wait until every held key is done.

        With ``finish_waiting``, all waiting keys are delivered first, so workers must continue to
        take keys, and only delayed keys are dropped. Workers receive ``QueueClosed`` only when the
        last key is done, because the key of a cancelled block is added again even during a drain. A
        call of ``shut_down`` drops the keys that still wait.
        """
        if not finish_waiting:
            self.shut_down()
        elif self._phase is _Phase.OPEN:
            self._end_delays(self._clock.monotonic())
            self._delays.clear()
            self._phase = _Phase.DRAINING
            self._check_end()
        while self._held or self._phase is not _Phase.ENDED:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._draining.append(future)
            await future

    @property
    def num_waiting(self) -> int:
        """The number of keys that could be delivered now."""
        if self._delays.items:
            self._end_delays(self._clock.monotonic())
        return len(self._fifo.items)

    @property
    def has_waiting(self) -> bool:
        """Whether a key can be delivered now.

        A key whose delay has ended since the last use of the queue does not count.
        """
        return bool(self._fifo.items)

    @property
    def num_processing(self) -> int:
        """The number of keys held by workers."""
        return len(self._held)

    @property
    def num_dirty(self) -> int:
        """The number of held keys that were added again while a worker held them."""
        return len(self._dirty)

    @property
    def num_delayed(self) -> int:
        """The number of delayed keys."""
        return len(self._delays)

    def __repr__(self) -> str:
        delayed = f", {len(self._delays)} delayed" if self._delays else ""
        phase = f", {self._phase.value}" if self._phase is not _Phase.OPEN else ""
        counts = f"{len(self._fifo)} waiting, {len(self._held)} held, {len(self._dirty)} dirty"
        return f"<WorkQueue {counts}{delayed}{phase}>"

    def _put(self, item: Item[K]) -> None:
        """Add an item; if there is an item of this key, raise the existing item's priority."""
        key = item.key
        if key in self._held:
            coming = self._dirty.get(key)
            if coming is None:
                self._dirty[key] = item
        else:
            coming = self._fifo.items.get(key)
            if coming is None:
                self._fifo.push(item)
                self._waiters.wake_one()
        if coming is None:
            self._observe(KeyAdded(queue=self.name, key=key, priority=item.priority))
        else:
            self._raise(coming, item.priority)

    def _raise(self, item: Item[K], priority: int) -> None:
        if priority > item.priority:
            self._observe(
                KeyRaised(
                    queue=self.name,
                    key=item.key,
                    old_priority=item.priority,
                    priority=priority,
                )
            )
            if item.place:
                self._fifo.raise_to(priority, item)
            else:
                item.priority = priority

    def _end_delays(self, now_at: float) -> None:
        for item in self._delays.take_due(now_at):
            self._put(item)

    def _give_out(self, now_at: float) -> K:
        item = self._fifo.pop()
        self._held[item.key] = (item.priority, now_at)
        self._observe(
            KeyTaken(
                queue=self.name,
                key=item.key,
                priority=item.priority,
                waited_seconds=now_at - item.since_at,
                taken_at=now_at,
            )
        )
        return item.key

    def _requeue(self, key: K) -> None:
        """Add a held key again, unless it was already added while a worker held it."""
        if self._phase is not _Phase.ENDED and key not in self._delays:
            self._put(Item(key, self.processing_priority(key), self._clock.monotonic()))

    def _check_end(self) -> None:
        if self._phase is _Phase.DRAINING and not (self._fifo or self._dirty or self._held):
            self.shut_down()
        elif self._phase is _Phase.ENDED:
            self._waiters.wake_all()
            if not self._held:
                waiting, self._draining = self._draining, []
                for each in waiting:
                    if not each.done():
                        each.set_result(None)


class _TakeContext(Generic[K]):
    # asynccontextmanager would take longer than the rest of a take.

    __slots__ = ("_key", "_queue")

    def __init__(self, queue: WorkQueue[K]) -> None:
        self._queue = queue

    async def __aenter__(self) -> K:
        self._key = key = await self._queue.get()
        return key

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, Exception):
            self._queue._requeue(self._key)  # pyright: ignore[reportPrivateUsage]
        self._queue.done(self._key)
