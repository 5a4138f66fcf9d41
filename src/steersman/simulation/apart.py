"""A loop within a loop: a simulation that somebody awaits."""

from asyncio import events
from collections.abc import Coroutine
from typing import Any, TypeVar

from steersman.simulation.loop import VirtualLoop

T = TypeVar("T")


def run_apart(main: Coroutine[Any, Any, T]) -> T:
    """Run it on a virtual loop of its own; whoever's loop runs here stands still meanwhile.

    It is for a test, which has nothing else to do.
    """
    before = events._get_running_loop()
    events._set_running_loop(None)
    loop = VirtualLoop()
    try:
        outcome: T = loop.run_until_complete(main)
        return outcome
    finally:
        loop.close()
        events._set_running_loop(before)
