"""The way of an actor to the server: it takes time, is written down, and can be disturbed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Protocol

from steersman.clock import Clock
from steersman.errors import Unreachable
from steersman.simulation.actors import Actor
from steersman.simulation.history import MUTATING, History
from steersman.wire import Request, Response, Transport


class Disturbance(Protocol):
    """What may go wrong between an actor and the server.

    Each method may let time pass, kill the actor (and then never return), or raise
    ``Unreachable``.
    """

    async def sending(self, actor: Actor, request: Request) -> None:
        """The request is about to reach the server."""
        ...

    async def answering(self, actor: Actor, request: Request) -> None:
        """The server has done it, and the answer is about to reach the actor."""
        ...

    async def telling(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Some lines of a watch are about to reach the actor."""
        ...


class Calm:
    """Nothing goes wrong."""

    async def sending(self, actor: Actor, request: Request) -> None:
        """Nothing."""

    async def answering(self, actor: Actor, request: Request) -> None:
        """Nothing."""

    async def telling(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Nothing."""


class Way:
    """Carries an actor's requests, each after a moment that chance decides."""

    def __init__(
        self,
        inner: Transport,
        *,
        actor: Actor,
        disturbance: Disturbance,
        revision: Callable[[], int],
        history: History,
        latency_seconds: float,
        clock: Clock,
        rng: Random,
    ) -> None:
        self._inner = inner
        self._actor = actor
        self._disturbance = disturbance
        # Not who takes after it, and only changes what they need.
        self._is_calm = type(disturbance) is Calm
        self._revision = revision
        self._history = history
        self._latency_seconds = latency_seconds
        self._clock = clock
        self._rng = rng
        self.is_cut = False

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send ``request``."""
        self._check(request)
        if self._latency_seconds:
            await self._clock.sleep(self._latency_seconds * self._rng.random())
            self._check(request)
        if not self._is_calm:
            await self._disturbance.sending(self._actor, request)
        before = self._revision()
        async with self._inner.open(request) as response:
            self._history.note(
                self._clock.monotonic(),
                self._actor.name,
                request,
                status=response.status,
                is_change=request.method in MUTATING and self._revision() != before,
            )
            if self._is_calm:
                yield response
            else:
                await self._disturbance.answering(self._actor, request)
                yield _Disturbed(response, self._tell, request)

    async def _tell(self, request: Request, piece: bytes) -> None:
        await self._disturbance.telling(self._actor, request, piece)

    def _check(self, request: Request) -> None:
        if self.is_cut:
            raise Unreachable(
                f"{request.method} {request.path}: {self._actor.name} is dead",
                may_have_happened=False,
            )


class _Disturbed:
    """An answer of which each piece may be disturbed."""

    def __init__(self, inner: Response, tell: "Telling", request: Request) -> None:
        self._inner = inner
        self._tell = tell
        self._request = request

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._inner.headers

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._inner.warnings

    async def read(self, *, limit_bytes: int) -> bytes:
        return await self._inner.read(limit_bytes=limit_bytes)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        is_watch = ("watch", "true") in self._request.query or ("watch", "1") in self._request.query
        async for piece in self._inner.chunks():
            if is_watch:
                await self._tell(self._request, piece)
            yield piece


class Telling(Protocol):
    """Hears of each piece before the actor does."""

    async def __call__(self, request: Request, piece: bytes) -> None:
        """It is about to arrive."""
        ...


async def for_ever() -> None:
    """Wait for what never comes: where somebody is who was killed."""
    await asyncio.get_running_loop().create_future()
