"""One client's connection to a listener: its requests, one after the other, and their replies."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from hashlib import sha256
from typing import Any, Final, Protocol, cast

from steersman.wire.messages import CertificateIdentity, Reply, RequestHandler
from steersman.wire.server.replies import (
    CONTINUE,
    LAST_CHUNK,
    chunk,
    error_reply,
    has_body,
    reply_head,
)
from steersman.wire.server.request_parser import ParsedRequest, RequestParser
from steersman.wire.sockets import enable_keepalive

# Closing a connection while the client still sends discards the reply. A client that has sent too
# much gets this time to read the reply.
CLOSE_SECONDS: Final = 1.0


class ConnectionRegistry(Protocol):
    """The open connections of a listener."""

    def opened(self, connection: "ServerConnection") -> "asyncio.Task[None] | None":
        """Register ``connection``, and return a task that runs its ``serve``.

        Return ``None`` if the listener is closing.
        """
        ...

    def closed(self, connection: "ServerConnection") -> None:
        """Remove ``connection``, which has been closed."""
        ...


class ServerConnection(asyncio.BufferedProtocol):
    """A client's connection, which passes one request at a time to ``handler``.

    Each reply is sent before the next request is read. Bytes are received into ``buffer``, which
    all connections of an event loop can share. When the client disconnects, the task that serves
    the connection is cancelled, because a watch would otherwise continue without a reader.
    """

    def __init__(
        self,
        handler: RequestHandler,
        *,
        parser: RequestParser,
        buffer: memoryview,
        connections: ConnectionRegistry,
    ) -> None:
        self._handler = handler
        self._parser = parser
        self._buffer = buffer
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._certificate: CertificateIdentity | None = None
        self._change: asyncio.Future[None] | None = None
        self._is_answering = False
        self._has_begun = False  # the reply is being sent
        self._is_streaming = False
        self._is_full = False  # the write buffer is full
        self.task: asyncio.Task[None] | None = None
        self.idle_rounds = 0  # counted by the listener

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress."""
        return not self._is_answering

    async def serve(self) -> None:
        """Handle requests until the client disconnects or the server closes the connection."""
        parser = self._parser
        try:
            is_last = False
            while not is_last and (parsed := await self._next()) is not None:
                is_last = await self._answer(parsed)
                del parsed  # free the memory: the next request may arrive much later
            if parser.error_status is not None and not is_last:
                self._write(error_reply(parser.error_status))
                await self._wait_for_close()
            elif parser.is_cut_short:
                await self._wait_for_close()
        except Exception:
            # A bug in the handler or a stream; the loop's exception handler reports it.
            if self._is_answering and not self._has_begun:
                self._write(error_reply(500))
            raise
        finally:
            if self._transport is not None:
                self._transport.close()

    def end(self) -> None:
        """Close the connection after the current request; close a stream immediately."""
        self._parser.is_over = True
        if self._is_streaming:
            self.cut()
        self._wake()

    def cut(self) -> None:
        """Close the connection immediately."""
        self._cancel()
        if self._transport is not None:
            self._transport.abort()

    # Replies

    async def _next(self) -> ParsedRequest | None:
        parser = self._parser
        while not parser.requests:
            if parser.is_over:
                return None
            if parser.is_waiting:
                parser.is_waiting = False
                self._write(CONTINUE)
            await self._changed()
        parsed = parser.requests.popleft()
        if not parser.requests and self._transport is not None:
            self._transport.resume_reading()
        return parsed

    async def _answer(self, parsed: ParsedRequest) -> bool:
        """Reply to a request; return whether it was the last one."""
        self._is_answering = True
        reply = await self._handler.handle(parsed.request, certificate=self._certificate)
        if reply.stream is None:
            is_last = parsed.is_last or self._is_ending
            head = reply_head(reply, version=parsed.version, is_last=is_last)
            self._write(
                head + reply.body if has_body(reply.status, parsed.request.method) else head
            )
            while self._is_full:
                await self._changed()
        else:
            is_last = await self._stream(reply, reply.stream, parsed)
        self._is_answering = self._has_begun = self._is_streaming = False
        self.idle_rounds = 0
        return is_last

    async def _stream(
        self, reply: Reply, stream: AsyncGenerator[bytes, None], parsed: ParsedRequest
    ) -> bool:
        self._is_streaming = True
        self._ignore_requests()
        is_chunked = parsed.version != "1.0"
        is_last = parsed.is_last or not is_chunked or self._is_ending
        async with aclosing(stream) as pieces:
            self._write(reply_head(reply, version=parsed.version, is_last=is_last))
            if not has_body(reply.status, parsed.request.method):
                return is_last
            async for piece in pieces:
                if piece:
                    self._write(chunk(piece) if is_chunked else piece)
                while self._is_full:
                    await self._changed()
        if is_chunked:
            self._write(LAST_CHUNK)
        return is_last or self._is_ending

    @property
    def _is_ending(self) -> bool:
        """Whether the connection ends after the current reply."""
        parser = self._parser
        return parser.is_over and not parser.requests and parser.error_status is None

    def _ignore_requests(self) -> None:
        """Ignore further requests during a stream, and only wait for the client to disconnect."""
        parser = self._parser
        if parser.requests:
            parser.requests.clear()
            parser.is_over = True
            if self._transport is not None:
                self._transport.resume_reading()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._has_begun = True
            self._transport.write(data)

    async def _wait_for_close(self) -> None:
        """Wait briefly for the client to disconnect, which cancels this task."""
        if self._transport is not None and self._transport.can_write_eof():
            self._transport.write_eof()
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=CLOSE_SECONDS)

    async def _changed(self) -> None:
        """Wait until the state of the connection has changed."""
        self._change = asyncio.get_running_loop().create_future()
        try:
            await self._change
        finally:
            self._change = None

    def _wake(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)

    def _cancel(self) -> None:
        # Once: a second cancellation would interrupt the cleanup of the first.
        if self.task is not None and not self.task.cancelling():
            self.task.cancel()

    # Callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.task = self._connections.opened(self)
        if self.task is None:
            self._transport.abort()
            return
        enable_keepalive(transport.get_extra_info("socket"))
        self._certificate = certificate_of(transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - all there is
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        parser = self._parser
        parser.feed(self._buffer[:nbytes])
        if self._is_streaming:
            self._ignore_requests()
        elif len(parser.requests) + self._is_answering > 1 and self._transport is not None:
            # One request is processed at a time; further ones must wait.
            self._transport.pause_reading()
        self._wake()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        self._connections.closed(self)
        if self.task is not None and not self.task.done():
            self._cancel()


def certificate_of(transport: asyncio.BaseTransport) -> CertificateIdentity | None:
    """Return the identity in the client's certificate; ``None`` without a certificate."""
    shown: Any = transport.get_extra_info("peercert")
    if not shown:
        return None
    names = [pair for part in shown["subject"] for pair in part]
    whole = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return CertificateIdentity(
        # The last of several, as in Go: two servers must not see different users.
        common_name=next((value for key, value in reversed(names) if key == "commonName"), ""),
        organizations=tuple(value for key, value in names if key == "organizationName"),
        fingerprint=sha256(whole).hexdigest(),
    )
