"""``python -m bench.harness.fan_out (rush|pace) KUBECONFIG WATCHERS CHANGES``: many hear of each.

All watchers are in this process and follow one collection, in which ConfigMaps are created: in a
rush, as fast as the server takes them; or at a pace, one after another with time in between, for
how long each takes to arrive. Says ``ready`` once all watch, begins when it is given a
line, and prints what came of it as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bench.harness.load import PADDING, Destination, connection, named
from bench.harness.rounds import Cost
from bench.harness.spans import shares
from bench.harness.task import CONFIG_MAPS

# The writers are not measured, and one alone would keep no server busy.
WRITERS = 4

# Slower than any server tells all watchers of one.
PACE_SECONDS = 0.05

SETTLE_SECONDS = 1.0
PATIENCE_SECONDS = 120.0

# Every event begins with this, and with nothing else in it.
MARKER = b'{"type":"ADDED"'


class Tally:
    """How often a marker has come by in a stream of pieces, of which any may end within one."""

    def __init__(self, marker: bytes) -> None:
        self._marker = marker
        self._tail = b""
        self.count = 0

    def add(self, piece: bytes) -> int:
        """One piece more; how many it has completed."""
        seen = self._tail + piece
        found = seen.count(self._marker)
        # One byte too short for a whole marker, so that none is counted twice.
        self._tail = seen[max(0, len(seen) - len(self._marker) + 1) :]
        self.count += found
        return found


class Watcher(asyncio.Protocol):
    """Counts events, and notes when each came; with as little work as can be for each."""

    def __init__(self, wake: asyncio.Event) -> None:
        self._wake = wake
        self._tally = Tally(MARKER)
        self.received_at: list[float] = []

    def data_received(self, data: bytes) -> None:
        """What came, which may be several events or a part of one."""
        found = self._tally.add(data)
        if found:
            self.received_at += [time.perf_counter()] * found
            self._wake.set()


class Crowd:
    """All watchers together."""

    def __init__(self, watchers: Sequence[Watcher], wake: asyncio.Event) -> None:
        self._watchers = watchers
        self._wake = wake

    def __len__(self) -> int:
        """How many there are."""
        return len(self._watchers)

    async def received(self, count: int) -> None:
        """Wait until all watchers have received so many."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while any(len(each.received_at) < count for each in self._watchers):
                self._wake.clear()
                await self._wake.wait()

    def delays(self, sent_at: Sequence[float]) -> list[float]:
        """From sending each change to every watcher's hearing of it."""
        return [
            received - sent
            for each in self._watchers
            for received, sent in zip(each.received_at, sent_at, strict=True)
        ]


@asynccontextmanager
async def watching(to: Destination, count: int) -> AsyncIterator[Crowd]:
    """So many watchers of ConfigMaps, from here on, while the block runs."""
    async with connection(to) as mine:
        listed = json.loads(await mine.ask(to.request("GET", f"{CONFIG_MAPS}?limit=1")))
    version = listed["metadata"]["resourceVersion"]
    path = f"{CONFIG_MAPS}?watch=true&timeoutSeconds=600&resourceVersion={version}"
    loop, wake = asyncio.get_running_loop(), asyncio.Event()
    async with AsyncExitStack() as stack:
        watchers: list[Watcher] = []
        for _ in range(count):
            transport, watcher = await loop.create_connection(
                lambda: Watcher(wake), to.host, to.port, ssl=to.tls, server_hostname=to.host
            )
            stack.callback(transport.abort)
            transport.write(to.request("GET", path))
            watchers.append(watcher)
        await asyncio.sleep(SETTLE_SECONDS)
        yield Crowd(watchers, wake)


def creation(to: Destination, number: int) -> bytes:
    """A ConfigMap of 1 kB that is not there yet."""
    return to.request(
        "POST", CONFIG_MAPS, {"metadata": named(number), "data": {"padding": PADDING}}
    )


async def rush(to: Destination, crowd: Crowd, changes: int) -> Cost:
    """From the first change until all have received the last; the rate is of events."""
    waiting = iter([creation(to, number) for number in range(changes)])

    async def write() -> None:
        async with connection(to) as mine:
            for request in waiting:
                await mine.ask(request)

    started_at = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())
    await crowd.received(changes)
    seconds = time.perf_counter() - started_at
    return {"wall": seconds, "rate": changes * len(crowd) / seconds}


async def pace(to: Destination, crowd: Crowd, changes: int) -> Cost:
    """How long each watcher waited for each change."""
    sent_at: list[float] = []
    async with connection(to) as mine:
        for number in range(changes):
            request = creation(to, number)
            sent_at.append(time.perf_counter())
            await mine.ask(request)
            await asyncio.sleep(PACE_SECONDS)
    await crowd.received(changes)
    return shares("delay", crowd.delays(sent_at))


TASKS = {"rush": rush, "pace": pace}


async def main() -> None:
    """Do what the command line says."""
    task, kubeconfig, watchers, changes = sys.argv[1:]
    to = Destination.of(Path(kubeconfig))
    async with watching(to, int(watchers)) as crowd:
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(await TASKS[task](to, crowd, int(changes))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
