"""Data between a protocol and its socket, in chunks of any size."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from steersman.wire import TlsSettings, tls_context
from steersman.wire.transport.direct import SocketTransport
from tests.certificates import Authority
from tests.raw_server import server_tls


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


class RecordingProtocol:
    """Records what it receives."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.calls: list[str] = []
        self.lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self._buffer = memoryview(bytearray(2**16))
        self._something = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def data_received(self, data: memoryview) -> None:
        self.received += data
        self._something.set()

    def eof_received(self) -> None:
        self.calls.append("end")

    def pause_writing(self) -> None:
        self.calls.append("full")

    def resume_writing(self) -> None:
        self.calls.append("empty")
        self._something.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(exc)

    async def until(self, count: int) -> None:
        while len(self.received) < count:
            self._something.clear()
            await self._something.wait()


@contextmanager
def socket_pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    here.setblocking(False)
    there.setblocking(False)
    with here, there:
        yield here, there


class Server:
    """The peer, which speaks TLS one record at a time."""

    def __init__(self, there: socket.socket, authority: Authority) -> None:
        self._there = there
        self._coming, self._going = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = server_tls(authority.server("kube"))
        self.tls = context.wrap_bio(self._coming, self._going, server_side=True)
        self._loop = asyncio.get_running_loop()

    async def answer_client_hello(self) -> None:
        """The first half of a handshake."""
        self._coming.write(await self._loop.sock_recv(self._there, 2**16))
        with pytest.raises(ssl.SSLWantReadError):
            self.tls.do_handshake()
        await self.send()

    async def shake_hands(self) -> None:
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                await self.send()
                self._coming.write(await self._loop.sock_recv(self._there, 2**16))
            else:
                await self.send()
                return

    async def send(self, *, piece_bytes: int = 2**16) -> None:
        data = memoryview(self._going.read())
        for start in range(0, len(data), piece_bytes):
            await self._loop.sock_sendall(self._there, data[start : start + piece_bytes])
            await asyncio.sleep(0)  # noqa: TID251 - the peer receives each piece

    async def read(self, count: int) -> bytes:
        got = bytearray()
        while len(got) < count:
            try:
                got += self.tls.read(2**16)
            except ssl.SSLWantReadError:
                self._coming.write(await self._loop.sock_recv(self._there, 2**16))
        return bytes(got)


async def connect(
    here: socket.socket, there: socket.socket, authority: Authority
) -> tuple[SocketTransport, RecordingProtocol, Server]:
    protocol = RecordingProtocol()
    transport = SocketTransport(here, protocol)
    server = Server(there, authority)
    context = tls_context(TlsSettings(ca_data=authority.certificate), source="test")
    async with asyncio.TaskGroup() as group:
        group.create_task(server.shake_hands())
        group.create_task(transport.secure(context, name="kube"))
    return transport, protocol, server


@pytest.mark.parametrize("piece_bytes", [7, 1000, 2**16])
async def test_tls_records_are_received_in_any_chunks(
    authority: Authority, piece_bytes: int
) -> None:
    said = bytes(range(256)) * 20

    with socket_pair() as (here, there):
        transport, protocol, server = await connect(here, there, authority)
        for start in range(0, len(said), 700):
            server.tls.write(said[start : start + 700])
        await server.send(piece_bytes=piece_bytes)
        await protocol.until(len(said))
        transport.abort()
        await protocol.lost

    assert protocol.received == said


async def test_a_large_response_is_received_completely(authority: Authority) -> None:
    said = bytes(range(256)) * 2**12

    with socket_pair() as (here, there):
        transport, protocol, server = await connect(here, there, authority)
        rest = memoryview(said)
        while rest:
            rest = rest[server.tls.write(rest[: 2**14]) :]
        await server.send()
        await protocol.until(len(said))
        transport.abort()
        await protocol.lost

    assert protocol.received == said


async def test_data_beyond_the_kernels_buffer_is_sent_later() -> None:
    written = bytes(range(256)) * 2**13

    with socket_pair() as (here, there):
        protocol = RecordingProtocol()
        transport = SocketTransport(here, protocol)
        transport.write(written[:10])
        calls_before = list(protocol.calls)
        transport.write(written[10:])
        arrived = bytearray()
        while len(arrived) < len(written):
            arrived += await asyncio.get_running_loop().sock_recv(there, 2**20)
        assert transport.get_write_buffer_size() == 0
        transport.abort()
        await protocol.lost

    assert arrived == written
    assert (calls_before, protocol.calls) == ([], ["full", "empty"])


async def test_data_written_while_other_data_waits_is_sent_after_it() -> None:
    waiting = bytes(range(256)) * 2**13

    with socket_pair() as (here, there):
        protocol = RecordingProtocol()
        transport = SocketTransport(here, protocol)
        transport.write(waiting)
        transport.write(b"the end")
        arrived = bytearray()
        while len(arrived) < len(waiting) + 7:
            arrived += await asyncio.get_running_loop().sock_recv(there, 2**20)
        transport.abort()
        await protocol.lost

    assert arrived == waiting + b"the end"


async def test_a_write_error_is_reported() -> None:
    with socket_pair() as (here, there):
        protocol = RecordingProtocol()
        transport = SocketTransport(here, protocol)
        transport.pause_reading()
        transport.write(bytes(10**7))
        there.close()
        error = await protocol.lost

    assert isinstance(error, BrokenPipeError)


async def test_encrypted_data_beyond_the_kernels_buffer_is_sent_later(authority: Authority) -> None:
    written = bytes(range(256)) * 2**13

    with socket_pair() as (here, there):
        transport, protocol, server = await connect(here, there, authority)
        transport.write(written)
        assert transport.get_write_buffer_size() > 0
        arrived = await server.read(len(written))
        transport.abort()
        await protocol.lost

    assert arrived == written


async def test_nothing_is_read_while_reading_is_paused() -> None:
    with socket_pair() as (here, there):
        protocol = RecordingProtocol()
        transport = SocketTransport(here, protocol)
        transport.pause_reading()
        there.send(b"hello")
        for _ in range(5):
            await asyncio.sleep(0)  # noqa: TID251 - the loop has looked at the socket
        received_before = bytes(protocol.received)
        transport.resume_reading()
        await protocol.until(5)
        transport.abort()
        await protocol.lost

    assert (received_before, bytes(protocol.received)) == (b"", b"hello")


@pytest.mark.parametrize("sends_close_notify", [True, False])
async def test_the_end_is_reported_after_the_data_before_it(
    authority: Authority, sends_close_notify: bool
) -> None:
    with socket_pair() as (here, there):
        _, protocol, server = await connect(here, there, authority)
        server.tls.write(b"hello")
        if sends_close_notify:
            with pytest.raises(ssl.SSLWantReadError):
                server.tls.unwrap()
        await server.send()
        there.close()
        error = await protocol.lost

        assert here.fileno() == -1

    assert (bytes(protocol.received), protocol.calls, error) == (b"hello", ["end"], None)


async def test_a_read_error_is_reported(authority: Authority) -> None:
    with socket_pair() as (here, there):
        _, protocol, _ = await connect(here, there, authority)
        there.send(b"\x17\x03\x03\x00\x20" + bytes(32))
        error = await protocol.lost

    assert isinstance(error, ssl.SSLError)
    assert protocol.received == b""


async def test_an_end_in_the_middle_of_the_handshake_is_reported(authority: Authority) -> None:
    context = tls_context(TlsSettings(ca_data=authority.certificate), source="test")

    with socket_pair() as (here, there):
        transport = SocketTransport(here, RecordingProtocol())
        there.close()
        with pytest.raises(ConnectionError):
            await transport.secure(context, name="kube")


async def test_an_aborted_connection_releases_its_resources() -> None:
    with socket_pair() as (here, there):
        protocol = RecordingProtocol()
        transport = SocketTransport(here, protocol)
        transport.write(bytes(10**7))
        transport.abort()
        transport.abort()
        transport.write(b"more")
        transport.pause_reading()
        transport.resume_reading()
        error = await protocol.lost

        assert here.fileno() == -1
        assert (error, transport.is_closing()) == (None, True)
        assert transport.get_write_buffer_size() == 0
        assert there.recv(10)


async def test_a_handshake_whose_last_message_is_not_sent_fails(
    authority: Authority,
) -> None:
    context = tls_context(TlsSettings(ca_data=authority.certificate), source="test")

    with socket_pair() as (here, there):
        protocol = RecordingProtocol()
        transport = SocketTransport(here, protocol)
        server = Server(there, authority)

        async def answer_and_close() -> None:
            await server.answer_client_hello()
            there.close()

        async with asyncio.TaskGroup() as group:
            group.create_task(answer_and_close())
            with pytest.raises(OSError, match="pipe"):
                await transport.secure(context, name="kube")
        assert isinstance(await protocol.lost, BrokenPipeError)


async def test_an_exception_of_the_protocol_closes_the_connection() -> None:
    class Deaf(RecordingProtocol):
        def data_received(self, data: memoryview) -> None:
            raise RuntimeError("not now")

    said: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: said.append(about))
    with socket_pair() as (here, there):
        protocol = Deaf()
        SocketTransport(here, protocol)
        there.send(b"something")
        await protocol.lost

    assert here.fileno() == -1
    assert "not now" in str(said)
