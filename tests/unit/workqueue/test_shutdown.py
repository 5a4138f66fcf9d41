"""The shutdown of a work queue and of its workers."""

import asyncio

import pytest

from steersman.errors import QueueClosed
from tests.clocks import FakeClock
from tests.unit.workqueue.queues import new_queue, settle, working


@pytest.mark.parametrize("way", ["shut_down", "drain", "finish_waiting"])
async def test_workers_end_when_the_queue_is_closed(way: str) -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with working(queue) as workers:
        workers.start_worker()
        workers.start_worker()
        queue.add_after("web", 10)
        await settle()

        if way == "shut_down":
            queue.shut_down()
        else:
            await queue.drain(finish_waiting=way == "finish_waiting")
        await settle()

        assert workers.ended == 2
        with pytest.raises(QueueClosed, match="the work queue apps was shut down"):
            await queue.get()


async def test_a_key_added_to_a_closed_queue_is_dropped() -> None:
    queue = new_queue()
    queue.shut_down()

    queue.add("web")
    queue.add_after("web", 10)
    queue.add_rate_limited("web")

    assert repr(queue) == "<WorkQueue 0 waiting, 0 held, 0 dirty, shut down>"


async def test_a_held_key_can_be_done_after_the_shutdown() -> None:
    queue = new_queue()
    queue.add("web")
    async with queue.take() as key:
        queue.add(key)
        queue.shut_down()
        queue.shut_down()

    assert repr(queue) == "<WorkQueue 0 waiting, 0 held, 0 dirty, shut down>"


async def test_draining_waits_for_held_keys_and_drops_waiting_ones() -> None:
    queue = new_queue()
    async with working(queue) as workers:
        workers.start_worker(holds=True)
        for key in ("web", "db", "cache"):
            queue.add(key)
        await settle()

        async with asyncio.TaskGroup() as group:
            draining = group.create_task(queue.drain())
            await settle()
            queue.add("web")
            assert not draining.done()
            workers.release("web")

        assert workers.taken == ["web"]


async def test_draining_can_finish_waiting_keys() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with working(queue) as workers:
        workers.start_worker(holds=True)
        workers.start_worker()
        queue.add("web")
        await settle()
        queue.add("web")  # dirty: added while held
        queue.add_after("later", 10)

        async with asyncio.TaskGroup() as group:
            draining = group.create_task(queue.drain(finish_waiting=True))
            await settle()
            queue.add("new")
            assert repr(queue) == "<WorkQueue 0 waiting, 1 held, 1 dirty, draining>"
            assert workers.ended == 0
            workers.release("web")
            await settle()
            if "web" in workers.held:
                workers.release("web")
            await settle()
            assert draining.done()

        assert workers.taken == ["web", "web"]
        assert workers.ended == 2


async def test_a_drain_can_be_cancelled() -> None:
    clock = FakeClock()
    queue = new_queue(clock=clock)
    async with asyncio.TaskGroup() as group:
        queue.add("not taken")

        async def stop() -> None:
            with pytest.raises(TimeoutError):
                async with clock.timeout(30):
                    await queue.drain(finish_waiting=True)
            queue.shut_down()
            await queue.drain()

        group.create_task(stop())
        await settle()
        clock.advance(30)

    assert repr(queue) == "<WorkQueue 0 waiting, 0 held, 0 dirty, shut down>"


async def test_draining_an_idle_queue_takes_no_time() -> None:
    queue = new_queue()

    await queue.drain(finish_waiting=True)
    await queue.drain()
