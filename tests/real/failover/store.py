"""A system outside the cluster that records what operators write to it, and when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from steersman.clock import SystemClock
from tests.raw_server import listening

# Long enough that a reconcile is always running.
ANSWER_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Entry:
    """One received line: ``begun``, ``read`` or ``wrote``."""

    at: float
    by: str
    what: str
    target: str


@dataclass(slots=True)
class Store:
    """The store's port, and the lines that it has received."""

    port: int = 0
    entries: list[Entry] = field(default_factory=list[Entry])
    received: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read the lines of one connection, and answer all but ``begun``."""
        clock = SystemClock()
        with suppress(OSError):  # a client that is cancelled, or killed
            while line := await reader.readline():
                by, what, target = line.decode().split()
                self.entries.append(Entry(clock.monotonic(), by, what, target))
                self.received.set()
                if what != "begun":
                    await clock.sleep(ANSWER_SECONDS)
                    writer.write(b"ok\n")

    def last_writer(self) -> str:
        """The replica that wrote last; ``""`` for none."""
        return next((each.by for each in reversed(self.entries) if each.what == "wrote"), "")

    async def written_by(self, *, other_than: str) -> Entry:
        """The next write of another replica."""
        since = len(self.entries)
        while True:
            for each in self.entries[since:]:
                if each.what == "wrote" and each.by != other_than:
                    return each
            since = len(self.entries)
            self.received.clear()
            await self.received.wait()


@asynccontextmanager
async def running_store() -> AsyncIterator[Store]:
    """A store on a free port of loopback, while the block runs."""
    store = Store()
    async with listening(store.serve) as store.port:
        yield store
