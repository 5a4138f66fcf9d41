"""The one place where time comes from."""

import asyncio
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


async def test_a_block_that_takes_too_long_is_cut_short() -> None:
    with pytest.raises(TimeoutError):
        async with SystemClock().timeout(0):
            await asyncio.Event().wait()


async def test_without_a_time_limit_a_block_takes_as_long_as_it_likes() -> None:
    clock = SystemClock()

    async with clock.timeout(None):
        await clock.sleep(0)
