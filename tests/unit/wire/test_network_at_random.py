"""A server that fails at random, and callers that cancel at random.

No request gets a part of another response, nothing is sent twice, and no connection leaks.
"""

import asyncio
import hashlib
import ssl
from contextlib import suppress
from random import Random

import pytest

from steersman.clock import SystemClock
from steersman.errors import Unreachable
from steersman.wire import NetworkTransport, Request, TlsSettings, tls_context
from tests.certificates import Authority
from tests.raw_server import Received, Responder, raw_server, server_tls

WORKERS = 10
REQUESTS = 30
SIZES = (0, 1, 1000, 70_000, 400_000)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def body_of(path: str) -> bytes:
    """The body for ``path``, which no other path has."""
    size = Random(path).choice(SIZES)
    return (path.encode() + b"|") * (size // (len(path) + 1))


def in_chunks(body: bytes, rng: Random) -> bytes:
    chunks = bytearray()
    while body:
        size = rng.choice((1, 100, 2000, 30_000, 10**6))
        chunk, body = body[:size], body[size:]
        chunks += b"%x\r\n%b\r\n" % (len(chunk), chunk)
    return bytes(chunks) + b"0\r\nX-Path: trailer\r\n\r\n"


def misbehaving(rng: Random) -> Responder:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        path = request.line.split()[1]
        body = body_of(path)
        assert request.header("x-digest") in (None, hashlib.sha256(request.body).hexdigest())
        head = f"HTTP/1.1 200 OK\r\nX-Path: {path}\r\n".encode()
        match rng.randrange(30):
            case 0:
                writer.transport.abort()
                return
            case 1:
                writer.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(body) + 5, body))
                writer.close()
                return
            case 2:
                writer.write(b"nonsense\r\n\r\n")
                writer.close()
                return
            case 3:
                writer.write(
                    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX-Path: 103\r\n\r\n"
                )
            case 4:
                head += b"Connection: close\r\n"
            case _:
                pass
        if rng.random() < 0.5:
            rest = head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        else:
            rest = head + b"Transfer-Encoding: chunked\r\n\r\n" + in_chunks(body, rng)
        while rest and not writer.is_closing():
            size = rng.choice((1, 50, 5000, 10**6, 10**6))
            writer.write(rest[:size])
            rest = rest[size:]
            await SystemClock().sleep(0)
        if b"close" in head or rng.random() < 0.02:
            writer.close()

    return answer


async def ask(transport: NetworkTransport, path: str, rng: Random) -> None:
    request = Request(method="GET", path=path)
    if rng.random() < 0.3:
        body = rng.randbytes(rng.choice(SIZES))
        digest = ("X-Digest", hashlib.sha256(body).hexdigest())
        request = Request(method="POST", path=path, headers=(digest,), body=body)
    with suppress(Unreachable):
        async with transport.open(request) as response:
            assert response.headers["x-path"] == path
            match rng.randrange(5):
                case 0:
                    return
                case 1:
                    async for chunk in response.chunks():
                        assert body_of(path).startswith(chunk)
                        return
                case 2:
                    pieces = [chunk async for chunk in response.chunks()]
                    assert b"".join(pieces) == body_of(path)
                case _:
                    assert await response.read(limit_bytes=10**6) == body_of(path)


async def work(transport: NetworkTransport, worker: int, rng: Random) -> None:
    for number in range(REQUESTS):
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(ask(transport, f"/{worker}/{number}", rng))
            if rng.random() < 0.15:
                for _ in range(rng.randrange(12)):
                    await SystemClock().sleep(0)
                asking.cancel()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("seed", range(3))
async def test_responses_match_their_requests_and_no_connection_leaks(
    scheme: str, seed: int, authority: Authority
) -> None:
    rng = Random(seed)
    context: ssl.SSLContext | None = None
    tls: ssl.SSLContext | None = None
    if scheme == "https":
        context = tls_context(TlsSettings(ca_data=authority.certificate), source="test")
        tls = server_tls(authority.server("127.0.0.1"))

    async with raw_server(misbehaving(rng), tls=tls) as server:
        async with NetworkTransport(
            clock=SystemClock(), server=f"{scheme}://127.0.0.1:{server.port}", tls=lambda: context
        ) as transport:
            async with asyncio.TaskGroup() as group:
                for worker in range(WORKERS):
                    group.create_task(work(transport, worker, rng))
            pool = transport._pool
        assert pool is not None
        assert not pool._all

    lines = [request.line for request in server.received]
    assert len(lines) > WORKERS * REQUESTS / 2
    assert len(lines) == len(set(lines))
