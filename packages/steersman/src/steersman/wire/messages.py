"""Requests, responses and replies, and the protocols of transports and handlers."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any, Final, Protocol
from urllib.parse import quote, quote_plus

import msgspec

_SAFE: Final = "/:@!$&'()*+,;=-._~"

# Almost every path has only these characters, and the check takes a third of the quoting.
_NEEDS_NO_QUOTES: Final = re.compile(f"[0-9A-Za-z{re.escape(_SAFE)}]*")

# The same, of an option's name or value.
_IS_PLAIN: Final = re.compile(r"[0-9A-Za-z_.~-]*")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request.

    ``path`` is plain text, not yet percent-encoded. A header may appear several times, each
    with a value of its own. Headers and body may hold secrets, so they are in no repr. With
    ``is_large``, the answer is requested compressed, and decompressed while it is read.

    ``guard`` is for a caller that may lose the right to send it while a connection is made. It is
    called right before the first bytes are sent; what it raises comes out of ``open`` as it is, and
    nothing was sent. For a body of several pieces it is called before each: the server then never
    gets the whole body, and does nothing. When a request with a guard is abandoned without an
    answer, bytes that have not left this machine are discarded.
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
        """Path and query as in the request line: visible ASCII characters only."""
        path = self.path
        if not _NEEDS_NO_QUOTES.fullmatch(path):
            path = quote(path, safe=_SAFE)
        return f"{path}?{_encoded(self.query)}" if self.query else path

    def __repr__(self) -> str:
        return f"<Request {self.method} {self.target}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("method", self.method), ("target", self.target)]


# All writes of a client have the same few options, and encoding them takes longer than the rest of
# preparing a request.
@lru_cache(maxsize=128)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    return "&".join([f"{_quoted(name)}={_quoted(value)}" for name, value in query])


def _quoted(text: str) -> str:
    return text if _IS_PLAIN.fullmatch(text) else quote_plus(text)


class Response(Protocol):
    """One HTTP response, whose body may still be arriving."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers by lower-case name."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """Every ``Warning`` header, unchanged."""
        ...

    async def read(self, *, limit_bytes: int) -> bytes:
        """The whole body; ``ValueError`` once it is longer than ``limit_bytes``."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, in pieces of any size."""
        ...


class Transport(Protocol):
    """Carries one request, and holds the response open while its body is read."""

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        """Send ``request``; raise ``Unreachable`` where no answer comes."""
        ...


class ClientCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """The identity in a client's certificate, already verified."""

    common_name: str
    organizations: tuple[str, ...] = ()
    fingerprint: str = ""  # of all of it, by SHA-256


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A server's answer: a whole ``body``, or a ``stream`` of pieces.

    The sender of the reply closes the stream, also when the client disconnects.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    stream: AsyncGenerator[bytes, None] | None = None

    def __repr__(self) -> str:
        return f"<Reply {self.status}>"


class Handler(Protocol):
    """Answers requests; its failures are answers too."""

    async def handle(self, request: Request, *, certificate: ClientCertificate | None) -> Reply:
        """The answer to ``request``; never an exception, except when cancelled."""
        ...
