"""A loop within a loop: a simulation that somebody awaits."""

import gc
from asyncio import events
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from steersman_cluster.simulation.loop import VirtualLoop

T = TypeVar("T")

# So many objects more than were let go of: several small clusters, or the tenth of a large one.
YOUNG: Final = 200_000


def run_nested(main: Coroutine[Any, Any, T]) -> T:
    """Run it on a virtual loop of its own; whoever's loop runs here stands still meanwhile.

    It is for a test, which has nothing else to do.
    """
    with deferred_collection():
        return _run(main)


def _run(main: Coroutine[Any, Any, T]) -> T:
    before = events._get_running_loop()
    events._set_running_loop(None)
    loop = VirtualLoop()
    try:
        outcome: T = loop.run_until_complete(main)
        return outcome
    finally:
        loop.close()
        events._set_running_loop(before)


@contextmanager
def deferred_collection() -> Iterator[None]:
    """Take what is made in the block for garbage once, when it is left, and nothing older.

    A cluster lives and dies as a whole. In the middle of it there is little to collect, and whoever
    looks for it looks at all that a test process holds: a third of the time of a small cluster.
    """
    young, middle, old = gc.get_threshold()
    # Not more often than it was, or than somebody has wished for: 0 is never.
    if not gc.isenabled() or young == 0 or young >= YOUNG:
        yield
        return
    gc.set_threshold(YOUNG, middle, old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        gc.collect(1)
