"""The embedded server, called in-process."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from queue import Empty, SimpleQueue
from random import Random
from urllib.parse import parse_qsl, unquote, urlsplit

from steersman.clock import SystemClock
from steersman.observe import Observation
from steersman.wire import Reply, Request
from steersman_cluster.apiserver import ApiServer, NoWebhookTransport, RevisionLog, administrator
from tests.real.differential.scenario import Answer

TOKEN = "differential"


# A watch delivers an event before the response to the write, or immediately after it.
SILENCE_SECONDS = 2.0


class InProcessStream:
    """A watch whose lines are queued until they are read."""

    def __init__(self, loop: asyncio.AbstractEventLoop, reply: Reply) -> None:
        self._reply = reply
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        # The loop runs its tasks in order: the watch starts before any later request.
        self._listening = (
            asyncio.run_coroutine_threadsafe(self._listen(reply.stream), loop)
            if reply.stream is not None
            else None
        )

    async def _listen(self, stream: AsyncGenerator[bytes, None]) -> None:
        async with aclosing(stream):
            async for piece in stream:
                for line in piece.splitlines(keepends=True):
                    self._lines.put(line)
        self._lines.put(None)

    def received(self, is_last: Callable[[bytes], bool]) -> Answer:
        """The lines up to the last one, or until a timeout."""
        body = self._reply.body
        if self._listening is not None:
            body = b"".join(self._until(is_last))
            self._listening.cancel()
        return Answer(status=self._reply.status, headers=self._reply.headers, body=body)

    def _until(self, is_last: Callable[[bytes], bool]) -> Iterator[bytes]:
        with suppress(Empty):
            while (line := self._lines.get(timeout=SILENCE_SECONDS)) is not None:
                yield line
                if is_last(line):
                    return


class InProcessServer:
    """A server whose loop runs in its own thread, so that any thread can send requests."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.token = TOKEN
        self.observed: list[Observation] = []
        self._loop = loop
        self._server = ApiServer(
            log=RevisionLog(),
            tokens={TOKEN: administrator()},
            clock=SystemClock(),
            rng=Random(0),
            observe=self.observed.append,
            outbound=NoWebhookTransport(),
        )

    def call(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Send a request, and read the whole response."""
        request = _request(method, path, body, headers)
        return asyncio.run_coroutine_threadsafe(self._answer(request), self._loop).result()

    def follow(self, path: str, headers: Mapping[str, str]) -> InProcessStream:
        """Start a watch."""
        handled = self._server.handle(_request("GET", path, None, headers))
        reply = asyncio.run_coroutine_threadsafe(handled, self._loop).result()
        return InProcessStream(self._loop, reply)

    async def _answer(self, request: Request) -> Answer:
        reply = await self._server.handle(request)
        body = reply.body
        if reply.stream is not None:
            body = b"".join([piece async for piece in reply.stream])
        return Answer(status=reply.status, headers=reply.headers, body=body)


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
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield InProcessServer(loop)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
