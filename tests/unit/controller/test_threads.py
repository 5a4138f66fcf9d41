"""Plain functions run in threads, also functions that do not end."""

import asyncio
import signal
import threading
from collections.abc import Iterator

import pytest

from steersman.controller import ThreadPolicy, ThreadPool, start_thread
from steersman.controller.threads import LoopCaller
from steersman.errors import ContextEnded, ExitRaised
from steersman.observe import Observation, ThreadsExhausted

ENDS = {signal.SIGINT, signal.SIGTERM}


def ended() -> ContextEnded:
    return ContextEnded(controller="test", ref="Widget here/one")


@pytest.fixture
def observed() -> list[Observation]:
    return []


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    """An event that functions wait for, set at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


async def test_calls_of_a_function_in_a_thread_run_in_the_loop(
    observed: list[Observation],
) -> None:
    loop_thread = threading.get_ident()
    threads = ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=observed.append)

    async def call() -> int:
        return threading.get_ident()

    def function(caller: LoopCaller) -> tuple[int, int]:
        return threading.get_ident(), caller.call(call)

    job = await threads.start(function, holder="one", ended=ended)
    own, asked = await job.result()

    assert own != loop_thread
    assert asked == loop_thread


async def test_an_exception_of_the_thread_is_raised(observed: list[Observation]) -> None:
    threads = ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=observed.append)

    async def fail() -> None:
        raise LookupError("in the loop")

    def function(caller: LoopCaller) -> None:
        try:
            caller.call(fail)
        except LookupError as error:
            raise ValueError("in the thread") from error

    job = await threads.start(function, holder="one", ended=ended)

    with pytest.raises(ValueError, match="in the thread"):
        await job.result()


async def test_the_loop_continues_while_a_thread_runs(
    observed: list[Observation], hang: threading.Event
) -> None:
    threads = ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=observed.append)
    job = await threads.start(lambda _: hang.wait(), holder="one", ended=ended)

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(job.result())
        await asyncio.sleep(0)  # noqa: TID251 - a turn is given away
        assert not waiting.done()
        hang.set()

    assert waiting.result() is True


async def test_the_holders_of_busy_threads_are_named(
    observed: list[Observation], hang: threading.Event
) -> None:
    threads = ThreadPool(2, policy=ThreadPolicy.CONCURRENT, observe=observed.append)
    jobs = [
        await threads.start(lambda _: hang.wait(), holder=name, ended=ended)
        for name in ("one", "two")
    ]

    async with asyncio.TaskGroup() as group:
        third = group.create_task(threads.start(lambda _: 3, holder="three", ended=ended))
        await asyncio.sleep(0)  # noqa: TID251 - a turn is given away
        assert not third.done()
        hang.set()

    assert observed == [ThreadsExhausted(threads=2, waiting=1, held_by=("one", "two"))]
    assert await third.result().result() == 3
    for job in jobs:
        await job.ended()


async def test_an_abandoned_thread_cannot_call_and_counts_against_the_limit(
    observed: list[Observation], hang: threading.Event
) -> None:
    threads = ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=observed.append)
    raised: list[Exception] = []

    async def nothing() -> None:
        pass

    def function(caller: LoopCaller) -> None:
        hang.wait()
        try:
            caller.call(nothing)
        except ContextEnded as error:
            raised.append(error)

    job = await threads.start(function, holder="one", ended=ended)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(job.result())
        await asyncio.sleep(0)  # noqa: TID251 - a turn is given away
        waiting.cancel()

    assert not job.has_ended
    assert repr(threads) == "<ThreadPool 1 of 1 busy, 0 waiting>"
    hang.set()
    await job.ended()
    assert [str(each) for each in raised] == [str(ended())]
    assert repr(threads) == "<ThreadPool 0 of 1 busy, 0 waiting>"


async def test_a_thread_that_waits_for_the_loop_is_released_when_its_task_ends(
    observed: list[Observation],
) -> None:
    threads = ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=observed.append)
    asked = asyncio.Event()

    async def hang_forever() -> None:
        asked.set()
        await asyncio.Event().wait()

    def function(caller: LoopCaller) -> None:
        caller.call(hang_forever)

    job = await threads.start(function, holder="one", ended=ended)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(job.result())
        await asked.wait()
        waiting.cancel()

    await job.ended()


async def test_a_thread_that_cannot_be_started_does_not_count_against_the_limit(
    observed: list[Observation],
) -> None:
    threads = ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=observed.append)
    usual = threading.stack_size(2**46)  # more than any machine has
    try:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await threads.start(lambda _: 1, holder="one", ended=ended)
    finally:
        threading.stack_size(usual)

    job = await threads.start(lambda _: 2, holder="one", ended=ended)

    assert await job.result() == 2


async def test_a_function_that_ends_its_thread_does_not_end_the_operator(
    observed: list[Observation],
) -> None:
    threads = ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=observed.append)

    def function(_: LoopCaller) -> None:
        raise SystemExit(2)

    job = await threads.start(function, holder="one", ended=ended)

    with pytest.raises(ExitRaised, match="SystemExit was raised at"):
        await job.result()


def mask() -> set[int]:
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_a_thread_blocks_the_signals_that_end_the_program() -> None:
    before = mask()
    found: list[set[int]] = []
    thread = threading.Thread(target=lambda: found.append(mask()), daemon=True)

    start_thread(thread)
    thread.join()

    assert found[0] >= ENDS
    assert mask() == before
