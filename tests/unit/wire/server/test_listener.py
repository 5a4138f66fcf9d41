"""The listener, over real sockets and real TLS on loopback."""

import asyncio
import gc
import gzip
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_pem_x509_certificate

from steersman.clock import SystemClock
from steersman.errors import CertificateRefused, Unreachable
from steersman.wire import (
    CertificateIdentity,
    NetworkTransport,
    Reply,
    Request,
    TlsSettings,
    listening,
    tls_context,
)
from tests.certificates import Authority, KeyPair
from tests.raw_server import server_tls

LOOPBACK = "127.0.0.1"
LARGEST = 1000

GET = Request(method="GET", path="/version")


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


class RecordingHandler:
    """Records requests and client certificates, and returns prepared replies."""

    def __init__(self, reply: Reply | Callable[[Request], Awaitable[Reply]]) -> None:
        self._reply = reply
        self.requests: list[Request] = []
        self.certificates: list[CertificateIdentity | None] = []

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        self.requests.append(request)
        self.certificates.append(certificate)
        return self._reply if isinstance(self._reply, Reply) else await self._reply(request)


class Stream:
    """A response stream whose pieces the test sends; ``closed`` is set when it is closed."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self.closed = asyncio.Event()

    def send(self, piece: bytes) -> None:
        self._pieces.put_nowait(piece)

    async def lines(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield await self._pieces.get()
        finally:
            self.closed.set()

    async def reply(self, request: Request) -> Reply:
        return Reply(status=200, stream=self.lines())


@asynccontextmanager
async def listener(
    handler: RecordingHandler,
    authority: Authority,
    *,
    clients: Authority | None = None,
    port: int = 0,
    share_port: bool = False,
) -> AsyncIterator[int]:
    tls = server_tls(authority.server(LOOPBACK))
    if clients is not None:
        tls.load_verify_locations(cadata=clients.certificate.decode())
        tls.verify_mode = ssl.CERT_OPTIONAL
    async with listening(
        handler, host=LOOPBACK, port=port, tls=tls, max_body_bytes=LARGEST, share_port=share_port
    ) as listens_at:
        yield listens_at


def transport_to(
    port: int, authority: Authority, *, showing: KeyPair | None = None
) -> NetworkTransport:
    settings = TlsSettings(
        ca_data=authority.certificate,
        client_certificate=showing.certificate if showing else None,
        client_key=showing.key if showing else None,
    )
    context = tls_context(settings, source="test")
    return NetworkTransport(
        clock=SystemClock(), server=f"https://{LOOPBACK}:{port}", tls=lambda: context
    )


async def body_of(transport: NetworkTransport, request: Request = GET) -> bytes:
    async with transport.open(request) as response:
        return await response.read(limit_bytes=2**20)


async def test_a_request_reaches_the_handler_unchanged(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=201, headers=(("x-said", "yes"),), body=b"done"))
    request = Request(
        method="PATCH",
        path="/apis/x/v1/things/system:node é/status",
        query=(("fieldManager", "me & you"), ("watch", ""), ("dryRun", "All"), ("dryRun", "Some")),
        headers=(("Content-Type", "application/json"), ("X-Twice", "one"), ("X-Twice", "two")),
        body=b'{"a": 1}',
    )

    async with listener(handler, authority) as port, transport_to(port, authority) as transport:
        async with transport.open(request) as response:
            answer = await response.read(limit_bytes=100)

    (seen,) = handler.requests
    assert (seen.method, seen.path, seen.query) == (request.method, request.path, request.query)
    assert seen.body == request.body
    assert [value for name, value in seen.headers if name == "X-Twice"] == ["one", "two"]
    assert (response.status, response.headers["x-said"], answer) == (201, "yes", b"done")


async def test_a_request_without_a_body_has_none(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=200))

    async with listener(handler, authority) as port, transport_to(port, authority) as transport:
        await body_of(transport)

    assert handler.requests[0].body is None


async def test_a_header_that_is_not_text_is_marked(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=200))
    tls = authority.trusting()

    async with listener(handler, authority) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Odd: \xff\xfe\r\nX-Fine: \xc3\xa9\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    headers = dict(handler.requests[0].headers)
    assert headers["X-Odd"] == "\ufffd\ufffd"
    assert headers["X-Fine"] == "é"


@pytest.mark.parametrize("body", [b"{}", gzip.compress(b"{}", mtime=0)])
async def test_a_compressed_request_body_is_not_decompressed(
    body: bytes, authority: Authority
) -> None:
    handler = RecordingHandler(Reply(status=200))
    headers = (("Content-Encoding", "gzip"),)
    request = Request(method="POST", path="/", headers=headers, body=body)

    async with listener(handler, authority) as port, transport_to(port, authority) as transport:
        async with transport.open(request) as response:
            assert response.status == 200

    assert handler.requests[0].body == body


@pytest.mark.parametrize("size", [LARGEST, LARGEST + 1, LARGEST + 300_000])
async def test_a_body_is_read_at_most_one_byte_beyond_its_limit(
    size: int, authority: Authority
) -> None:
    handler = RecordingHandler(Reply(status=413))
    request = Request(method="POST", path="/", body=b"x" * size)

    async with listener(handler, authority) as port, transport_to(port, authority) as transport:
        async with transport.open(request) as response:
            assert response.status == 413

    assert len(handler.requests[0].body or b"") == min(size, LARGEST + 1)


async def test_expect_100_continue_is_answered(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=200))
    tls = authority.trusting()

    async with listener(handler, authority) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
        writer.write(
            b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        )
        go_on = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"body")
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.close()

    assert go_on == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert handler.requests[0].body == b"body"


async def test_chunks_of_a_stream_are_sent_immediately(authority: Authority) -> None:
    stream = Stream()

    async with (
        listener(RecordingHandler(stream.reply), authority) as port,
        transport_to(port, authority) as transport,
        transport.open(GET) as response,
    ):
        chunks = response.chunks()
        stream.send(b"one\n")
        first = await anext(chunks)
        stream.send(b"two\n")
        second = await anext(chunks)

    assert (first, second) == (b"one\n", b"two\n")


async def test_a_stream_to_a_client_without_chunks_ends_with_the_connection(
    authority: Authority,
) -> None:
    async def lines() -> AsyncGenerator[bytes, None]:
        yield b"one\n"
        yield b"two\n"

    tls = authority.trusting()

    async with listener(RecordingHandler(Reply(status=200, stream=lines())), authority) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.0 200 ")
    assert answer.endswith(b"\r\n\r\none\ntwo\n")


async def test_a_stream_is_closed_when_its_client_disconnects(authority: Authority) -> None:
    stream = Stream()

    async with listener(RecordingHandler(stream.reply), authority) as port:
        async with transport_to(port, authority) as transport, transport.open(GET) as response:
            stream.send(b"one\n")
            await anext(response.chunks())

        await stream.closed.wait()


async def test_a_listener_with_open_streams_ends_immediately(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A listener that waits for them exceeds the time limit of the test.
    monkeypatch.setattr("steersman.wire.server.listener.END_SECONDS", 3600.0)
    streams = [Stream() for _ in range(3)]
    unread = iter(streams)

    async def reply(request: Request) -> Reply:
        return await next(unread).reply(request)

    async with AsyncExitStack() as clients:
        async with listener(RecordingHandler(reply), authority) as port:
            transport = await clients.enter_async_context(transport_to(port, authority))
            for stream in streams:
                response = await clients.enter_async_context(transport.open(GET))
                stream.send(b"one\n")
                await anext(response.chunks())

    assert all(stream.closed.is_set() for stream in streams)


async def test_a_client_certificate_is_trusted_only_if_a_trusted_authority_signed_it(
    authority: Authority,
) -> None:
    handler, clients = RecordingHandler(Reply(status=200)), Authority("of clients")
    jane = clients.client("jane", "editors", "readers")
    mallory = Authority("another").client("jane", "system:masters")

    async with listener(handler, authority, clients=clients) as port:
        async with transport_to(port, authority, showing=jane) as transport:
            await body_of(transport)
        async with transport_to(port, authority) as transport:
            await body_of(transport)
        async with transport_to(port, authority, showing=mallory) as transport:
            with pytest.raises((CertificateRefused, Unreachable)):
                await body_of(transport)

    certificate = load_pem_x509_certificate(jane.certificate)
    assert handler.certificates == [
        CertificateIdentity(
            common_name="jane",
            organizations=("editors", "readers"),
            fingerprint=certificate.fingerprint(SHA256()).hex(),
        ),
        None,
    ]


async def test_a_client_certificate_is_ignored_if_none_was_requested(
    authority: Authority,
) -> None:
    handler = RecordingHandler(Reply(status=200))
    jane = authority.client("jane", "system:masters")

    async with listener(handler, authority) as port:
        async with transport_to(port, authority, showing=jane) as transport:
            await body_of(transport)

    assert handler.certificates == [None]


async def test_a_port_in_use_is_an_error(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=200, body=b"hello"))

    async with listener(handler, authority) as port:
        with pytest.raises(OSError, match="in use"):
            async with listener(handler, authority, port=port):
                pass


async def test_a_reserved_port_can_be_listened_on(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=200, body=b"hello"))
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind((LOOPBACK, 0))
        port = holder.getsockname()[1]

        async with listener(handler, authority, port=port, share_port=True):
            async with transport_to(port, authority) as transport:
                said = await body_of(transport)

    assert said == b"hello"


async def test_a_tls_listener_rejects_plain_http(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=200))

    async with listener(handler, authority) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = await reader.read()
        writer.close()

    assert not answer.startswith(b"HTTP/")
    assert handler.requests == []


@asynccontextmanager
async def raw(
    port: int, authority: Authority
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    tls = authority.trusting()
    reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
    try:
        yield reader, writer
    finally:
        writer.close()


async def test_pipelined_requests_are_answered_in_order(authority: Authority) -> None:
    async def echo(request: Request) -> Reply:
        return Reply(status=200, body=request.path.encode())

    said = b"".join(b"GET /%d HTTP/1.1\r\n\r\n" % number for number in range(200))

    async with (
        listener(RecordingHandler(echo), authority) as port,
        raw(port, authority) as (reader, writer),
    ):
        writer.write(said + b"GET /end HTTP/1.1\r\nConnection: close\r\n\r\n")
        answers = (await reader.read()).split(b"HTTP/1.1 200 OK")

    bodies = [answer.rpartition(b"\r\n\r\n")[2] for answer in answers[1:]]
    assert bodies == [*[b"/%d" % number for number in range(200)], b"/end"]


async def test_an_invalid_request_is_rejected_after_earlier_responses(
    authority: Authority,
) -> None:
    handler = RecordingHandler(Reply(status=200))

    async with listener(handler, authority) as port, raw(port, authority) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\n\r\nnonsense\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"Bad Request\n")
    assert len(handler.requests) == 1


async def test_a_client_that_is_still_sending_receives_a_413(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=413, body=b"too much"))
    size = 20_000_000

    async with listener(handler, authority) as port, raw(port, authority) as (reader, writer):
        writer.write(b"PUT / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // 1_000_000):
            writer.write(b"x" * 1_000_000)
            await writer.drain()
        answer = await reader.readuntil(b"too much")

    assert answer.startswith(b"HTTP/1.1 413 ")


async def test_requests_in_progress_are_answered_when_a_listener_stops(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine, half a second can pass before anything runs.
    monkeypatch.setattr("steersman.wire.server.listener.END_SECONDS", 3600.0)
    asked, answer = asyncio.Event(), asyncio.Event()

    async def reply(_: Request) -> Reply:
        asked.set()
        await answer.wait()
        return Reply(status=200, body=b"done")

    async with AsyncExitStack() as opened:
        listens = await opened.enter_async_context(AsyncExitStack())
        port = await listens.enter_async_context(listener(RecordingHandler(reply), authority))
        reader, writer = await opened.enter_async_context(raw(port, authority))
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await asked.wait()
        asyncio.get_running_loop().call_later(0.05, answer.set)
        await listens.aclose()
        said = await reader.read()

    assert said.endswith(b"done")


async def test_a_request_beyond_the_grace_period_is_cancelled(authority: Authority) -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def reply(_: Request) -> Reply:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return Reply(status=200)

    async with AsyncExitStack() as opened:
        listens = await opened.enter_async_context(AsyncExitStack())
        port = await listens.enter_async_context(listener(RecordingHandler(reply), authority))
        reader, writer = await opened.enter_async_context(raw(port, authority))
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await asked.wait()
        await listens.aclose()
        assert cancelled.is_set()
        with suppress(ConnectionError):
            assert await reader.read() == b""


async def test_a_stream_waits_for_a_client_that_does_not_read(authority: Authority) -> None:
    said, waits = 0, asyncio.Event()

    async def endless() -> AsyncGenerator[bytes, None]:
        nonlocal said
        loop = asyncio.get_running_loop()
        while said < 10_000:
            said += 1
            # Set as soon as no further piece is read.
            timer = loop.call_later(0.5, waits.set)
            yield b"x" * 100_000
            timer.cancel()

    reply = Reply(status=200, stream=endless())
    async with (
        listener(RecordingHandler(reply), authority) as port,
        raw(port, authority) as (_, writer),
    ):
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await waits.wait()

    assert said < 1000


@asynccontextmanager
async def plain(handler: RecordingHandler) -> AsyncIterator[int]:
    async with listening(handler, host=LOOPBACK, port=0, tls=None, max_body_bytes=LARGEST) as port:
        yield port


@pytest.mark.parametrize("is_plain", [True, False])
async def test_a_stream_is_closed_when_its_client_disconnects_with_pipelined_requests(
    is_plain: bool, authority: Authority
) -> None:
    stream = Stream()
    handler = RecordingHandler(stream.reply)

    async with plain(handler) if is_plain else listener(handler, authority) as port:
        tls = None if is_plain else authority.trusting()
        reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
        writer.write(b"GET /watch HTTP/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /another HTTP/1.1\r\n\r\n")
        writer.close()

        await stream.closed.wait()

    assert [request.path for request in handler.requests] == ["/watch"]


async def test_nothing_is_sent_after_the_last_response() -> None:
    async def line() -> AsyncGenerator[bytes, None]:
        yield b"body"

    handler = RecordingHandler(Reply(status=200, stream=line()))

    async with plain(handler) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"GET / HTTP/1.0\r\n\r\njunk")
        answer = await reader.read()
        writer.close()

    assert answer.endswith(b"\r\n\r\nbody")


async def test_a_client_that_is_still_sending_receives_a_400() -> None:
    async with plain(RecordingHandler(Reply(status=200))) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 5_000_000)
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.close()

    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_a_rejected_client_need_not_disconnect_to_receive_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steersman.wire.server.server_connection.CLOSE_SECONDS", 1000)
    async with plain(RecordingHandler(Reply(status=200))) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"no request\r\n\r\n")
        answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.1 400 ")


async def test_an_exception_of_the_handler_is_reported_to_the_loop_and_the_client() -> None:
    async def fail(_: Request) -> Reply:
        raise LookupError("a secret")

    contexts: list[dict[str, object]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: contexts.append(context))
    async with plain(RecordingHandler(fail)) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        answer = await reader.read()
        writer.close()
    gc.collect()
    loop.set_exception_handler(None)

    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"secret" not in answer
    assert [type(context["exception"]) for context in contexts] == [LookupError]


async def test_a_client_that_connects_too_late_gets_no_response(authority: Authority) -> None:
    handler = RecordingHandler(Reply(status=200))

    tls = authority.trusting()

    async with listener(handler, authority) as port:
        connected = socket.create_connection((LOOPBACK, port), timeout=5)
        late = tls.wrap_socket(connected, server_hostname=LOOPBACK, do_handshake_on_connect=False)

    def ask() -> bytes:
        with late, suppress(OSError):
            late.do_handshake()
            late.sendall(b"GET / HTTP/1.1\r\n\r\n")
            return late.recv(100)
        return b""

    assert await asyncio.to_thread(ask) == b""
    assert handler.requests == []


async def test_a_client_without_a_request_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steersman.wire.server.listener.ROUND_SECONDS", 0.01)
    stream = Stream()

    async with plain(RecordingHandler(stream.reply)) as port:
        asking, sending = await asyncio.open_connection(LOOPBACK, port)
        sending.write(b"GET / HTTP/1.1\r\n\r\n")
        await asking.readuntil(b"\r\n\r\n")
        silent, mute = await asyncio.open_connection(LOOPBACK, port)
        slow, sender = await asyncio.open_connection(LOOPBACK, port)
        sender.write(b"GET / HTTP/1.1\r\nX: ")

        assert await silent.read() == b""
        assert await slow.read() == b""
        stream.send(b"still here\n")
        await asking.readuntil(b"still here\n")

        for writer in (sending, mute, sender):
            writer.close()


async def test_a_cancelled_stream_can_clean_up(authority: Authority) -> None:
    cleaned = asyncio.Event()

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            yield b"one\n"
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # noqa: TID251 - a turn is given away
            await asyncio.sleep(0)  # noqa: TID251
            cleaned.set()

    async with AsyncExitStack() as clients:
        async with listener(
            RecordingHandler(Reply(status=200, stream=endless())), authority
        ) as port:
            reader, writer = await clients.enter_async_context(raw(port, authority))
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            await reader.readuntil(b"one\n")

    assert cleaned.is_set()
