"""A way to a server that a test can cut, hold up, silence, garble, and lead elsewhere."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from steersman.errors import Unreachable
from steersman.wire import Request, Response, Transport
from tests.transports import Answer, ScriptedResponse


class DisturbedTransport:
    """Passes requests on to ``server``, unless the test has something against it."""

    def __init__(self, server: Transport) -> None:
        self.server = server
        # Said in the server's place, to everything that is asked.
        self.answer: Answer | Exception | None = None
        # What becomes of each piece of a watch.
        self.garble: Callable[[bytes], bytes] = bytes
        self.is_silent = False
        self.requests: list[Request] = []
        self._watches: set[_DisturbedResponse] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    def cut(self) -> None:
        """End every watch, as a load balancer that crashes would."""
        for watch in self._watches:
            watch.cut()

    def hold(self) -> None:
        """Let nothing through for the moment."""
        self._flows.clear()

    def let_go(self) -> None:
        """Let through what was held, and all that follows."""
        self._flows.set()

    def black_out(self) -> None:
        """Lose whatever the watches that are open would say from now on."""
        for watch in self._watches:
            watch.is_silent = True

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Have ``request`` answered."""
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        if (answer := self.answer) is not None:
            if answer.after is not None:
                await answer.after()
            yield ScriptedResponse(answer)
            return
        async with self.server.open(request) as response:
            if ("watch", "true") not in request.query:
                yield response
                return
            watch = _DisturbedResponse(response, self)
            self._watches.add(watch)
            try:
                yield watch
            finally:
                self._watches.remove(watch)

    async def flowing(self) -> None:
        """Come back once pieces are let through."""
        await self._flows.wait()


class HeldTransport:
    """A way on which everything waits until it may go on."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.may_go = asyncio.Event()
        self.waiting = 0

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Have ``request`` answered, in the end."""
        self.waiting += 1
        try:
            await self.may_go.wait()
        finally:
            self.waiting -= 1
        async with self._inner.open(request) as response:
            yield response


class _DisturbedResponse:
    def __init__(self, inner: Response, way: DisturbedTransport) -> None:
        self._inner = inner
        self._way = way
        self._reader = asyncio.current_task()
        self._is_cut = False
        self.is_silent = False
        self.status = inner.status
        self.headers = inner.headers
        self.warnings = inner.warnings

    def cut(self) -> None:
        """Report a lost connection to the reader."""
        if self._reader is not None and not self._is_cut:
            self._is_cut = True
            self._reader.cancel()

    async def read(self, *, limit_bytes: int) -> bytes:
        return await self._inner.read(limit_bytes=limit_bytes)

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner.chunks():
                await self._way.flowing()
                if self.is_silent:
                    await asyncio.Event().wait()
                yield self._way.garble(piece)
        except asyncio.CancelledError:
            if not self._is_cut or self._reader is None:
                raise
            self._reader.uncancel()
            raise Unreachable("the connection was lost") from None
