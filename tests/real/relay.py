"""A way to the API server that a test can watch and cut: bytes in, bytes out, still encrypted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from tests.raw_server import listening


class Relay:
    """Passes connections on to a server; ``url`` is where clients find it."""

    def __init__(self, server: str) -> None:
        self._server = urlsplit(server)
        self._clients: set[asyncio.StreamWriter] = set()
        self._deserted = asyncio.Event()
        self._loses_answers = False
        self.url = ""

    def cut(self) -> None:
        """End every connection, as a load balancer that crashes would."""
        for client in self._clients:
            client.transport.abort()

    def lose_answers(self) -> None:
        """From now on, end a connection once the server has answered, and keep the answer."""
        self._loses_answers = True

    async def deserted(self) -> None:
        """Come back once nobody is connected."""
        while self._clients:
            self._deserted.clear()
            await self._deserted.wait()

    async def pass_on(
        self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        """Serve one connection, until either end closes it."""
        from_server, to_server = await asyncio.open_connection(
            self._server.hostname, self._server.port
        )
        self._clients.add(to_client)
        try:
            async with asyncio.TaskGroup() as directions:
                directions.create_task(self._pump(from_client, to_server, to_client))
                directions.create_task(self._pump(from_server, to_client, to_server))
        finally:
            to_server.transport.abort()
            self._clients.remove(to_client)
            self._deserted.set()

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, back: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while piece := await source.read(2**16):
                if self._loses_answers and sink in self._clients:
                    break
                sink.write(piece)
                await sink.drain()
        for stream in (sink, back):
            stream.transport.abort()


@asynccontextmanager
async def relay_to(server: str) -> AsyncIterator[Relay]:
    """A relay on a free port of loopback, while the block runs."""
    relay = Relay(server)
    async with listening(relay.pass_on) as port:
        relay.url = f"https://127.0.0.1:{port}"
        yield relay
