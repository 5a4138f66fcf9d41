"""What is sent of a reply: its head, and its pieces."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from steersman.wire.messages import Reply

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"

# Answers that end with their head, whatever it says.
_BARE: Final = frozenset({204, 304})

_PHRASES: Final[Mapping[int, str]] = {each.value: each.phrase for each in HTTPStatus}

# Whatever is in a value, it is no second header.
_ON_ONE_LINE: Final = str.maketrans("\r\n\0", "   ")


def reply_head(reply: Reply, *, version: str, is_last: bool) -> bytes:
    """What comes before the body; ``is_last``: the connection ends after it.

    Whoever speaks HTTP/1.0 knows no chunks: a stream to them ends with the connection.
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
    """Whether something may follow the head."""
    return method != "HEAD" and status not in _BARE


def chunk(piece: bytes) -> bytes:
    """A piece of a stream."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def refusal(status: int) -> bytes:
    """All that is said to what cannot be understood."""
    text = f"{_PHRASES[status]}\n".encode()
    headers = (("Content-Type", "text/plain; charset=utf-8"),)
    reply = Reply(status=status, headers=headers, body=text)
    return reply_head(reply, version="1.1", is_last=True) + text
