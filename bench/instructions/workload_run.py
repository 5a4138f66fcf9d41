"""``python -m bench.instructions.workload_run (record|replay|profile) WORKLOAD RECORDING``.

During a replay, each mark calls ``getppid``, which valgrind watches, and the marks are printed as
JSON. ``profile`` runs the measured part under Python's profiler.
"""

import asyncio
import cProfile
import gc
import json
import os
import pstats
import sys
from pathlib import Path

from bench.instructions.servers import RecordingServer, ReplayServer, load, save
from bench.instructions.virtual_loop import VirtualClock, VirtualLoop
from bench.instructions.workloads import WORKLOADS, Mark, Workload


def record(workload: Workload, file: Path) -> None:
    """Run the workload with a server, and write a recording of the replies."""
    from bench.instructions.cluster_users import ClusterUsers

    async def main() -> None:
        clock = VirtualClock(loop)
        users = ClusterUsers(clock)
        server.serve(users.server)
        if workload.before is not None:
            await workload.before(users)
        async with asyncio.TaskGroup() as group:
            if workload.meanwhile is not None:
                group.create_task(workload.meanwhile(users))
            await workload.play(clock, unmarked)
        await server.close()

    server = RecordingServer()
    loop = VirtualLoop(server)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())
    save(server.recording, file)


def unmarked(name: str = "", of: int = 1) -> None:
    """Ignore a mark."""


def replay(workload: Workload, file: Path) -> None:
    """Run the workload with recorded replies, and print the marks."""
    marked: list[tuple[str, int]] = []

    def mark(name: str = "", of: int = 1) -> None:
        os.getppid()
        marked.append(("", 1))
        if name:
            _freeze_objects()
            os.getppid()
            marked.append((name, of))

    replay_workload(workload, file, mark)
    print(json.dumps(marked))


def profile(workload: Workload, file: Path) -> None:
    """Run the workload with recorded replies under the profiler."""
    profiler = cProfile.Profile()

    def mark(name: str = "", of: int = 1) -> None:  # noqa: ARG001 - the profile has one part
        profiler.disable()
        if name:
            _freeze_objects()
            profiler.enable()

    replay_workload(workload, file, mark)
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(60)


def replay_workload(workload: Workload, file: Path, mark: Mark) -> None:
    """Run a workload with recorded replies; it must send exactly the recorded requests."""
    server = ReplayServer(load(file))
    loop = VirtualLoop(server)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(workload.play(VirtualClock(loop), mark))
    if server.unrequested:
        raise AssertionError(f"recorded, but not requested: {server.unrequested[:5]}")


def _freeze_objects() -> None:
    # The next garbage collection skips the objects of the warm-up: it would traverse all of them,
    # at an arbitrary time.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    what, name, path = sys.argv[1:]
    {"record": record, "replay": replay, "profile": profile}[what](WORKLOADS[name], Path(path))
