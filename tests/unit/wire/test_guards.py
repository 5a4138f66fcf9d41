"""Guards, which can stop a request immediately before it is sent."""

import asyncio
import socket

import pytest

from steersman.clock import SystemClock
from steersman.wire import NetworkTransport, Request
from steersman.wire.transport.connection import PIECE_BYTES
from tests.raw_server import listening, ok, raw_server, respond_with


class GuardRaised(Exception):
    """The error that a guard raises."""


class Guard:
    """Allows this number of calls."""

    def __init__(self, *, passes: int) -> None:
        self.passes = passes
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.calls > self.passes:
            raise GuardRaised


def plain(port: int) -> NetworkTransport:
    return NetworkTransport(
        clock=SystemClock(), server=f"http://127.0.0.1:{port}", tls=lambda: None
    )


def guarded(guard: Guard, *, body: bytes = b"{}") -> Request:
    return Request(method="PUT", path="/x", body=body, guard=guard)


async def status_of(transport: NetworkTransport, request: Request) -> int:
    async with transport.open(request) as response:
        await response.read(limit_bytes=2**20)
        return response.status


async def test_a_request_whose_guard_raises_is_not_sent() -> None:
    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        with pytest.raises(GuardRaised):
            await status_of(transport, guarded(Guard(passes=0)))
        await status_of(transport, Request(method="GET", path="/next"))

    assert [each.line for each in server.received] == ["GET /next HTTP/1.1"]


async def test_a_connection_is_reused_after_a_guard_blocked_a_request() -> None:
    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        for _ in range(3):
            with pytest.raises(GuardRaised):
                await status_of(transport, guarded(Guard(passes=0)))
            await status_of(transport, guarded(Guard(passes=1)))

    assert server.connections == 1
    assert len(server.received) == 3


async def test_a_guard_is_called_after_the_connection_is_established() -> None:
    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        connections: list[int] = []

        await status_of(
            transport,
            Request(method="PUT", path="/", guard=lambda: connections.append(server.connections)),
        )

    assert connections == [1]


async def test_a_guard_can_stop_a_long_body_before_its_end() -> None:
    got = bytearray()
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(2**16):
                got.extend(piece)
        except ConnectionResetError:
            pass
        ended.set()

    body = bytes(4 * PIECE_BYTES)
    guard = Guard(passes=3)
    async with listening(serve) as port, plain(port) as transport:
        with pytest.raises(GuardRaised):
            await status_of(transport, guarded(guard, body=body))
        await ended.wait()

    assert guard.calls == 4
    assert len(got) < len(body)


async def test_a_long_body_that_no_guard_stops_arrives_completely() -> None:
    body = bytes(4 * PIECE_BYTES)

    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        await status_of(transport, guarded(Guard(passes=5), body=body))

    assert server.received[0].body == body


async def test_a_request_cancelled_before_its_send_never_arrives() -> None:
    body = bytes(PIECE_BYTES)

    def nothing() -> None:
        pass

    arrived: dict[bool, int] = {}
    for is_guarded in (True, False):
        with socket.socket() as listener:
            # The window is full long before the whole body is sent.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            listener.setblocking(False)
            request = Request(
                method="PUT", path="/x", body=body, guard=nothing if is_guarded else None
            )
            async with (
                plain(listener.getsockname()[1]) as transport,
                asyncio.TaskGroup() as group,
            ):
                sending = group.create_task(status_of(transport, request))
                connection, _ = await asyncio.get_running_loop().sock_accept(listener)
                await wait_for_data(connection)
                sending.cancel()
            with connection:
                connection.setblocking(True)
                arrived[is_guarded] = received_by(connection)

    assert arrived[True] < len(body) < arrived[False]


async def wait_for_data(connection: socket.socket) -> None:
    """Wait until the first byte arrives."""
    loop, came = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, came.set)
    await came.wait()
    loop.remove_reader(connection)


def received_by(connection: socket.socket) -> int:
    count = 0
    try:
        while piece := connection.recv(2**16):
            count += len(piece)
    except ConnectionResetError:
        pass
    return count


def test_a_guard_is_in_no_repr() -> None:
    assert "guard" not in repr(guarded(Guard(passes=0)))
