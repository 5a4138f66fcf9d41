"""An operator that writes at each tick: its ConfigMaps name the replica that wrote last.

Run as ``python -m tests.real.failover.operator NAME`` followed by a manager's settings.
"""

import os
import sys
from pathlib import Path

import steersman as sm
from steersman.client import MergePatch
from steersman.controller import Every
from steersman.kinds import core_v1
from steersman.manager import ManagerSettings

TICK_SECONDS = 0.2


def main(name: str, arguments: list[str]) -> None:
    """Write as ``name``."""

    async def tick(target: core_v1.ConfigMap, ctx: sm.Context) -> sm.Outcome:
        ticks = int((target.data or {}).get("ticks", "0")) + 1
        await ctx.patch(target, MergePatch({"data": {"ticks": str(ticks), "by": name}}))
        return sm.Done()

    controller = sm.Controller(
        core_v1.ConfigMap,
        reconcile=tick,
        writes=(core_v1.ConfigMap,),
        sources=(Every(TICK_SECONDS),),
        when=never,
        name="ticking",
    )
    settings = ManagerSettings.read(arguments, os.environ, prog=Path(__file__).name)
    sm.Manager(controllers=[controller], settings=settings).run()


def never(old: core_v1.ConfigMap | None, new: core_v1.ConfigMap) -> bool:
    """Ignore all changes: only the timer triggers a reconcile."""
    return False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
