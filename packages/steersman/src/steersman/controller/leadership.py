"""The lead: an author's coroutine goes on only while its replica leads.

A process that is stopped for longer than its lease lasts (a suspended container, a starved machine)
wakes up in the middle of a reconcile, while another replica has long taken over. Writes to the API
server are held back by the fence. What the author's function does elsewhere is not, so the
coroutine itself is not resumed any more: at each of its steps it is asked whether this replica
leads, and if not, it is cancelled.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, TypeAlias, TypeVar

from steersman.cache import is_cancelled
from steersman.clock import Clock
from steersman.errors import NotLeading

T = TypeVar("T")

# How often to look whether this replica leads again. It has lost the lead, and is cancelled soon,
# or its lease was renewed at the last moment.
LEAD_SECONDS: Final = 0.1

# Whether this replica leads, by its own clock. It is asked from threads as well.
IsLeader: TypeAlias = Callable[[], bool]


@coroutine
def run_while_leader(
    work: Coroutine[Any, Any, T], leads: IsLeader, *, wanted: str
) -> Generator[Any, None, T]:
    """Await ``work``, and cancel it where it would go on without the lead; ``NotLeading`` then."""
    thrown: BaseException | None = None
    is_over = False
    try:
        while True:
            # Not where a cancellation is on its way, which may be that of a timeout in the work.
            if not leads() and (thrown is None or isinstance(thrown, Exception)):
                is_over = True
                thrown = asyncio.CancelledError()
            waits_for = work.send(None) if thrown is None else work.throw(thrown)
            thrown = None
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001  for the work: what it waited for failed
                thrown = error
    except StopIteration as done:
        if is_over:
            raise NotLeading(wanted=wanted, was_stopped=True) from None
        returned: T = done.value
        return returned
    except asyncio.CancelledError:
        if not is_over or is_cancelled():
            raise
        raise NotLeading(wanted=wanted, was_stopped=True) from None


async def wait_until_leader(leads: IsLeader, clock: Clock) -> None:
    """Wait until this replica leads; at once if it does."""
    while not leads():
        await clock.sleep(LEAD_SECONDS)
