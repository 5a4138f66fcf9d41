"""How a connection is established, also through proxies, and the errors if it cannot be."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from steersman.clock import SystemClock
from steersman.errors import CertificateRefused, Unreachable
from steersman.wire import NetworkTransport, Request, TlsSettings, tls_context
from tests.certificates import Authority
from tests.raw_server import listening, ok, raw_server, respond_with, server_tls

POST = Request(method="POST", path="/api", headers=(("Authorization", "Bearer canary"),), body=b"x")


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def trusting(authority: Authority) -> ssl.SSLContext:
    return tls_context(TlsSettings(ca_data=authority.certificate), source="test")


def through(proxy_url: str, *, to: str, tls: ssl.SSLContext | None = None) -> NetworkTransport:
    return NetworkTransport(clock=SystemClock(), server=to, tls=lambda: tls, proxy_url=proxy_url)


async def ask(transport: NetworkTransport, request: Request = POST) -> bytes:
    async with transport.open(request) as response:
        return await response.read(limit_bytes=2**27)


async def failure_of(transport: NetworkTransport) -> Unreachable:
    async with transport:
        with pytest.raises(Unreachable) as caught:
            await ask(transport)
    assert not caught.value.may_have_happened
    assert caught.value.__context__ in (None, caught.value.__cause__)
    assert "canary" not in f"{caught.value} {caught.value!r}"
    return caught.value


@asynccontextmanager
async def tunnelling_proxy(tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        host, _, port = head.split()[1].rpartition(":")
        upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\nContent-Length: 7\r\n\r\n")
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(pump(reader, upstream_writer))
                pumps.create_task(pump(upstream_reader, writer))
        finally:
            upstream_writer.transport.abort()

    async with listening(serve, tls=tls) as port:
        yield port


async def test_a_plain_http_request_goes_through_a_forward_proxy() -> None:
    async with raw_server(respond_with(ok(b"hello"))) as proxy:
        url = f"http://me:pass@127.0.0.1:{proxy.port}"
        async with through(url, to="http://kube.example.com:8080/k8s") as transport:
            answers = [await ask(transport), await ask(transport)]

    assert answers == [b"hello", b"hello"]
    assert proxy.connections == 1
    for received in proxy.received:
        assert received.line == "POST http://kube.example.com:8080/k8s/api HTTP/1.1"
        assert received.header("host") == "kube.example.com:8080"
        assert received.header("proxy-authorization") == "Basic bWU6cGFzcw=="


async def test_a_proxy_can_be_reached_over_tls(authority: Authority) -> None:
    tls = server_tls(authority.server("127.0.0.1"))

    async with raw_server(respond_with(ok(b"hello")), tls=tls) as proxy:
        url = f"https://127.0.0.1:{proxy.port}"
        context = trusting(authority)
        async with through(url, to="http://kube.example.com", tls=context) as transport:
            answers = [await ask(transport), await ask(transport)]

    assert answers == [b"hello", b"hello"]
    assert proxy.connections == 1
    assert proxy.received[0].line == "POST http://kube.example.com/api HTTP/1.1"


async def test_tls_can_be_tunneled_inside_tls(authority: Authority) -> None:
    tls = server_tls(authority.server("127.0.0.1"))
    body = bytes(3 * 10**6)

    async with raw_server(respond_with(ok(body)), tls=tls) as server, tunnelling_proxy(tls) as port:
        async with through(
            f"https://127.0.0.1:{port}",
            to=f"https://127.0.0.1:{server.port}",
            tls=trusting(authority),
        ) as transport:
            large = Request(method="POST", path="/", body=body)
            answers = [await ask(transport, large) for _ in range(2)]

    assert answers == [body, body]
    assert [request.body for request in server.received] == [body, body]
    assert server.connections == 1


PROXY_SAYS = {
    "nothing": (b"", "the proxy closed the connection"),
    "nonsense": (b"SSH-2.0-canary\r\n\r\n", "the proxy's response is not HTTP"),
    "too much": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ncanary",
        "the proxy's response is not HTTP",
    ),
    "no": (ok(b"canary", status="502 Bad Gateway"), "the proxy responded with 502"),
    "another yes": (ok(b"", status="201 Created"), "the proxy responded with 201"),
}


@pytest.mark.parametrize("case", PROXY_SAYS)
async def test_a_proxy_without_a_tunnel_means_that_nothing_was_sent(case: str) -> None:
    answer, problem = PROXY_SAYS[case]

    async with raw_server(respond_with(answer, then_close=True)) as proxy:
        url = f"http://me:canary@127.0.0.1:{proxy.port}"
        failure = await failure_of(through(url, to="https://kube.example.com"))

    assert problem in str(failure)


async def test_the_connection_to_a_proxy_that_rejects_is_closed() -> None:
    async with raw_server(respond_with(ok(b"", status="502 Bad Gateway"))) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        async with through(url, to="https://kube.example.com") as transport:
            with pytest.raises(Unreachable):
                await ask(transport)
            await proxy.gone.wait()


@pytest.mark.parametrize("with_proxy", [False, True])
async def test_every_connection_has_tcp_keepalive_and_a_user_timeout(with_proxy: bool) -> None:
    async with raw_server(respond_with(ok())) as server:
        here = f"http://127.0.0.1:{server.port}"
        transport = NetworkTransport(
            clock=SystemClock(),
            server=here,
            tls=lambda: None,
            proxy_url=here if with_proxy else None,
        )
        async with transport:
            await ask(transport)
            assert transport._pool is not None
            (connection,) = transport._pool._all
            assert connection._transport is not None
            used = connection._transport.get_extra_info("socket")
            assert used.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1


async def test_a_proxy_with_a_wrong_certificate_is_named(authority: Authority) -> None:
    tls = server_tls(Authority("another").server("127.0.0.1"))

    async with raw_server(respond_with(ok()), tls=tls) as proxy:
        url = f"https://me:canary@127.0.0.1:{proxy.port}"
        transport = through(url, to="https://kube.example.com", tls=trusting(authority))
        async with transport:
            with pytest.raises(CertificateRefused) as caught:
                await ask(transport)

    assert str(caught.value).startswith(f"https://127.0.0.1:{proxy.port}: ")
    assert "canary" not in str(caught.value)


async def test_an_unknown_proxy_is_reported_as_unreachable() -> None:
    failure = await failure_of(
        through("http://no-such-host.invalid:3128", to="https://kube.example.com")
    )

    assert "cannot reach the proxy" in str(failure)


async def test_refused_connections_to_all_addresses_of_a_name_are_one_error(
    unused_tcp_port: int,
) -> None:
    failure = await failure_of(
        NetworkTransport(
            clock=SystemClock(), server=f"http://localhost:{unused_tcp_port}", tls=lambda: None
        )
    )

    assert "cannot reach the server (connection refused)" in str(failure)
    assert isinstance(failure.__cause__, ConnectionRefusedError)


class PlainLoop:
    """An event loop without happy eyeballs, such as uvloop."""

    def __init__(self, inner: asyncio.AbstractEventLoop) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def create_connection(self, make: Any, host: str, port: int) -> Any:
        return await self._inner.create_connection(make, host, port)


async def test_a_name_resolves_on_an_event_loop_without_happy_eyeballs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with raw_server(respond_with(ok(b"hello"))) as server:
        loop = PlainLoop(asyncio.get_running_loop())
        monkeypatch.setattr(
            "steersman.wire.transport.dialer.asyncio.get_running_loop", lambda: loop
        )
        there = f"http://localhost:{server.port}"
        async with NetworkTransport(
            clock=SystemClock(), server=there, tls=lambda: None
        ) as transport:
            assert await ask(transport) == b"hello"


async def test_without_a_context_the_system_roots_are_trusted(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "roots.pem"
    bundle.write_bytes(authority.certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    tls = server_tls(authority.server("127.0.0.1"))

    async with raw_server(respond_with(ok(b"hello")), tls=tls) as server:
        there = f"https://127.0.0.1:{server.port}"
        async with NetworkTransport(
            clock=SystemClock(), server=there, tls=lambda: None
        ) as transport:
            answers = [await ask(transport), await ask(transport)]

    assert answers == [b"hello", b"hello"]
    assert server.connections == 1


async def test_large_bodies_are_sent_and_received_over_tls(authority: Authority) -> None:
    tls = server_tls(authority.server("127.0.0.1"))
    body = bytes(range(256)) * 40_000

    async with raw_server(respond_with(ok(body)), tls=tls) as server:
        transport = NetworkTransport(
            clock=SystemClock(), server=f"https://127.0.0.1:{server.port}", tls=lambda: context
        )
        context = trusting(authority)
        async with transport:
            answer = await ask(transport, Request(method="PUT", path="/", body=body))

    assert answer == body
    assert server.received[0].body == body


async def test_a_slow_reader_receives_all_tls_data_before_the_end(
    authority: Authority,
) -> None:
    tls = server_tls(authority.server("127.0.0.1"))
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 3 * 10**6

    async with raw_server(respond_with(answer, then_close=True), tls=tls) as server:
        transport = NetworkTransport(
            clock=SystemClock(), server=f"https://127.0.0.1:{server.port}", tls=lambda: context
        )
        context = trusting(authority)
        async with transport, transport.open(POST) as response:
            read_bytes = 0
            async for chunk in response.chunks():
                read_bytes += len(chunk)
                for _ in range(5):
                    await SystemClock().sleep(0)

    assert read_bytes == 3 * 10**6


async def test_cancelling_a_handshake_closes_the_connection(
    authority: Authority,
) -> None:
    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        shaking.cancel()
        while await reader.read(2**16):
            pass
        gone.set()

    gone = asyncio.Event()
    async with listening(silence) as port:
        transport = NetworkTransport(
            clock=SystemClock(), server=f"https://127.0.0.1:{port}", tls=lambda: context
        )
        context = trusting(authority)
        async with transport, asyncio.TaskGroup() as group:
            shaking = group.create_task(ask(transport))
            await gone.wait()

    assert shaking.cancelled()


async def test_a_transport_that_is_closed_while_dialing_makes_no_connection() -> None:
    async with raw_server(respond_with(ok())) as server:
        transport = NetworkTransport(
            clock=SystemClock(), server=f"http://127.0.0.1:{server.port}", tls=lambda: None
        )
        async with asyncio.TaskGroup() as group:
            async with transport:
                asking = group.create_task(_failure(transport))
                await SystemClock().sleep(0)
        assert "the transport was closed" in asking.result()

    assert server.received == []


async def _failure(transport: NetworkTransport) -> str:
    with pytest.raises(Unreachable) as caught:
        await ask(transport)
    return str(caught.value)
