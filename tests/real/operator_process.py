"""An operator in its own process, whose first argument selects its behavior at shutdown.

Run as ``python -m tests.real.operator_process BEHAVIOR``, followed by the settings of a manager.
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

# The operator prints this when it starts to reconcile.
RUNNING = "running for"


async def stops_at_once(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Return immediately."""
    _report(target)
    return sm.Done()


async def runs_until_cancelled(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Wait until the reconcile is cancelled."""
    _report(target)
    await asyncio.Event().wait()
    return sm.Done()


async def blocks_event_loop(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Block the event loop."""
    _report(target)
    threading.Event().wait()
    return sm.Done()


def blocks_thread(target: core_v1.ConfigMap, ctx: sm.BlockingContext) -> sm.Outcome:
    """Block a worker thread: a plain function that never returns."""
    _report(target)
    threading.Event().wait()
    return sm.Done()


async def leaves_thread(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
    """Leave a thread of asyncio's executor, which Python joins at exit."""
    _report(target)
    await asyncio.to_thread(threading.Event().wait)
    return sm.Done()


async def ignores_cancellation(services: Services) -> None:
    """A runnable that ignores cancellation."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


def _report(target: core_v1.ConfigMap) -> None:
    _print(f"{RUNNING} {target.name}")


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(behavior: str) -> None:
    """Run the operator, and then print the state of the root logger."""
    reconciles: dict[str, Any] = {
        "runs_until_cancelled": runs_until_cancelled,
        "blocks_event_loop": blocks_event_loop,
        "blocks_thread": blocks_thread,
        "leaves_thread": leaves_thread,
    }
    controller = sm.Controller(
        core_v1.ConfigMap,
        reconcile=reconciles.get(behavior, stops_at_once),
        labels=Labels.equal({"for": "operator-process"}),
        timeout_seconds=3600.0,
        name="process",
    )
    runnables = [Runnable(ignores_cancellation)] if behavior == "ignores_cancellation" else []
    sm.Manager(controllers=[controller], runnables=runnables).run()
    root = logging.getLogger()
    _print(f"root logger: {root.level} {root.handlers}")


if __name__ == "__main__":
    main(sys.argv.pop(1))
