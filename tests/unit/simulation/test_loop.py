"""The event loop with virtual time."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from steersman_cluster.errors import Deadlock
from steersman_cluster.simulation import Actor, VirtualClock, VirtualLoop

T = TypeVar("T")

HOUR = 3600.0


def run(main: Coroutine[Any, Any, T], *, loop: VirtualLoop | None = None) -> T:
    with asyncio.Runner(loop_factory=lambda: loop or VirtualLoop()) as runner:
        return runner.run(main)


def running_loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


async def sleep(seconds: float) -> None:
    await VirtualClock(running_loop()).sleep(seconds)


def test_time_advances_only_when_every_task_waits() -> None:
    async def main() -> list[float]:
        loop, seen = running_loop(), []
        for _ in range(1000):
            await sleep(0)
            seen.append(loop.time())
        await sleep(HOUR)
        return [*{*seen}, loop.time()]

    assert run(main()) == [0.0, HOUR]


def test_tasks_that_wait_for_the_same_time_resume_in_call_order() -> None:
    async def main() -> list[int]:
        seen: list[int] = []

        async def wait(number: int) -> None:
            await sleep(5.0)
            seen.append(number)

        async with asyncio.TaskGroup() as group:
            for number in range(50):
                group.create_task(wait(number))
        return seen

    assert run(main()) == [*range(50)]


def test_a_timeout_fires_at_its_deadline() -> None:
    async def main() -> float:
        clock = VirtualClock(running_loop())
        with pytest.raises(TimeoutError):
            async with clock.timeout(3.0):
                await clock.sleep(HOUR)
        return clock.monotonic()

    assert run(main()) == 3.0


def test_the_clock_starts_at_its_epoch() -> None:
    async def main() -> tuple[float, str]:
        await sleep(HOUR)
        clock = VirtualClock(running_loop())
        await clock.sleep(90.0)
        return clock.monotonic(), clock.now().isoformat()

    assert run(main()) == (90.0, "2030-01-01T00:01:30+00:00")


def test_a_deadlock_is_an_error_that_names_the_waiting_tasks() -> None:
    async def wait_forever() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(wait_forever(), name="the first")
            group.create_task(wait_forever(), name="the second")
            await sleep(7.0)

    with pytest.raises(Deadlock, match=r"(?s)after 7 s.*the first \(.*the second \(") as caught:
        run(main())

    assert len(caught.value.waiting) == 3


def test_a_deadlocked_task_is_cancelled_before_the_error_is_raised() -> None:
    ended: list[str] = []

    async def main() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await sleep(1.0)
            ended.append("main")

    with pytest.raises(Deadlock, match="main"):
        VirtualLoop().run_until_complete(main())

    assert ended == ["main"]


def test_a_deadlock_is_detected_despite_periodic_tasks() -> None:
    async def tick() -> None:
        while True:
            await sleep(300.0)

    async def main() -> None:
        program = Actor("program")
        running_loop().create_task(tick(), name="tick", context=program.context())
        await asyncio.Event().wait()

    with pytest.raises(Deadlock, match="main"):
        run(main())


def test_a_long_sleep_with_periodic_tasks_is_not_a_deadlock() -> None:
    async def tick() -> None:
        while True:
            await sleep(300.0)

    async def main() -> float:
        program = Actor("program")
        ticking = running_loop().create_task(tick(), name="tick", context=program.context())
        await sleep(100 * HOUR)
        ticking.cancel()
        return running_loop().time()

    assert run(main()) == 100 * HOUR


def test_a_task_group_cancels_its_tasks_in_start_order() -> None:
    async def main() -> list[int]:
        ended: list[int] = []

        async def wait(number: int) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(number)

        async def fail() -> None:
            raise ValueError

        async def start() -> None:
            async with asyncio.TaskGroup() as group:
                for number in range(20):
                    group.create_task(wait(number))
                await sleep(1.0)
                group.create_task(fail())

        with pytest.raises(ExceptionGroup):
            await start()
        return ended

    assert run(main()) == [*range(20)]


def test_a_killed_operator_stops_immediately_without_finally_blocks() -> None:
    async def main() -> tuple[list[str], list[str]]:
        seen: list[str] = []
        woken = asyncio.Event()

        async def sleeper() -> None:
            try:
                await sleep(10.0)
                seen.append("slept")
            finally:
                seen.append("finally")

        async def waiter() -> None:
            try:
                await woken.wait()
                seen.append("woken")
            finally:
                seen.append("finally")

        async def program() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(sleeper())
                group.create_task(waiter())

        loop, actor = running_loop(), Actor("program")
        loop.create_task(program(), context=actor.context())
        await sleep(5.0)
        loop.kill(actor)
        woken.set()
        await sleep(HOUR)
        dead = [*seen]
        await loop.release(actor)
        return dead, seen

    dead, buried = run(main())

    assert dead == []
    assert buried == ["finally", "finally"]


def test_a_task_killed_by_the_previous_one_does_not_run() -> None:
    async def main() -> tuple[list[str], tuple[str, ...]]:
        loop, seen, woken = running_loop(), [], asyncio.Event()
        victim, bystander = Actor("victim"), Actor("bystander")

        async def wait(name: str) -> None:
            await woken.wait()
            seen.append(name)

        async def kill() -> None:
            await woken.wait()
            loop.kill(victim)

        for name, actor, what in (
            ("killer", Actor("killer"), kill()),
            ("victim", victim, wait("victim")),
            ("bystander", bystander, wait("bystander")),
        ):
            loop.create_task(what, name=name, context=actor.context())
        await sleep(1.0)
        woken.set()
        await sleep(1.0)
        await loop.release(victim)
        return seen, loop.failures

    assert run(main()) == (["bystander"], ())


def test_an_unhandled_failure_is_recorded() -> None:
    async def main() -> tuple[str, ...]:
        def fail() -> None:
            raise ValueError("too bad")

        running_loop().call_soon(fail)
        await sleep(1.0)
        return running_loop().failures

    (failure,) = run(main())

    assert "too bad" in failure


def test_the_loop_supports_neither_threads_nor_sockets() -> None:
    async def main() -> None:
        with pytest.raises(NotImplementedError):
            await asyncio.to_thread(int)
        with pytest.raises(NotImplementedError):
            await asyncio.open_connection("127.0.0.1", 1)

    run(main())


def test_cancelled_deadlines_are_removed() -> None:
    async def main() -> str:
        clock = VirtualClock(running_loop())
        for _ in range(10_000):
            async with clock.timeout(HOUR):
                await clock.sleep(0.001)
        return repr(running_loop())

    waiting = int(run(main()).rpartition(", ")[2].split()[0])

    assert waiting < 1000


def test_a_deadline_that_was_met_has_no_effect() -> None:
    async def main() -> float:
        clock = VirtualClock(running_loop())
        async with clock.timeout(3.0):
            await clock.sleep(1.0)
        await clock.sleep(10.0)
        return clock.monotonic()

    assert run(main()) == 11.0


def test_a_task_cancelled_at_its_deadline_is_cancelled() -> None:
    async def main() -> bool:
        clock = VirtualClock(running_loop())

        async def wait() -> None:
            async with clock.timeout(3.0):
                await clock.sleep(HOUR)

        async with asyncio.TaskGroup() as group:
            task = group.create_task(wait())
            running_loop().call_later(3.0, task.cancel)
        return task.cancelled()

    assert run(main())


def test_an_inner_deadline_does_not_affect_the_outer_one() -> None:
    async def main() -> list[str]:
        clock, seen = VirtualClock(running_loop()), []
        async with clock.timeout(10.0):
            try:
                async with clock.timeout(3.0):
                    await clock.sleep(HOUR)
            except TimeoutError:
                seen.append("inner")
            await clock.sleep(1.0)
            seen.append("outer goes on")
        return seen

    assert run(main()) == ["inner", "outer goes on"]
