"""The system clock: time, sleep and timeouts."""

import asyncio
import itertools
from datetime import UTC, timedelta

import pytest

from steersman.clock import SystemClock


def test_the_monotonic_clock_never_goes_back() -> None:
    clock = SystemClock()

    readings = [clock.monotonic() for _ in range(1000)]

    assert readings == sorted(readings)


def test_the_time_of_day_is_in_utc() -> None:
    assert SystemClock().now().utcoffset() == timedelta(0)
    assert SystemClock().now().tzinfo is UTC


async def test_a_block_that_takes_too_long_is_cancelled() -> None:
    with pytest.raises(TimeoutError):
        async with SystemClock().timeout(0):
            await asyncio.Event().wait()


async def test_a_block_without_a_time_limit_is_never_cancelled() -> None:
    clock = SystemClock()

    async with clock.timeout(None):
        await clock.sleep(0)


async def test_of_several_equal_timeouts_only_those_of_long_blocks_expire() -> None:
    clock = SystemClock()
    expired: list[str] = []

    async def run(name: str, seconds: float) -> None:
        try:
            async with clock.timeout(0.05):
                await clock.sleep(seconds)
        except TimeoutError:
            expired.append(name)

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(run(f"long {number}", 60.0))
            group.create_task(run(f"short {number}", 0.0))

    assert expired == ["long 0", "long 1", "long 2"]


async def test_a_timeout_counts_from_the_start_of_its_own_block() -> None:
    clock = SystemClock()
    async with clock.timeout(0.05):
        pass
    started_at = clock.monotonic()
    await clock.sleep(0.03)

    # The timer of the first timeout is still set, and fires too early for this one.
    with pytest.raises(TimeoutError):
        async with clock.timeout(0.05):
            await asyncio.Event().wait()

    assert clock.monotonic() - started_at >= 0.079


async def test_a_task_that_is_cancelled_during_its_timeout_ends_as_cancelled() -> None:
    clock = SystemClock()

    async def wait() -> None:
        async with clock.timeout(0):
            try:
                await asyncio.Event().wait()
            finally:
                task.cancel()

    task = asyncio.create_task(wait())

    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_clock_works_in_several_event_loops_in_turn() -> None:
    clock = SystemClock()

    async def wait() -> None:
        async with clock.timeout(0.01):
            await asyncio.Event().wait()

    for _ in range(2):
        with pytest.raises(TimeoutError):
            asyncio.run(wait())


async def test_nothing_is_stored_for_timeouts_that_are_over() -> None:
    clock = SystemClock()
    for seconds in (0.01, 0.011, 0.012):
        async with clock.timeout(seconds):
            pass

    assert clock._alarm is not None
    assert not clock._alarm._due
    while clock._alarm._timer is not None:
        await clock.sleep(0.005)


async def test_each_block_has_its_own_timeout() -> None:
    clock = SystemClock()
    earliest_at: dict[str, float] = {}
    latest_at: dict[str, float] = {}
    ended: list[str] = []

    async def wait(name: str, seconds: float) -> None:
        earliest_at[name] = clock.monotonic() + seconds
        try:
            async with clock.timeout(seconds):
                latest_at[name] = clock.monotonic() + seconds
                await asyncio.Event().wait()
        except TimeoutError:
            ended.append(name)

    async def wait_forever() -> None:
        async with clock.timeout(None):
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        never = group.create_task(wait_forever())
        for name, seconds in (("long", 0.06), ("short", 0.02), ("middle", 0.04), ("none", 0.0)):
            group.create_task(wait(name, seconds))
        while len(ended) < 4:
            await clock.sleep(0.005)
        never.cancel()

    # Usually none, short, middle, long; but on a busy machine the tasks start at different times.
    assert all(
        earliest_at[sooner] <= latest_at[later]
        for sooner, later in itertools.combinations(ended, 2)
    )


async def test_a_block_that_ends_in_time_is_not_cancelled_later() -> None:
    clock = SystemClock()

    async with clock.timeout(0.01):
        await clock.sleep(0)
    async with clock.timeout(10):
        await clock.sleep(0.03)


async def test_blocks_can_be_nested() -> None:
    clock = SystemClock()

    with pytest.raises(TimeoutError):  # noqa: PT012 - two blocks
        async with clock.timeout(0.01):
            async with clock.timeout(10):
                await asyncio.Event().wait()
