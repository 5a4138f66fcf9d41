"""The work queue delivers each key once, in order, to one worker."""

import asyncio

import pytest

from steersman.errors import NotProcessing
from steersman.workqueue import (
    LOW_PRIORITY,
)
from tests.clocks import FakeClock
from tests.unit.workqueue.queues import everything_in, new_queue, settle, working


async def test_a_key_is_never_with_two_workers_at_once() -> None:
    queue = new_queue()
    async with working(queue) as workers:
        workers.start_worker(holds=True)
        workers.start_worker(holds=True)

        queue.add("web")
        await settle()
        queue.add("web")
        await settle()

        assert workers.held == ["web"]
        workers.release("web")
        await settle()
        assert workers.taken == ["web", "web"]
        assert workers.held == ["web"]
        workers.release("web")


async def test_waiting_workers_get_added_keys() -> None:
    queue = new_queue()
    async with working(queue) as workers:
        for _ in range(3):
            workers.start_worker(holds=True)
        await settle()

        queue.add("web")
        queue.add("db")
        await settle()

        assert workers.held == ["web", "db"]
        workers.release("web")
        workers.release("db")


async def test_a_key_added_while_a_worker_holds_it_is_delivered_once_more_afterwards() -> None:
    queue = new_queue()
    queue.add("web")

    async with queue.take() as key:
        queue.add(key)
        queue.add(key)
        assert queue.num_waiting == 0

    assert await everything_in(queue) == ["web"]


async def test_a_key_added_while_it_was_held_goes_to_a_waiting_worker() -> None:
    queue = new_queue()
    queue.add("web")
    key = await queue.get()
    async with working(queue) as workers:
        workers.start_worker()
        queue.add(key)
        await settle()

        queue.done(key)
        await settle()

        assert workers.taken == ["web"]


async def test_a_key_added_many_times_before_its_delivery_is_delivered_once() -> None:
    queue = new_queue()
    for _ in range(3):
        queue.add("web")
        queue.add("db")

    assert await everything_in(queue) == ["web", "db"]


async def test_keys_of_one_priority_are_delivered_in_the_order_in_which_they_were_added() -> None:
    queue = new_queue()
    low = [f"low-{n}" for n in range(5)]
    high = [f"high-{n}" for n in range(4)]
    for key in low:
        queue.add(key, priority=LOW_PRIORITY)
    for key in high:
        queue.add(key)

    assert await everything_in(queue) == [*high, *low]


async def test_one_key_in_ten_is_the_one_that_has_waited_longest_whatever_its_priority() -> None:
    queue = new_queue()
    old = [f"old-{n}" for n in range(3)]
    for key in old:
        queue.add(key, priority=LOW_PRIORITY)

    taken: list[str] = []
    for n in range(100):
        queue.add(f"fresh-{n}-a")
        queue.add(f"fresh-{n}-b")  # more keys are added than taken
        async with queue.take() as key:
            taken.append(key)

    assert [taken[9], taken[19], taken[29]] == old
    assert sum(key.startswith("fresh") for key in taken) == 97


async def test_a_key_added_again_with_a_higher_priority_moves_ahead_by_its_age() -> None:
    queue = new_queue()
    queue.add("old", priority=LOW_PRIORITY)
    queue.add("older than fresh", priority=LOW_PRIORITY)
    queue.add("fresh")

    queue.add("older than fresh")

    assert await everything_in(queue) == ["older than fresh", "fresh", "old"]


async def test_a_key_added_again_with_a_lower_priority_keeps_its_place() -> None:
    queue = new_queue()
    queue.add("web", priority=5)
    queue.add("db", priority=3)

    queue.add("web", priority=LOW_PRIORITY)

    assert await everything_in(queue) == ["web", "db"]


async def test_a_key_that_is_held_keeps_the_highest_priority_it_is_added_with() -> None:
    queue = new_queue()
    queue.add("web")
    async with queue.take():
        queue.add("db", priority=1)
        queue.add("web", priority=LOW_PRIORITY)
        queue.add("web", priority=2)

    assert await everything_in(queue) == ["web", "db"]


async def test_a_worker_can_put_a_key_back_with_the_priority_it_had() -> None:
    queue = new_queue()
    queue.add("web", priority=LOW_PRIORITY)

    async with queue.take() as key:
        assert queue.processing_priority(key) == LOW_PRIORITY

    with pytest.raises(NotProcessing):
        queue.processing_priority("web")


async def test_the_time_since_which_a_key_is_held_is_known() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add("web")
    clock.advance(5)
    taken_at = clock.monotonic()

    async with queue.take() as key:
        clock.advance(5)
        assert queue.processing_since_at(key) == taken_at

    with pytest.raises(NotProcessing):
        queue.processing_since_at("web")


@pytest.mark.parametrize("woken_first", [True, False])
async def test_no_key_is_lost_when_a_worker_is_cancelled_while_it_waits(woken_first: bool) -> None:
    queue = new_queue()
    async with working(queue) as workers:
        first = workers.start_worker()
        await settle()
        workers.start_worker()
        await settle()

        if woken_first:
            queue.add("web")
            first.cancel()
        else:
            first.cancel()
            queue.add("web")
        await settle()

        assert workers.taken == ["web"]


async def test_no_key_is_lost_when_a_worker_is_cancelled_while_working() -> None:
    queue = new_queue()
    async with working(queue) as workers:
        worker = workers.start_worker(holds=True)
        queue.add("web", priority=LOW_PRIORITY)
        await settle()

        worker.cancel()
        await settle()

    assert repr(queue) == "<WorkQueue 0 waiting, 0 held, 0 dirty, shut down>"
    assert workers.taken == ["web"]


async def test_the_key_of_a_cancelled_block_is_enqueued_again_with_its_priority() -> None:
    queue = new_queue()
    queue.add("web", priority=LOW_PRIORITY)
    with pytest.raises(asyncio.CancelledError):
        async with queue.take():
            raise asyncio.CancelledError

    async with queue.take() as key:
        assert (key, queue.processing_priority(key)) == ("web", LOW_PRIORITY)


async def test_a_cancelled_block_that_has_already_put_its_key_back_changes_nothing() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    queue.add("web")

    async def put_back_and_hang() -> None:
        async with queue.take() as key:
            queue.add_after(key, 10)
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        worker = group.create_task(put_back_and_hang())
        await settle()
        worker.cancel()

    assert queue.num_waiting == 0
    clock.advance(10)
    assert await everything_in(queue) == ["web"]


async def test_the_worker_handles_an_error_in_a_block() -> None:
    queue = new_queue()
    queue.add("web")

    with pytest.raises(KeyError):
        async with queue.take():
            raise KeyError

    assert repr(queue) == "<WorkQueue 0 waiting, 0 held, 0 dirty>"


async def test_a_key_that_is_not_held_cannot_be_done() -> None:
    queue = new_queue()
    queue.add("web")

    with pytest.raises(NotProcessing) as caught:
        queue.done("web")

    assert str(caught.value) == (
        "no worker holds 'web' from the work queue apps."
        " Call done() once for each get(), or take keys with `async with queue.take()`."
    )
    assert await everything_in(queue) == ["web"]


async def test_a_key_from_get_is_held_until_it_is_done() -> None:
    queue = new_queue()
    queue.add("web")

    key = await queue.get()
    queue.add(key)
    assert repr(queue) == "<WorkQueue 0 waiting, 1 held, 1 dirty>"

    queue.done(key)
    assert repr(queue) == "<WorkQueue 1 waiting, 0 held, 0 dirty>"


async def test_forgetting_a_key_keeps_it_in_the_queue() -> None:
    queue = new_queue()
    queue.add("web")

    queue.forget("web")

    assert await everything_in(queue) == ["web"]
