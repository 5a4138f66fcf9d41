"""A TCP proxy to the API server whose connections a test can cut; TLS passes through."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import urlsplit

from steersman.clock import SystemClock
from tests.raw_server import listening
from tests.real.black_hole import drop_received_packets, sockets_to


class Relay:
    """Forwards connections to a server."""

    def __init__(self, server: str) -> None:
        self._server = urlsplit(server)
        self._clients: set[asyncio.StreamWriter] = set()
        self._unused = asyncio.Event()
        self._drops_responses = False
        self._refuses = False
        self._retries_connecting = False
        self._dropped: set[asyncio.StreamWriter] = set()
        self._bytes_left: int | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The address of the proxy."""
        return f"https://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Reset every connection, as a load balancer that crashes would."""
        for client in self._clients:
            # SO_LINGER 0 sends RST, not FIN. The socket may be closed already.
            with suppress(OSError):
                client.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
            client.transport.abort()

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Reset every connection, and close new ones, during the block."""
        self._refuses = True
        self.cut()
        try:
            yield
        finally:
            self._refuses = False

    def retry_connecting(self) -> None:
        """From now on, hold new connections until the server accepts them."""
        self._retries_connecting = True

    def drop_packets(self, *, acknowledge: bool) -> None:
        """Drop all packets of existing connections, as a firewall that restarts does.

        Neither end is notified, and new connections work. With ``acknowledge``, the kernel still
        acknowledges the packets, so neither kernel detects the loss. Without it, clients must be in
        this process.
        """
        self._dropped |= self._clients
        if not acknowledge:
            # At both ends, because either would retransmit unacknowledged packets.
            with sockets_to(self.port) as client_sockets:
                own_sockets = [each.get_extra_info("socket") for each in self._clients]
                for each in (*own_sockets, *client_sockets):
                    drop_received_packets(each)

    def cut_after(self, count: int) -> None:
        """Reset all connections after the server has sent this many more bytes in total."""
        self._bytes_left = count

    def drop_responses(self) -> None:
        """From now on, drop each response of the server and close its connection."""
        self._drops_responses = True

    async def wait_until_unused(self) -> None:
        """Return once no client is connected."""
        while self._clients:
            self._unused.clear()
            await self._unused.wait()

    async def forward(
        self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        """Forward one connection until either end closes it."""
        if self._refuses:
            return
        try:
            from_server, to_server = await self._connect()
        except OSError:
            return  # which closes the connection
        self._clients.add(to_client)
        try:
            async with asyncio.TaskGroup() as directions:
                directions.create_task(self._pump(from_client, to_server, to_client))
                directions.create_task(self._pump(from_server, to_client, to_server))
        finally:
            to_server.transport.abort()
            self._clients.remove(to_client)
            self._dropped.discard(to_client)
            self._unused.set()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while True:
            try:
                return await asyncio.open_connection(self._server.hostname, self._server.port)
            except OSError:
                if not self._retries_connecting:
                    raise
            await SystemClock().sleep(0.05)

    async def _pump(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        opposite: asyncio.StreamWriter,
    ) -> None:
        with suppress(OSError):
            while chunk := await source.read(2**16):
                if self._drops_responses and sink in self._clients:
                    break
                if self._dropped & {sink, opposite}:
                    continue
                if sink in self._clients and self._reaches_limit(len(chunk)):
                    break
                sink.write(chunk)
                await sink.drain()
        for stream in (sink, opposite):
            stream.transport.abort()

    def _reaches_limit(self, count: int) -> bool:
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
    """A relay on a free port of the loopback interface, during the block."""
    relay = Relay(server)
    async with listening(relay.forward) as relay.port:
        yield relay
