"""Two servers: one records the replies of the embedded API server, and one replays them."""

import asyncio
import gzip
import pickle
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote

from bench.instructions.virtual_loop import Connection, VirtualLoop
from steersman.wire import Reply, Request

URL = "http://127.0.0.1:6443"
TOKEN = "a-token-that-is-as-long-as-those-of-service-accounts-hardly-ever-are"

# The duration of a reply, and the time between two replies. No two replies have the same time, so
# their order is always the same.
RESPONSE_SECONDS = 0.002
GAP_SECONDS = 0.000_05

# A real server does not compress shorter replies, either.
COMPRESSED_BYTES = 128 * 1024

# Headers that a real server sends with each reply.
HEADERS = (
    b"Audit-Id: 7d1f6a0e-52a5-4f0e-9d5e-8a4f0d3b2c11\r\n"
    b"Cache-Control: no-cache, private\r\n"
    b"X-Kubernetes-Pf-Flowschema-Uid: 0b9e2a7c-6f1d-4b8a-9c3e-2d5f7a1b4c60\r\n"
    b"X-Kubernetes-Pf-Prioritylevel-Uid: 5e8d1c3b-7a2f-4e6d-8b9a-1f0c2d3e4a57\r\n"
    b"Date: Sun, 01 Nov 2026 00:00:00 GMT\r\n"
)


@dataclass(frozen=True, slots=True)
class ReplyPart:
    """Bytes of a reply, and the delay between the request and these bytes."""

    after_seconds: float
    data: bytes


# The replies to each request, by its request line, in the order of the requests.
Recording: TypeAlias = Mapping[bytes, list[list[ReplyPart]]]


class RecordingServer:
    """Handles requests with the embedded API server, and records the replies."""

    def __init__(self) -> None:
        self.recording: dict[bytes, list[list[ReplyPart]]] = defaultdict(list)
        self._handler: Any = None
        self._free_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def serve(self, handler: Any) -> None:
        """Handle requests with ``handler`` from now on."""
        self._handler = handler

    def handle(self, request: bytes, connection: Connection) -> None:
        """Handle the request in a new task."""
        parts: list[ReplyPart] = []
        self.recording[_first_line(request)].append(parts)
        task = connection.loop.create_task(self._respond(_parsed(request), connection, parts))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _respond(
        self, request: Request, connection: Connection, parts: list[ReplyPart]
    ) -> None:
        began_at = connection.loop.time()

        def send(data: bytes) -> None:
            due_at = self._next_moment(connection.loop)
            parts.append(ReplyPart(due_at - began_at, data))
            connection.loop.call_at(due_at, connection.receive, data)

        reply: Reply = await self._handler.handle(request, certificate=None)
        if reply.stream is None:
            send(_whole(reply, request))
            return
        send(_head(reply, b"Transfer-Encoding: chunked\r\n"))
        async for piece in reply.stream:
            if connection.is_closing():
                await reply.stream.aclose()
                return
            send(b"%x\r\n%b\r\n" % (len(piece), piece))
        send(b"0\r\n\r\n")

    def _next_moment(self, loop: VirtualLoop) -> float:
        self._free_at = max(self._free_at, loop.time() + RESPONSE_SECONDS) + GAP_SECONDS
        return self._free_at

    async def close(self) -> None:
        """End the streams without a reader."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class ReplayServer:
    """Replays a recording."""

    def __init__(self, recording: Recording) -> None:
        self._recording = {line: deque(replies) for line, replies in recording.items()}

    def handle(self, request: bytes, connection: Connection) -> None:
        """Send the next recorded reply to this request, with the recorded delays."""
        replies = self._recording.get(_first_line(request))
        if not replies:
            raise AssertionError(f"{_first_line(request)!r} is not in the recording")
        parts = iter(replies.popleft())
        began_at = connection.loop.time()

        def send(data: bytes) -> None:
            if connection.is_closing():
                return
            following = next(parts, None)
            if following is not None:
                connection.loop.call_at(began_at + following.after_seconds, send, following.data)
            connection.receive(data)

        first = next(parts, None)
        if first is not None:
            connection.loop.call_at(began_at + first.after_seconds, send, first.data)

    @property
    def unrequested(self) -> list[bytes]:
        """The request lines of the recording that were not requested in the replay."""
        return [line for line, replies in self._recording.items() if replies]


def save(recording: Recording, file: Path) -> None:
    """Write a recording for another process."""
    file.write_bytes(pickle.dumps(dict(recording)))


def load(file: Path) -> Recording:
    """Read a recording."""
    recording: Recording = pickle.loads(file.read_bytes())
    return recording


def _first_line(request: bytes) -> bytes:
    return request[: request.index(b"\r\n")]


def _parsed(request: bytes) -> Request:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    path, _, query = target.partition("?")
    headers = tuple((name, value) for name, _, value in (each.partition(": ") for each in rest))
    return Request(
        method=method,
        path=unquote(path),
        query=tuple(parse_qsl(query, keep_blank_values=True)),
        headers=headers,
        body=body or None,
        is_large=("Accept-Encoding", "gzip") in headers,
    )


def _whole(reply: Reply, request: Request) -> bytes:
    body, encoding = reply.body, b""
    if request.is_large and len(body) > COMPRESSED_BYTES:
        body, encoding = gzip.compress(body, 1, mtime=0), b"Content-Encoding: gzip\r\n"
    return _head(reply, b"%bContent-Length: %d\r\n" % (encoding, len(body))) + body


def _head(reply: Reply, framing: bytes) -> bytes:
    own = b"".join(f"{name}: {value}\r\n".encode() for name, value in reply.headers)
    return b"HTTP/1.1 %d OK\r\n%b%b%b\r\n" % (reply.status, own, HEADERS, framing)
