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
    """Run ``main`` on a new virtual loop.

    The loop that is already running is blocked until ``main`` ends. This is acceptable in tests, in
    which nothing else has to run during that time.
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
    """Run Python's garbage collector less often while the block runs.

    Within the block, the garbage collector runs only after ``YOUNG`` new objects. At the end of the
    block, the two young generations are collected. Nothing changes if the garbage collector is
    disabled, or if its threshold is already as high.

    A cluster's objects become garbage only when the cluster ends. During its life, there is little
    to collect. With the default threshold, a small cluster would spend a third of its time on
    collection.
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
