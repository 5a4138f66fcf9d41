"""Parses the requests that a client sends over a connection."""

from collections import deque
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from steersman.wire.messages import Request

# No client needs a larger head; without a limit, one could fill the memory.
HEAD_BYTES: Final = 2**16

# A header line also has a colon, a space, and CR LF.
_BESIDES_BYTES: Final = 4

_VERSIONS: Final = frozenset({"1.0", "1.1"})
_OF_BODIES: Final = frozenset({b"content-length", b"transfer-encoding"})


class ParsedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and the HTTP version in its request line."""

    request: Request
    version: str  # the HTTP version
    is_last: bool  # later requests are ignored


class RequestParser:
    """Parses the bytes from a client; ``error_status`` is the reply status for an invalid request.

    A body larger than ``max_body_bytes`` is cut off one byte after the limit. No further request of
    the connection is then read, because the rest of the body may take long to arrive.
    """

    def __init__(self, *, max_body_bytes: int) -> None:
        self._largest_body = max_body_bytes
        self._parser = HttpRequestParser(self)
        # The current request.
        self._version = ""
        self._target = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._body = bytearray()
        self._is_head = True
        self._head_bytes = 0  # includes trailers
        self._unparsed_bytes = 0  # since the parser last found something
        # The complete requests.
        self.requests: deque[ParsedRequest] = deque()
        self.error_status: int | None = None
        self.is_over = False  # further bytes are ignored
        self.is_cut_short = False  # before the last request was complete
        self.is_waiting = False  # the client expects 100 Continue

    def feed(self, data: bytes | memoryview) -> None:
        """Parse the next bytes."""
        if self.is_over:
            return
        self._unparsed_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            # Other protocols are not supported: the request is processed as plain HTTP.
            self._end()
        except HttpParserError:
            self._reject(400)
        else:
            if self._unparsed_bytes > HEAD_BYTES:
                self._reject(431)

    def _reject(self, status: int) -> None:
        if not self.is_over:
            self.error_status = status
            self.is_over = True

    def _end(self) -> None:
        self.is_over = True
        if self.requests:
            self.requests[-1] = msgspec.structs.replace(self.requests[-1], is_last=True)

    # Callbacks of httptools

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
        self._unparsed_bytes = 0
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES:
            self._reject(431)

    def on_headers_complete(self) -> None:
        self._is_head = False
        self._unparsed_bytes = 0
        self._version = self._parser.get_http_version()
        if self._version not in _VERSIONS:
            self._reject(505)
        lowered = [(name.lower(), value.lower()) for name, value in self._fields]
        if self._parser.should_upgrade() and any(
            name in _OF_BODIES and value != b"0" for name, value in lowered
        ):
            # The parser has consumed the body as data of the other protocol.
            self._reject(400)
        self.is_waiting = self._version == "1.1" and (b"expect", b"100-continue") in lowered

    def on_body(self, body: bytes) -> None:
        self.is_waiting = False
        self._unparsed_bytes = 0
        if self.is_over:
            return
        self._body += body
        if len(self._body) > self._largest_body:
            self._finish_request(is_last=True)
            self.is_over = self.is_cut_short = True

    def on_message_complete(self) -> None:
        self.is_waiting = False
        self._unparsed_bytes = 0
        if not self.is_over:
            self._finish_request(is_last=not self._parser.should_keep_alive())

    def _finish_request(self, *, is_last: bool) -> None:
        target = _split(self._target.decode("utf-8", "replace"))
        if target is None:
            self._reject(400)
            return
        path, query = target
        request = Request(
            method=self._parser.get_method().decode(),
            path=unquote(path),
            query=tuple(parse_qsl(query, keep_blank_values=True)) if query else (),
            headers=tuple([(_text(name), _text(value)) for name, value in self._fields]),
            body=bytes(self._body[: self._largest_body + 1]) if self._body else None,
        )
        self.requests.append(ParsedRequest(request=request, version=self._version, is_last=is_last))
        # An idle connection keeps no request in memory.
        self._target, self._fields, self._body = b"", [], bytearray()


def _split(target: str) -> tuple[str, str] | None:
    """Return the path and the query of a request's target; ``None`` if the target is invalid."""
    if not target.startswith("/"):
        try:
            whole = urlsplit(target)  # the form for proxies
        except ValueError:
            return None
        return (whole.path or "/", whole.query) if whole.netloc else None
    path, _, query = target.partition("#")[0].partition("?")
    return path, query


def _text(field: bytes) -> str:
    """Return the field as text that can be encoded again; invalid bytes are replaced."""
    return field.decode("utf-8", "replace")
