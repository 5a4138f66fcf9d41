"""Background tasks end with their block, and a task created during the exit does not start."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from steersman.cache import Start, background_tasks


async def test_tasks_end_with_the_block() -> None:
    async with background_tasks() as start:
        task = start(_wait_forever(), name="endless")
        await _let_tasks_run()
    assert task.cancelled()


@pytest.mark.parametrize("ended", ["normally", "by a failure", "by being cancelled"])
async def test_a_task_created_while_the_block_ends_does_not_start(ended: str) -> None:
    started: list[str] = []
    late: list[asyncio.Task[None]] = []

    async def block(end: Callable[[], Awaitable[None]]) -> None:
        async with background_tasks() as start:
            start(_start_another_on_exit(start, late, started), name="exiting")
            await _let_tasks_run()
            await end()

    if ended == "normally":
        await block(_let_tasks_run)
    elif ended == "by a failure":
        with pytest.raises(ZeroDivisionError):
            await block(_fail)
    else:
        async with asyncio.TaskGroup() as group:
            whole = group.create_task(block(_wait_forever))
            await _let_tasks_run()
            whole.cancel()
        assert whole.cancelled()
    await asyncio.wait(late)
    assert late[0].cancelled()
    assert not started


async def test_a_task_created_after_a_failure_does_not_hide_the_failure() -> None:
    late: list[asyncio.Task[None]] = []
    started: list[str] = []

    async def block() -> None:
        async with background_tasks() as start:
            start(_start_another_on_exit(start, late, started), name="exiting")
            await _let_tasks_run()
            start(_fail(), name="failing")
            await _wait_forever()

    with pytest.raises(BaseExceptionGroup) as failed:
        await block()
    assert [type(each) for each in failed.value.exceptions] == [ZeroDivisionError]
    assert late[0].cancelled()
    assert not started


async def _start_another_on_exit(
    start: Start, late: list[asyncio.Task[None]], started: list[str]
) -> None:
    try:
        await _wait_forever()
    finally:
        late.append(start(_append_started(started), name="late"))


async def _append_started(started: list[str]) -> None:
    started.append("started")


async def _fail() -> None:
    raise ZeroDivisionError


async def _wait_forever() -> None:
    await asyncio.get_running_loop().create_future()


async def _let_tasks_run() -> None:
    """Yield until every other task has run and its callbacks are done."""
    for _ in range(3):
        await asyncio.sleep(0)  # noqa: TID251 - turns of the loop, not time
