"""Work queues with many keys and with failing keys, and the memory that they keep."""

import gc
import sys
from random import Random
from types import FunctionType, ModuleType

from steersman.names import ObjectKey
from steersman.observe import KeyTaken, Observation, ignore
from steersman.workqueue import (
    LOW_PRIORITY,
    MaxOf,
    RateLimiter,
    WorkQueue,
    default_limiter,
)
from tests.clocks import FakeClock
from tests.unit.workqueue.queues import everything_in, new_queue, settle, working


async def healthy_p99_seconds(*, failing: int, limiter: RateLimiter[str] | None = None) -> float:
    """The p99 wait of healthy keys for the only worker, over 30 s, beside failing keys."""
    clock, rng = FakeClock(), Random(1)
    waits: list[float] = []

    def observe(observation: Observation) -> None:
        if isinstance(observation, KeyTaken) and "healthy" in str(observation.key):
            waits.append(observation.waited_seconds)

    queue = new_queue(clock=clock, observe=observe, limiter=limiter)
    for n in range(failing):
        queue.add(f"poison-{n}")
    ends_at = clock.monotonic() + 30
    next_at = clock.monotonic()
    while clock.monotonic() < ends_at:
        while next_at <= clock.monotonic():
            queue.add(f"healthy-{rng.randrange(1000)}")
            next_at += rng.expovariate(150)
        if queue.num_waiting:
            async with queue.take() as key:
                clock.advance(0.003)
                if key.startswith("poison"):
                    queue.add_rate_limited(key)
        else:
            clock.advance(0.001)
    waits.sort()
    return waits[len(waits) * 99 // 100]


async def test_keys_that_fail_do_not_delay_keys_that_succeed() -> None:
    alone = await healthy_p99_seconds(failing=0)
    beside_failing = await healthy_p99_seconds(failing=10)
    without_backoff = await healthy_p99_seconds(failing=10, limiter=MaxOf())

    assert beside_failing < alone + 0.010
    assert without_backoff > alone + 0.050


def reachable_bytes(root: object) -> int:
    """The bytes of everything that an object refers to, code excluded."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen and not isinstance(each, type | FunctionType | ModuleType):
            seen[id(each)] = each
            waiting += gc.get_referents(each)
    return sum(map(sys.getsizeof, seen.values()))


async def test_nothing_is_stored_for_a_key_that_is_done_and_forgotten() -> None:
    clock = FakeClock()
    limiter = default_limiter(clock=clock, rng=Random(0))
    queue = WorkQueue[ObjectKey]("apps", limiter=limiter, clock=clock, observe=ignore)
    before = reachable_bytes(queue)

    for n in range(100_000):
        queue.add_rate_limited(ObjectKey("default", f"app-{n}"), priority=-(n % 2))
    assert queue.num_delayed == 100_000
    clock.advance(1_000_000)
    for _ in range(100_000):
        async with queue.take() as key:
            queue.forget(key)

    assert reachable_bytes(queue) < before + 5_000


async def test_replaced_delays_do_not_accumulate() -> None:
    queue = new_queue()
    before = reachable_bytes(queue)

    queue.add_after("db", 3600)
    for _ in range(2_000):
        queue.add_after("web", 3600)
        queue.add("web")
        async with queue.take():
            pass

    assert reachable_bytes(queue) < before + 20_000


async def test_stale_delays_of_many_keys_are_dropped() -> None:
    queue = new_queue()
    before = reachable_bytes(queue)

    queue.add_after("db", 3600)
    for n in range(2_000):
        queue.add_after(f"app-{n}", 3600)
    for n in range(2_000):
        queue.add(f"app-{n}")
    await everything_in(queue)

    assert reachable_bytes(queue._delays._by_moment) < 20_000
    assert reachable_bytes(queue) < before + 200_000


async def test_delays_that_are_moved_forward_leave_nothing_behind() -> None:
    queue = new_queue()
    before = reachable_bytes(queue)

    for n in range(2_000):
        queue.add_after("web", 3600 - n)

    assert reachable_bytes(queue) < before + 20_000


async def test_keys_taken_because_of_their_age_leave_nothing_behind() -> None:
    queue = new_queue()
    before = reachable_bytes(queue)

    queue.add("low-0", priority=LOW_PRIORITY)
    for n in range(5_000):
        queue.add(f"high-{n}-a")
        queue.add(f"high-{n % 10}-b")
        queue.add(f"low-{n % 3}", priority=LOW_PRIORITY)
        async with queue.take():
            pass
        async with queue.take():
            pass

    assert reachable_bytes(queue) < before + 20_000


async def observations(seed: int) -> list[Observation]:
    """The observations of a queue that is used at random."""
    clock, rng = FakeClock(), Random(seed)
    observed: list[Observation] = []
    queue = new_queue(clock=clock, observe=observed.append)
    async with working(queue) as workers:
        for _ in range(3):
            workers.start_worker()
        for _ in range(200):
            rng.choice([queue.add, queue.add_rate_limited])(rng.choice("abcdefgh"))
            clock.advance(rng.random() / 10)
            await settle()
    return observed


async def test_the_same_clock_and_seed_give_the_same_observations() -> None:
    assert await observations(1) == await observations(1)
    assert await observations(1) != await observations(2)
