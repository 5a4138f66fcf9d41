"""Tasks behind a block: they end with it, and a late one does not begin."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from steersman.cache import Start, background_tasks


async def test_tasks_end_with_the_block() -> None:
    async with background_tasks() as start:
        task = start(_for_ever(), name="endless")
        await _turn()
    assert task.cancelled()


@pytest.mark.parametrize("ended", ["normally", "by a failure", "by being cancelled"])
async def test_a_task_created_while_the_block_ends_does_not_start(ended: str) -> None:
    begun: list[str] = []
    late: list[asyncio.Task[None]] = []

    async def block(end: Callable[[], Awaitable[None]]) -> None:
        async with background_tasks() as start:
            start(_starting_at_the_end(start, late, begun), name="on its way out")
            await _turn()
            await end()

    if ended == "normally":
        await block(_turn)
    elif ended == "by a failure":
        with pytest.raises(ZeroDivisionError):
            await block(_fail)
    else:
        async with asyncio.TaskGroup() as group:
            whole = group.create_task(block(_for_ever))
            await _turn()
            whole.cancel()
        assert whole.cancelled()
    await asyncio.wait(late)
    assert late[0].cancelled()
    assert not begun


async def test_a_task_created_after_a_failure_does_not_hide_the_failure() -> None:
    late: list[asyncio.Task[None]] = []
    begun: list[str] = []

    async def block() -> None:
        async with background_tasks() as start:
            start(_starting_at_the_end(start, late, begun), name="on its way out")
            await _turn()
            start(_fail(), name="failing")
            await _for_ever()

    with pytest.raises(BaseExceptionGroup) as failed:
        await block()
    assert [type(each) for each in failed.value.exceptions] == [ZeroDivisionError]
    assert late[0].cancelled()
    assert not begun


async def _starting_at_the_end(
    start: Start, late: list[asyncio.Task[None]], begun: list[str]
) -> None:
    try:
        await _for_ever()
    finally:
        late.append(start(_telling(begun), name="late"))


async def _telling(begun: list[str]) -> None:
    begun.append("begun")


async def _fail() -> None:
    raise ZeroDivisionError


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


async def _turn() -> None:
    """Let every other task have its turn, and what it did be known."""
    for _ in range(3):
        await asyncio.sleep(0)  # noqa: TID251 - turns of the loop, not time
