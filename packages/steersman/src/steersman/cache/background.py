"""Tasks that end with a block."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Protocol


class Start(Protocol):
    """Starts a task that runs in the background of the block."""

    def __call__(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Start it; it may be cancelled before the block ends.

        Once the block ends, new tasks are cancelled before they begin, so that code on its way out
        need not check for that.
        """
        ...


@asynccontextmanager
async def background_tasks() -> AsyncIterator[Start]:
    """Run tasks while the block runs, and cancel them at its end.

    An exception of the block is raised as it is. A task that fails ends the block, and its
    exception is raised in a group, together with that of the block if both failed.
    """
    failure: Exception | None = None
    try:
        async with asyncio.TaskGroup() as group:
            running: set[asyncio.Task[None]] = set()
            is_ending = False

            def start(work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
                if is_ending:
                    late = asyncio.get_running_loop().create_task(work, name=name)
                    late.cancel()
                    return late
                task = group.create_task(work, name=name)
                running.add(task)
                task.add_done_callback(done)
                return task

            def done(task: asyncio.Task[None]) -> None:
                nonlocal is_ending
                running.discard(task)
                if not task.cancelled() and task.exception() is not None:
                    is_ending = True

            try:
                yield start
            except Exception as error:  # noqa: BLE001  raised below: here, it would be in a group
                failure = error
            finally:
                is_ending = True
                for task in running:
                    task.cancel()
    except BaseExceptionGroup as failed:
        if failure is None:
            raise
        errors = [failure, *failed.exceptions]
        raise BaseExceptionGroup("the block failed, and tasks behind it", errors) from None
    if failure is not None:
        raise failure


def is_cancelled() -> bool:
    """Whether a ``CancelledError`` is for this task, and not for an operation that it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
