"""Requests and responses of the network transport, and the reuse of its connections."""

import asyncio
import gzip
import socket
import sys
from itertools import pairwise

import pytest

from steersman.clock import SystemClock
from steersman.errors import ConfigError, Unreachable
from steersman.wire import NetworkTransport, Request
from steersman.wire.sockets import UNACKNOWLEDGED_SECONDS, enable_keepalive
from tests.raw_server import Received, ok, raw_server, respond_with

GET = Request(method="GET", path="/version")


def plain(port: int, *, host: str = "127.0.0.1", path: str = "") -> NetworkTransport:
    return NetworkTransport(
        clock=SystemClock(), server=f"http://{host}:{port}{path}", tls=lambda: None
    )


async def body_of(transport: NetworkTransport, request: Request = GET) -> bytes:
    async with transport.open(request) as response:
        return await response.read(limit_bytes=2**20)


async def test_a_request_arrives_unchanged() -> None:
    request = Request(
        method="PATCH",
        path="/apis/x/v1/things/system:node é",
        query=(("fieldManager", "me & you"), ("force", "true")),
        headers=(
            ("Content-Type", "application/apply-patch+yaml"),
            ("Authorization", "Bearer token"),
        ),
        body=b"spec: {}",
    )

    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        await body_of(transport, request)

    (received,) = server.received
    assert received.line == (
        "PATCH /apis/x/v1/things/system:node%20%C3%A9?fieldManager=me+%26+you&force=true HTTP/1.1"
    )
    assert sorted(received.headers) == [
        ("accept", "*/*"),
        ("accept-encoding", "identity"),
        ("authorization", "Bearer token"),
        ("content-length", "8"),
        ("content-type", "application/apply-patch+yaml"),
        ("host", f"127.0.0.1:{server.port}"),
        ("user-agent", "steersman"),
    ]
    assert received.body == b"spec: {}"


async def test_headers_of_the_request_come_before_those_of_the_transport() -> None:
    headers = (("accept", "application/json"), ("user-agent", "mine"), ("accept-encoding", "gzip"))

    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        await body_of(transport, Request(method="GET", path="/", headers=headers))

    (received,) = server.received
    assert set(headers) <= set(received.headers)


async def test_a_header_can_be_repeated() -> None:
    groups = (("impersonate-group", "a"), ("impersonate-group", "b"))

    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        await body_of(transport, Request(method="GET", path="/", headers=groups))

    assert set(groups) <= set(server.received[0].headers)


async def test_a_server_url_can_have_a_path() -> None:
    async with (
        raw_server(respond_with(ok())) as server,
        plain(server.port, path="/k8s/clusters/c%2F1/") as transport,
    ):
        await body_of(transport)

    assert server.received[0].line == "GET /k8s/clusters/c%2F1/version HTTP/1.1"


async def test_a_server_can_have_an_ipv6_address() -> None:
    async with raw_server(respond_with(ok()), host="::1") as server:
        async with plain(server.port, host="[::1]") as transport:
            await body_of(transport)

    assert server.received[0].header("host") == f"[::1]:{server.port}"


async def test_a_body_can_be_large() -> None:
    large = bytes(3 * 2**20)

    async with raw_server(respond_with(ok())) as server, plain(server.port) as transport:
        await body_of(transport, Request(method="POST", path="/", body=large))

    assert server.received[0].body == large


async def test_status_headers_and_warnings_are_returned_unchanged() -> None:
    answer = ok(
        b"no",
        "Retry-After: 7",
        'Warning: 299 - "first"',
        'Warning: 299 - "second, with a comma"',
        status="429 Too Many Requests",
    )

    async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            body = await response.read(limit_bytes=10)

    assert response.status == 429
    assert response.headers["retry-after"] == "7"
    assert response.warnings == ('299 - "first"', '299 - "second, with a comma"')
    assert body == b"no"


async def test_chunks_are_delivered_as_soon_as_they_arrive() -> None:
    go_on = asyncio.Event()

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await go_on.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")

    async with raw_server(answer) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            chunks = response.chunks()
            first = await anext(chunks)
            go_on.set()
            rest = [chunk async for chunk in chunks]

    assert (first, rest) == (b"one", [b"two"])


async def test_redirects_are_not_followed() -> None:
    async with raw_server(respond_with(ok())) as elsewhere:
        answer = ok(b"", f"Location: http://127.0.0.1:{elsewhere.port}/", status="302 Found")
        async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
            request = Request(method="GET", path="/", headers=(("Authorization", "Bearer canary"),))
            async with transport.open(request) as response:
                assert response.status == 302

    assert elsewhere.connections == 0


async def test_cookies_are_not_kept() -> None:
    async with raw_server(respond_with(ok(b"", "Set-Cookie: a=b"))) as server:
        async with plain(server.port) as transport:
            await body_of(transport)
            await body_of(transport)

    assert server.received[1].header("cookie") is None


async def test_an_unrequested_compression_is_not_decoded() -> None:
    bomb = gzip.compress(bytes(10**6))
    answer = ok(bomb, "Content-Encoding: gzip")

    async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
        assert await body_of(transport) == bomb


LARGE = Request(method="GET", path="/api/v1/pods", is_large=True)


async def test_a_large_response_is_requested_compressed_and_decompressed() -> None:
    body = b"items" * 10**5
    answer = ok(gzip.compress(body), "Content-Encoding: gzip")

    async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
        assert await body_of(transport, LARGE) == body

    (received,) = server.received
    assert ("accept-encoding", "gzip") in received.headers
    assert ("accept-encoding", "identity") not in received.headers


async def test_a_large_response_can_be_uncompressed() -> None:
    async with raw_server(respond_with(ok(b"items"))) as server, plain(server.port) as transport:
        assert await body_of(transport, LARGE) == b"items"


async def test_a_decompression_bomb_is_rejected_at_the_size_limit() -> None:
    answer = ok(gzip.compress(bytes(10**8)), "Content-Encoding: gzip")

    async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
        with pytest.raises(ValueError, match="longer than"):
            await body_of(transport, LARGE)


async def test_decompression_does_not_block_the_event_loop() -> None:
    size = 100 * 2**20
    answer = ok(gzip.compress(bytes(size), 9), "Content-Encoding: gzip")
    turns: list[int] = []
    read = 0

    async def take_turns() -> None:
        while read < size:
            turns.append(read)
            await SystemClock().sleep(0)

    async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
        async with transport.open(LARGE) as response, asyncio.TaskGroup() as group:
            group.create_task(take_turns())
            async for piece in response.chunks():
                read += len(piece)

    # Other tasks run after every piece or two.
    assert max(later - before for before, later in pairwise([*turns, size])) <= 4 * 2**20


@pytest.mark.parametrize("cut", [slice(0, -20), slice(5, None)])
async def test_a_corrupt_compressed_response_is_an_error(cut: slice) -> None:
    answer = ok(gzip.compress(b"items")[cut], "Content-Encoding: gzip")

    async with raw_server(respond_with(answer)) as server, plain(server.port) as transport:
        with pytest.raises(Unreachable, match="closed before the response was complete"):
            await body_of(transport, LARGE)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
async def test_proxies_from_the_environment_are_ignored(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        raw_server(respond_with(ok(b"proxy"))) as proxy,
        raw_server(respond_with(ok(b"server"))) as server,
    ):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        async with plain(server.port) as transport:
            assert await body_of(transport) == b"server"

    assert proxy.connections == 0


async def test_a_connection_is_used_again_for_the_next_request() -> None:
    async with (
        raw_server(respond_with(ok(b"x" * 10**6))) as server,
        plain(server.port) as transport,
    ):
        for _ in range(3):
            await body_of(transport)

    assert server.connections == 1


async def test_many_watches_leave_connections_for_requests() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        if "watch" in request.line:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        else:
            writer.write(ok(b"answered"))

    async with raw_server(answer) as server, plain(server.port) as transport:
        watches = [transport.open(Request(method="GET", path="/watch")) for _ in range(120)]
        for watch in watches:
            await watch.__aenter__()
        answered = await body_of(transport)
        for watch in watches:
            await watch.__aexit__(None, None, None)

    assert answered == b"answered"


async def test_a_connection_with_an_unread_response_is_not_reused() -> None:
    async with (
        raw_server(respond_with(ok(b"x" * 10**7))) as server,
        plain(server.port) as transport,
    ):
        async with transport.open(GET) as response:
            await anext(response.chunks())
        await server.gone.wait()
        async with transport.open(GET):
            pass

    assert server.connections == 2


async def test_cancelling_the_wait_for_a_response_closes_the_connection() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        asking.cancel()

    async with (
        raw_server(answer) as server,
        plain(server.port) as transport,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(body_of(transport))
        await server.gone.wait()

    assert asking.cancelled()


async def test_cancelling_the_read_of_a_response_closes_the_connection() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

    async def read() -> None:
        async with transport.open(GET) as response:
            async for _ in response.chunks():
                reading.cancel()

    async with (
        raw_server(answer) as server,
        plain(server.port) as transport,
        asyncio.TaskGroup() as group,
    ):
        reading = group.create_task(read())
        await server.gone.wait()

    assert reading.cancelled()


async def test_a_request_does_not_outlive_its_caller() -> None:
    async def silence(request: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with raw_server(silence) as server, plain(server.port) as transport:
        with pytest.raises(TimeoutError):
            async with SystemClock().timeout(0.05):
                await body_of(transport)


async def test_a_body_longer_than_its_limit_is_rejected() -> None:
    async with raw_server(respond_with(ok(b"x" * 11))) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            with pytest.raises(ValueError, match="longer than 10 bytes"):
                await response.read(limit_bytes=10)


async def test_a_body_can_be_as_long_as_its_limit() -> None:
    async with raw_server(respond_with(ok(b"x" * 10))) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            assert await response.read(limit_bytes=10) == b"x" * 10


async def test_a_body_with_too_large_a_content_length_is_not_read() -> None:
    announcement = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"

    async with raw_server(respond_with(announcement)) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            with pytest.raises(ValueError, match="longer than 1000 bytes"):
                await response.read(limit_bytes=1000)


async def test_an_endless_body_is_read_only_to_its_limit() -> None:
    sent_bytes = 0

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        nonlocal sent_bytes
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + bytes(2**16) + b"\r\n")
            await writer.drain()
            sent_bytes += 2**16

    async with raw_server(answer) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            with pytest.raises(ValueError, match="longer than 1000000 bytes"):
                await response.read(limit_bytes=10**6)
        await server.gone.wait()

    # The socket buffers of both sides hold a few megabytes.
    assert sent_bytes < 20 * 10**6


async def test_a_transport_works_only_inside_its_block() -> None:
    transport = NetworkTransport(clock=SystemClock(), server="http://127.0.0.1:1", tls=lambda: None)

    with pytest.raises(RuntimeError, match="only inside its `async with` block"):
        await body_of(transport)


@pytest.mark.parametrize(
    "server",
    [
        "",
        "kube.example.com",
        "kube.example.com:6443",
        "ftp://kube.example.com",
        "https://",
        "https://kube.example.com:99999",
        "https://[::1",
        f"https://{'a' * 64}.example.com",
        "https://me:canary@kube.example.com",
        "https://kube.example.com/?token=canary",
        "https://kube.example.com/#canary",
    ],
)
def test_an_invalid_server_url_is_rejected_without_showing_it(server: str) -> None:
    with pytest.raises(ConfigError, match=r"^the server's address: ") as caught:
        NetworkTransport(clock=SystemClock(), server=server, tls=lambda: None)

    assert "canary" not in str(caught.value)


def test_an_invalid_proxy_url_is_rejected_without_showing_it() -> None:
    with pytest.raises(ConfigError, match=r"^the proxy's address: ") as caught:
        NetworkTransport(
            clock=SystemClock(),
            server="https://kube.example.com",
            tls=lambda: None,
            proxy_url="socks5://me:canary@proxy.example.com",
        )

    assert "canary" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has TCP_USER_TIMEOUT")
def test_a_connection_has_tcp_keepalive_and_a_user_timeout() -> None:
    with socket.socket() as watchful:
        enable_keepalive(watchful)

        assert watchful.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert (
            watchful.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            == UNACKNOWLEDGED_SECONDS * 1000
        )


async def test_the_repr_names_the_server() -> None:
    async with plain(6443) as transport:
        assert repr(transport) == "<NetworkTransport http://127.0.0.1:6443>"
