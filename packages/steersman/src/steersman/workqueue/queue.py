"""The queue: what is added, what is given out, and to whom."""

import asyncio
from contextlib import AbstractAsyncContextManager
from enum import Enum
from math import isfinite
from types import TracebackType
from typing import Final, Generic

from steersman.clock import Clock
from steersman.errors import NotHeld, QueueClosed
from steersman.observe import (
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    Observer,
    QueueEnded,
)
from steersman.workqueue.delays import Delays
from steersman.workqueue.limits import RateLimiter
from steersman.workqueue.line import Line
from steersman.workqueue.needs import K, Need
from steersman.workqueue.takers import Takers

# For what is there at the start and what a resync brings up: it can wait for what has just
# changed. The number is controller-runtime's.
LOW_PRIORITY: Final = -100


class _Phase(Enum):
    OPEN = "open"
    DRAINING = "draining"  # nothing goes in any more
    ENDED = "shut down"  # and nothing comes out


class WorkQueue(Generic[K]):
    """Keys that need a look, each with one worker at a time.

    A key has at most one look coming: whoever adds it, the earliest moment and the highest
    priority win. So an ``add`` also does for a look that was to come later; the one who takes the
    key then decides anew when it wants the next. Higher numbers are more urgent.

    What is added when the queue is closed is let go without a word: those who add cannot know, and
    whoever starts next looks at everything anyway. All of it is for one event loop, and its thread.
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
        self._line: Line[K] = Line()
        self._delays: Delays[K] = Delays()
        self._dirty: dict[K, Need[K]] = {}
        self._held: dict[K, tuple[int, float]] = {}  # with which priority, and since when
        self._takers = Takers(clock=clock)
        self._phase = _Phase.OPEN
        self._draining: list[asyncio.Future[None]] = []

    def add(self, key: K, *, priority: int = 0) -> None:
        """Have this key looked at as soon as its turn comes."""
        if self._phase is not _Phase.OPEN:
            return
        now_at = self._clock.monotonic()
        if self._delays.needs:
            self._end_delays(now_at)
            delayed = self._delays.take_out(key)
            if delayed is not None:
                priority = max(priority, delayed.priority)
        self._enter(Need(key, priority, now_at))

    def add_after(self, key: K, seconds: float, *, priority: int = 0) -> None:
        """Have this key looked at in so many seconds, unless that happens sooner anyway."""
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
            coming = self._line.needs.get(key) or self._dirty.get(key)
            if coming is not None:
                self._raise(coming, priority)
            else:
                self._delays.put(Need(key, priority, now_at + seconds))
                self._takers.watch_until(now_at + seconds)

    def add_rate_limited(self, key: K, *, priority: int = 0) -> None:
        """Have this key looked at again when the rate limiter allows it."""
        self.add_after(key, self._limiter.wait_seconds(key), priority=priority)

    def forget(self, key: K) -> None:
        """Let the rate limiter take this key for a fresh one. It stays where it is."""
        self._limiter.forget(key)

    def num_requeues(self, key: K) -> int:
        """How often this key was added rate limited since it was last forgotten."""
        return self._limiter.num_requeues(key)

    async def get(self) -> K:
        """Wait for a key, and hold it until ``done``; ``QueueClosed`` if none will come.

        If one is there it is given out at once: a loop that waits for nothing else must let
        others have their turn.
        """
        while True:
            now_at = self._clock.monotonic()
            if self._delays.needs:
                self._end_delays(now_at)
            if self._line.needs:
                return self._give_out(now_at)
            if self._phase is _Phase.ENDED:
                raise QueueClosed(queue=self.name)
            try:
                await self._takers.sleep(self._delays.next_due_at)
            except asyncio.CancelledError:
                # This one may have been woken for a key, or have been the watch.
                if self._line:
                    self._takers.wake_one()
                if self._delays:
                    self._takers.replace_watch()
                raise

    def done(self, key: K) -> None:
        """Let go of a key; if it was added meanwhile, it is given out once more."""
        now_at = self._clock.monotonic()
        if self._delays.needs:
            self._end_delays(now_at)
        held = self._held.pop(key, None)
        if held is None:
            raise NotHeld(queue=self.name, key=key)
        if self._dirty:
            need = self._dirty.pop(key, None)
            if need is not None:
                self._line.push(need)
                self._takers.wake_one()
        _, taken_at = held
        self._observe(KeyDone(queue=self.name, key=key, took_seconds=now_at - taken_at))
        if self._phase is not _Phase.OPEN:
            self._check_end()

    def take(self) -> AbstractAsyncContextManager[K]:
        """Hold the next key while the block runs; ``QueueClosed`` if none will come.

        A block that is cancelled has not done its work: its key goes back in line, with the
        priority it had. What to make of an error only the worker knows.
        """
        return _Taking(self)

    def held_priority(self, key: K) -> int:
        """The priority with which this key was given out, for a worker that puts it back."""
        held = self._held.get(key)
        if held is None:
            raise NotHeld(queue=self.name, key=key)
        return held[0]

    def held_since_at(self, key: K) -> float:
        """When this key was given out to the worker that holds it."""
        held = self._held.get(key)
        if held is None:
            raise NotHeld(queue=self.name, key=key)
        return held[1]

    def shut_down(self) -> None:
        """Give out nothing more, at once: all who wait for a key get ``QueueClosed``.

        Who holds a key keeps it until it is done.
        """
        if self._phase is not _Phase.ENDED:
            self._phase = _Phase.ENDED
            left = len(self._line) + len(self._dirty) + len(self._delays)
            self._line.clear()
            self._dirty.clear()
            self._delays.clear()
            self._observe(QueueEnded(queue=self.name, left=left, held=len(self._held)))
            self._check_end()

    async def drain(self, *, finish_waiting: bool = False) -> None:
        """Shut down, and wait until every key that is held is done.

        With ``finish_waiting``, all that waits now is given out first, and only what was to be
        looked at later is dropped; for that there must be somebody to take it. Who cannot wait any
        longer calls ``shut_down``. Takers get ``QueueClosed`` when the last key is done: one whose
        block is cancelled goes back in line even now.
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
        """How many keys could be given out now."""
        if self._delays.needs:
            self._end_delays(self._clock.monotonic())
        return len(self._line.needs)

    @property
    def has_waiting(self) -> bool:
        """Whether a key waits, of those that waited when the queue was last used."""
        return bool(self._line.needs)

    @property
    def num_held(self) -> int:
        """How many keys are with a worker."""
        return len(self._held)

    @property
    def num_dirty(self) -> int:
        """How many of those that are held were added again meanwhile."""
        return len(self._dirty)

    @property
    def num_delayed(self) -> int:
        """How many keys are to be looked at later."""
        return len(self._delays)

    def __repr__(self) -> str:
        delayed = f", {len(self._delays)} delayed" if self._delays else ""
        phase = f", {self._phase.value}" if self._phase is not _Phase.OPEN else ""
        counts = f"{len(self._line)} waiting, {len(self._held)} held, {len(self._dirty)} dirty"
        return f"<WorkQueue {counts}{delayed}{phase}>"

    def _enter(self, need: Need[K]) -> None:
        """Put in a need; one that its key has already is made as urgent."""
        key = need.key
        if key in self._held:
            coming = self._dirty.get(key)
            if coming is None:
                self._dirty[key] = need
        else:
            coming = self._line.needs.get(key)
            if coming is None:
                self._line.push(need)
                self._takers.wake_one()
        if coming is None:
            self._observe(KeyAdded(queue=self.name, key=key, priority=need.priority))
        else:
            self._raise(coming, need.priority)

    def _raise(self, need: Need[K], priority: int) -> None:
        if priority > need.priority:
            self._observe(
                KeyRaised(
                    queue=self.name,
                    key=need.key,
                    old_priority=need.priority,
                    priority=priority,
                )
            )
            if need.place:
                self._line.raise_to(priority, need)
            else:
                need.priority = priority

    def _end_delays(self, now_at: float) -> None:
        for need in self._delays.take_due(now_at):
            self._enter(need)

    def _give_out(self, now_at: float) -> K:
        need = self._line.pop()
        self._held[need.key] = (need.priority, now_at)
        self._observe(
            KeyTaken(
                queue=self.name,
                key=need.key,
                priority=need.priority,
                waited_seconds=now_at - need.since_at,
                taken_at=now_at,
            )
        )
        return need.key

    def _put_back(self, key: K) -> None:
        """See to it that a key which is held is looked at again, if nobody has done so."""
        if self._phase is not _Phase.ENDED and key not in self._delays:
            self._enter(Need(key, self.held_priority(key), self._clock.monotonic()))

    def _check_end(self) -> None:
        if self._phase is _Phase.DRAINING and not (self._line or self._dirty or self._held):
            self.shut_down()
        elif self._phase is _Phase.ENDED:
            self._takers.wake_all()
            if not self._held:
                waiting, self._draining = self._draining, []
                for each in waiting:
                    if not each.done():
                        each.set_result(None)


class _Taking(Generic[K]):
    # Not made with asynccontextmanager, which takes longer than all the rest of a take.

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
            self._queue._put_back(self._key)  # pyright: ignore[reportPrivateUsage]
        self._queue.done(self._key)
