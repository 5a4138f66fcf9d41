"""The head of a request: its first line and its headers, as they are sent. Pure."""

import re
from functools import lru_cache
from typing import Final

from steersman.wire.addresses import Address
from steersman.wire.messages import Request

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET: Final = re.compile(r"[!-~]+")

# How long the body is, is for the transport to say: a second opinion would let the other side
# find a request inside the body.
_FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
_ALWAYS_WITH_A_LENGTH: Final = frozenset({"PATCH", "POST", "PUT"})


def request_head(request: Request, *, server: Address, proxy: Address | None) -> bytes:
    """What comes before the body; a proxy given here is one that reads the request.

    The request's own headers come before the defaults. ``ValueError`` if a part of it would be
    read as more than that part, and no value of a header is in it.
    """
    target = server.path + request.target
    if proxy is not None:
        target = f"http://{server.host_header}{target}"
    if not _is_token(request.method) or not _TARGET.fullmatch(target):
        raise ValueError("the method or the path has a character that none may have")
    lines = [f"{request.method} {target} HTTP/1.1"]
    given: set[str] = set()
    for name, value in request.headers:
        if not _is_token(name):
            raise ValueError("the name of a header has a character that none may have")
        if "\r" in value or "\n" in value or "\0" in value:
            raise ValueError(f"the value of the header {name} has a line break or a NUL in it")
        given.add(name.lower())
        lines.append(f"{name}: {value}")
    if not given.isdisjoint(_FRAMING):
        raise ValueError("the length of the body is not for a header of the request to say")
    if "host" not in given:
        lines.append(f"Host: {server.host_header}")
    if "accept" not in given:
        lines.append("Accept: */*")
    if "accept-encoding" not in given:
        # No gzip unless asked for: a small answer cannot turn out to be a large one.
        lines.append(f"Accept-Encoding: {'gzip' if request.is_large else 'identity'}")
    if "user-agent" not in given:
        lines.append("User-Agent: steersman")
    if proxy is not None and proxy.login is not None:
        lines.append(f"Proxy-Authorization: Basic {proxy.login}")
    if request.body is not None:
        lines.append(f"Content-Length: {len(request.body)}")
    elif request.method in _ALWAYS_WITH_A_LENGTH:
        lines.append("Content-Length: 0")
    return _encoded(lines)


def connect_head(*, server: Address, proxy: Address) -> bytes:
    """What asks ``proxy`` for a tunnel to ``server``."""
    lines = [f"CONNECT {server.authority} HTTP/1.1", f"Host: {server.authority}"]
    if proxy.login is not None:
        lines.append(f"Proxy-Authorization: Basic {proxy.login}")
    return _encoded(lines)


# Of names alone, which are few: a value may be a secret, and is not kept here.
@lru_cache(maxsize=128)
def _is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def _encoded(lines: list[str]) -> bytes:
    try:
        return "\r\n".join([*lines, "", ""]).encode()
    except UnicodeEncodeError:
        pass  # Raised below, because this one has the whole head in it.
    raise ValueError("a header has half a character in it")
