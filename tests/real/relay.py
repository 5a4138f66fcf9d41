"""A TCP proxy to the API server that a test can observe and cut; the bytes stay encrypted."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import urlsplit

from steersman.clock import SystemClock
from tests.raw_server import listening
from tests.real.black_hole import sockets_to, swallow_packets


class Relay:
    """Passes connections on to a server; ``url`` is where clients find it."""

    def __init__(self, server: str) -> None:
        self._server = urlsplit(server)
        self._clients: set[asyncio.StreamWriter] = set()
        self._deserted = asyncio.Event()
        self._loses_answers = False
        self._refuses = False
        self._is_patient = False
        self._lost: set[asyncio.StreamWriter] = set()
        self._bytes_left: int | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"https://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Reset every connection, as a load balancer that crashes would."""
        for client in self._clients:
            # What closes with no time to linger says no goodbye; it may be closed already.
            with suppress(OSError):
                client.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
            client.transport.abort()

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Reset every connection, and end each new one while the block runs."""
        self._refuses = True
        self.cut()
        try:
            yield
        finally:
            self._refuses = False

    def wait_for_the_server(self) -> None:
        """From now on, keep clients waiting while the server is away, as load balancers may."""
        self._is_patient = True

    def forget_connections(self, *, acknowledging: bool) -> None:
        """Lose all that is sent on the connections there are, as a firewall that restarts does.

        No peer is notified; new connections are served. ``acknowledging``: the packets still arrive
        and are acknowledged, so that no kernel can know; otherwise they are dropped, which works
        only for clients in this process.
        """
        self._lost |= self._clients
        if not acknowledging:
            # At both ends: what one of them sent last, it would send again and again.
            with sockets_to(self.port) as far_ends:
                near_ends = [each.get_extra_info("socket") for each in self._clients]
                for each in (*near_ends, *far_ends):
                    swallow_packets(each)

    def cut_after(self, count: int) -> None:
        """End every connection once so many bytes more have come from the server, in all."""
        self._bytes_left = count

    def lose_answers(self) -> None:
        """From now on, end a connection once the server has answered, and keep the answer."""
        self._loses_answers = True

    async def deserted(self) -> None:
        """Return once no client is connected."""
        while self._clients:
            self._deserted.clear()
            await self._deserted.wait()

    async def pass_on(
        self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        """Serve one connection, until either end closes it."""
        if self._refuses:
            return
        try:
            from_server, to_server = await self._reach_the_server()
        except OSError:
            return  # and with that, the connection is ended
        self._clients.add(to_client)
        try:
            async with asyncio.TaskGroup() as directions:
                directions.create_task(self._pump(from_client, to_server, to_client))
                directions.create_task(self._pump(from_server, to_client, to_server))
        finally:
            to_server.transport.abort()
            self._clients.remove(to_client)
            self._lost.discard(to_client)
            self._deserted.set()

    async def _reach_the_server(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while True:
            try:
                return await asyncio.open_connection(self._server.hostname, self._server.port)
            except OSError:
                if not self._is_patient:
                    raise
            await SystemClock().sleep(0.05)

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, back: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while piece := await source.read(2**16):
                if self._loses_answers and sink in self._clients:
                    break
                if self._lost & {sink, back}:
                    continue
                if sink in self._clients and self._is_spent(len(piece)):
                    break
                sink.write(piece)
                await sink.drain()
        for stream in (sink, back):
            stream.transport.abort()

    def _is_spent(self, count: int) -> bool:
        if self._bytes_left is None:
            return False
        self._bytes_left -= count
        if self._bytes_left > 0:
            return False
        self._bytes_left = None
        self.cut()
        return True


@asynccontextmanager
async def relay_to(server: str) -> AsyncIterator[Relay]:
    """A relay on a free port of loopback, while the block runs."""
    relay = Relay(server)
    async with listening(relay.pass_on) as relay.port:
        yield relay
