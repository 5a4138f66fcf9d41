"""Responses on a connection: where each ends, and whether the connection is reused."""

import asyncio
import gc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.clock import SystemClock
from steersman.wire import NetworkTransport, Request
from steersman.wire.transport.connection import (
    ENDED,
    HEAD_BYTES,
    NOT_HTTP,
    WAITING_BYTES,
    Broken,
    Connection,
    Head,
)
from tests.raw_server import Received, listening, ok, raw_server, respond_with
from tests.unit.wire.fake_transport import FakeTransport

GET = Request(method="GET", path="/version")


def plain(port: int) -> NetworkTransport:
    return NetworkTransport(
        clock=SystemClock(), server=f"http://127.0.0.1:{port}", tls=lambda: None
    )


async def ask(transport: NetworkTransport, request: Request = GET) -> tuple[int, bytes]:
    async with transport.open(request) as response:
        return response.status, await response.read(limit_bytes=2**20)


async def responses_to_two_requests(
    *responses: bytes, request: Request = GET, then_close: bool = False
) -> tuple[list[tuple[int, bytes]], int]:
    """The responses to two requests, and the number of connections."""
    async with raw_server(respond_with(*responses, then_close=then_close)) as server:
        async with plain(server.port) as transport:
            return [await ask(transport, request) for _ in range(2)], server.connections


class SentRequest:
    """A connection without a network, on which one request was sent."""

    def __init__(self, *, body: bytes | None = None) -> None:
        self.transport = FakeTransport()
        self.connection = Connection(tls=None)
        self.connection.connection_made(self.transport)
        self._sending = self.connection.send_request(b"", body)
        self.advance()

    def advance(self) -> None:
        """Run the sender as far as possible; fails if the response has arrived already."""
        self._sending.send(None)

    def head(self) -> Head:
        """The received head of the response."""
        with pytest.raises(StopIteration) as returned:
            self.advance()
        head: Head = returned.value.value
        return head


async def rest_of(connection: Connection) -> bytes:
    received = bytearray()
    while piece := await connection.receive():
        received += piece
    return bytes(received)


ANSWERS = {
    "a length": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
        b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
    ),
    "chunks with extensions and trailers": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
        b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: trailer\r\n\r\n"
    ),
    "after an informational one": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: early\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello"
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
@given(cuts=st.lists(st.integers(min_value=0, max_value=150)))
def test_chunk_boundaries_do_not_change_a_response(case: str, cuts: list[int]) -> None:
    answer = ANSWERS[case]
    places = [0, *sorted(cuts), len(answer)]

    async def receive() -> tuple[int, str, bytes]:
        exchange = SentRequest()
        for start, end in pairwise(places):
            if piece := answer[start:end]:
                exchange.connection.data_received(piece)
        head = exchange.head()
        body = await rest_of(exchange.connection)
        assert exchange.connection.is_reusable
        return head.status, head.headers["x"], body

    assert asyncio.run(receive()) == (200, "y", b"hello")


@pytest.mark.parametrize("before", [b"", b"\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
@pytest.mark.parametrize("name", [b"Warning", b"warning", b"wARNING"])
async def test_warning_headers_are_found_in_any_case(name: bytes, before: bytes) -> None:
    exchange = SentRequest()

    exchange.connection.data_received(
        before + b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nWidth: 1\r\n"
        b"%b: one\r\n%b: two\r\n\r\n\nWarning: no" % (name, name)
    )

    assert exchange.head().warnings == ("one", "two")


async def test_a_head_does_not_keep_the_body_alive() -> None:
    exchange = SentRequest()
    secret = b"a" * 10_000

    exchange.connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + secret)

    head = exchange.head()
    assert not [each for each in gc.get_referents(head) if secret in bytes(repr(each), "utf-8")]


async def test_parsed_headers_are_not_tracked_by_the_garbage_collector() -> None:
    exchange = SentRequest()
    exchange.connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    head = exchange.head()
    gc.collect()

    assert head.fields
    assert gc.collect() == 0


async def test_a_warning_in_the_body_is_ignored() -> None:
    exchange = SentRequest()

    exchange.connection.data_received(
        b"HTTP/1.1 200 OK\r\nContent-Length: 18\r\nX: Warning: no\r\n\r\n\r\nWarning: no\r\n\r\n\n"
    )

    assert exchange.head().warnings == ()


@given(nonsense=st.binary(min_size=1, max_size=200), cut=st.integers(0, 200))
def test_any_bytes_are_a_response_or_a_network_failure(nonsense: bytes, cut: int) -> None:
    async def receive() -> None:
        exchange = SentRequest()
        for piece in (nonsense[:cut], nonsense[cut:]):
            if piece and not exchange.transport.is_aborted:
                exchange.connection.data_received(piece)
        exchange.connection.connection_lost(None)
        with pytest.raises((StopIteration, Broken)):
            exchange.advance()

    asyncio.run(receive())


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
async def test_responses_with_status_1xx_204_and_304_have_no_body(status: str) -> None:
    code = int(status[:3])
    answer = f"HTTP/1.1 {status}\r\nContent-Length: 9\r\n\r\n".encode()

    assert await responses_to_two_requests(answer) == ([(code, b""), (code, b"")], 1)


@pytest.mark.parametrize("length", ["Content-Length: 9", "Transfer-Encoding: chunked"])
async def test_a_response_to_a_head_request_ends_with_its_head(length: str) -> None:
    answer = f"HTTP/1.1 200 OK\r\n{length}\r\n\r\n".encode()
    request = Request(method="HEAD", path="/")

    assert await responses_to_two_requests(answer, request=request) == ([(200, b""), (200, b"")], 1)


async def test_after_a_head_request_other_responses_have_bodies() -> None:
    responses = respond_with(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", ok(b"hello"))

    async with raw_server(responses) as server, plain(server.port) as transport:
        await ask(transport, Request(method="HEAD", path="/"))
        assert await ask(transport) == (200, b"hello")

    assert server.connections == 1


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_body_without_a_length_ends_at_the_end_of_the_connection(version: str) -> None:
    answer = f"HTTP/{version} 200 OK\r\n\r\nhello".encode()

    responses = await responses_to_two_requests(answer, then_close=True)

    assert responses == ([(200, b"hello"), (200, b"hello")], 2)


@pytest.mark.parametrize("how", ["reset", "failed", "aborted by us"])
async def test_a_broken_connection_does_not_complete_a_body_without_a_length(how: str) -> None:
    exchange = SentRequest()
    exchange.connection.data_received(b"HTTP/1.1 200 OK\r\n\r\nhello")

    if how == "aborted by us":
        exchange.connection.abort()
    error = {"reset": ConnectionResetError(), "failed": RuntimeError()}.get(how)
    exchange.connection.connection_lost(error)

    assert await exchange.connection.receive() == b"hello"
    with pytest.raises(Broken, match=ENDED):
        await exchange.connection.receive()


async def test_a_connection_whose_first_response_has_no_body_is_reused() -> None:
    exchange = SentRequest()

    exchange.connection.data_received(b"HTTP/1.1 204 No Content\r\n\r\n")

    assert exchange.head().status == 204
    assert exchange.connection.is_reusable


async def test_a_connection_to_be_closed_is_not_reused() -> None:
    responses = await responses_to_two_requests(ok(b"hello", "Connection: close"))

    assert responses == ([(200, b"hello"), (200, b"hello")], 2)


async def test_a_connection_with_http_1_0_is_not_reused() -> None:
    responses = await responses_to_two_requests(
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    )

    assert responses == ([(200, b"hello"), (200, b"hello")], 2)


async def test_an_unsolicited_response_closes_the_connection() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(ok(b"asked for"))
        if request.connection == 1:
            await advance.wait()
            writer.write(ok(b"canary"))

    advance = asyncio.Event()
    async with raw_server(answer) as server, plain(server.port) as transport:
        first = await ask(transport)
        advance.set()
        await server.gone.wait()
        second = await ask(transport)

    assert (first, second) == ((200, b"asked for"), (200, b"asked for"))
    assert server.connections == 2


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH_9.9\r\n", ok(b"canary")])
async def test_a_server_that_speaks_first_gets_no_request(said: bytes) -> None:
    transport = FakeTransport()
    connection = Connection(tls=None)
    connection.connection_made(transport)
    connection.data_received(said)

    with pytest.raises(Broken, match=NOT_HTTP) as broken:
        await connection.send_request(b"head")

    assert not broken.value.was_sent
    assert not transport.sent


@pytest.mark.parametrize("second", [b"two", b""])
async def test_two_responses_to_one_request_are_an_error(second: bytes) -> None:
    exchange = SentRequest()

    exchange.connection.data_received(ok(b"one") + ok(second))

    assert await exchange.connection.receive() == b"one"
    with pytest.raises(Broken, match=NOT_HTTP):
        await exchange.connection.receive()
    assert exchange.transport.is_aborted


async def test_an_unrequested_upgrade_is_an_error() -> None:
    exchange = SentRequest()

    exchange.connection.data_received(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")

    with pytest.raises(Broken, match=NOT_HTTP):
        exchange.advance()


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"x" * 1000),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 100),
        (b"HTTP/1.1 ", b" " * 1000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"x" * 1000),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n" * 100),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", b"x" * 1000),
    ],
)
async def test_invalid_body_data_ends_the_response(start: bytes, again: bytes) -> None:
    exchange = SentRequest()
    exchange.connection.data_received(start or again)

    fed_bytes = 0
    while not exchange.transport.is_aborted and fed_bytes < 2 * HEAD_BYTES:
        exchange.connection.data_received(again)
        fed_bytes += len(again)

    assert exchange.transport.is_aborted


async def test_bytes_of_the_body_do_not_count_for_the_limit_of_the_headers() -> None:
    exchange = SentRequest()
    long = b"x" * 10 * HEAD_BYTES

    exchange.connection.data_received(ok(long))

    assert exchange.head().status == 200
    assert await rest_of(exchange.connection) == long


async def test_reading_pauses_while_there_is_no_reader() -> None:
    exchange = SentRequest()
    exchange.connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    exchange.connection.data_received(bytes(WAITING_BYTES))
    was_paused = exchange.transport.is_paused
    exchange.connection.data_received(b"x")

    assert (was_paused, exchange.transport.is_paused) == (False, True)
    assert len(await exchange.connection.receive()) == WAITING_BYTES + 1
    assert not exchange.transport.is_paused


async def test_writing_a_large_body_waits_for_the_server() -> None:
    exchange = SentRequest(body=b"")
    exchange.connection.data_received(ok())
    exchange.head()
    exchange.connection.pause_writing()

    asking = exchange.connection.send_request(b"head", bytes(10**6))
    asking.send(None)
    before = len(exchange.transport.sent)
    exchange.connection.resume_writing()
    asking.send(None)

    assert before == len(b"head")
    assert len(exchange.transport.sent) == len(b"head") + 10**6
    asking.close()


async def test_a_connection_with_a_partial_request_is_not_reused() -> None:
    exchange = SentRequest(body=b"")
    exchange.connection.data_received(ok())
    exchange.head()
    exchange.connection.pause_writing()

    asking = exchange.connection.send_request(b"head", bytes(10**6))
    asking.send(None)
    exchange.connection.data_received(ok())
    with pytest.raises(StopIteration):
        asking.send(None)

    assert exchange.transport.sent == b"head"
    assert not exchange.connection.is_reusable


async def test_an_early_response_ends_the_request_and_the_connection() -> None:
    early = Request(method="POST", path="/", body=bytes(30 * 10**6))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ok(b"too large", status="413 Content Too Large"))
        await done.wait()

    done = asyncio.Event()
    async with listening(serve) as port, plain(port) as transport:
        returned = await ask(transport, early)
        assert transport._pool is not None
        assert not transport._pool._idle
        done.set()

    assert returned == (413, b"too large")


async def test_a_complete_but_unread_response_keeps_the_connection_usable() -> None:
    async with raw_server(respond_with(ok(b"hello"))) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            assert response.status == 200
        assert await ask(transport) == (200, b"hello")

    assert server.connections == 1


async def test_a_response_can_be_read_only_inside_its_block() -> None:
    async with raw_server(respond_with(ok(b"hello"))) as server, plain(server.port) as transport:
        async with transport.open(GET) as response:
            pass
        with pytest.raises(RuntimeError, match="inside the `async with` block"):
            await response.read(limit_bytes=10)
