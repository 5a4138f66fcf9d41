"""Runs a virtual loop inside a running event loop, for a simulation in a coroutine test."""

import gc
from asyncio import current_task, events, tasks
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from steersman_cluster.simulation.loop import VirtualLoop

T = TypeVar("T")

# Net allocations before a collection: several small clusters, or a tenth of a large one.
YOUNG: Final = 200_000


def run_nested(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` on a new virtual loop, and return its result.

    An event loop that already runs in this thread is blocked until ``main`` ends. This is
    acceptable in tests, because nothing else has to run meanwhile.
    """
    with deferred_collection():
        return _run(main)


def _run(main: Coroutine[Any, Any, T]) -> T:
    before = events._get_running_loop()
    # From Python 3.14 on, a thread has one current task, not one for each loop.
    current = None if before is None else current_task(before)
    if before is not None and current is not None:
        tasks._leave_task(before, current)
    events._set_running_loop(None)
    loop = VirtualLoop()
    try:
        outcome: T = loop.run_until_complete(main)
        return outcome
    finally:
        loop.close()
        events._set_running_loop(before)
        if before is not None and current is not None:
            tasks._enter_task(before, current)


@contextmanager
def deferred_collection() -> Iterator[None]:
    """Make Python's garbage collector run less often while the block runs.

    Within the block, the collector runs only after ``YOUNG`` new objects. At the end of the block,
    the two young generations are collected. If the collector is disabled, or its threshold is
    already ``YOUNG`` or more, nothing changes.

    A cluster's objects become garbage only when the cluster ends. Until then, there is little to
    collect. With Python's default threshold, a small cluster would spend a third of its time on
    garbage collection.
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
