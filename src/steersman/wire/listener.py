"""The HTTP listener: requests from sockets to a handler, and its replies back."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from hashlib import sha256
from urllib.parse import parse_qsl

from aiohttp import web

from steersman.wire.messages import ClientCertificate, Handler, Reply, Request

# For whoever has begun to answer when the listener ends; a stream never would, and is cut at once.
END_SECONDS = 0.5


@asynccontextmanager
async def listening(
    handler: Handler,
    *,
    host: str,
    port: int,
    tls: ssl.SSLContext | None,
    largest_body: int,
    share_port: bool = False,
) -> AsyncIterator[int]:
    """Answer requests while the block runs; gives the port, which is a free one if ``port`` is 0.

    Without ``tls`` all of it can be read on the way: that is for what is no secret, or never leaves
    the machine. Of a body that is larger than ``largest_body`` the handler gets that much and one
    byte more.
    """
    streaming: set[asyncio.Task[object]] = set()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = await _body(request, largest_body)
        reply = await handler.handle(_understood(request, body), certificate=_certificate(request))
        if reply.stream is None:
            return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
        with _among(streaming):
            return await _stream(request, reply)

    # A handler whose client has gone away is cancelled: a watch would go on for nobody.
    # A body is what was sent: Kubernetes takes none that is compressed.
    server = web.Server(
        answer,
        handler_cancellation=True,
        access_log=None,
        logger=_Silence(),
        auto_decompress=False,
    )
    runner = web.ServerRunner(server, shutdown_timeout=END_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, ssl_context=tls, backlog=1024, reuse_port=share_port)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        for each in streaming:
            each.cancel()
        await runner.cleanup()


class _Silence:
    """What aiohttp logs of a request that it cannot read is the request, with whoever's token."""

    def debug(self, *_: object, **__: object) -> None: ...

    def warning(self, *_: object, **__: object) -> None: ...

    def exception(self, *_: object, **__: object) -> None: ...


@contextmanager
def _among(tasks: set[asyncio.Task[object]]) -> Iterator[None]:
    """The task that runs the block is one of ``tasks`` for so long."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - whoever awaits is in one
    tasks.add(task)
    try:
        yield
    finally:
        tasks.remove(task)


def _understood(request: web.BaseRequest, body: bytes | None) -> Request:
    return Request(
        method=request.method,
        path=request.path,
        query=tuple(parse_qsl(request.rel_url.raw_query_string, keep_blank_values=True)),
        headers=tuple((name, _text(value)) for name, value in request.headers.items()),
        body=body,
    )


def _text(value: str) -> str:
    """A header as text that can be written again; what was no text is marked as such."""
    if value.isascii():
        return value
    return value.encode(errors="surrogateescape").decode(errors="replace")


async def _body(request: web.BaseRequest, largest: int) -> bytes | None:
    if not request.can_read_body:
        return None
    if request.headers.get("Expect", "").lower() == "100-continue":
        # Some wait with a large body until they hear that it is wanted.
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    pieces: list[bytes] = []
    size = 0
    async for piece in request.content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > largest:
            return b"".join(pieces)[: largest + 1]
    return b"".join(pieces)


def _certificate(request: web.BaseRequest) -> ClientCertificate | None:
    transport = request.transport
    shown = transport.get_extra_info("peercert") if transport is not None else None
    if transport is None or not shown:
        return None
    names = [pair for part in shown["subject"] for pair in part]
    whole = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return ClientCertificate(
        # Of several the last, as Go has it: two servers must not see two users.
        common_name=next((value for key, value in reversed(names) if key == "commonName"), ""),
        organizations=tuple(value for key, value in names if key == "organizationName"),
        fingerprint=sha256(whole).hexdigest(),
    )


async def _stream(request: web.BaseRequest, reply: Reply) -> web.StreamResponse:
    assert reply.stream is not None  # noqa: S101 - that is why we are here
    # In chunks, unless the client speaks HTTP/1.0: then the stream ends with the connection.
    response = web.StreamResponse(status=reply.status, headers=reply.headers)
    async with aclosing(reply.stream) as pieces:
        await response.prepare(request)
        async for piece in pieces:
            await response.write(piece)
    await response.write_eof()
    return response
