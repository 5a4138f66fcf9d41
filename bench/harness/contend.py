"""``python -m bench.harness.contend CONTENDER (list|get) KUBECONFIG COUNT``: a contender's turn.

It runs in a process of its own and prints what the work cost as one line of JSON.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from bench.harness.kernel import memory_in
from bench.harness.task import CONFIG_MAP_VALUE, IN_FLIGHT


class Contender(Protocol):
    """What ``bench.peers.clients`` says that each of its modules has."""

    def connected(self, kubeconfig: Path) -> AbstractAsyncContextManager[Any]: ...

    async def list_apps(self, client: Any) -> Sequence[object]: ...

    async def get_motto(self, client: Any) -> Any: ...


class Meter:
    """Reads wall time, CPU and memory of this process, from when it is made."""

    def __init__(self) -> None:
        self._started_at = time.perf_counter()
        self._cpu_at_start = _cpu_seconds()

    def read(self) -> dict[str, float]:
        """What was used since then, and what is in memory now."""
        cpu_seconds = _cpu_seconds() - self._cpu_at_start
        wall_seconds = time.perf_counter() - self._started_at
        memory = Path("/proc/self/status").read_text()
        return {"wall": wall_seconds, "cpu": cpu_seconds, **memory_in(memory)}


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def list_once(contender: Contender, kubeconfig: Path, count: int) -> dict[str, float]:
    """From a client that has not said anything yet to ``count`` objects in hand."""
    async with contender.connected(kubeconfig) as client:
        meter = Meter()
        apps = await contender.list_apps(client)
        spent = meter.read()
    if len(apps) != count:
        raise AssertionError(f"{count} objects are there, {len(apps)} were listed")
    return spent


async def get_repeatedly(contender: Contender, kubeconfig: Path, count: int) -> dict[str, float]:
    """``count`` requests over connections that are already open; the cost of each."""

    async def get(times: int) -> None:
        for _ in range(times):
            motto = await contender.get_motto(client)
            if motto != CONFIG_MAP_VALUE:
                raise AssertionError(f"{CONFIG_MAP_VALUE!r} is there, {motto!r} was read")

    async def get_side_by_side(times: int) -> None:
        async with asyncio.TaskGroup() as workers:
            for _ in range(IN_FLIGHT):
                workers.create_task(get(times // IN_FLIGHT))

    async with contender.connected(kubeconfig) as client:
        await get_side_by_side(10 * IN_FLIGHT)
        meter = Meter()
        await get_side_by_side(count)
        spent = meter.read()
    return {**spent, "wall": spent["wall"] / count, "cpu": spent["cpu"] / count}


TASKS = {"list": list_once, "get": get_repeatedly}


def main() -> None:
    """Do what the command line says."""
    name, task, kubeconfig, count = sys.argv[1:]
    contender: Any = import_module(f"bench.peers.clients.{name}")
    print(json.dumps(asyncio.run(TASKS[task](contender, Path(kubeconfig), int(count)))))


if __name__ == "__main__":
    main()
