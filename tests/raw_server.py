"""A server that sends arbitrary bytes, for responses that no real server sends."""

import asyncio
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.certificates import KeyPair


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as received; ``connection`` counts from 1."""

    connection: int
    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of this name, in lower case."""
        return next((value for key, value in self.headers if key == name), None)


@dataclass(slots=True)
class RawServer:
    """The port of the server, and the received requests."""

    port: int = 0
    connections: int = 0
    received: list[Received] = field(default_factory=list[Received])
    # Set whenever a connection has ended.
    gone: asyncio.Event = field(default_factory=asyncio.Event)


Serve: TypeAlias = Callable[
    [asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]
]
Responder: TypeAlias = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(
    serve: Serve, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[int]:
    """Listen on a free port of loopback, and serve each connection until the block ends."""
    tasks: list[asyncio.Task[None]] = []

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            # Not if the server has closed it: closing still sends the written data.
            if not writer.is_closing():
                writer.transport.abort()

    async with asyncio.TaskGroup() as group:
        listener = await asyncio.start_server(
            lambda reader, writer: tasks.append(group.create_task(serve_one(reader, writer))),
            host,
            ssl=tls,
        )
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            listener.close()
            for task in tasks:
                task.cancel()


@asynccontextmanager
async def raw_server(
    answer: Responder, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[RawServer]:
    """Call ``answer`` for each request: it writes any bytes, and may close the connection."""
    server = RawServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        connection = server.connections
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
                while not writer.is_closing():
                    request = await _receive(reader, connection)
                    server.received.append(request)
                    await answer(request, writer)
                    await writer.drain()
        finally:
            server.gone.set()

    async with listening(serve, tls=tls, host=host) as server.port:
        yield server


async def _receive(reader: asyncio.StreamReader, connection: int) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.rstrip("\r\n").split("\r\n")
    pairs = (field.partition(": ") for field in fields)
    headers = tuple((name.lower(), value) for name, _, value in pairs)
    length = next((value for name, value in headers if name == "content-length"), "0")
    body = await reader.readexactly(int(length))
    return Received(connection=connection, line=line, headers=headers, body=body)


def ok(body: bytes = b"{}", *headers: str, status: str = "200 OK") -> bytes:
    """A well-formed response."""
    fields = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(fields).encode() + b"\r\n\r\n" + body


def respond_with(*responses: bytes, then_close: bool = False) -> Responder:
    """Return one of ``responses`` to each request in turn, and then always the last."""
    left = list(responses)

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0) if len(left) > 1 else left[0])
        if then_close:
            writer.close()

    return answer


def server_tls(pair: KeyPair, *, client_ca: bytes | None = None) -> ssl.SSLContext:
    """The TLS context of a server; with ``client_ca`` it requires client certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "pair.pem")
        path.write_bytes(pair.certificate + pair.key)
        context.load_cert_chain(path)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=client_ca.decode())
    return context
