"""The two servers: the one that answers and is written down, and the one that says it again."""

import asyncio
import gzip
import pickle
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote

from bench.instructions.stage import Line, StageLoop
from steersman.wire import Reply, Request

URL = "http://127.0.0.1:6443"
TOKEN = "a-token-that-is-as-long-as-those-of-service-accounts-hardly-ever-are"

# How long an answer takes, and how far apart any two are: no two things happen at one moment, so
# there is never a question of which comes first.
ANSWER_SECONDS = 0.002
APART_SECONDS = 0.000_05

# Shorter answers are not worth compressing to a real server, either.
COMPRESSED_BYTES = 128 * 1024

# Of what a real server sends along with every answer.
HEADERS = (
    b"Audit-Id: 7d1f6a0e-52a5-4f0e-9d5e-8a4f0d3b2c11\r\n"
    b"Cache-Control: no-cache, private\r\n"
    b"X-Kubernetes-Pf-Flowschema-Uid: 0b9e2a7c-6f1d-4b8a-9c3e-2d5f7a1b4c60\r\n"
    b"X-Kubernetes-Pf-Prioritylevel-Uid: 5e8d1c3b-7a2f-4e6d-8b9a-1f0c2d3e4a57\r\n"
    b"Date: Sun, 01 Nov 2026 00:00:00 GMT\r\n"
)


@dataclass(frozen=True, slots=True)
class Said:
    """Bytes, and how long after the request they come."""

    after_seconds: float
    data: bytes


# What was said to each request, by its first line, in the order in which they came.
Script: TypeAlias = Mapping[bytes, list[list[Said]]]


class Rehearsal:
    """Answers requests as the embedded API server does, and writes down what it says."""

    def __init__(self) -> None:
        self.script: dict[bytes, list[list[Said]]] = defaultdict(list)
        self._handler: Any = None
        self._free_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def serve(self, handler: Any) -> None:
        """From here on, ``handler`` answers."""
        self._handler = handler

    def ask(self, request: bytes, line: Line) -> None:
        """Have it answered in a task of its own."""
        said: list[Said] = []
        self.script[_first_line(request)].append(said)
        task = line.loop.create_task(self._answer(_parsed(request), line, said))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: Request, line: Line, said: list[Said]) -> None:
        began_at = line.loop.time()

        def say(data: bytes) -> None:
            due_at = self._next_moment(line.loop)
            said.append(Said(due_at - began_at, data))
            line.loop.call_at(due_at, line.hear, data)

        reply: Reply = await self._handler.handle(request, certificate=None)
        if reply.stream is None:
            say(_whole(reply, request))
            return
        say(_head(reply, b"Transfer-Encoding: chunked\r\n"))
        async for piece in reply.stream:
            if line.is_closing():
                await reply.stream.aclose()
                return
            say(b"%x\r\n%b\r\n" % (len(piece), piece))
        say(b"0\r\n\r\n")

    def _next_moment(self, loop: StageLoop) -> float:
        self._free_at = max(self._free_at, loop.time() + ANSWER_SECONDS) + APART_SECONDS
        return self._free_at

    async def close(self) -> None:
        """End the streams without a reader."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class Performance:
    """Says again what was written down."""

    def __init__(self, script: Script) -> None:
        self._script = {line: deque(answers) for line, answers in script.items()}

    def ask(self, request: bytes, line: Line) -> None:
        """The next answer to this, at the moments at which it came before."""
        answers = self._script.get(_first_line(request))
        if not answers:
            raise AssertionError(f"{_first_line(request)!r} was not asked at the rehearsal")
        said = iter(answers.popleft())
        began_at = line.loop.time()

        def say(data: bytes) -> None:
            if line.is_closing():
                return
            following = next(said, None)
            if following is not None:
                line.loop.call_at(began_at + following.after_seconds, say, following.data)
            line.hear(data)

        first = next(said, None)
        if first is not None:
            line.loop.call_at(began_at + first.after_seconds, say, first.data)

    @property
    def unasked(self) -> list[bytes]:
        """What was asked at the rehearsal, and not now."""
        return [line for line, answers in self._script.items() if answers]


def save(script: Script, file: Path) -> None:
    """Keep it for another process."""
    file.write_bytes(pickle.dumps(dict(script)))


def load(file: Path) -> Script:
    """What was kept."""
    script: Script = pickle.loads(file.read_bytes())
    return script


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
