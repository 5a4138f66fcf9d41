"""Delayed keys are delivered when their delay ends, to any free worker."""

from random import Random

import pytest

from steersman.clock import SystemClock
from steersman.workqueue import (
    BackoffPolicy,
    KeyBackoff,
)
from steersman.workqueue.delayed_items import DelayedItems
from steersman.workqueue.priority_fifo import Item
from tests.clocks import FakeClock
from tests.unit.workqueue.queues import everything_in, new_queue, settle, working


async def test_a_delayed_key_is_delivered_when_its_delay_ends_and_not_before() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with working(queue) as workers:
        workers.start_worker()
        queue.add_after("web", 10)

        clock.advance(9)
        await settle()
        assert workers.taken == []

        clock.advance(1)
        await settle()
        assert workers.taken == ["web"]


async def test_of_several_due_times_for_one_key_the_earliest_wins() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    for seconds in (20, 10, 30):
        queue.add_after("web", seconds)

    clock.advance(10)
    assert await everything_in(queue) == ["web"]

    clock.advance(100)
    assert await everything_in(queue) == []


async def test_of_several_priorities_for_a_delayed_key_the_highest_wins() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add_after("db", 5)
    queue.add_after("web", 10)
    queue.add_after("web", 20, priority=1)
    queue.add_after("web", 9, priority=-1)

    clock.advance(10)

    assert await everything_in(queue) == ["web", "db"]


async def test_a_worker_that_waits_for_a_delay_gets_a_key_added_meanwhile() -> None:
    queue = new_queue()
    async with working(queue) as workers:
        queue.add_after("later", 10)
        workers.start_worker()
        await settle()

        queue.add("web")
        await settle()

        assert workers.taken == ["web"]


async def test_an_add_replaces_a_delayed_add() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add_after("web", 10, priority=3)

    queue.add("web")
    queue.add("db", priority=2)

    assert await everything_in(queue) == ["web", "db"]
    clock.advance(10)
    assert await everything_in(queue) == []


async def test_a_delay_changes_only_the_priority_of_a_waiting_key() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add("db")
    queue.add("web")

    queue.add_after("web", 10, priority=1)

    assert await everything_in(queue) == ["web", "db"]
    clock.advance(10)
    assert await everything_in(queue) == []


async def test_a_delay_that_ends_while_its_key_is_held_counts_as_an_add() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add("web")

    async with queue.take() as key:
        queue.add_after(key, 10)
        clock.advance(10)
        assert queue.num_waiting == 0
        assert queue.num_dirty == 1

    assert await everything_in(queue) == ["web"]


async def test_a_delay_outlasts_the_work_on_its_key() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add("web")
    async with queue.take() as key:
        queue.add_after(key, 10)

    assert await everything_in(queue) == []
    clock.advance(10)
    assert await everything_in(queue) == ["web"]


async def test_keys_are_ordered_by_the_time_they_were_due_whenever_they_are_taken() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add_after("second", 2)
    queue.add_after("first", 1)
    clock.advance(5)
    queue.add("third")

    assert await everything_in(queue) == ["first", "second", "third"]


async def test_a_key_added_while_held_is_enqueued_when_it_is_done() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add("web")
    async with queue.take() as key:
        queue.add(key)
        queue.add_after("due before that", 1)
        clock.advance(2)

    assert await everything_in(queue) == ["due before that", "web"]


async def test_a_delay_of_zero_enqueues_immediately() -> None:
    queue = new_queue()

    queue.add_after("web", 0)
    queue.add_after("db", -1)

    assert await everything_in(queue) == ["web", "db"]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf")])
async def test_an_infinite_delay_is_rejected(seconds: float) -> None:
    queue = new_queue()

    with pytest.raises(ValueError, match="finite number of seconds"):
        queue.add_after("web", seconds)

    assert queue.num_delayed == 0


async def test_an_earlier_delay_is_noticed_by_a_worker_that_sleeps_until_a_later_one() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with working(queue) as workers:
        workers.start_worker()
        workers.start_worker()
        queue.add_after("later", 100)
        await settle()
        queue.add_after("sooner", 1)
        await settle()

        clock.advance(1)
        await settle()
        assert workers.taken == ["sooner"]

        clock.advance(99)
        await settle()
        assert workers.taken == ["sooner", "later"]


async def test_idle_workers_share_one_timer() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with working(queue) as workers:
        for _ in range(20):
            workers.start_worker()
        queue.add_after("web", 100)
        queue.add_after("db", 200)
        await settle()

        assert len(clock._timeouts) == 1


async def test_delays_end_in_time_when_the_worker_with_the_timer_is_cancelled() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with working(queue) as workers:
        queue.add_after("web", 10)
        watch = workers.start_worker()
        await settle()
        workers.start_worker()
        await settle()

        watch.cancel()
        await settle()
        clock.advance(10)
        await settle()

        assert workers.taken == ["web"]


async def test_delays_end_in_time_when_the_worker_with_the_timer_is_busy() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with working(queue) as workers:
        queue.add_after("web", 10)
        queue.add_after("db", 20)
        workers.start_worker(holds=True)
        await settle()
        workers.start_worker(holds=True)

        for _ in range(2):
            clock.advance(10)
            await settle()

        assert workers.held == ["web", "db"]
        workers.release("web")
        workers.release("db")


async def test_each_failure_lengthens_the_wait_of_a_key_until_it_is_forgotten() -> None:
    clock = FakeClock()
    backoff = KeyBackoff[str](BackoffPolicy(first_seconds=1, jitter=0), rng=Random(0))
    queue = new_queue(clock=clock, limiter=backoff)

    waited: list[float] = []
    for _ in range(3):
        queue.add_rate_limited("web")
        started_at = clock.monotonic()
        while not queue.num_waiting:
            clock.advance(0.5)
        waited.append(clock.monotonic() - started_at)
        await everything_in(queue)
    assert waited == [1, 2, 4]
    assert queue.num_requeues("web") == 3

    queue.forget("web")
    assert queue.num_requeues("web") == 0
    queue.add_rate_limited("web")
    clock.advance(1)
    assert await everything_in(queue) == ["web"]


async def test_a_delay_ends_with_the_system_clock_too() -> None:
    queue = new_queue(clock=SystemClock())
    queue.add_after("later", 3600)
    queue.add_after("sooner", 0.005)

    assert await queue.get() == "sooner"


def test_items_are_in_the_order_of_their_times_after_most_were_removed() -> None:
    rng = Random(0)
    delayed = DelayedItems[int]()
    for key in range(1000):
        delayed.put(Item(key=key, priority=0, since_at=rng.random()))

    for key in range(900):
        delayed.take_out(key)

    times = [each.since_at for each in delayed.take_due(1)]
    assert len(times) == 100
    assert times == sorted(times)
