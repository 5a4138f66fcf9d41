"""The connection pool: which connections it keeps, for how long, and their order."""

import asyncio
import ssl

import pytest

from steersman.clock import SystemClock
from steersman.errors import Unreachable
from steersman.wire import NetworkTransport, Request
from steersman.wire.transport.connection import Connection
from steersman.wire.transport.pool import IDLE_SECONDS, Pool
from tests.clocks import FakeClock
from tests.raw_server import Received, ok, raw_server, respond_with
from tests.unit.wire.fake_transport import FakeTransport

GET = Request(method="GET", path="/version")


def plain(port: int, clock: FakeClock) -> NetworkTransport:
    return NetworkTransport(server=f"http://127.0.0.1:{port}", tls=lambda: None, clock=clock)


async def ask(transport: NetworkTransport) -> bytes:
    async with transport.open(GET) as response:
        return await response.read(limit_bytes=1000)


async def test_a_connection_that_was_idle_too_long_is_replaced() -> None:
    clock = FakeClock()

    async with raw_server(respond_with(ok())) as server, plain(server.port, clock) as transport:
        await ask(transport)
        clock.advance(IDLE_SECONDS - 1)
        await ask(transport)
        assert server.connections == 1
        clock.advance(IDLE_SECONDS + 1)
        await ask(transport)
        await server.gone.wait()

    assert server.connections == 2


async def test_the_most_recently_used_connection_is_reused_first() -> None:
    clock = FakeClock()

    async with raw_server(respond_with(ok())) as server, plain(server.port, clock) as transport:
        async with transport.open(GET), transport.open(GET), transport.open(GET):
            pass
        for _ in range(3):
            clock.advance(IDLE_SECONDS * 0.4)
            await ask(transport)
        assert transport._pool is not None
        kept = len(transport._pool._idle)

    assert len({request.connection for request in server.received[3:]}) == 1
    assert (server.connections, kept) == (3, 1)


def a_connection(tls: ssl.SSLContext | None = None) -> tuple[Connection, FakeTransport]:
    transport = FakeTransport()
    connection = Connection(tls=tls)
    connection.connection_made(transport)
    return connection, transport


async def test_a_connection_that_was_just_closed_is_not_reused() -> None:
    pool = Pool(clock=FakeClock())
    connection, transport = a_connection()
    pool.add(connection)
    pool.give_back(connection)

    connection.eof_received()

    assert pool.take(None) is None
    assert transport.is_aborted


async def test_a_closed_connection_is_removed_from_the_pool() -> None:
    pool = Pool(clock=FakeClock())
    connection, _ = a_connection()
    pool.add(connection)
    pool.give_back(connection)

    connection.connection_lost(None)

    assert (len(pool._all), len(pool._idle)) == (0, 0)


async def test_a_connection_of_an_old_context_is_closed_once_it_is_idle() -> None:
    old, new = ssl.create_default_context(), ssl.create_default_context()
    pool = Pool(clock=FakeClock())
    pool.take(old)
    connection, transport = a_connection(old)
    pool.add(connection)

    pool.take(new)
    was_aborted = transport.is_aborted
    pool.give_back(connection)

    assert (was_aborted, transport.is_aborted) == (False, True)


async def test_a_connection_returned_to_a_closed_pool_is_closed() -> None:
    pool = Pool(clock=FakeClock())
    await pool.close()
    connection, transport = a_connection()

    pool.give_back(connection)

    assert transport.is_aborted


async def test_closing_the_transport_closes_all_connections() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        if len(server.received) > 1:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        else:
            writer.write(ok())

    async with raw_server(answer) as server, plain(server.port, FakeClock()) as transport:
        await ask(transport)
        watch = transport.open(GET)
        response = await watch.__aenter__()
        assert await anext(response.chunks()) == b"x"
        pool = transport._pool
        await transport.__aexit__(None, None, None)
        with pytest.raises(Unreachable, match="closed before the response was complete"):
            await anext(response.chunks())
        await watch.__aexit__(None, None, None)

    assert pool is not None
    assert not pool._all


async def test_a_hundred_cancelled_requests_leak_no_connection() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        await SystemClock().sleep(0.001 * (len(server.received) % 5))
        writer.write(ok(b"x" * 500))

    async with raw_server(answer) as server, plain(server.port, FakeClock()) as transport:
        async with asyncio.TaskGroup() as group:
            for number in range(100):
                asking = group.create_task(ask(transport))
                for _ in range(number % 10):
                    await SystemClock().sleep(0)
                if number % 3:
                    asking.cancel()
        pool = transport._pool
        assert pool is not None
        # The remaining connections are usable.
        for _ in range(5):
            await SystemClock().sleep(0)
        assert len(pool._all) == len(pool._idle)
        assert await ask(transport) == b"x" * 500

    assert not pool._all


async def test_a_closed_connection_is_not_added_to_the_pool() -> None:
    pool = Pool(clock=FakeClock())
    connection = Connection(tls=None)
    connection.connection_lost(None)

    pool.add(connection)

    assert not pool._all
