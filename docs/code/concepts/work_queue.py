"""A work queue: which objects need a look, each with one worker at a time."""

from collections.abc import Awaitable, Callable

from steersman.errors import QueueClosed
from steersman.names import ObjectKey
from steersman.workqueue import WorkQueue


async def work(
    queue: WorkQueue[ObjectKey], look_at: Callable[[ObjectKey], Awaitable[None]]
) -> None:
    """Look at one object after the other; several of these may work on one queue."""
    while True:
        try:
            async with queue.take() as key:
                try:
                    await look_at(key)
                except Exception:  # whatever it is, the others go on
                    queue.add_rate_limited(key)  # later, and each time later still
                else:
                    queue.forget(key)  # the next failure is the first one again
        except QueueClosed:
            return
