"""For any sequence of operations, the work queue behaves as a simple model does."""

import asyncio
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from steersman.errors import QueueClosed
from steersman.observe import ignore
from steersman.workqueue import WorkQueue, default_limiter
from tests.clocks import FakeClock
from tests.unit.workqueue.queues import settle

KEYS = st.sampled_from("abcd")
PRIORITIES = st.sampled_from([-100, 0, 0, 7])
SECONDS = st.integers(1, 8).map(float)


@dataclass
class Model:
    """A work queue made of lists that are searched from the front."""

    now_at: float
    waiting: list[str] = field(default_factory=list)  # oldest first
    dirty: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    delayed: list[tuple[float, int, str]] = field(default_factory=list)
    priorities: dict[str, int] = field(
        default_factory=dict
    )  # of all keys but those that are only held
    since_oldest: int = 0
    number: int = 0
    phase: str = "open"

    def set_priority(self, key: str, priority: int) -> None:
        known = self.priorities.get(key)
        self.priorities[key] = priority if known is None else max(priority, known)

    def enqueue(self, key: str) -> None:
        place = self.dirty if key in self.held else self.waiting
        if key not in place:
            place.append(key)

    def add(self, key: str, priority: int) -> None:
        if self.phase == "open":
            self.set_priority(key, priority)
            self.delayed = [delay for delay in self.delayed if delay[2] != key]
            self.enqueue(key)

    def add_after(self, key: str, seconds: float, priority: int) -> None:
        if self.phase == "open":
            self.set_priority(key, priority)
            if key in self.waiting or key in self.dirty:
                return
            earlier = [d for d in self.delayed if d[2] == key and d[0] <= self.now_at + seconds]
            if not earlier:
                self.number += 1
                self.delayed = [delay for delay in self.delayed if delay[2] != key]
                self.delayed.append((self.now_at + seconds, self.number, key))

    def advance(self, seconds: float) -> None:
        self.now_at += seconds
        for delay in sorted(self.delayed):
            if delay[0] <= self.now_at:
                self.delayed.remove(delay)
                self.enqueue(delay[2])

    def take(self) -> tuple[str, int]:
        oldest = self.waiting[0]
        key = oldest
        if self.since_oldest < 9:
            key = max(self.waiting, key=lambda each: self.priorities[each])
        self.since_oldest = 0 if key == oldest else self.since_oldest + 1
        self.waiting.remove(key)
        self.held.append(key)
        return key, self.priorities.pop(key)

    def done(self, key: str) -> None:
        self.held.remove(key)
        if key in self.dirty:
            self.dirty.remove(key)
            self.waiting.append(key)
        self.check_end()

    def put_back(self, key: str, priority: int) -> None:
        if self.phase != "ended" and all(delay[2] != key for delay in self.delayed):
            self.set_priority(key, priority)
            self.enqueue(key)

    def drain(self) -> None:
        if self.phase == "open":
            self.phase = "draining"
            for _, _, key in self.delayed:
                del self.priorities[key]
            self.delayed.clear()
            self.check_end()

    def check_end(self) -> None:
        if self.phase == "draining" and not (self.waiting or self.dirty or self.held):
            self.end()

    def end(self) -> None:
        self.phase = "ended"
        self.waiting.clear()
        self.dirty.clear()
        self.delayed.clear()
        self.priorities.clear()


class QueueMachine(RuleBasedStateMachine):
    """A queue, its model, and workers that hold their keys until a rule releases them."""

    @initialize(workers=st.integers(0, 3))
    def open(self, workers: int) -> None:
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.queue = WorkQueue[str](
            "apps",
            limiter=default_limiter(clock=self.clock, rng=Random(0)),
            clock=self.clock,
            observe=ignore,
        )
        self.model = Model(self.clock.monotonic())
        self.delivered: list[tuple[str, int]] = []  # by the queue, since the last comparison
        self.held: dict[str, tuple[asyncio.Task[None], asyncio.Event, int]] = {}
        self.idle_workers: list[asyncio.Task[None]] = []
        self.drains: list[asyncio.Task[None]] = []
        for _ in range(workers):
            self.start_worker()

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.runner.close()  # cancels the remaining workers

    @rule(key=KEYS, priority=PRIORITIES)
    def add(self, key: str, priority: int) -> None:
        self.queue.add(key, priority=priority)
        self.model.add(key, priority)
        self.compare()

    @rule(key=KEYS, seconds=SECONDS, priority=PRIORITIES)
    def add_after(self, key: str, seconds: float, priority: int) -> None:
        self.runner.run(self.add_after_in_loop(key, seconds, priority))
        self.model.add_after(key, seconds, priority)
        self.compare()

    @rule(seconds=SECONDS)
    def advance(self, seconds: float) -> None:
        self.runner.run(self.advance_in_loop(seconds))
        self.model.advance(seconds)
        self.compare()

    @precondition(lambda self: len(self.idle_workers) < 4)
    @rule()
    def start_worker(self) -> None:
        self.idle_workers.append(self.runner.get_loop().create_task(self.work()))
        self.compare()

    @precondition(lambda self: self.idle_workers)
    @rule(data=st.data())
    def cancel_a_waiting_worker(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(self.idle_workers))
        self.idle_workers.remove(worker)
        worker.cancel()
        self.compare()

    @precondition(lambda self: self.idle_workers)
    @rule(key=KEYS, priority=PRIORITIES, data=st.data())
    def add_and_cancel_a_waiting_worker(self, key: str, priority: int, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(self.idle_workers))
        self.idle_workers.remove(worker)
        self.queue.add(key, priority=priority)
        worker.cancel()
        self.model.add(key, priority)
        self.compare()

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)))
        _, released, _ = self.held.pop(key)
        released.set()
        self.model.done(key)
        self.compare()

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def cancel_a_busy_worker(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)))
        worker, _, priority = self.held.pop(key)
        worker.cancel()
        self.model.put_back(key, priority)
        self.model.done(key)
        self.compare()

    @precondition(lambda self: self.model.phase == "open")
    @rule(chance=st.integers(0, 9), finish_waiting=st.booleans())
    def drain(self, chance: int, finish_waiting: bool) -> None:
        if chance:
            return  # most runs test an open queue
        drain = self.queue.drain(finish_waiting=finish_waiting)
        self.drains.append(self.runner.get_loop().create_task(drain))
        if finish_waiting:
            self.model.drain()
        else:
            self.model.end()
        self.compare()

    @precondition(lambda self: self.model.phase == "draining")
    @rule(chance=st.integers(0, 3))
    def shut_down(self, chance: int) -> None:
        if not chance:
            self.queue.shut_down()
            self.model.end()
            self.compare()

    @invariant()
    def a_drain_ends_with_the_last_key(self) -> None:
        ended = self.model.phase == "ended" and not self.model.held
        assert all(drain.done() is ended for drain in self.drains)

    @invariant()
    def the_counts_of_the_queue_are_correct(self) -> None:
        assert self.queue.num_waiting == len(self.model.waiting)
        assert self.queue.has_waiting == bool(self.model.waiting)
        assert self.queue.num_dirty == len(self.model.dirty)
        assert self.queue.num_processing == len(self.model.held) == len(self.held)
        assert self.queue.num_delayed == len(self.model.delayed)

    def compare(self) -> None:
        """Run the workers: they must get the same keys as those of the model, in the same order."""
        self.runner.run(settle())
        num_idle_workers = len(self.delivered) + len(self.idle_workers)
        num_taken = min(num_idle_workers, len(self.model.waiting))
        expected = [self.model.take() for _ in range(num_taken)]
        assert self.delivered == expected
        self.delivered.clear()
        if self.model.phase == "ended":
            assert not self.idle_workers
        else:
            assert not (self.idle_workers and self.model.waiting)

    async def work(self) -> None:
        worker = asyncio.current_task()
        assert worker is not None
        try:
            async with self.queue.take() as key:
                assert key not in self.held
                self.idle_workers.remove(worker)
                priority = self.queue.processing_priority(key)
                self.delivered.append((key, priority))
                released = asyncio.Event()
                self.held[key] = (worker, released, priority)
                await released.wait()
        except QueueClosed:
            self.idle_workers.remove(worker)

    async def add_after_in_loop(self, key: str, seconds: float, priority: int) -> None:
        self.queue.add_after(key, seconds, priority=priority)

    async def advance_in_loop(self, seconds: float) -> None:
        self.clock.advance(seconds)


@pytest.mark.hypothesis
def test_a_queue_does_what_its_model_does() -> None:
    run_state_machine_as_test(QueueMachine, settings=settings(stateful_step_count=40))
