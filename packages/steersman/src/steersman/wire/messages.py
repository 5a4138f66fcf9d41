"""HTTP requests, responses and replies, and the protocols of transports and handlers."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any, Final, Protocol
from urllib.parse import quote, quote_plus

import msgspec

_SAFE: Final = "/:@!$&'()*+,;=-._~"

# Nearly all paths consist of these characters; the check takes a third of the time of quoting.
_NEEDS_NO_QUOTES: Final = re.compile(f"[0-9A-Za-z{re.escape(_SAFE)}]*")

# The same for the names and values of query options.
_IS_PLAIN: Final = re.compile(r"[0-9A-Za-z_.~-]*")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request.

    ``path`` is plain text, not yet percent-encoded. A header may appear several times, each time
    with another value. Headers and body may contain secrets, so no repr contains them. With
    ``is_large``, a compressed response is requested, and decompressed while it is read.

    ``guard`` is for a caller that may lose the permission to send the request while a connection is
    being opened. It is called immediately before the first bytes are sent. If ``guard`` raises,
    nothing is sent, and ``Transport.open`` raises the same exception. If the body has several
    pieces, ``guard`` is called before each piece: if it raises, the server never receives the
    complete body, and does not execute the request. If a request with a guard is abandoned before
    its response, bytes that have not left this machine are discarded.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    is_large: bool = False
    guard: Callable[[], None] | None = None

    @property
    def target(self) -> str:
        """The path and query as in the request line, with visible ASCII characters only."""
        path = self.path
        if not _NEEDS_NO_QUOTES.fullmatch(path):
            path = quote(path, safe=_SAFE)
        return f"{path}?{_encoded(self.query)}" if self.query else path

    def __repr__(self) -> str:
        return f"<Request {self.method} {self.target}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("method", self.method), ("target", self.target)]


# A client's writes share a few options, and encoding these takes longer than the rest of preparing
# a request.
@lru_cache(maxsize=128)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    return "&".join([f"{_quoted(name)}={_quoted(value)}" for name, value in query])


def _quoted(text: str) -> str:
    return text if _IS_PLAIN.fullmatch(text) else quote_plus(text)


class Response(Protocol):
    """One HTTP response, whose body may not yet have arrived completely."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; the keys are lower-case names."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """The value of every ``Warning`` header, unchanged."""
        ...

    async def read(self, *, limit_bytes: int) -> bytes:
        """Return the complete body; raise ``ValueError`` if it is longer than ``limit_bytes``."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body in pieces of any size, as they arrive."""
        ...


class Transport(Protocol):
    """Sends HTTP requests, and keeps the connection of each response while its body is read."""

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        """Return a context that sends ``request`` and provides the response.

        Entering the context raises ``Unreachable`` if no response arrives.
        """
        ...


class CertificateIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The identity in a client's certificate, which has been verified."""

    common_name: str
    organizations: tuple[str, ...] = ()
    fingerprint: str = ""  # SHA-256 of the whole certificate


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A server's reply to a request: a complete ``body``, or a ``stream`` of pieces.

    The server connection that sends the reply closes ``stream`` in every case, also if the client
    disconnects.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    stream: AsyncGenerator[bytes, None] | None = None

    def __repr__(self) -> str:
        return f"<Reply {self.status}>"


class RequestHandler(Protocol):
    """Handles the requests to a server; a failure is a reply too, not an exception."""

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        """Return the reply to ``request``; raise no exception, except when cancelled.

        ``certificate`` is the identity in the client's certificate; ``None`` without a certificate.
        """
        ...
