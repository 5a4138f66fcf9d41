"""The HTTP listener: passes requests from sockets to a handler, and sends the replies."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final

from steersman.wire.messages import RequestHandler
from steersman.wire.server.request_parser import RequestParser
from steersman.wire.server.server_connection import ServerConnection

# The time limit for replies in progress when the listener stops; streams are closed immediately.
END_SECONDS: Final = 0.5

# A connection without a complete request for three of these rounds is closed.
ROUND_SECONDS: Final = 30.0
IDLE_ROUNDS: Final = 3

# A normal client needs less time for a handshake and for a shutdown.
_HANDSHAKE_SECONDS: Final = 10.0
_SHUTDOWN_SECONDS: Final = 2.0

# The size of one read from a socket.
_RECEIVED_BYTES: Final = 2**16

# Connections that may wait to be accepted.
_BACKLOG: Final = 1024


@asynccontextmanager
async def listening(
    handler: RequestHandler,
    *,
    host: str,
    port: int,
    tls: ssl.SSLContext | None,
    max_body_bytes: int,
    share_port: bool = False,
) -> AsyncIterator[int]:
    """Pass requests to ``handler`` while the block runs; yield the port of the listener.

    With ``port=0``, a free port is used. Without ``tls``, the traffic is not encrypted, which is
    only acceptable for public data, or within one machine. A body larger than ``max_body_bytes`` is
    cut off one byte after the limit.
    """
    loop = asyncio.get_running_loop()
    connections = _Connections(loop)
    buffer = memoryview(bytearray(_RECEIVED_BYTES))

    def new_connection() -> ServerConnection:
        parser = RequestParser(max_body_bytes=max_body_bytes)
        return ServerConnection(handler, parser=parser, buffer=buffer, connections=connections)

    server = await loop.create_server(
        new_connection,
        host,
        port,
        ssl=tls,
        ssl_handshake_timeout=None if tls is None else _HANDSHAKE_SECONDS,
        ssl_shutdown_timeout=None if tls is None else _SHUTDOWN_SECONDS,
        backlog=_BACKLOG,
        reuse_port=share_port or None,
    )
    rounds = loop.create_task(connections.close_idle(), name="silent clients")
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        rounds.cancel()
        await connections.close()


class _Connections:
    """The open connections of a listener."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._open: set[ServerConnection] = set()
        self._is_closed = False

    def opened(self, connection: ServerConnection) -> asyncio.Task[None] | None:
        """Start the task of a connection.

        The task is not in a task group, because a failure must end only this connection.
        """
        if self._is_closed:
            return None
        self._open.add(connection)
        return self._loop.create_task(connection.serve(), name="connection")

    def closed(self, connection: ServerConnection) -> None:
        self._open.discard(connection)

    async def close_idle(self) -> None:
        """Close connections that have been idle for too long."""
        while True:
            await asyncio.wait([self._loop.create_future()], timeout=ROUND_SECONDS)
            for connection in self._open:
                if connection.is_idle:
                    connection.idle_rounds += 1
                    if connection.idle_rounds >= IDLE_ROUNDS:
                        connection.end()

    async def close(self) -> None:
        """Finish replies in progress, and close all other connections."""
        self._is_closed = True
        for connection in list(self._open):
            connection.end()
        await self._wait_for(self._open)
        rest = list(self._open)
        for connection in rest:
            connection.cut()
        await self._wait_for(rest)

    @staticmethod
    async def _wait_for(connections: Iterable[ServerConnection]) -> None:
        # With a timeout, because a handler may suppress its cancellation.
        tasks = [connection.task for connection in connections if connection.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=END_SECONDS)
