"""A work queue: the keys of the objects to reconcile, each with one worker at a time."""

from collections.abc import Awaitable, Callable

from steersman.errors import QueueClosed
from steersman.names import ObjectKey
from steersman.workqueue import WorkQueue


async def work(
    queue: WorkQueue[ObjectKey], reconcile: Callable[[ObjectKey], Awaitable[None]]
) -> None:
    """Reconcile one key after the other. Several workers can use one queue."""
    while True:
        try:
            async with queue.take() as key:
                try:
                    await reconcile(key)
                except Exception:  # other keys continue after any error
                    queue.add_rate_limited(key)  # retry with a growing backoff
                else:
                    queue.forget(key)  # reset the backoff
        except QueueClosed:
            return
