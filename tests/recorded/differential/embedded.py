"""The embedded server, called in-process and in virtual time.

A watch of one second therefore takes no time, and every run gives the same bytes.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from random import Random
from urllib.parse import parse_qsl, unquote, urlsplit

from steersman.observe import Observation
from steersman.wire import Reply, Request
from steersman_cluster.apiserver import ApiServer, NoWebhookTransport, RevisionLog, administrator
from steersman_cluster.simulation import VirtualClock, VirtualLoop
from tests.recorded.differential.scenario import Answer

TOKEN = "differential"

# A watch delivers an event before the response to the write, or immediately after it.
SILENCE_SECONDS = 2.0


class InProcessStream:
    """A watch whose lines are queued until they are read."""

    def __init__(self, loop: VirtualLoop, clock: VirtualClock, reply: Reply) -> None:
        self._loop = loop
        self._clock = clock
        self._reply = reply
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        # The loop runs its tasks in order: the watch starts before any later request.
        self._reader = loop.create_task(self._read(reply.stream)) if reply.stream else None

    async def _read(self, stream: AsyncGenerator[bytes, None]) -> None:
        async with aclosing(stream):
            async for piece in stream:
                for line in piece.splitlines(keepends=True):
                    self._lines.put_nowait(line)
        self._lines.put_nowait(None)

    def received(self, is_last: Callable[[bytes], bool]) -> Answer:
        """The lines up to the last one, or until a timeout."""
        body = self._reply.body
        if self._reader is not None:
            body = b"".join(self._loop.run_until_complete(self._until(is_last)))
        return Answer(status=self._reply.status, headers=self._reply.headers, body=body)

    async def _until(self, is_last: Callable[[bytes], bool]) -> list[bytes]:
        lines: list[bytes] = []
        with suppress(TimeoutError):
            while line := await self._next_line():
                lines.append(line)
                if is_last(line):
                    break
        if self._reader is not None:
            self._reader.cancel()
        return lines

    async def _next_line(self) -> bytes | None:
        async with self._clock.timeout(SILENCE_SECONDS):
            return await self._lines.get()


class InProcessServer:
    """A server on its own loop, which runs during each call."""

    def __init__(self) -> None:
        self.token = TOKEN
        self.observed: list[Observation] = []
        self._loop = VirtualLoop()
        self._clock = VirtualClock(self._loop)
        self._server = ApiServer(
            log=RevisionLog(),
            tokens={TOKEN: administrator()},
            clock=self._clock,
            rng=Random(0),
            observe=self.observed.append,
            outbound=NoWebhookTransport(),
        )

    def call(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Send a request, and read the whole response."""
        answer: Answer = self._loop.run_until_complete(
            self._answer(_request(method, path, body, headers))
        )
        return answer

    def follow(self, path: str, headers: Mapping[str, str]) -> InProcessStream:
        """Start a watch."""
        reply = self._loop.run_until_complete(
            self._server.handle(_request("GET", path, None, headers))
        )
        return InProcessStream(self._loop, self._clock, reply)

    def wait_for_second(self) -> None:
        """Wait until a new second has begun."""
        fraction = self._clock.now().microsecond / 1_000_000
        self._loop.run_until_complete(self._clock.sleep(1.0 - fraction))

    async def _answer(self, request: Request) -> Answer:
        reply = await self._server.handle(request)
        body = reply.body
        if reply.stream is not None:
            body = b"".join([piece async for piece in reply.stream])
        return Answer(status=reply.status, headers=reply.headers, body=body)

    def close(self) -> None:
        """End all tasks."""
        for task in self._loop.tasks():
            task.cancel()
            with suppress(asyncio.CancelledError):
                self._loop.run_until_complete(task)
        self._loop.close()


def _request(method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Request:
    split = urlsplit(path)
    return Request(
        method=method,
        path=unquote(split.path),
        query=tuple(parse_qsl(split.query, keep_blank_values=True)),
        headers=tuple(headers.items()),
        body=body,
    )


@contextmanager
def embedded() -> Iterator[InProcessServer]:
    """A new embedded server."""
    server = InProcessServer()
    try:
        yield server
    finally:
        server.close()
