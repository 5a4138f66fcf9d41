"""Encodes the head of a request: the request line and the headers. No I/O."""

import re
from functools import lru_cache
from typing import Final

from steersman.wire.addresses import Address
from steersman.wire.messages import Request

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET: Final = re.compile(r"[!-~]+")

# Only the transport sets the length of the body: a second length would allow request smuggling.
_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
_ALWAYS_WITH_A_LENGTH: Final = frozenset({"PATCH", "POST", "PUT"})


# The sets of headers of one client that are cached; with more, the cache is cleared.
_KEPT: Final = 16


class Heads:
    """Encodes the heads of requests to ``server``.

    ``proxy`` is a proxy that reads the requests, or ``None``. Usually only the request line and the
    length of the body differ between requests. Therefore all other lines, including their secrets,
    are cached.
    """

    def __init__(self, *, server: Address, proxy: Address | None) -> None:
        self._server = server
        self._proxy = proxy
        self._root = server.path if proxy is None else f"http://{server.host_header}{server.path}"
        self._kept: dict[tuple[tuple[tuple[str, str], ...], bool], str] = {}

    def head_of(self, request: Request) -> bytes:
        """Return the request line and headers of ``request`` as bytes.

        The request's own headers come before the default headers. Raise ``ValueError`` if a server
        could read one part of the request as several parts; the error contains no header value.
        """
        method, body = request.method, request.body
        target = self._root + request.target
        if not _is_token(method) or not _TARGET.fullmatch(target):
            raise ValueError("the method or the path has an invalid character")
        fields = self._kept.get((request.headers, request.is_large)) or self._keep(request)
        if body is not None:
            length = f"Content-Length: {len(body)}\r\n"
        else:
            length = "Content-Length: 0\r\n" if method in _ALWAYS_WITH_A_LENGTH else ""
        return f"{method} {target} HTTP/1.1\r\n{fields}{length}\r\n".encode()

    def _keep(self, request: Request) -> str:
        lines = _lines_of(request, server=self._server)
        if self._proxy is not None and self._proxy.login is not None:
            lines.append(f"Proxy-Authorization: Basic {self._proxy.login}")
        fields = "\r\n".join([*lines, ""])
        _refuse_half_characters(fields)
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[request.headers, request.is_large] = fields
        return fields


def _lines_of(request: Request, *, server: Address) -> list[str]:
    lines: list[str] = []
    given: set[str] = set()
    for name, value in request.headers:
        if not _is_token(name):
            raise ValueError("the name of a header has an invalid character")
        if "\r" in value or "\n" in value or "\0" in value:
            raise ValueError(f"the value of the header {name} has a line break or a NUL in it")
        given.add(name.lower())
        lines.append(f"{name}: {value}")
    if not given.isdisjoint(_FRAMING):
        raise ValueError("the length of the body is set by the transport, not by a header")
    if "host" not in given:
        lines.append(f"Host: {server.host_header}")
    if "accept" not in given:
        lines.append("Accept: */*")
    if "accept-encoding" not in given:
        # gzip only on request, so that a small response cannot expand to a large one.
        lines.append(f"Accept-Encoding: {'gzip' if request.is_large else 'identity'}")
    if "user-agent" not in given:
        lines.append("User-Agent: steersman")
    return lines


def connect_head(*, server: Address, proxy: Address) -> bytes:
    """Return the CONNECT request to ``proxy`` for a tunnel to ``server``."""
    lines = [f"CONNECT {server.authority} HTTP/1.1", f"Host: {server.authority}"]
    if proxy.login is not None:
        lines.append(f"Proxy-Authorization: Basic {proxy.login}")
    return "\r\n".join([*lines, "", ""]).encode()


# For names only, which are few: a value may be a secret, and is not cached here.
@lru_cache(maxsize=128)
def _is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def _refuse_half_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        pass  # Raised below, because this one has the whole head in it.
    else:
        return
    raise ValueError("a header contains a lone surrogate")
