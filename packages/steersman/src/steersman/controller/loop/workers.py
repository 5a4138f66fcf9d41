"""Workers: tasks that take keys from the queue and have each reconciled, a bounded number at once.

    queue ──key──▶ worker ──▶ reconcile ──▶ queue.done
                      │ it is slow, and no worker is idle
                      ▼
                  slow lane, and another worker in its place

Whatever becomes of a worker, a key stays with it until its reconcile has ended.
"""

import asyncio
from typing import Any, Final, Protocol

from steersman.cache import is_cancelled
from steersman.clock import Clock
from steersman.controller.controller import Controller
from steersman.controller.leadership import IsLeader, wait_until_leader
from steersman.controller.loop.slow_lane import SlowLane
from steersman.errors import QueueClosed
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import Observer, SlowLaneChanged
from steersman.workqueue import WorkQueue

# While no worker is idle, it is looked so often what is slow by now.
LOOK_SECONDS: Final = 1.0


class Work(Protocol):
    """What workers do with a key."""

    async def look_at(self, key: ObjectKey) -> object | None:
        """Reconcile its object; what that was like, if the reconcile timed out."""
        ...

    def let_go(self, key: ObjectKey) -> None:
        """Have the queue take it back."""
        ...

    def state_of(self, key: ObjectKey) -> object | None:
        """What its object is like, as ``look_at`` would say."""
        ...

    def ref_of(self, key: ObjectKey) -> ObjectRef:
        """Its object, for people."""
        ...


class _Worker:
    __slots__ = ("began_at", "is_slow", "key")

    def __init__(self) -> None:
        self.key: ObjectKey | None = None
        self.began_at: float | None = None
        self.is_slow = False


class Workers:
    """The workers of one controller."""

    def __init__(
        self,
        controller: Controller[Any],
        queue: WorkQueue[ObjectKey],
        work: Work,
        *,
        leads: IsLeader | None,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._name = controller.name
        self._queue = queue
        self._work = work
        self._most = controller.workers
        self.lane = SlowLane(
            workers=controller.workers,
            capacity=controller.slow_capacity,
            after_seconds=controller.slow_seconds,
        )
        # A plain function waits for a thread before it begins.
        self._begins_late = controller.is_blocking
        self._leads = leads
        self._clock = clock
        self._observe = observe
        self._number = 0
        self._employed = 0
        self._idle = 0
        self._by_key: dict[ObjectKey, _Worker] = {}
        self._by_task: dict[asyncio.Task[Any], _Worker] = {}
        self._crowded = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Workers of {self._name}: {self._employed}, of which {self._idle} idle>"

    async def run(self, stopped: asyncio.Event) -> None:
        """Work until the queue is closed; it is when ``stopped`` is set."""
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(self._watch(group), name=f"slow lane of {self._name}")
            try:
                self._employ(group)
                await stopped.wait()
            finally:
                # Reconciles in the lane finish; no worker waits for their places.
                watch.cancel()

    def begin(self, key: ObjectKey) -> None:
        """The author's function begins only now, after a wait for a thread."""
        worker = self._by_key.get(key)
        if worker is not None:
            worker.began_at = self._clock.monotonic()
            self._look_if_crowded()

    def forget(self, key: ObjectKey) -> None:
        """Its object is gone."""
        if len(self.lane):
            self.lane.forget(key)
            self._tell()

    def current(self, task: "asyncio.Task[Any]") -> ObjectKey | None:
        """The key that this task works on, if it is one of the workers."""
        worker = self._by_task.get(task)
        return None if worker is None else worker.key

    @property
    def stuck(self) -> tuple[ObjectRef, ...]:
        """The objects that hang, and then those whose reconcile is slow."""
        keys = dict.fromkeys((*self.lane.hanging, *self.lane.slow))
        return tuple(map(self._work.ref_of, keys))

    # A worker

    def _employ(self, group: asyncio.TaskGroup) -> None:
        """Start a worker, and another in its place if an author's function cancels it."""
        worker = _Worker()
        work = self._work_with(worker, group)
        try:
            task = group.create_task(work, name=f"{self._name}/{self._number}")
        except RuntimeError:  # The others are being cancelled too: it is the end.
            work.close()
            return
        self._number += 1
        self._employed += 1
        self._by_task[task] = worker

        def ended(done: asyncio.Task[None]) -> None:
            del self._by_task[done]
            if worker.is_slow:
                return
            self._employed -= 1
            if done.cancelled():
                self._employ(group)

        task.add_done_callback(ended)

    async def _work_with(self, worker: _Worker, group: asyncio.TaskGroup) -> None:
        queue, lane = self._queue, self.lane
        while True:
            self._idle += 1
            try:
                key = await queue.get()
            except QueueClosed:
                return
            finally:
                self._idle -= 1
            is_hanging = False
            if lane.hanging and key in lane.hanging:
                is_hanging = self._still_hangs(key)
                if is_hanging and not lane.may_begin(key, queue.held_priority(key)):
                    queue.done(key)
                    self._tell()
                    continue
            # One more than there is work for, as far as that is allowed: most controllers never
            # have enough to do for all of them.
            if not self._idle and self._employed < self._most:
                self._employ(group)
            worker.key = key
            self._by_key[key] = worker
            if is_hanging and lane.has_room:
                self._move(worker, key, group)
            elif not self._idle and self._employed >= self._most:
                self._crowded.set()
            try:
                if self._leads is not None:
                    await wait_until_leader(self._leads, self._clock)
                state = await self._work.look_at(key)
            except BaseException:
                # A cancelled reconcile has not done its work.
                queue.add(key, priority=queue.held_priority(key))
                lane.cut(key)
                raise
            finally:
                worker.key = worker.began_at = None
                del self._by_key[key]
                self._work.let_go(key)
                if worker.is_slow:
                    lane.leave(key)
            if is_hanging or state is not None:
                lane.ended(key, state)
                self._tell()
            if worker.is_slow or lane.waiting:
                self._let_next_begin()
            if is_cancelled():
                # The author's function has made something else of it, and that is told by now.
                raise asyncio.CancelledError
            if worker.is_slow and not self._rejoin(worker):
                return
            # A queue that is never empty and a function that never waits would leave no turn to
            # anybody else. One that is empty is waited for anyway. ``done`` has just looked which
            # delays have ended.
            if queue.has_waiting:
                await self._clock.sleep(0)

    # The slow lane

    @property
    def _is_crowded(self) -> bool:
        return not self._idle and self._employed >= self._most

    def _look_if_crowded(self) -> None:
        if self._is_crowded:
            self._crowded.set()

    async def _watch(self, group: asyncio.TaskGroup) -> None:
        """While no worker is idle, move what is slow out of their way."""
        while True:
            await self._crowded.wait()
            self._crowded.clear()
            while self._is_crowded and self.lane.has_room:
                first = self._first()
                if first is None:
                    break  # all of them wait for a thread: ``begin`` says when one has it
                worker, key, began_at = first
                wait_seconds = began_at + self.lane.patience_seconds - self._clock.monotonic()
                if wait_seconds > 0:
                    # What is usual may change meanwhile.
                    await self._clock.sleep(min(wait_seconds, LOOK_SECONDS))
                else:
                    self._move(worker, key, group)

    def _first(self) -> tuple[_Worker, ObjectKey, float] | None:
        """The worker whose reconcile began first, of those that are in each other's way."""
        first: tuple[_Worker, ObjectKey, float] | None = None
        for key, worker in self._by_key.items():
            if worker.is_slow:
                continue
            began_at = worker.began_at if self._begins_late else self._queue.held_since_at(key)
            if began_at is not None and (first is None or began_at < first[2]):
                first = worker, key, began_at
        return first

    def _move(self, worker: _Worker, key: ObjectKey, group: asyncio.TaskGroup) -> None:
        worker.is_slow = True
        self._employed -= 1
        self.lane.enter(key)
        if not self._idle:
            self._employ(group)
        self._tell()

    def _rejoin(self, worker: _Worker) -> bool:
        """Whether a worker that leaves the lane has a place among the others."""
        self._tell()
        if self._idle or self._employed >= self._most:
            return False
        worker.is_slow = False
        self._employed += 1
        return True

    def _still_hangs(self, key: ObjectKey) -> bool:
        """Whether an object is what it was when its reconcile timed out."""
        if self.lane.hanging[key] == self._work.state_of(key):
            return True
        self.lane.forget(key)
        self._let_next_begin()
        return False

    def _let_next_begin(self) -> None:
        self._look_if_crowded()
        following = self.lane.next_waiting()
        if following is not None:
            key, priority = following
            self._queue.add(key, priority=priority)

    def _tell(self) -> None:
        lane = self.lane
        self._observe(
            SlowLaneChanged(
                controller=self._name,
                slow=len(lane.slow),
                hanging=len(lane.hanging),
                waiting=len(lane.waiting),
            )
        )
