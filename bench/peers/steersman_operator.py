"""``python -m bench.peers.steersman_operator``: the example's controller, with ten workers.

With ``--starts``, each reconcile's first moment is a line of that file: seconds on the monotonic
clock, the object's name and its generation. With ``--sleep-ms``, a reconcile does nothing but
sleep. With ``--resync-seconds``, it looks at everything again so often. With ``--leader-elect``, it
acts only while the Lease says so.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from opdemo.appservice import AppService, controller, reconcile

import steersman as sm

# No port that another process on this machine may have; all else is as it comes.
SETTINGS = sm.ManagerSettings(
    health_address="", metrics_address="127.0.0.1:0", lease_namespace="default"
)

Reconcile: TypeAlias = Callable[[AppService, sm.Context], Awaitable[sm.Outcome]]


def sleeping(seconds: float) -> Reconcile:
    """A reconcile that takes its time and does nothing."""

    async def sleep(_: AppService, __: sm.Context) -> sm.Outcome:
        await asyncio.sleep(seconds)
        return sm.Done()

    return sleep


def noting(inner: Reconcile, file: Path) -> Reconcile:
    """The same, with each beginning written down."""
    notes = file.open("w", buffering=1)

    async def note(app: AppService, ctx: sm.Context) -> sm.Outcome:
        notes.write(f"{time.monotonic():.6f} {app.name} {app.generation}\n")
        return await inner(app, ctx)

    return note


def main() -> None:
    """Operate until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--starts", type=Path)
    parser.add_argument("--sleep-ms", type=int, default=0)
    parser.add_argument("--resync-seconds", type=float)
    parser.add_argument("--leader-elect", action="store_true")
    options = parser.parse_args()
    function: Reconcile = sleeping(options.sleep_ms / 1000) if options.sleep_ms else reconcile
    if options.starts is not None:
        function = noting(function, options.starts)
    new_loop = None
    if options.uvloop:
        import uvloop

        new_loop = uvloop.new_event_loop
    ours = replace(
        controller,
        reconcile=function,
        workers=options.workers,
        resync_seconds=options.resync_seconds,
    )
    settings = replace(SETTINGS, leader_election=options.leader_elect)
    sm.Manager(controllers=[ours], settings=settings).run(new_loop=new_loop)


if __name__ == "__main__":
    main()
