"""The embedded server, asked in-process."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from urllib.parse import parse_qsl, unquote, urlsplit

from steersman.apiserver import ApiServer, RevisionLog, administrator
from steersman.clock import SystemClock
from steersman.observe import Observation
from steersman.wire import Request
from tests.real.differential.story import Answer

TOKEN = "differential"


class InProcessServer:
    """A server whose loop runs in a thread of its own, so that any thread may ask."""

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
        )

    def call(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Ask, and wait for the whole answer."""
        split = urlsplit(path)
        request = Request(
            method=method,
            path=unquote(split.path),
            query=tuple(parse_qsl(split.query, keep_blank_values=True)),
            headers=tuple(headers.items()),
            body=body,
        )
        return asyncio.run_coroutine_threadsafe(self._answer(request), self._loop).result()

    async def _answer(self, request: Request) -> Answer:
        reply = await self._server.handle(request)
        body = reply.body
        if reply.stream is not None:
            body = b"".join([piece async for piece in reply.stream])
        return Answer(status=reply.status, headers=reply.headers, body=body)


@contextmanager
def embedded() -> Iterator[InProcessServer]:
    """An embedded server that nobody has asked anything yet."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield InProcessServer(loop)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
