"""A client's connection: sends requests and receives their responses, one after the other."""

import asyncio
import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from steersman.wire.sockets import discard_unsent
from steersman.wire.transport.direct import SocketTransport

# No API server sends a larger head; the limit protects the memory from a faulty server.
HEAD_BYTES: Final = 2**16

# The buffered part of a body at which reading pauses.
WAITING_BYTES: Final = 2**18

# The size of a read, into a buffer of the connection. asyncio would allocate 256 kB for each read,
# which costs more than reading the few kB that usually arrive.
RECEIVED_BYTES: Final = 2**16

# A longer body is written in pieces, each when the previous one is nearly sent.
PIECE_BYTES: Final = 2**16

NOT_HTTP: Final = "the response is not HTTP"
ENDED: Final = "the connection was closed before the response was complete"

# The beginning and the end of a head, and the first letter of a ``Warning`` line.
_BEGINNING: Final = b"HTTP/"
_END: Final = b"\r\n\r\n"
_MAY_WARN: Final = re.compile(rb"\n[Ww]")


class Broken(Exception):
    """The reason why a response did not arrive, or arrived only in part.

    The message quotes no part of the request. ``server`` is the address of the peer if the peer is
    a proxy. ``was_sent`` is true if the peer may have received any part of the request.
    """

    def __init__(
        self,
        problem: str,
        *,
        cause: OSError | None = None,
        was_sent: bool,
        server: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.cause = cause
        self.was_sent = was_sent
        self.server = server


class Head:
    """The status and headers of a response.

    ``came`` contains all bytes that had been received when the head was complete. These may include
    a part of the body, which is not stored. If ``is_first`` is false, they also include
    informational responses that preceded this one. Most callers need only the status, and parsing
    the headers takes longer than the rest of the response. Therefore headers are parsed when one is
    first needed.
    """

    __slots__ = ("_by_name", "_came", "_fields", "_is_cut", "status")

    def __init__(self, status: int, came: bytes, *, is_first: bool = True) -> None:
        self.status = status
        end = came.find(_END) if is_first and came.startswith(_BEGINNING) else -1
        self._is_cut = end > 0
        self._came = came[: end + len(_END)] if self._is_cut else came
        self._fields: list[tuple[bytes, bytes]] | None = None
        self._by_name: dict[str, str] | None = None

    @property
    def fields(self) -> list[tuple[bytes, bytes]]:
        """Every header, unchanged."""
        if self._fields is None:
            self._fields = _Fields(self._came).found
            self._came = b""
        return self._fields

    @property
    def headers(self) -> dict[str, str]:
        """The headers; the keys are lower-case names.

        Of several headers with one name, the last is used.
        """
        if self._by_name is None:
            self._by_name = {_text(name).lower(): _text(value) for name, value in self.fields}
        return self._by_name

    @property
    def warnings(self) -> tuple[str, ...]:
        """The value of every ``Warning`` header."""
        # Read for every response, although nearly none has a warning.
        if self._is_cut and self._fields is None and not _MAY_WARN.search(self._came):
            return ()
        return tuple([_text(value) for name, value in self.fields if name.lower() == b"warning"])

    def last_of(self, name: bytes) -> bytes | None:
        """Return the value of the header ``name``, which is in lower case.

        Of several headers with this name, the last is used.
        """
        for key, value in reversed(self.fields):
            if key.lower() == name:
                return value
        return None


class _Fields:
    """The headers in the head of a response; the head has already been found to be complete."""

    def __init__(self, came: bytes) -> None:
        self.found: list[tuple[bytes, bytes]] = []
        self._is_whole = False
        self._parser = HttpResponseParser(self)
        # The connection has already reported errors in the bytes after the head.
        with suppress(HttpParserError, HttpParserUpgrade):
            self._parser.feed_data(came)
        del self._parser  # a reference cycle

    def on_header(self, name: bytes, value: bytes) -> None:
        # After the head, these are trailers.
        if not self._is_whole:
            self.found.append((name, value))

    def on_headers_complete(self) -> None:
        if self._is_whole:
            return
        if self._parser.get_status_code() < 200:
            self.found.clear()
        else:
            self._is_whole = True


class Connection(asyncio.BufferedProtocol):
    """A client's connection, which sends one request at a time and receives its response.

    ``tls`` is the TLS context of the connection. ``ended`` is done once the connection is closed.
    Only one task at a time may use the connection. Unexpected data from the peer closes the
    connection.
    """

    #   idle ──send_request──▶ awaited ──whole answer──▶ idle
    #                             └──broken──▶ (never used again)

    def __init__(self, *, tls: ssl.SSLContext | None) -> None:
        self._loop = asyncio.get_running_loop()
        self.tls = tls
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.on_end: Callable[[Connection], None] | None = None
        self._transport: asyncio.Transport | None = None
        self._parser = HttpResponseParser(self)
        self._received = memoryview(bytearray(RECEIVED_BYTES))
        self._waiter: asyncio.Future[None] | None = None
        self._broken: tuple[str, OSError | None] | None = None
        self._has_ended = False  # the peer sends no more
        self._is_full = False  # the write buffer is full
        self._is_paused = False
        self._is_awaited = False
        # Of the current exchange:
        self._head: Head | None = None
        self._came = b""  # the bytes of an incomplete head
        self._is_first = True  # no informational response preceded it
        self._fruitless_bytes = 0
        self._pieces: list[bytes] = []
        self._waiting_bytes = 0
        self._is_bare = False  # no body, whatever the headers announce
        self._is_guarded = False
        self._is_whole = True
        self._is_overrun = False
        self._is_kept_alive = True
        self._was_cut_short = False  # of the request

    # For the sender of a request

    @property
    def is_open(self) -> bool:
        """Whether the connection is open, as far as this side knows."""
        transport = self._transport
        return not self._has_ended and transport is not None and not transport.is_closing()

    @property
    def is_reusable(self) -> bool:
        """Whether the last response is complete, and the connection can send another request."""
        transport = self._transport
        return (
            self._is_whole
            and self._is_kept_alive
            and not self._was_cut_short
            and not self._is_paused
            and self._broken is None
            and not self._has_ended
            and transport is not None
            and not transport.is_closing()
            and transport.get_write_buffer_size() == 0
        )

    async def send_request(
        self,
        head: bytes,
        body: bytes | None = None,
        *,
        is_bare: bool = False,
        guard: Callable[[], None] | None = None,
    ) -> Head:
        """Send a request, and return the head of its response as soon as the head is complete.

        ``is_bare`` is true for a method whose responses have no body. If the response arrives
        before all of the request is sent, the rest of the request is not sent. ``guard`` is called
        before each part of the request. If ``guard`` raises, that part and all later parts are not
        sent.
        """
        transport = self._transport
        if transport is None or transport.is_closing() or self._has_ended or self._broken:
            problem, cause = self._broken or (ENDED, None)
            raise Broken(problem, cause=cause, was_sent=False)
        first = head if body is None or len(body) > PIECE_BYTES else head + body
        if guard is not None:
            # The guard runs immediately before the synchronous write.
            guard()
        transport.write(first)
        self._begin(is_bare=is_bare, is_guarded=guard is not None)
        if body is not None and len(body) > PIECE_BYTES:
            await self._write(transport, body, guard)
        while self._head is None:
            if self._broken is not None:
                raise self._failure(self._broken)
            await self._change()
        return self._head

    async def receive(self) -> bytes:
        """Wait for bytes of the body, and return all that have arrived; ``b""`` after the last."""
        while True:
            if self._pieces:
                received = b"".join(self._pieces)
                self._drop_pieces()
                return received
            if self._broken is not None:
                raise self._failure(self._broken)
            if self._is_whole:
                return b""
            await self._change()

    def take_rest(self) -> bytes | None:
        """Return the rest of the body if all of it has arrived and is valid, else ``None``."""
        if not self._is_whole or self._broken is not None:
            return None
        rest = b"".join(self._pieces)
        self._drop_pieces()
        return rest

    async def secure(self, tls: ssl.SSLContext, *, name: str) -> None:
        """Start TLS with the server whose certificate must be valid for ``name``.

        Raise ``OSError`` if the handshake fails.
        """
        transport = self._transport
        if transport is None or transport.is_closing() or self._has_ended:
            raise ConnectionResetError
        if isinstance(transport, SocketTransport):
            await transport.secure(tls, name=name)
            return
        # asyncio returns None if the peer disconnected during the handshake.
        secured = await self._loop.start_tls(transport, self, tls, server_hostname=name)
        if secured is None:
            raise ConnectionResetError
        self._transport = secured

    def abort(self) -> None:
        """Close the connection immediately, without waiting for the peer."""
        if self._is_awaited:
            # Otherwise, closing could look like the peer's regular end of a body.
            self._break(ENDED)
            if self._is_guarded and self._transport is not None:
                # Otherwise the kernel would send the rest after the guard forbids it.
                discard_unsent(self._transport.get_extra_info("socket"))
        if self._transport is not None:
            self._transport.abort()

    async def _write(
        self, transport: asyncio.Transport, body: bytes, guard: Callable[[], None] | None
    ) -> None:
        rest = memoryview(body)
        while rest:
            while self._is_full and self._head is None and self._broken is None:
                await self._change()
            # A closing transport reports the reason soon, and warns about further writes.
            if self._head is not None or self._broken is not None or transport.is_closing():
                self._was_cut_short = True
                return
            if guard is not None:
                guard()
            transport.write(rest[:PIECE_BYTES])
            rest = rest[PIECE_BYTES:]

    def _begin(self, *, is_bare: bool, is_guarded: bool) -> None:
        if self._is_bare:
            # The parser may expect a body that the headers announced.
            self._parser = HttpResponseParser(self)
        self._is_awaited = True
        self._head = None
        self._came = b""
        self._is_first = True
        self._fruitless_bytes = 0
        self._is_bare = is_bare
        self._is_guarded = is_guarded
        self._is_whole = False
        if self._pieces:  # of the previous response, whose body was not read
            self._drop_pieces()

    def _drop_pieces(self) -> None:
        self._pieces.clear()
        self._waiting_bytes = 0
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()

    @staticmethod
    def _failure(broken: tuple[str, OSError | None]) -> Broken:
        problem, cause = broken
        return Broken(problem, cause=cause, was_sent=True)

    def _change(self) -> "asyncio.Future[None]":
        """Return a future that is done after the next change."""
        self._waiter = waiter = self._loop.create_future()
        return waiter

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        # The waiter may have been cancelled.
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _break(self, problem: str, cause: OSError | None = None) -> None:
        if self._broken is None:
            self._broken = problem, cause
        self._is_awaited = False
        self._wake()

    # Callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - all there is
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(self._received[:nbytes])

    def data_received(self, data: bytes | memoryview) -> None:
        """Parse received bytes."""
        if not self._is_awaited:
            if self._head is None:
                self._break(NOT_HTTP)
            self.abort()
            return
        self._fruitless_bytes += len(data)
        if self._head is None:
            self._came += data
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            is_http = False
        else:
            is_http = not self._is_overrun and (
                self._is_whole or self._fruitless_bytes <= HEAD_BYTES
            )
        if not is_http:
            self._break(NOT_HTTP)
            self.abort()
            return
        if self._is_whole:
            self._is_awaited = False
        elif self._waiting_bytes > WAITING_BYTES and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)
        if not self.ended.done():
            self.ended.set_result(None)
        if self.on_end is not None:
            self.on_end(self)

    def _end(self, error: Exception | None) -> None:
        self._has_ended = True
        if not self._is_awaited:
            return
        if error is None and self._head is not None and self._ends_with_the_connection(self._head):
            self._is_whole = True
            self._is_awaited = self._is_kept_alive = False
            self._wake()
        else:
            self._break(ENDED, error if isinstance(error, OSError) else None)

    @staticmethod
    def _ends_with_the_connection(head: Head) -> bool:
        encoding = head.last_of(b"transfer-encoding")
        if encoding is not None:
            return encoding.rpartition(b",")[2].strip().lower() != b"chunked"
        return head.last_of(b"content-length") is None

    # Callbacks of the parser. After a response, it continues with the next one, which is an error.

    def on_message_begin(self) -> None:
        self._is_overrun = self._is_whole

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self._is_whole:
            return
        if status < 200:
            self._is_first = False
            return
        self._fruitless_bytes = 0
        self._head = Head(status, self._came, is_first=self._is_first)
        self._came = b""
        if self._is_bare:
            self._is_whole = True
            self._is_kept_alive = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        if self._is_whole:
            self._is_overrun = True
            return
        self._fruitless_bytes = 0
        self._pieces.append(body)
        self._waiting_bytes += len(body)

    def on_message_complete(self) -> None:
        if self._head is not None and not self._is_whole:
            self._is_whole = True
            self._is_kept_alive = self._parser.should_keep_alive()


def _text(field: bytes) -> str:
    return field.decode("utf-8", "surrogateescape")
