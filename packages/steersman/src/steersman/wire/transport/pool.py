"""The connection pool: keeps idle connections open for later requests."""

import ssl
from collections import deque
from typing import Final

from steersman.clock import Clock
from steersman.wire.transport.connection import Connection

# Well below the idle timeouts of load balancers (60 s and more) and of the server (90 s), because a
# write on a closed connection cannot always be retried. Long enough that a busy operator rarely
# needs a handshake.
IDLE_SECONDS: Final = 30.0


class Pool:
    """All connections of one transport, in use and idle, without a limit on their number.

    A watch uses its connection for minutes: with a limit, many watches would leave no connection
    for other requests. The most recently used idle connection is reused first, so that connections
    that are not needed stay idle. Connections that have been idle for too long are closed at the
    next use of the pool.
    """

    def __init__(self, *, clock: Clock) -> None:
        self.clock = clock
        self._tls: ssl.SSLContext | None = None
        self._all: set[Connection] = set()
        self._idle: deque[tuple[float, Connection]] = deque()  # the oldest first
        self.is_open = True

    def take(self, tls: ssl.SSLContext | None) -> Connection | None:
        """Return an idle connection with the TLS context ``tls``; ``None`` if there is none.

        Idle connections with another TLS context are closed.
        """
        idle = self._idle
        if tls is not self._tls:
            self._tls = tls
            while idle:
                idle.pop()[1].abort()
        too_old_at = self.clock.monotonic() - IDLE_SECONDS
        while idle and idle[0][0] < too_old_at:
            idle.popleft()[1].abort()
        while idle:
            _, connection = idle.pop()
            # It was reusable when it became idle; data or errors since then have closed it.
            if connection.is_open:
                return connection
            connection.abort()
        return None

    def add(self, connection: Connection) -> None:
        """Add ``connection``, which is new and in use."""
        if not connection.ended.done():
            self._all.add(connection)
            connection.on_end = self._forget

    def give_back(self, connection: Connection) -> None:
        """Keep ``connection``, which is no longer in use, if it is reusable; otherwise close it."""
        if self.is_open and connection.tls is self._tls and connection.is_reusable:
            self._idle.append((self.clock.monotonic(), connection))
        else:
            connection.abort()

    async def close(self) -> None:
        """Close all connections, also those in use, and wait until they are closed."""
        self.is_open = False
        self._idle.clear()
        ending = list(self._all)
        for connection in ending:
            connection.abort()
        for connection in ending:
            await connection.ended

    def _forget(self, connection: Connection) -> None:
        self._all.discard(connection)
        self._idle = deque(entry for entry in self._idle if entry[1] is not connection)
