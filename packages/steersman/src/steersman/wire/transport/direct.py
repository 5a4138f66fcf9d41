"""``SocketTransport``: reads and writes a socket directly, with or without TLS."""

import asyncio
import socket
import ssl
from typing import Protocol, cast


class SocketProtocol(Protocol):
    """The callbacks that ``SocketTransport`` calls on a connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store ``transport``, which has been opened."""
        ...

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer into which to receive bytes, the same object at each call.

        The buffer must be at least as large as a TLS record, 16 KiB.
        """
        ...

    def data_received(self, data: memoryview) -> None:
        """Process ``data``, the bytes just received; ``data`` is overwritten afterwards."""
        ...

    def eof_received(self) -> None:
        """Process the end of the peer's data."""
        ...

    def pause_writing(self) -> None:
        """Stop writing, because the write buffer is full."""
        ...

    def resume_writing(self) -> None:
        """Continue writing, because the write buffer has space again."""
        ...

    def connection_lost(self, exc: Exception | None) -> None:
        """Process the end of the connection; ``exc`` is the error that ended it, if any."""
        ...


class SocketTransport(asyncio.Transport):
    """A replacement for asyncio's transports that needs a fraction of their steps.

    For TLS, asyncio stacks one transport on another, each with its own buffers and state. That
    takes longer than all other work for a request. ``SocketTransport`` passes received bytes to the
    protocol in the same iteration of the loop. Its ``write`` sends as many bytes as the kernel
    accepts before it returns. While reading is paused, bytes that were received earlier may still
    be delivered.

    The event loop must be able to watch sockets. TLS inside of TLS is not supported.
    """

    def __init__(self, connected: socket.socket, protocol: SocketProtocol) -> None:
        super().__init__({"socket": connected})
        self._loop = asyncio.get_running_loop()
        self._socket = connected
        self._protocol = protocol
        self._buffer = protocol.get_buffer(-1)
        self._unsent = bytearray()
        self._is_closing = False
        # With TLS, these contain encrypted input and output.
        self._tls: ssl.SSLObject | None = None
        self._coming = ssl.MemoryBIO()
        self._going = ssl.MemoryBIO()
        self._agreed: asyncio.Future[None] | None = None  # set during a TLS handshake
        protocol.connection_made(self)
        self._loop.add_reader(connected, self._read)

    async def secure(self, tls: ssl.SSLContext, *, name: str) -> None:
        """Start TLS with the server whose certificate must be valid for ``name``.

        Raise ``OSError`` if the handshake fails.
        """
        self._tls = tls.wrap_bio(self._coming, self._going, server_hostname=name)
        self._agreed = self._loop.create_future()
        self._shake_hands(self._tls, self._agreed)
        await self._agreed

    # Reading

    def pause_reading(self) -> None:
        if not self._is_closing:
            self._loop.remove_reader(self._socket)

    def resume_reading(self) -> None:
        if not self._is_closing:
            self._loop.add_reader(self._socket, self._read)

    def _read(self) -> None:
        try:
            self._receive()
        except BaseException:
            # It is unknown what the protocol has processed.
            self._lose(None)
            raise

    def _receive(self) -> None:
        buffer = self._buffer
        try:
            count = self._socket.recv_into(buffer)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        if not count:
            self._report_end()
        elif self._tls is None:
            self._protocol.data_received(buffer[:count])
        else:
            self._coming.write(buffer[:count])
            if self._agreed is not None:
                self._shake_hands(self._tls, self._agreed)
            if self._agreed is None:
                self._decrypt(self._tls)

    def _decrypt(self, tls: ssl.SSLObject) -> None:
        buffer = self._buffer
        try:
            # Each read returns one TLS record; a read without data costs an exception.
            while self._coming.pending and not self._is_closing:
                count = cast("int", tls.read(len(buffer), buffer))
                if not count:
                    self._report_end()
                    return
                self._protocol.data_received(buffer[:count])
        except ssl.SSLWantReadError:
            pass  # an incomplete record, or one without application data
        except ssl.SSLError as error:
            self._send_encrypted()
            self._lose(error)
            return
        if self._going.pending:
            self._send_encrypted()

    def _report_end(self) -> None:
        self._protocol.eof_received()
        self._lose(None)

    def _shake_hands(self, tls: ssl.SSLObject, agreed: "asyncio.Future[None]") -> None:
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            self._send_encrypted()
        except ssl.SSLError as error:
            self._send_encrypted()  # the TLS alert
            self._lose(error)
        else:
            self._send_encrypted()
            if self._is_closing:
                return  # The last record was not sent, and the protocol gets the error.
            self._agreed = None
            if not agreed.done():
                agreed.set_result(None)

    # Writing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._tls is None:
            self._send(data)
            return
        rest = data
        try:
            while (count := self._tls.write(rest)) < len(rest):
                rest = memoryview(rest)[count:]
        except ssl.SSLError as error:
            self._lose(error)
        else:
            self._send(self._going.read())

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def _send_encrypted(self) -> None:
        self._send(self._going.read())

    def _send(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or not data:
            return
        if self._unsent:
            self._unsent += data
            return
        try:
            count = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            count = 0
        except OSError as error:
            self._lose(error)
            return
        if count < len(data):
            self._unsent += memoryview(data)[count:]
            self._loop.add_writer(self._socket, self._send_rest)
            self._protocol.pause_writing()

    def _send_rest(self) -> None:
        try:
            count = self._socket.send(self._unsent)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        del self._unsent[:count]
        if not self._unsent:
            self._loop.remove_writer(self._socket)
            self._protocol.resume_writing()

    # Closing

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        self._lose(None)

    def _lose(self, error: OSError | None) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._unsent.clear()
        self._socket.close()
        # Deferred, because the caller must be ready for the callback.
        self._loop.call_soon(self._end, error)

    def _end(self, error: OSError | None) -> None:
        if self._agreed is not None and not self._agreed.done():
            self._agreed.set_exception(error or ConnectionResetError())
        self._protocol.connection_lost(error)
