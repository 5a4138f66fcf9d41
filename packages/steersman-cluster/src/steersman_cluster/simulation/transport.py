"""An actor's transport in a simulation: delays and records requests, injects faults."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from random import Random
from types import TracebackType
from typing import Protocol

from steersman.clock import Clock
from steersman.errors import Unreachable
from steersman.wire import Request, Response, Transport
from steersman_cluster.simulation.actors import Actor
from steersman_cluster.simulation.history import MUTATING, History


class FaultInjector(Protocol):
    """A protocol for injecting faults between an actor and the API server.

    Each method can let time pass, kill the actor (and then never return), or raise ``Unreachable``.
    """

    async def before_request(self, actor: Actor, request: Request) -> None:
        """Inject a fault before the server receives ``request``."""
        ...

    async def before_response(self, actor: Actor, request: Request) -> None:
        """Inject a fault after the server has handled ``request``, before its response arrives."""
        ...

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Inject a fault before the actor receives ``piece``, a chunk of the watch ``request``."""
        ...


class NoFaults:
    """Injects no faults."""

    async def before_request(self, actor: Actor, request: Request) -> None:
        """Do nothing."""

    async def before_response(self, actor: Actor, request: Request) -> None:
        """Do nothing."""

    async def before_watch_event(self, actor: Actor, request: Request, piece: bytes) -> None:
        """Do nothing."""


class SimulatedTransport:
    """A transport that sends an actor's requests through ``inner``, each after a random delay."""

    def __init__(
        self,
        inner: Transport,
        *,
        actor: Actor,
        fault_injector: FaultInjector,
        revision: Callable[[], int],
        history: History,
        latency_seconds: float,
        clock: Clock,
        rng: Random,
    ) -> None:
        self._inner = inner
        self._actor = actor
        self.inject(fault_injector)
        self._revision = revision
        self._history = history
        self._latency_seconds = latency_seconds
        self._clock = clock
        self._rng = rng
        self.is_cut = False

    def inject(self, fault_injector: FaultInjector) -> None:
        """Replace the fault injector; it then applies to all further requests."""
        self._fault_injector = fault_injector
        # Not a subclass: it may override a method.
        self._is_faultless = type(fault_injector) is NoFaults

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        """Send ``request``."""
        return _Exchange(self, self._inner.open(request), request)

    async def before(self, request: Request) -> int:
        """Delay ``request``, inject faults, and return the revision of the server's store."""
        self._check(request)
        if self._latency_seconds:
            await self._clock.sleep(self._latency_seconds * self._rng.random())
            self._check(request)
        if not self._is_faultless:
            await self._fault_injector.before_request(self._actor, request)
        return self._revision()

    async def after(self, request: Request, response: Response, revision: int) -> Response:
        """Record ``request`` and ``response``, inject faults, and return the response.

        ``revision`` is the revision of the server's store before the request.
        """
        self._history.record(
            self._clock.monotonic(),
            self._actor.name,
            request,
            status=response.status,
            is_change=request.method in MUTATING and self._revision() != revision,
        )
        if self._is_faultless:
            return response
        await self._fault_injector.before_response(self._actor, request)
        return _FaultyResponse(response, self._before_event, request)

    async def _before_event(self, request: Request, piece: bytes) -> None:
        await self._fault_injector.before_watch_event(self._actor, request, piece)

    def _check(self, request: Request) -> None:
        if self.is_cut:
            raise Unreachable(
                f"{request.method} {request.path}: {self._actor.name} is dead",
                may_have_happened=False,
            )


class _Exchange:
    """An open request, as an async context manager.

    It is a class, because a generator would cost more.
    """

    __slots__ = ("_held", "_request", "_transport")

    def __init__(
        self,
        transport: SimulatedTransport,
        held: AbstractAsyncContextManager[Response],
        request: Request,
    ) -> None:
        self._transport = transport
        self._held = held
        self._request = request

    async def __aenter__(self) -> Response:
        transport, request = self._transport, self._request
        revision = await transport.before(request)
        response = await self._held.__aenter__()
        try:
            return await transport.after(request, response, revision)
        except BaseException as error:
            await self._held.__aexit__(type(error), error, error.__traceback__)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._held.__aexit__(kind, error, traceback)


class _FaultyResponse:
    """A response whose watch events pass through the fault injector."""

    def __init__(self, inner: Response, before_event: "BeforeEvent", request: Request) -> None:
        self._inner = inner
        self._before_event = before_event
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
                await self._before_event(self._request, piece)
            yield piece


class BeforeEvent(Protocol):
    """A callback that runs before an actor receives a chunk of a watch."""

    async def __call__(self, request: Request, piece: bytes) -> None:
        """Delay ``piece``, a chunk of the watch ``request``, or raise an error."""
        ...


async def wait_forever() -> None:
    """Wait forever; a task of a killed actor that must not continue awaits this function."""
    await asyncio.get_running_loop().create_future()
