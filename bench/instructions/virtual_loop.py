"""An event loop in virtual time, and connections without sockets.

The loop is asyncio's own, so the counted instructions are those of a real operator. Only its clock
and its connections are simulated.
"""

import asyncio
import selectors
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

EPOCH = datetime(2026, 11, 1, tzinfo=UTC)

# The size of a TLS record.
PIECE_BYTES = 2**14


class Server(Protocol):
    """The server side of all connections."""

    def handle(self, request: bytes, connection: "Connection") -> None:
        """Handle a request: call ``connection.receive`` at the time of the reply."""
        ...


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's event loop, whose clock jumps to the next timer."""

    def __init__(self, server: Server) -> None:
        self._now_at = 0.0
        self._server = server
        super().__init__(_VirtualSelector(self._advance))

    def time(self) -> float:
        """Seconds since the loop was created."""
        return self._now_at

    async def create_connection(
        self, protocol_factory: Callable[[], Any], *_: object, **__: object
    ) -> tuple[asyncio.Transport, Any]:
        """Connect to the server of this loop."""
        protocol = protocol_factory()
        connection = Connection(self, protocol, self._server)
        protocol.connection_made(connection)
        return connection, protocol

    def _advance(self, seconds: float | None) -> None:
        if seconds is None:
            raise RuntimeError("all tasks wait, and no timer is set")
        self._now_at += seconds


class _VirtualSelector(selectors.SelectSelector):
    """Advances the virtual clock in place of waiting."""

    def __init__(self, leap: Callable[[float | None], None]) -> None:
        super().__init__()
        self._advance = leap

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            self._advance(timeout)
        return []


class Connection(asyncio.Transport):
    """A connection: each write is a request, and the server sends the replies."""

    def __init__(self, loop: VirtualLoop, protocol: Any, server: Server) -> None:
        super().__init__({"socket": _NoSocket()})
        self.loop = loop
        self._protocol = protocol
        self._server = server
        self._pieces: deque[bytes] = deque()
        self._is_reading = True
        self._is_closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._server.handle(bytes(data), self)

    def receive(self, data: bytes) -> None:
        """Pass data of the server to the protocol in pieces, as fast as it reads."""
        self._pieces.extend(
            data[start : start + PIECE_BYTES] for start in range(0, len(data), PIECE_BYTES)
        )
        self._pass_on()

    def _pass_on(self) -> None:
        if not self._pieces or not self._is_reading or self._is_closing:
            return
        piece = self._pieces.popleft()
        if isinstance(self._protocol, asyncio.BufferedProtocol):
            room: Any = self._protocol.get_buffer(len(piece))
            room[: len(piece)] = piece
            self._protocol.buffer_updated(len(piece))
        else:
            self._protocol.data_received(piece)
        if self._pieces:
            self.loop.call_soon(self._pass_on)

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True
        self.loop.call_soon(self._pass_on)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self.loop.call_soon(self._protocol.connection_lost, None)


class _NoSocket:
    def setsockopt(self, *_: object) -> None:
        """Do nothing: there is no socket."""


class VirtualClock:
    """A clock with the time of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        """Seconds since the loop was created."""
        return self._loop.time()

    def now(self) -> datetime:
        """The wall clock time, in UTC."""
        return EPOCH + timedelta(seconds=self._loop.time())

    async def sleep(self, seconds: float) -> None:
        """Sleep in virtual time."""
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Cancel the block after ``seconds`` and raise ``TimeoutError``; never with ``None``."""
        return asyncio.timeout(seconds)
