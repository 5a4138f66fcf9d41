"""A client's requests, out of its bytes."""

from collections import deque
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from steersman.wire.messages import Request

# No client has more to say besides its body; without a limit, one could fill the memory.
HEAD_BYTES: Final = 2**16

# A colon, a space, and the end of the line.
_BESIDES_BYTES: Final = 4

_VERSIONS: Final = frozenset({"1.0", "1.1"})
_OF_BODIES: Final = frozenset({b"content-length", b"transfer-encoding"})


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and how its client wants it answered."""

    request: Request
    version: str  # of HTTP
    is_last: bool  # nothing after it will be heard


class Hearing:
    """Collects what a client says; what it says that is no HTTP is told to it once, by ``refused``.

    Of a body that is larger than ``largest_body`` that much is kept and one byte more, and the
    request is the last: who has sent it may be talking for long.
    """

    def __init__(self, *, largest_body: int) -> None:
        self._largest_body = largest_body
        self._parser = HttpRequestParser(self)
        # The request that is being said.
        self._version = ""
        self._target = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._body = bytearray()
        self._is_head = True
        self._head_bytes = 0  # with what comes after the body
        self._unheard_bytes = 0  # since the parser last found something
        # What has been understood.
        self.requests: deque[Heard] = deque()
        self.refused: int | None = None
        self.is_over = False  # whatever else comes is not listened to
        self.is_cut_short = False  # before the last request was whole
        self.is_waiting = False  # the client wants to hear that its body is welcome

    def feed(self, data: bytes | memoryview) -> None:
        """This was said next."""
        if self.is_over:
            return
        self._unheard_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            # Nobody here speaks anything else: it is answered as what it is besides.
            self._end()
        except HttpParserError:
            self._refuse(400)
        else:
            if self._unheard_bytes > HEAD_BYTES:
                self._refuse(431)

    def _refuse(self, status: int) -> None:
        if not self.is_over:
            self.refused = status
            self.is_over = True

    def _end(self) -> None:
        self.is_over = True
        if self.requests:
            self.requests[-1] = msgspec.structs.replace(self.requests[-1], is_last=True)

    # What the parser finds

    def on_message_begin(self) -> None:
        self._is_head = True
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._target += url
        self._measure(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._measure(len(name) + len(value) + _BESIDES_BYTES)
        if self._is_head:  # afterwards, these are trailers
            self._fields.append((name, value.strip(b" \t")))

    def _measure(self, size: int) -> None:
        self._unheard_bytes = 0
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES:
            self._refuse(431)

    def on_headers_complete(self) -> None:
        self._is_head = False
        self._unheard_bytes = 0
        self._version = self._parser.get_http_version()
        if self._version not in _VERSIONS:
            self._refuse(505)
        lowered = [(name.lower(), value.lower()) for name, value in self._fields]
        if self._parser.should_upgrade() and any(
            name in _OF_BODIES and value != b"0" for name, value in lowered
        ):
            # The parser takes the body for something else already.
            self._refuse(400)
        self.is_waiting = self._version == "1.1" and (b"expect", b"100-continue") in lowered

    def on_body(self, body: bytes) -> None:
        self.is_waiting = False
        self._unheard_bytes = 0
        if self.is_over:
            return
        self._body += body
        if len(self._body) > self._largest_body:
            self._understand(is_last=True)
            self.is_over = self.is_cut_short = True

    def on_message_complete(self) -> None:
        self.is_waiting = False
        self._unheard_bytes = 0
        if not self.is_over:
            self._understand(is_last=not self._parser.should_keep_alive())

    def _understand(self, *, is_last: bool) -> None:
        target = _split(self._target.decode("utf-8", "replace"))
        if target is None:
            self._refuse(400)
            return
        path, query = target
        request = Request(
            method=self._parser.get_method().decode(),
            path=unquote(path),
            query=tuple(parse_qsl(query, keep_blank_values=True)) if query else (),
            headers=tuple([(_text(name), _text(value)) for name, value in self._fields]),
            body=bytes(self._body[: self._largest_body + 1]) if self._body else None,
        )
        self.requests.append(Heard(request=request, version=self._version, is_last=is_last))
        # While nothing more is said, none of it is held.
        self._target, self._fields, self._body = b"", [], bytearray()


def _split(target: str) -> tuple[str, str] | None:
    """The path and the query of a request's target, unless it has neither."""
    if not target.startswith("/"):
        try:
            whole = urlsplit(target)  # as it is told to a proxy
        except ValueError:
            return None
        return (whole.path or "/", whole.query) if whole.netloc else None
    path, _, query = target.partition("#")[0].partition("?")
    return path, query


def _text(field: bytes) -> str:
    """As text that can be written again; what was no text is marked as such."""
    return field.decode("utf-8", "replace")
