"""The transport of an actor: lost requests and responses."""

import asyncio
from collections.abc import AsyncGenerator
from random import Random

import pytest

from steersman.errors import Unreachable
from steersman.wire import CertificateIdentity, Reply, Request
from steersman_cluster.apiserver import InProcessTransport
from steersman_cluster.simulation import Actor, History, NoFaults
from steersman_cluster.simulation.transport import SimulatedTransport
from tests.clocks import ManualClock
from tests.embedded import turns

GET = Request(method="GET", path="/api/v1/pods")


class Streaming:
    """A server that responds with streams and counts the closed ones."""

    def __init__(self) -> None:
        self.requests = 0
        self.closed = 0

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        self.requests += 1
        stream = self._stream()
        await anext(stream)  # a generator that has started runs its finally block on close
        return Reply(status=200, stream=stream)

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"{}\n"
        finally:
            self.closed += 1


class Losing(NoFaults):
    """Loses requests, or loses or delays responses."""

    def __init__(self, where: str) -> None:
        self._where = where

    async def before_request(self, actor: Actor, request: Request) -> None:
        if self._where == "there":
            raise Unreachable("lost on the way there")

    async def before_response(self, actor: Actor, request: Request) -> None:
        if self._where == "back":
            raise Unreachable("lost on the way back")
        if self._where == "held":
            await asyncio.Event().wait()


def transport_to(
    server: Streaming, fault_injector: NoFaults, history: History
) -> SimulatedTransport:
    return SimulatedTransport(
        InProcessTransport(server),
        actor=Actor("operator"),
        fault_injector=fault_injector,
        revision=lambda: 1,
        history=history,
        latency_seconds=0.0,
        clock=ManualClock(),
        rng=Random(0),
    )


async def test_a_lost_request_does_not_reach_the_server() -> None:
    server, history = Streaming(), History()
    transport = transport_to(server, Losing("there"), history)

    with pytest.raises(Unreachable, match="there"):
        async with transport.open(GET):
            raise AssertionError("it was lost")

    assert (server.requests, len(history)) == (0, 0)


async def test_a_lost_response_is_recorded_and_released() -> None:
    server, history = Streaming(), History()
    transport = transport_to(server, Losing("back"), history)

    with pytest.raises(Unreachable, match="back"):
        async with transport.open(GET):
            raise AssertionError("it was lost")

    assert [each.status for each in history.requests] == [200]
    assert (server.requests, server.closed) == (1, 1)


async def test_the_response_of_a_cancelled_request_is_released() -> None:
    server = Streaming()
    transport = transport_to(server, Losing("held"), History())

    async def send() -> None:
        async with transport.open(GET):
            raise AssertionError("it is held up")

    async with asyncio.TaskGroup() as group:
        sending = group.create_task(send())
        await turns()
        assert server.requests == 1
        sending.cancel()

    assert server.closed == 1


@pytest.mark.parametrize("where", ["nowhere", None])
async def test_an_error_of_a_response_is_raised_and_the_response_is_released(
    where: str | None,
) -> None:
    server = Streaming()
    transport = transport_to(server, NoFaults() if where is None else Losing(where), History())

    async def send() -> None:
        async with transport.open(GET) as response:
            async for piece in response.chunks():
                raise ValueError(f"not what I wanted: {piece!r}")

    with pytest.raises(ValueError, match="not what I wanted"):
        await send()

    assert server.closed == 1


async def test_a_cut_transport_sends_no_request() -> None:
    server = Streaming()
    transport = transport_to(server, NoFaults(), History())
    transport.is_cut = True

    with pytest.raises(Unreachable):
        async with transport.open(GET):
            raise AssertionError("it is cut")

    assert server.requests == 0
