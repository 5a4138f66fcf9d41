"""``python -m bench.harness.client_task CONTENDER (list|get) KUBECONFIG COUNT``: a client's turn.

The program prints the cost of its work as one line of JSON.
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

from bench.harness.procfs import memory_in
from bench.harness.task import CONFIG_MAP_VALUE, IN_FLIGHT


class Contender(Protocol):
    """The functions of each module in ``bench.peers.clients``."""

    def connected(self, kubeconfig: Path) -> AbstractAsyncContextManager[Any]: ...

    async def list_apps(self, client: Any) -> Sequence[object]: ...

    async def get_motto(self, client: Any) -> Any: ...


class Meter:
    """Measures wall time, CPU and memory of this process, from its creation."""

    def __init__(self) -> None:
        self._started_at = time.perf_counter()
        self._cpu_at_start = _cpu_seconds()

    def read(self) -> dict[str, float]:
        """The time and CPU since the creation, and the current memory."""
        cpu_seconds = _cpu_seconds() - self._cpu_at_start
        wall_seconds = time.perf_counter() - self._started_at
        memory = Path("/proc/self/status").read_text()
        return {"wall": wall_seconds, "cpu": cpu_seconds, **memory_in(memory)}


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def list_once(contender: Contender, kubeconfig: Path, count: int) -> dict[str, float]:
    """List ``count`` objects with a client that has not connected yet."""
    async with contender.connected(kubeconfig) as client:
        meter = Meter()
        apps = await contender.list_apps(client)
        spent = meter.read()
    if len(apps) != count:
        raise AssertionError(f"expected {count} objects, listed {len(apps)}")
    return spent


async def get_repeatedly(contender: Contender, kubeconfig: Path, count: int) -> dict[str, float]:
    """Send ``count`` requests over open connections, and return the cost of one."""

    async def get(times: int) -> None:
        for _ in range(times):
            motto = await contender.get_motto(client)
            if motto != CONFIG_MAP_VALUE:
                raise AssertionError(f"expected {CONFIG_MAP_VALUE!r}, got {motto!r}")

    async def get_concurrently(times: int) -> None:
        async with asyncio.TaskGroup() as workers:
            for _ in range(IN_FLIGHT):
                workers.create_task(get(times // IN_FLIGHT))

    async with contender.connected(kubeconfig) as client:
        await get_concurrently(10 * IN_FLIGHT)
        meter = Meter()
        await get_concurrently(count)
        spent = meter.read()
    return {**spent, "wall": spent["wall"] / count, "cpu": spent["cpu"] / count}


TASKS = {"list": list_once, "get": get_repeatedly}


def main() -> None:
    """Run the command line."""
    name, task, kubeconfig, count = sys.argv[1:]
    contender: Any = import_module(f"bench.peers.clients.{name}")
    print(json.dumps(asyncio.run(TASKS[task](contender, Path(kubeconfig), int(count)))))


if __name__ == "__main__":
    main()
