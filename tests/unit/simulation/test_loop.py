"""An event loop whose time is a number."""

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


def here() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


async def sleep(seconds: float) -> None:
    await VirtualClock(here()).sleep(seconds)


def test_time_passes_only_when_every_task_waits() -> None:
    async def main() -> list[float]:
        loop, seen = here(), []
        for _ in range(1000):
            await sleep(0)
            seen.append(loop.time())
        await sleep(HOUR)
        return [*{*seen}, loop.time()]

    assert run(main()) == [0.0, HOUR]


def test_tasks_that_wait_for_one_time_resume_in_the_order_of_their_calls() -> None:
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


def test_a_timeout_fires_at_its_moment() -> None:
    async def main() -> float:
        clock = VirtualClock(here())
        with pytest.raises(TimeoutError):
            async with clock.timeout(3.0):
                await clock.sleep(HOUR)
        return clock.monotonic()

    assert run(main()) == 3.0


def test_the_clock_begins_with_its_epoch() -> None:
    async def main() -> tuple[float, str]:
        await sleep(HOUR)
        clock = VirtualClock(here())
        await clock.sleep(90.0)
        return clock.monotonic(), clock.now().isoformat()

    assert run(main()) == (90.0, "2030-01-01T00:01:30+00:00")


def test_a_deadlock_is_an_error_that_names_the_waiting_tasks() -> None:
    async def wait_in_vain() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(wait_in_vain(), name="the first")
            group.create_task(wait_in_vain(), name="the second")
            await sleep(7.0)

    with pytest.raises(Deadlock, match=r"(?s)after 7 s.*the first \(.*the second \(") as caught:
        run(main())

    assert len(caught.value.waiting) == 3


def test_a_task_that_waits_in_vain_is_cancelled_before_the_error_is_raised() -> None:
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


def test_a_task_that_waits_in_vain_beside_periodic_tasks_is_an_error() -> None:
    async def tick() -> None:
        while True:
            await sleep(300.0)

    async def main() -> None:
        program = Actor("program")
        here().create_task(tick(), name="tick", context=program.context())
        await asyncio.Event().wait()

    with pytest.raises(Deadlock, match="main"):
        run(main())


def test_a_long_sleep_beside_periodic_tasks_is_no_deadlock() -> None:
    async def tick() -> None:
        while True:
            await sleep(300.0)

    async def main() -> float:
        program = Actor("program")
        ticking = here().create_task(tick(), name="tick", context=program.context())
        await sleep(100 * HOUR)
        ticking.cancel()
        return here().time()

    assert run(main()) == 100 * HOUR


def test_a_group_cancels_its_tasks_in_the_order_in_which_they_were_started() -> None:
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


def test_a_killed_operator_stops_where_it_is_and_none_of_its_finally_blocks_runs() -> None:
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

        loop, actor = here(), Actor("program")
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


def test_a_task_killed_by_the_one_just_before_it_does_not_run() -> None:
    async def main() -> tuple[list[str], tuple[str, ...]]:
        loop, seen, woken = here(), [], asyncio.Event()
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


def test_a_failure_that_no_task_waits_for_is_recorded() -> None:
    async def main() -> tuple[str, ...]:
        def fail() -> None:
            raise ValueError("too bad")

        here().call_soon(fail)
        await sleep(1.0)
        return here().failures

    (failure,) = run(main())

    assert "too bad" in failure


def test_it_has_no_threads_and_no_sockets() -> None:
    async def main() -> None:
        with pytest.raises(NotImplementedError):
            await asyncio.to_thread(int)
        with pytest.raises(NotImplementedError):
            await asyncio.open_connection("127.0.0.1", 1)

    run(main())


def test_deadlines_that_never_come_leave_nothing_behind() -> None:
    async def main() -> str:
        clock = VirtualClock(here())
        for _ in range(10_000):
            async with clock.timeout(HOUR):
                await clock.sleep(0.001)
        return repr(here())

    waiting = int(run(main()).rpartition(", ")[2].split()[0])

    assert waiting < 1000


def test_a_deadline_that_did_not_pass_changes_nothing() -> None:
    async def main() -> float:
        clock = VirtualClock(here())
        async with clock.timeout(3.0):
            await clock.sleep(1.0)
        await clock.sleep(10.0)
        return clock.monotonic()

    assert run(main()) == 11.0


def test_a_task_cancelled_while_its_deadline_passes_is_cancelled() -> None:
    async def main() -> bool:
        clock = VirtualClock(here())

        async def wait() -> None:
            async with clock.timeout(3.0):
                await clock.sleep(HOUR)

        async with asyncio.TaskGroup() as group:
            task = group.create_task(wait())
            here().call_later(3.0, task.cancel)
        return task.cancelled()

    assert run(main())


def test_the_inner_of_two_deadlines_passes_alone() -> None:
    async def main() -> list[str]:
        clock, seen = VirtualClock(here()), []
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
