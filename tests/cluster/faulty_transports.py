"""Transports that a test can cut, pause, silence, corrupt, and redirect."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from steersman.errors import Unreachable
from steersman.wire import Request, Response, Transport
from tests.transports import FakeResponse, ScriptedResponse


class FaultyTransport:
    """Passes requests on to ``server``, with the faults that the test injects."""

    def __init__(self, server: Transport) -> None:
        self.server = server
        # Replaces the server's response to every request.
        self.fixed_response: FakeResponse | Exception | None = None
        # Changes each chunk of a watch.
        self.garble: Callable[[bytes], bytes] = bytes
        self.is_silent = False
        self.requests: list[Request] = []
        self._watches: set[_FaultyResponse] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    def cut(self) -> None:
        """End every watch, as a crashed load balancer does."""
        for watch in self._watches:
            watch.cut()

    def pause(self) -> None:
        """Hold the chunks of all watches until ``resume``."""
        self._flows.clear()

    def resume(self) -> None:
        """Deliver the held chunks, and all that follow."""
        self._flows.set()

    def silence_watches(self) -> None:
        """Drop all further chunks of the watches that are open now."""
        for watch in self._watches:
            watch.is_silent = True

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send ``request`` to the server, or respond with ``fixed_response``."""
        self.requests.append(request)
        if isinstance(self.fixed_response, Exception):
            raise self.fixed_response
        if (fixed := self.fixed_response) is not None:
            if fixed.after is not None:
                await fixed.after()
            yield ScriptedResponse(fixed)
            return
        async with self.server.open(request) as response:
            if ("watch", "true") not in request.query:
                yield response
                return
            watch = _FaultyResponse(response, self)
            self._watches.add(watch)
            try:
                yield watch
            finally:
                self._watches.remove(watch)

    async def flowing(self) -> None:
        """Wait until chunks are delivered."""
        await self._flows.wait()


class GatedTransport:
    """Every request waits until ``gate`` is set."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.gate = asyncio.Event()
        self.waiting = 0

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send ``request`` once ``gate`` is set."""
        self.waiting += 1
        try:
            await self.gate.wait()
        finally:
            self.waiting -= 1
        async with self._inner.open(request) as response:
            yield response


class _FaultyResponse:
    def __init__(self, inner: Response, transport: FaultyTransport) -> None:
        self._inner = inner
        self._transport = transport
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
                await self._transport.flowing()
                if self.is_silent:
                    await asyncio.Event().wait()
                yield self._transport.garble(piece)
        except asyncio.CancelledError:
            if not self._is_cut or self._reader is None:
                raise
            self._reader.uncancel()
            raise Unreachable("the connection was lost") from None
