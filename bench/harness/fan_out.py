"""``python -m bench.harness.fan_out (burst|steady) KUBECONFIG WATCHERS CHANGES``: many watchers.

All watchers run in this process and watch one collection, in which the program creates ConfigMaps.
``burst`` creates them as fast as the server accepts them, and measures the rate of events.
``steady`` creates one at a time with a pause, and measures the delay of each event. The program
prints ``ready`` when all watches are open, starts after a line on standard input, and prints the
figures as JSON.
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
from bench.harness.spans import percentiles
from bench.harness.task import CONFIG_MAPS

# The writers are not measured. A single writer would not use the whole capacity of a server.
WRITERS = 4

# Any server notifies all watchers of a change in less time.
INTERVAL_SECONDS = 0.05

SETTLE_SECONDS = 1.0
TIMEOUT_SECONDS = 120.0

# The start of every event, which occurs nowhere else.
MARKER = b'{"type":"ADDED"'


class MarkerCounter:
    """Counts a marker in a stream of pieces; a piece can end within a marker."""

    def __init__(self, marker: bytes) -> None:
        self._marker = marker
        self._tail = b""
        self.count = 0

    def add(self, piece: bytes) -> int:
        """Add a piece, and return the number of markers that it completes."""
        seen = self._tail + piece
        found = seen.count(self._marker)
        # One byte shorter than a marker, so that no marker is counted twice.
        self._tail = seen[max(0, len(seen) - len(self._marker) + 1) :]
        self.count += found
        return found


class Watcher(asyncio.Protocol):
    """Records the time of each event, with little work for each."""

    def __init__(self, wake: asyncio.Event) -> None:
        self._wake = wake
        self._tally = MarkerCounter(MARKER)
        self.received_at: list[float] = []

    def data_received(self, data: bytes) -> None:
        """Count the events in a piece."""
        found = self._tally.add(data)
        if found:
            self.received_at += [time.perf_counter()] * found
            self._wake.set()


class Watchers:
    """All watchers of this process."""

    def __init__(self, watchers: Sequence[Watcher], wake: asyncio.Event) -> None:
        self._watchers = watchers
        self._wake = wake

    def __len__(self) -> int:
        """The number of watchers."""
        return len(self._watchers)

    async def received(self, count: int) -> None:
        """Wait until each watcher has received this number of events."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while any(len(each.received_at) < count for each in self._watchers):
                self._wake.clear()
                await self._wake.wait()

    def delays(self, sent_at: Sequence[float]) -> list[float]:
        """The delay of each change at each watcher, from the time of the request."""
        return [
            received - sent
            for each in self._watchers
            for received, sent in zip(each.received_at, sent_at, strict=True)
        ]


@asynccontextmanager
async def open_watches(to: Destination, count: int) -> AsyncIterator[Watchers]:
    """Watch the ConfigMaps with ``count`` watchers during the block."""
    async with connection(to) as mine:
        listed = json.loads(await mine.send(to.request("GET", f"{CONFIG_MAPS}?limit=1")))
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
        yield Watchers(watchers, wake)


def creation(to: Destination, number: int) -> bytes:
    """The request that creates a ConfigMap of 1 kB."""
    return to.request(
        "POST", CONFIG_MAPS, {"metadata": named(number), "data": {"padding": PADDING}}
    )


async def burst(to: Destination, watchers: Watchers, changes: int) -> Cost:
    """Create all ConfigMaps, and wait for all events; the rate counts events."""
    waiting = iter([creation(to, number) for number in range(changes)])

    async def write() -> None:
        async with connection(to) as mine:
            for request in waiting:
                await mine.send(request)

    started_at = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())
    await watchers.received(changes)
    seconds = time.perf_counter() - started_at
    return {"wall": seconds, "rate": changes * len(watchers) / seconds}


async def steady(to: Destination, watchers: Watchers, changes: int) -> Cost:
    """Create one ConfigMap after the other, and return the delays of the events."""
    sent_at: list[float] = []
    async with connection(to) as mine:
        for number in range(changes):
            request = creation(to, number)
            sent_at.append(time.perf_counter())
            await mine.send(request)
            await asyncio.sleep(INTERVAL_SECONDS)
    await watchers.received(changes)
    return percentiles("delay", watchers.delays(sent_at))


TASKS = {"burst": burst, "steady": steady}


async def main() -> None:
    """Run the command line."""
    task, kubeconfig, count, changes = sys.argv[1:]
    to = Destination.of(Path(kubeconfig))
    async with open_watches(to, int(count)) as watchers:
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(await TASKS[task](to, watchers, int(changes))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
