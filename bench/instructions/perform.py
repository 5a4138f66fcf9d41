"""``python -m bench.instructions.perform (rehearse|perform|profile) WORKLOAD SCRIPT``.

At a performance, each mark calls ``getppid``, which valgrind watches; what was
marked is printed as JSON. With ``profile`` Python's own profiler looks at what is counted instead.
"""

import asyncio
import cProfile
import gc
import json
import os
import pstats
import sys
from pathlib import Path

from bench.instructions.servers import Performance, Rehearsal, load, save
from bench.instructions.stage import StageClock, StageLoop
from bench.instructions.workloads import WORKLOADS, Mark, Workload


def rehearse(workload: Workload, file: Path) -> None:
    """Do it with a server, and keep what that has said."""
    from bench.instructions.outside import Outside

    async def main() -> None:
        clock = StageClock(loop)
        outside = Outside(clock)
        server.serve(outside.server)
        if workload.before is not None:
            await workload.before(outside)
        async with asyncio.TaskGroup() as group:
            if workload.meanwhile is not None:
                group.create_task(workload.meanwhile(outside))
            await workload.play(clock, unmarked)
        await server.close()

    server = Rehearsal()
    loop = StageLoop(server)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())
    save(server.script, file)


def unmarked(name: str = "", of: int = 1) -> None:
    """No counting."""


def perform(workload: Workload, file: Path) -> None:
    """Do it again without one."""
    marked: list[tuple[str, int]] = []

    def mark(name: str = "", of: int = 1) -> None:
        os.getppid()
        marked.append(("", 1))
        if name:
            _forget_the_past()
            os.getppid()
            marked.append((name, of))

    again(workload, file, mark)
    print(json.dumps(marked))


def profile(workload: Workload, file: Path) -> None:
    """The same, to see where the time goes."""
    profiler = cProfile.Profile()

    def mark(name: str = "", of: int = 1) -> None:  # noqa: ARG001 - all of it is one
        profiler.disable()
        if name:
            _forget_the_past()
            profiler.enable()

    again(workload, file, mark)
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(60)


def again(workload: Workload, file: Path, mark: Mark) -> None:
    """Do what was rehearsed, and ask for no more and no less."""
    server = Performance(load(file))
    loop = StageLoop(server)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(workload.play(StageClock(loop), mark))
    if server.unasked:
        raise AssertionError(f"not asked this time: {server.unasked[:5]}")


def _forget_the_past() -> None:
    # What is there already is not looked through by whatever collection comes next: when that
    # happens is an accident, and it would count more than all that it finds.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    what, name, path = sys.argv[1:]
    {"rehearse": rehearse, "perform": perform, "profile": profile}[what](
        WORKLOADS[name], Path(path)
    )
