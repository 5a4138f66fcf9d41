"""The errors for a missing or partial response; no request is sent twice."""

import asyncio
import socket
import traceback
from collections.abc import Iterator

import pytest

from steersman.clock import SystemClock
from steersman.errors import Unreachable
from steersman.wire import NetworkTransport, Request
from tests.raw_server import Received, ok, raw_server, respond_with

PATH = "/api/v1/namespaces/default/secrets/db"
SECRET_HEADERS = (("Authorization", "Bearer canary-token"),)


def plain(port: int) -> NetworkTransport:
    return NetworkTransport(
        clock=SystemClock(), server=f"http://127.0.0.1:{port}", tls=lambda: None
    )


def request_with(method: str) -> Request:
    body = b"canary-body" if method in ("POST", "PUT", "PATCH") else None
    return Request(method=method, path=PATH, headers=SECRET_HEADERS, body=body)


async def ask(transport: NetworkTransport, method: str = "GET") -> bytes:
    async with transport.open(request_with(method)) as response:
        return await response.read(limit_bytes=2**20)


async def failure_of(transport: NetworkTransport, method: str = "GET") -> Unreachable:
    with pytest.raises(Unreachable) as caught:
        await ask(transport, method)
    return caught.value


def texts_of(error: BaseException | None) -> Iterator[str]:
    """An error and its causes, in every form in which they can be shown."""
    while error is not None:
        yield from (str(error), repr(error), repr(vars(error)), repr(error.args))
        yield from traceback.format_exception(error)
        assert error.__context__ is None or error.__context__ is error.__cause__
        error = error.__cause__


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST", "PATCH"])
async def test_a_request_is_sent_at_most_once(method: str) -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        if len(server.received) == 1:
            writer.write(ok())
        else:
            writer.close()

    async with raw_server(answer) as server, plain(server.port) as transport:
        await ask(transport, method)
        failure = await failure_of(transport, method)

    assert failure.may_have_happened
    assert len(server.received) == 2
    assert server.connections == 1


MISBEHAVIOUR = {
    "closed at once": b"",
    "closed in the middle of the status": b"HTTP/1.1 20",
    "closed in the middle of the headers": b"HTTP/1.1 200 OK\r\nContent-Le",
    "closed in the middle of the body": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
    "closed in the middle of a chunk": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"
    ),
    "closed between chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
    ),
    "not HTTP": b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
    "HTTP/2": b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
    "TLS": b"\x15\x03\x03\x00\x02\x02\x28",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi",
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "a header without end": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10**5,
    "headers without end": b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 10**4,
}


@pytest.mark.parametrize("case", MISBEHAVIOUR)
async def test_after_a_partial_response_the_outcome_of_a_write_is_unknown(case: str) -> None:
    misbehaviour = respond_with(MISBEHAVIOUR[case], then_close=True)

    async with raw_server(misbehaviour) as server, plain(server.port) as transport:
        failure = await failure_of(transport, "PUT")

    assert failure.may_have_happened
    assert f"PUT {PATH} on http://127.0.0.1:{server.port}: " in str(failure)
    assert "read before writing again" in str(failure)


@pytest.mark.parametrize("case", MISBEHAVIOUR)
async def test_no_failure_shows_a_header_or_a_body(case: str) -> None:
    misbehaviour = respond_with(MISBEHAVIOUR[case], then_close=True)

    async with raw_server(misbehaviour) as server, plain(server.port) as transport:
        failure = await failure_of(transport, "PUT")

    assert "canary" not in "".join(texts_of(failure))


async def test_a_body_longer_than_announced_is_not_shown() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}canary"

    async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
        failure = await failure_of(transport)

    assert "canary" not in "".join(texts_of(failure))


@pytest.mark.parametrize("then_close", [True, False])
async def test_invalid_data_between_chunks_fails_immediately(then_close: bool) -> None:
    go_on = asyncio.Event()

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        await go_on.wait()
        writer.write(b"canary\r\n")
        if then_close:
            writer.close()

    async with raw_server(answer) as server, plain(server.port) as transport:
        async with transport.open(request_with("GET")) as response:
            chunks = response.chunks()
            assert await anext(chunks) == b"first"
            go_on.set()
            with pytest.raises(Unreachable) as caught:
                await anext(chunks)

    assert "canary" not in "".join(texts_of(caught.value))


async def test_invalid_data_received_without_a_reader_fails_immediately() -> None:
    go_on = asyncio.Event()

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        await go_on.wait()
        writer.write(b"nonsense\r\n")

    async with raw_server(answer) as server, plain(server.port) as transport:
        async with transport.open(request_with("GET")) as response:
            go_on.set()
            await server.gone.wait()
            with pytest.raises(Unreachable):
                await response.read(limit_bytes=1000)


async def test_a_reset_in_the_middle_of_the_body_is_a_failure() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        await writer.drain()
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()

    async with raw_server(answer) as server, plain(server.port) as transport:
        failure = await failure_of(transport)

    assert failure.may_have_happened


async def test_the_error_of_a_broken_stream_has_the_cause() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n")
        await writer.drain()
        await has_begun.wait()
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()

    has_begun = asyncio.Event()
    async with raw_server(answer) as server, plain(server.port) as transport:
        async with transport.open(request_with("GET")) as response:
            chunks = response.chunks()
            assert await anext(chunks) == b"{"
            has_begun.set()
            with pytest.raises(Unreachable, match=r"\(connection reset by peer\)") as failure:
                await anext(chunks)

    assert isinstance(failure.value.__cause__, ConnectionResetError)


async def test_a_connection_that_ended_while_idle_is_replaced() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(b"x" * 10**6))
        await writer.drain()
        writer.close()

    async with raw_server(answer) as server, plain(server.port) as transport:
        await ask(transport)
        await server.gone.wait()
        # The end has been received, but the event loop has not read it yet.
        for _ in range(3):
            await SystemClock().sleep(0)
        await ask(transport)

    assert server.connections == 2


async def test_a_refused_connection_means_that_nothing_was_sent(unused_tcp_port: int) -> None:
    async with plain(unused_tcp_port) as transport:
        failure = await failure_of(transport, "POST")

    assert not failure.may_have_happened
    assert isinstance(failure.__cause__, ConnectionRefusedError)
    assert str(failure) == (
        f"POST {PATH} on http://127.0.0.1:{unused_tcp_port}: cannot reach the server"
        f" (connection refused). Check the address, and that the server is running."
    )
    assert "canary" not in "".join(texts_of(failure))


async def test_an_unknown_host_means_that_nothing_was_sent() -> None:
    transport = NetworkTransport(
        clock=SystemClock(), server="https://no-such-host.invalid", tls=lambda: None
    )

    async with transport:
        failure = await failure_of(transport, "POST")

    assert not failure.may_have_happened
    assert "the host name does not resolve" in str(failure)


async def test_an_unusual_spelling_of_an_address_means_that_nothing_was_sent() -> None:
    async with NetworkTransport(
        clock=SystemClock(), server="http://127.1:80", tls=lambda: None
    ) as transport:
        failure = await failure_of(transport, "POST")

    assert not failure.may_have_happened


async def test_an_unreachable_proxy_means_that_nothing_was_sent(
    unused_tcp_port: int,
) -> None:
    transport = NetworkTransport(
        clock=SystemClock(),
        server="https://kube.example.com",
        tls=lambda: None,
        proxy_url=f"http://me:canary-password@127.0.0.1:{unused_tcp_port}",
    )

    async with transport:
        failure = await failure_of(transport, "POST")

    assert not failure.may_have_happened
    assert "cannot reach the proxy (connection refused)" in str(failure)
    assert "canary" not in "".join(texts_of(failure))


async def test_a_refusing_proxy_means_that_nothing_was_sent() -> None:
    refusal = ok(b"", status="407 Proxy Authentication Required")

    async with raw_server(respond_with(refusal)) as proxy:
        transport = NetworkTransport(
            clock=SystemClock(),
            server="https://kube.example.com",
            tls=lambda: None,
            proxy_url=f"http://me:canary-password@127.0.0.1:{proxy.port}",
        )
        async with transport:
            failure = await failure_of(transport, "POST")

    assert not failure.may_have_happened
    assert "the proxy responded with 407" in str(failure)
    assert "canary" not in "".join(texts_of(failure))
    assert proxy.received[0].header("authorization") is None
