"""Leadership checks in a reconcile: the coroutine runs only while its replica is the leader.

A process that is suspended for longer than its lease lasts (a frozen container, a starved machine)
resumes in the middle of a reconcile, after another replica has taken over. The fence rejects the
writes of that process to the API server. Effects of the operator author's function on other systems
are not fenced. So leadership is checked at each step of the coroutine, and the coroutine is
cancelled if leadership is lost.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, TypeAlias, TypeVar

from steersman.cache import is_cancelled
from steersman.clock import Clock
from steersman.errors import NotLeading

T = TypeVar("T")

# The interval of leadership checks while leadership is lost. Either this process is cancelled soon,
# or the lease was renewed at the last moment.
LEADER_CHECK_SECONDS: Final = 0.1

# Whether this replica is the leader, by its own clock. Threads call it, too.
IsLeader: TypeAlias = Callable[[], bool]


@coroutine
def run_while_leader(
    work: Coroutine[Any, Any, T], leads: IsLeader, *, wanted: str
) -> Generator[Any, None, T]:
    """Await ``work``; if leadership is lost, cancel ``work`` and raise ``NotLeading``.

    ``leads`` returns whether this replica is the leader; ``wanted`` describes ``work`` in the
    error.
    """
    thrown: BaseException | None = None
    is_over = False
    try:
        while True:
            # Not while a cancellation is delivered: it may be that of a timeout inside the work.
            if not leads() and (thrown is None or isinstance(thrown, Exception)):
                is_over = True
                thrown = asyncio.CancelledError()
            waits_for = work.send(None) if thrown is None else work.throw(thrown)
            thrown = None
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001  thrown into the work, which awaited it
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
    """Wait until this replica is the leader."""
    while not leads():
        await clock.sleep(LEADER_CHECK_SECONDS)
