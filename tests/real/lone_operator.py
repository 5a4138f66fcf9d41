"""An operator in its own process, whose first argument says how it ends.

Run as ``python -m tests.real.lone_operator MANNER`` with the settings of a manager behind.
"""

import asyncio
import logging
import sys
import threading
from typing import Any

import steersman as sm
from steersman.client import Labels
from steersman.kinds import core_v1
from steersman.manager import Runnable, Services

# What it prints once it runs, for the test to go on.
RUNNING = "running for"


async def obedient(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Return immediately."""
    _tell(target)
    return sm.Done()


async def endless(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Never done, until it is cancelled."""
    _tell(target)
    await asyncio.Event().wait()
    return sm.Done()


async def blocking(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Waits without await, so that nothing else has a turn any more."""
    _tell(target)
    threading.Event().wait()
    return sm.Done()


def hanging(target: core_v1.ConfigMap, ctx: sm.BlockingContext) -> sm.Outcome:
    """A plain function that never returns."""
    _tell(target)
    threading.Event().wait()
    return sm.Done()


async def waiting(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Leaves a thread of asyncio's own behind, for which Python waits at the end."""
    _tell(target)
    await asyncio.to_thread(threading.Event().wait)
    return sm.Done()


async def deaf(services: Services) -> None:
    """A runnable that ignores its cancellation."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


def _tell(target: core_v1.ConfigMap) -> None:
    _say(f"{RUNNING} {target.name}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(manner: str) -> None:
    """Run, and say what became of the root logger."""
    reconciles: dict[str, Any] = {
        "endless": endless,
        "blocking": blocking,
        "hanging": hanging,
        "waiting": waiting,
    }
    controller = sm.Controller(
        core_v1.ConfigMap,
        reconcile=reconciles.get(manner, obedient),
        labels=Labels.equal({"for": "lone-operator"}),
        timeout_seconds=3600.0,
        name="lone",
    )
    runnables = [Runnable(deaf)] if manner == "deaf" else []
    sm.Manager(controllers=[controller], runnables=runnables).run()
    root = logging.getLogger()
    _say(f"root logger: {root.level} {root.handlers}")


if __name__ == "__main__":
    main(sys.argv.pop(1))
