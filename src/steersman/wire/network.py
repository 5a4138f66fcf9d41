"""Requests over a real network, through aiohttp."""

import asyncio
import io
import os
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Final, Self

import aiohttp
from yarl import URL

from steersman.errors import CertificateRefused, ConfigError, Unreachable
from steersman.wire.inflating import Inflater
from steersman.wire.messages import Request
from steersman.wire.tls import certificate_refused, in_words

# Well under the idle limits in front of API servers (load balancers have 60 s and more, the
# server itself 90 s), because a write that meets a connection the other side has just closed
# cannot be sent again. Long enough that a busy operator hardly ever shakes hands.
IDLE_SECONDS: Final = 30.0

# After 15 s of silence the kernel asks whether the other side is still there, three times, 5 s
# apart; what was sent may wait for its receipt for as long. So a black hole is found within
# 30 s, whoever spoke last, and the middleboxes in between remember the connection.
SILENT_SECONDS: Final = 15
PROBE_SECONDS: Final = 5
PROBES: Final = 3
UNACKNOWLEDGED_SECONDS: Final = SILENT_SECONDS + PROBES * PROBE_SECONDS

# aiohttp warns against more than this as bytes, which it would write in one piece.
_WHOLE_BODY_BYTES: Final = 2**20


class NetworkTransport:
    """Carries requests to one server, over connections that are kept and used again.

    ``server`` may have a path, under which the API is found. ``tls`` is asked at each request;
    when it gives another context, new connections use that, and those of the old one are closed
    once they have been idle. Without one, https:// trusts the roots of the system. Only
    ``proxy_url`` names a proxy, never the environment; a proxy reached over TLS has to satisfy
    the same context as the server.
    """

    def __init__(
        self,
        *,
        server: str,
        tls: Callable[[], ssl.SSLContext | None],
        proxy_url: str | None = None,
        server_name: str | None = None,
    ) -> None:
        base = _http_url(server, source="the server's address")
        if base.user is not None or base.query_string or base.fragment:
            raise ConfigError(
                source="the server's address",
                problem="it has more than a scheme, a host, a port and a path",
                what_now="Give it like https://kube.example.com:6443.",
            )
        self._base = str(base).rstrip("/")
        self._tls = tls
        self._proxy = _http_url(proxy_url, source="the proxy's address") if proxy_url else None
        self._server_name = server_name
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                # A watch holds its connection for minutes: with any limit, enough watches would
                # leave none for the requests that the watchers make.
                limit=0,
                keepalive_timeout=IDLE_SECONDS,
                # The default depends on what else is installed.
                resolver=aiohttp.ThreadedResolver(),
                socket_factory=_watchful_socket,
            ),
            middlewares=(_send_once,),
            # No gzip unless asked for: a small answer cannot turn out to be a large one.
            headers={"Accept-Encoding": "identity", "User-Agent": "steersman"},
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=self._proxy,
            # None at all: deadlines are the caller's.
            timeout=aiohttp.ClientTimeout(),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def open(self, request: Request) -> "_Exchange":
        """Send ``request``; raise ``Unreachable`` where no answer comes."""
        return _Exchange(
            request, server=self._base, send=partial(self._send, request, self._tls() or True)
        )

    async def _send(self, request: Request, tls: ssl.SSLContext | bool) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError(f"{self!r} carries requests only inside its `async with` block")
        body: bytes | io.BytesIO | None = request.body
        if request.body is not None and len(request.body) > _WHOLE_BODY_BYTES:
            body = io.BytesIO(request.body)
        headers = request.headers
        if request.is_large:
            headers = (*headers, ("Accept-Encoding", "gzip"))
        return await self._session.request(
            request.method,
            URL(self._base + request.target, encoded=True),
            headers=headers,
            data=body,
            allow_redirects=False,
            ssl=tls,
            server_hostname=self._server_name,
        )

    def __repr__(self) -> str:
        return f"<NetworkTransport {self._base}>"


class _Exchange:
    """One request and the answer to it: what ``open`` gives, and what its block gets.

    aiohttp's errors know the request's headers and the proxy's password, and an error that is
    raised while another is handled keeps that other one. So failures are raised after handling.
    """

    __slots__ = ("_answer", "_end", "_inflater", "_request", "_send", "_server", "status")

    def __init__(
        self,
        request: Request,
        *,
        server: str,
        send: Callable[[], Awaitable[aiohttp.ClientResponse]],
    ) -> None:
        self._request = request
        self._server = server
        self._send = send
        self._end: asyncio.Future[None] | None = None
        self._inflater: Inflater | None = None

    async def __aenter__(self) -> Self:
        try:
            self._answer = await self._send()
        except (aiohttp.ClientError, _NotRepeated, OSError) as error:
            failure = _failure(error, self._request, self._server)
        else:
            self.status = self._answer.status
            if self._request.is_large and self._answer.headers.get("Content-Encoding") == "gzip":
                self._inflater = Inflater()
            return self
        raise failure

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._end is not None:
            self._end.remove_done_callback(self._cut_off)
        if not self._answer.closed:
            # Part of the answer is still to come. Nobody will read it, so the connection can
            # carry nothing else, and is not worth a goodbye that the other side may not return.
            connection = self._answer.connection
            if connection is not None and connection.transport is not None:
                connection.transport.abort()
            self._answer.close()

    @property
    def headers(self) -> Mapping[str, str]:
        return {name.lower(): value for name, value in self._answer.headers.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._answer.headers.getall("Warning", ()))

    async def read(self, *, limit_bytes: int) -> bytes:
        if (self._answer.content_length or 0) > limit_bytes:
            raise _too_long(limit_bytes)
        pieces: list[bytes] = []
        read_bytes = 0
        while piece := await self._next_piece():
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
        piece = await self._next_piece()
        if not piece:
            raise StopAsyncIteration
        return piece

    async def _next_piece(self) -> bytes:
        if self._inflater is None:
            return await self._next_received()
        try:
            while not (piece := self._inflater.next()):
                received = await self._next_received()
                if not received:
                    self._inflater.end()
                    return b""
                self._inflater.feed(received)
        except ValueError as error:
            failure = _failure(aiohttp.ClientPayloadError(error), self._request, self._server)
        else:
            return piece
        raise failure

    async def _next_received(self) -> bytes:
        content = self._answer.content
        if self._end is None and not content.is_eof():
            self._listen_for_the_end()
        try:
            return await content.readany()
        # RuntimeError is aiohttp's for a connection that ended while nobody was reading.
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            failure = _failure(error, self._request, self._server, end=self._end)
        raise failure

    def _listen_for_the_end(self) -> None:
        # When aiohttp meets nonsense between two chunks it forgets the body and closes the
        # connection: without this, whoever waits for the next piece would wait for ever.
        connection = self._answer.connection
        protocol = connection.protocol if connection is not None else None
        end = protocol.closed if protocol is not None else None
        if end is not None:
            self._end = end
            # The connection carries many answers, and needs this one callback once.
            end.remove_done_callback(_take_error)
            end.add_done_callback(_take_error)
            end.add_done_callback(self._cut_off)

    def _cut_off(self, _: asyncio.Future[None]) -> None:
        content = self._answer.content
        if not content.is_eof() and content.exception() is None:
            content.set_exception(aiohttp.ClientPayloadError("the body is not well formed"))


def _too_long(limit_bytes: int) -> ValueError:
    return ValueError(f"the body is longer than {limit_bytes} bytes")


def _take_error(end: asyncio.Future[None]) -> None:
    # asyncio complains about the error of a future that nobody has looked at.
    if not end.cancelled():
        end.exception()


class _NotRepeated(Exception):
    """Carries an error past the place where aiohttp would send the request once more."""

    def __init__(self, error: aiohttp.ClientError) -> None:
        self.error = error


async def _send_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    # aiohttp repeats a request, PUT and DELETE among them, if a connection that was used before
    # ends before the answer; but the first one may have been carried out.
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _NotRepeated(error) from None


def _watchful_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket on which a black hole is found."""
    family, kind, protocol, _, _ = address
    watchful = socket.socket(family, kind, protocol)
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    if sys.platform == "linux":
        options += [
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES),
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_SECONDS * 1000),
        ]
    for level, option, value in options:
        # Sandboxed kernels lack some of these, and deadlines find a black hole as well.
        with suppress(OSError):
            watchful.setsockopt(level, option, value)
    return watchful


def _http_url(text: str, *, source: str) -> URL:
    with suppress(ValueError):
        url = URL(text)
        # Encoded, because a label that is too long would fail only when the name is looked up.
        if url.scheme in ("http", "https") and (url.raw_host or "").encode("idna") and url.port:
            return url
    raise ConfigError(
        source=source,
        problem="it is not an http:// or https:// URL",
        what_now="Give it like https://kube.example.com:6443.",
    )


def _failure(
    error: Exception, request: Request, server: str, *, end: asyncio.Future[None] | None = None
) -> Unreachable | CertificateRefused:
    """What ``error`` means to whoever wanted ``request`` sent; ``end`` is the connection's."""
    if isinstance(error, _NotRepeated):
        error = error.error
    cause = _system_error(error)
    if cause is None and end is not None and end.done() and not end.cancelled():
        # Of a body that breaks off aiohttp says only that it did; why, the connection knows.
        ended = end.exception()
        cause = _system_error(ended) if isinstance(ended, Exception) else None
    refused = certificate_refused(cause, server=server) if isinstance(cause, ssl.SSLError) else None
    failure = refused or _unreachable(error, cause, request, server)
    failure.__cause__ = cause
    return failure


def _system_error(error: Exception) -> OSError | None:
    """What the operating system or OpenSSL said: no part of the request is in that."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error
    for candidate in (error.__cause__, error):
        if isinstance(candidate, OSError) and not isinstance(candidate, aiohttp.ClientError):
            return candidate
    return None


def _unreachable(
    error: Exception, cause: OSError | None, request: Request, server: str
) -> Unreachable:
    never_sent = isinstance(
        error, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError | aiohttp.InvalidURL
    )
    if never_sent:
        what_now = "Check the address, and what listens there."
    elif request.method in ("GET", "HEAD"):
        what_now = "Ask again."
    else:
        what_now = "It may have been carried out all the same: read before writing again."
    problem = _problem(error)
    if cause is not None:
        problem = f"{problem} ({_words_of(cause)})"
    return Unreachable(
        f"{request.method} {request.path} on {server}: {problem}. {what_now}",
        may_have_happened=not never_sent,
    )


def _problem(error: Exception) -> str:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "the name was not found"
        case aiohttp.ClientProxyConnectionError():
            return "the proxy was not reached"
        case aiohttp.ClientHttpProxyError():
            return f"the proxy answered {error.status}"
        case aiohttp.ClientSSLError():
            return "TLS was not agreed upon"
        case aiohttp.ClientConnectorError():
            return "the server was not reached"
        case aiohttp.ClientResponseError():
            return "the answer is not HTTP"
        case aiohttp.InvalidURL():
            return "the address cannot be used"
        case _:
            return "the connection ended before the answer did"


def _words_of(cause: OSError) -> str:
    if isinstance(cause, ssl.SSLError):
        return in_words(cause)
    if isinstance(cause, socket.gaierror):
        return str(cause.strerror).lower()
    if cause.errno is not None:
        return os.strerror(cause.errno).lower()
    # asyncio raises these itself, some without a word.
    return str(cause) or "the connection was closed"
