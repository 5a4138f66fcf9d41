"""``NetworkTransport``: sends requests over TCP."""

import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Self

from steersman.clock import Clock
from steersman.errors import CertificateRefused, Unreachable
from steersman.wire.addresses import proxy_address, server_address
from steersman.wire.messages import Request
from steersman.wire.tls import TlsSettings, certificate_refused, ssl_reason_text, tls_context
from steersman.wire.transport.connection import ENDED, Broken, Connection
from steersman.wire.transport.dialer import Route, dial
from steersman.wire.transport.inflater import Inflater
from steersman.wire.transport.pool import Pool
from steersman.wire.transport.request_head import Heads


class NetworkTransport:
    """A transport that sends requests to one server over reused connections.

    ``server`` may contain a path, under which the API is served. ``tls`` is called for each request
    and returns the TLS context to use. If it returns another context than before, new connections
    use it, and connections with the old context are closed once they are idle. Without ``tls``,
    certificates of https:// servers are verified with the system's roots. A proxy is set only by
    ``proxy_url``, never by the environment. The TLS context also verifies a proxy that is reached
    over TLS. ``clock`` measures how long a connection has been idle.
    """

    def __init__(
        self,
        *,
        server: str,
        tls: Callable[[], ssl.SSLContext | None],
        clock: Clock,
        proxy_url: str | None = None,
        server_name: str | None = None,
    ) -> None:
        self._route = Route(
            server=server_address(server),
            proxy=proxy_address(proxy_url) if proxy_url else None,
            server_name=server_name,
        )
        self._needs_tls = self._route.needs_tls
        self._tls = tls
        self._clock = clock
        self._system_tls: ssl.SSLContext | None = None
        self._pool: Pool | None = None

    async def __aenter__(self) -> Self:
        self._pool = Pool(clock=self._clock)
        self._heads = Heads(server=self._route.server, proxy=self._route.reading_proxy)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    def open(self, request: Request) -> "_Exchange":
        """Return a context that sends ``request`` and provides the response.

        Entering the context raises ``Unreachable`` if no response arrives. Raise ``ValueError`` if
        ``request`` has characters because of which the server could read another request.
        """
        if self._pool is None:
            raise RuntimeError(f"{self!r} sends requests only inside its `async with` block")
        # First, so that a problem with the credentials is reported before others.
        tls = self._context()
        head = self._heads.head_of(request)
        return _Exchange(request, head, self._route, self._pool, tls)

    def _context(self) -> ssl.SSLContext | None:
        tls = self._tls()
        if not self._needs_tls:
            return None
        if tls is None:
            if self._system_tls is None:
                self._system_tls = tls_context(TlsSettings(), source=str(self._route.server))
            tls = self._system_tls
        return tls

    def __repr__(self) -> str:
        return f"<NetworkTransport {self._route.server}>"


class _Exchange:
    """A context manager for one request and its response.

    An exception that is raised in an ``except`` block holds a reference to the handled exception
    and its traceback. Therefore failures are raised after the ``except`` block.
    """

    __slots__ = (
        "_asked",
        "_connection",
        "_head",
        "_inflater",
        "_pool",
        "_request",
        "_route",
        "_tls",
        "status",
    )

    def __init__(
        self, request: Request, asked: bytes, route: Route, pool: Pool, tls: ssl.SSLContext | None
    ) -> None:
        self._request = request
        self._asked = asked
        self._route = route
        self._pool = pool
        self._tls = tls
        self._connection: Connection | None = None
        self._inflater: Inflater | None = None

    async def __aenter__(self) -> Self:
        request = self._request
        try:
            connection = self._connection = self._pool.take(self._tls) or await self._dial()
            self._head = await connection.send_request(
                self._asked, request.body, is_bare=request.method == "HEAD", guard=request.guard
            )
        except Broken as broken:
            failure = self._failure(broken)
        except BaseException:
            self._release()
            raise
        else:
            self.status = self._head.status
            if request.is_large and self._head.last_of(b"content-encoding") == b"gzip":
                self._inflater = Inflater()
            return self
        self._release()
        raise failure

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._release()

    @property
    def headers(self) -> Mapping[str, str]:
        return self._head.headers

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._head.warnings

    async def read(self, *, limit_bytes: int) -> bytes:
        if self._inflater is None and self._connection is not None:
            # Most responses arrive completely at once.
            rest = self._connection.take_rest()
            if rest is not None:
                if len(rest) > limit_bytes:
                    raise _too_long(limit_bytes)
                return rest
        announced = self._head.last_of(b"content-length")
        if (
            announced is not None
            and self._request.method != "HEAD"
            and int(announced) > limit_bytes
        ):
            raise _too_long(limit_bytes)
        pieces: list[bytes] = []
        read_bytes = 0
        async for piece in self:
            read_bytes += len(piece)
            if read_bytes > limit_bytes:
                raise _too_long(limit_bytes)
            pieces.append(piece)
        return b"".join(pieces)

    def chunks(self) -> AsyncIterator[bytes]:
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        connection = self._connection
        if connection is None:
            raise RuntimeError("read the response inside the `async with` block that opened it")
        try:
            if self._inflater is None:
                piece = await connection.receive()
            else:
                piece = await _inflated(connection, self._inflater, self._pool.clock)
        except Broken as broken:
            failure = self._failure(broken)
        else:
            if not piece:
                raise StopAsyncIteration
            return piece
        raise failure

    async def _dial(self) -> Connection:
        connection = await dial(self._route, tls=self._tls)
        if not self._pool.is_open:
            connection.abort()
            raise Broken("the transport was closed", was_sent=False)
        self._pool.add(connection)
        return connection

    def _release(self) -> None:
        # If the response is not read completely, the pool closes the connection.
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.give_back(connection)

    def _failure(self, broken: Broken) -> Unreachable | CertificateRefused:
        """Return the error to raise for ``broken``."""
        cause = broken.cause
        server = str(self._route.server)
        refused = (
            certificate_refused(cause, server=broken.server or server)
            if isinstance(cause, ssl.SSLError)
            else None
        )
        failure = refused or _unreachable(broken, self._request, server)
        failure.__cause__ = cause
        return failure


async def _inflated(connection: Connection, inflater: Inflater, clock: Clock) -> bytes:
    """Return the next inflated bytes; empty at the end."""
    if inflater.has_more:
        # A few bytes may inflate to hundreds of megabytes without waiting for the network, so other
        # tasks get to run between two pieces.
        await clock.sleep(0)
    try:
        while not (piece := inflater.next()):
            received = await connection.receive()
            if not received:
                inflater.end()
                return b""
            inflater.feed(received)
    except ValueError:
        pass
    else:
        return piece
    raise Broken(ENDED, was_sent=True)


def _too_long(limit_bytes: int) -> ValueError:
    return ValueError(f"the body is longer than {limit_bytes} bytes")


def _unreachable(broken: Broken, request: Request, server: str) -> Unreachable:
    if not broken.was_sent:
        what_now = "Check the address, and that the server is running."
    elif request.method in ("GET", "HEAD"):
        what_now = "Retry the request."
    else:
        what_now = "The write may have happened: read before writing again."
    problem = broken.problem
    if broken.cause is not None:
        problem = f"{problem} ({_words_of(broken.cause)})"
    return Unreachable(
        f"{request.method} {request.path} on {server}: {problem}. {what_now}",
        may_have_happened=broken.was_sent,
    )


def _words_of(cause: OSError) -> str:
    if isinstance(cause, ssl.SSLError):
        return ssl_reason_text(cause)
    if isinstance(cause, socket.gaierror):
        return str(cause.strerror).lower()
    if cause.errno is not None:
        return os.strerror(cause.errno).lower()
    # These errors are raised by asyncio, some without a message.
    return str(cause) or "the connection was closed"
