"""Background tasks that end together with an ``async with`` block."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Protocol


class Start(Protocol):
    """A function that starts a background task inside a ``background_tasks`` block."""

    def __call__(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Start ``work`` as a task named ``name``, and return the task.

        The task is cancelled when the ``background_tasks`` block ends; the caller may cancel it
        earlier. A task that is started after the block has ended is cancelled before ``work``
        begins. Code that runs during shutdown therefore need not check whether the block has ended.
        """
        ...


@asynccontextmanager
async def background_tasks() -> AsyncIterator[Start]:
    """Provide a function that starts background tasks; cancel the tasks when the block ends.

    If only the block raises an exception, that exception is raised unchanged, not in a group. If a
    task fails, the block is cancelled, and an exception group is raised. The group contains the
    exceptions of the failed tasks and, if the block raised an exception too, that exception.
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
        raise BaseExceptionGroup("the block and its background tasks failed", errors) from None
    if failure is not None:
        raise failure


def is_cancelled() -> bool:
    """Whether the current asyncio task is being cancelled.

    Call this in an ``except CancelledError`` block: if false, the error was raised because the
    awaited operation was cancelled, not because the current task was.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
