"""``python -m bench.peers.steersman_operator``: the example's controller, with ten workers.

With ``--starts``, the start of each reconcile is a line of that file: seconds on the monotonic
clock, name and generation. With ``--sleep-ms``, a reconcile only sleeps. ``--resync-seconds`` sets
the resync period. ``--leader-elect`` enables leader election.
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

# Without fixed ports, which other processes could use; otherwise default settings.
SETTINGS = sm.ManagerSettings(
    health_address="", metrics_address="127.0.0.1:0", lease_namespace="default"
)

Reconcile: TypeAlias = Callable[[AppService, sm.Context], Awaitable[sm.Outcome]]


def sleep_for(seconds: float) -> Reconcile:
    """A reconcile that only sleeps."""

    async def sleep(_: AppService, __: sm.Context) -> sm.Outcome:
        await asyncio.sleep(seconds)
        return sm.Done()

    return sleep


def recorded(inner: Reconcile, file: Path) -> Reconcile:
    """The reconcile, with a record of each start."""
    notes = file.open("w", buffering=1)

    async def note(app: AppService, ctx: sm.Context) -> sm.Outcome:
        notes.write(f"{time.monotonic():.6f} {app.name} {app.generation}\n")
        return await inner(app, ctx)

    return note


def main() -> None:
    """Run the operator until it is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--starts", type=Path)
    parser.add_argument("--sleep-ms", type=int, default=0)
    parser.add_argument("--resync-seconds", type=float)
    parser.add_argument("--leader-elect", action="store_true")
    options = parser.parse_args()
    function: Reconcile = sleep_for(options.sleep_ms / 1000) if options.sleep_ms else reconcile
    if options.starts is not None:
        function = recorded(function, options.starts)
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
