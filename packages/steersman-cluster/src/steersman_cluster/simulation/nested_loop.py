"""A virtual loop inside a running loop, for a simulation in a coroutine test."""

import gc
from asyncio import events
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from steersman_cluster.simulation.loop import VirtualLoop

T = TypeVar("T")

# Net allocations before a collection: several small clusters, or a tenth of a large one.
YOUNG: Final = 200_000


def run_nested(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` on a new virtual loop; the running loop is blocked meanwhile.

    For tests, which have nothing else to do meanwhile.
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
    """Raise the collector's threshold in the block, and collect the two young generations at its
    end.

    Within the block, the collector runs only after ``YOUNG`` new objects. Nothing changes if it is
    disabled, or if its threshold is already as high. All objects of a cluster become garbage at its
    end. Before that there is little to collect, and each collection takes time: with the default
    threshold, a third of the time of a small cluster.
    """
    young, middle, old = gc.get_threshold()
    # Never more often than configured: 0 means never.
    if not gc.isenabled() or young == 0 or young >= YOUNG:
        yield
        return
    gc.set_threshold(YOUNG, middle, old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        gc.collect(1)
