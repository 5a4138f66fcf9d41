"""Encodes a reply as bytes: its head and its chunks."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from steersman.wire.messages import Reply

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"

# Statuses whose replies have no body.
_BARE: Final = frozenset({204, 304})

_PHRASES: Final[Mapping[int, str]] = {each.value: each.phrase for each in HTTPStatus}

# Prevents header injection.
_ON_ONE_LINE: Final = str.maketrans("\r\n\0", "   ")


def reply_head(reply: Reply, *, version: str, is_last: bool) -> bytes:
    """Return the status line and the headers of ``reply`` for the HTTP version ``version``.

    If ``is_last``, the connection is closed after the reply. HTTP/1.0 has no chunks: the end of a
    stream to such a client is the end of the connection.
    """
    status = reply.status
    lines = [f"HTTP/{version} {status} {_PHRASES.get(status, '')}"]
    lines += [f"{name}: {value}".translate(_ON_ONE_LINE) for name, value in reply.headers]
    if status in _BARE:
        pass
    elif reply.stream is not None:
        if version != "1.0":
            lines.append("Transfer-Encoding: chunked")
    else:
        lines.append(f"Content-Length: {len(reply.body)}")
    if is_last:
        lines.append("Connection: close")
    elif version == "1.0":
        lines.append("Connection: keep-alive")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace")


def has_body(status: int, method: str) -> bool:
    """Whether a reply with ``status`` to a request with ``method`` can have a body."""
    return method != "HEAD" and status not in _BARE


def chunk(piece: bytes) -> bytes:
    """Return ``piece``, which is part of a stream, as an HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def error_reply(status: int) -> bytes:
    """Return the complete reply, with ``status``, to received bytes that are not a request."""
    text = f"{_PHRASES[status]}\n".encode()
    headers = (("Content-Type", "text/plain; charset=utf-8"),)
    reply = Reply(status=status, headers=headers, body=text)
    return reply_head(reply, version="1.1", is_last=True) + text
