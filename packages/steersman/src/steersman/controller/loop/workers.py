"""``Workers``: a bounded number of tasks that take keys from the queue and reconcile them.

    queue ──key──▶ worker ──▶ reconcile ──▶ queue.done
                      │ slow, and no worker is idle
                      ▼
                  slow lane, and another worker in its place

A key stays with its worker until its reconcile has ended.
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

# The interval of the checks for slow reconciles while no worker is idle.
SLOW_CHECK_SECONDS: Final = 1.0


class KeyHandler(Protocol):
    """A protocol for the operations that workers call with a key."""

    async def reconcile_key(self, key: ObjectKey) -> object | None:
        """Reconcile the object of ``key``.

        If the reconcile timed out, return the fingerprint of the object, which changes with its
        content; otherwise return ``None``.
        """
        ...

    def release(self, key: ObjectKey) -> None:
        """Mark ``key`` as done in the queue."""
        ...

    def fingerprint_of(self, key: ObjectKey) -> object | None:
        """Return the fingerprint of the object of ``key``; ``None`` if the object is not cached."""
        ...

    def ref_of(self, key: ObjectKey) -> ObjectRef:
        """Return a reference to the object of ``key``."""
        ...


class _Worker:
    __slots__ = ("is_slow", "key", "started_at")

    def __init__(self) -> None:
        self.key: ObjectKey | None = None
        self.started_at: float | None = None
        self.is_slow = False


class Workers:
    """The workers of one controller: tasks that take keys from its queue and reconcile them."""

    def __init__(
        self,
        controller: Controller[Any],
        queue: WorkQueue[ObjectKey],
        handler: KeyHandler,
        *,
        leads: IsLeader | None,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._name = controller.name
        self._queue = queue
        self._handler = handler
        self._max_workers = controller.workers
        self.lane = SlowLane(
            workers=controller.workers,
            capacity=controller.slow_capacity,
            after_seconds=controller.slow_seconds,
        )
        # A plain function waits for a thread before it starts.
        self._starts_late = controller.is_blocking
        self._leads = leads
        self._clock = clock
        self._observe = observe
        self._number = 0
        self._num_workers = 0
        self._idle = 0
        self._by_key: dict[ObjectKey, _Worker] = {}
        self._by_task: dict[asyncio.Task[Any], _Worker] = {}
        self._saturated = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Workers of {self._name}: {self._num_workers}, of which {self._idle} idle>"

    async def run(self, stopped: asyncio.Event) -> None:
        """Run workers until ``stopped`` is set, which happens when the queue is shut down."""
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(
                self._watch_for_slow(group), name=f"slow lane of {self._name}"
            )
            try:
                self._start_worker(group)
                await stopped.wait()
            finally:
                # Reconciles in the lane continue; no further one enters it.
                watch.cancel()

    def thread_started(self, key: ObjectKey) -> None:
        """Record that the reconcile of ``key`` no longer waits for a thread.

        The time for which it waited does not count as slow.
        """
        worker = self._by_key.get(key)
        if worker is not None:
            worker.started_at = self._clock.monotonic()
            self._signal_if_all_busy()

    def forget(self, key: ObjectKey) -> None:
        """Drop the stored state about ``key``, because its object was deleted."""
        if len(self.lane):
            self.lane.forget(key)
            self._report_lane()

    def current(self, task: "asyncio.Task[Any]") -> ObjectKey | None:
        """Return the key that ``task`` reconciles; ``None`` if ``task`` is not one of these
        workers.
        """
        worker = self._by_task.get(task)
        return None if worker is None else worker.key

    @property
    def stuck(self) -> tuple[ObjectRef, ...]:
        """The objects whose last reconcile timed out, followed by the objects in the slow lane."""
        keys = dict.fromkeys((*self.lane.hanging, *self.lane.slow))
        return tuple(map(self._handler.ref_of, keys))

    # A worker

    def _start_worker(self, group: asyncio.TaskGroup) -> None:
        """Start a worker. If a function of the operator author cancels the worker, another one
        replaces it.
        """
        worker = _Worker()
        work = self._run_worker(worker, group)
        try:
            task = group.create_task(work, name=f"{self._name}/{self._number}")
        except RuntimeError:  # the task group is shutting down
            work.close()
            return
        self._number += 1
        self._num_workers += 1
        self._by_task[task] = worker

        def ended(done: asyncio.Task[None]) -> None:
            del self._by_task[done]
            if worker.is_slow:
                return
            self._num_workers -= 1
            if done.cancelled():
                self._start_worker(group)

        task.add_done_callback(ended)

    async def _run_worker(self, worker: _Worker, group: asyncio.TaskGroup) -> None:
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
                is_hanging = self._is_still_hanging(key)
                if is_hanging and not lane.may_begin(key, queue.processing_priority(key)):
                    queue.done(key)
                    self._report_lane()
                    continue
            # Start another worker, up to the limit, once all are busy: most controllers never need
            # all of them.
            if not self._idle and self._num_workers < self._max_workers:
                self._start_worker(group)
            worker.key = key
            self._by_key[key] = worker
            if is_hanging and lane.has_room:
                self._move_to_lane(worker, key, group)
            elif not self._idle and self._num_workers >= self._max_workers:
                self._saturated.set()
            try:
                if self._leads is not None:
                    await wait_until_leader(self._leads, self._clock)
                state = await self._handler.reconcile_key(key)
            except BaseException:
                # A cancelled reconcile is incomplete.
                queue.add(key, priority=queue.processing_priority(key))
                lane.note_cancellation(key)
                raise
            finally:
                worker.key = worker.started_at = None
                del self._by_key[key]
                self._handler.release(key)
                if worker.is_slow:
                    lane.leave(key)
            if is_hanging or state is not None:
                lane.note_end(key, state)
                self._report_lane()
            if worker.is_slow or lane.waiting:
                self._enqueue_next_waiting()
            if is_cancelled():
                # The author's function turned the cancellation into another result, which is
                # reported.
                raise asyncio.CancelledError
            if worker.is_slow and not self._rejoin(worker):
                return
            # Otherwise a queue that is never empty and a function that never waits would block
            # other tasks. ``done`` has just moved the keys whose delay is over.
            if queue.has_waiting:
                await self._clock.sleep(0)

    # The slow lane

    @property
    def _all_busy(self) -> bool:
        return not self._idle and self._num_workers >= self._max_workers

    def _signal_if_all_busy(self) -> None:
        if self._all_busy:
            self._saturated.set()

    async def _watch_for_slow(self, group: asyncio.TaskGroup) -> None:
        """While no worker is idle, move slow reconciles to the lane."""
        while True:
            await self._saturated.wait()
            self._saturated.clear()
            while self._all_busy and self.lane.has_room:
                first = self._longest_running()
                if first is None:
                    break  # all wait for a thread; ``thread_started`` signals a change
                worker, key, started_at = first
                wait_seconds = started_at + self.lane.threshold_seconds - self._clock.monotonic()
                if wait_seconds > 0:
                    # The median may change meanwhile.
                    await self._clock.sleep(min(wait_seconds, SLOW_CHECK_SECONDS))
                else:
                    self._move_to_lane(worker, key, group)

    def _longest_running(self) -> tuple[_Worker, ObjectKey, float] | None:
        """Return the worker outside the lane whose reconcile started first, with its key and start
        time.
        """
        first: tuple[_Worker, ObjectKey, float] | None = None
        for key, worker in self._by_key.items():
            if worker.is_slow:
                continue
            started_at = (
                worker.started_at if self._starts_late else self._queue.processing_since_at(key)
            )
            if started_at is not None and (first is None or started_at < first[2]):
                first = worker, key, started_at
        return first

    def _move_to_lane(self, worker: _Worker, key: ObjectKey, group: asyncio.TaskGroup) -> None:
        worker.is_slow = True
        self._num_workers -= 1
        self.lane.enter(key)
        if not self._idle:
            self._start_worker(group)
        self._report_lane()

    def _rejoin(self, worker: _Worker) -> bool:
        """Return whether a worker that leaves the lane is needed outside the lane."""
        self._report_lane()
        if self._idle or self._num_workers >= self._max_workers:
            return False
        worker.is_slow = False
        self._num_workers += 1
        return True

    def _is_still_hanging(self, key: ObjectKey) -> bool:
        """Return whether an object has not changed since its reconcile timed out."""
        if self.lane.hanging[key] == self._handler.fingerprint_of(key):
            return True
        self.lane.forget(key)
        self._enqueue_next_waiting()
        return False

    def _enqueue_next_waiting(self) -> None:
        self._signal_if_all_busy()
        following = self.lane.next_waiting()
        if following is not None:
            key, priority = following
            self._queue.add(key, priority=priority)

    def _report_lane(self) -> None:
        lane = self.lane
        self._observe(
            SlowLaneChanged(
                controller=self._name,
                slow=len(lane.slow),
                hanging=len(lane.hanging),
                waiting=len(lane.waiting),
            )
        )
