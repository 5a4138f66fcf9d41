"""Connections that are kept for the next request."""

import ssl
from collections import deque
from typing import Final

from steersman.clock import Clock
from steersman.wire.connection import Connection

# Well under the idle limits in front of API servers (load balancers have 60 s and more, the
# server itself 90 s), because a write that meets a connection the other side has just closed
# cannot be sent again. Long enough that a busy operator hardly ever shakes hands.
IDLE_SECONDS: Final = 30.0


class Pool:
    """The connections of one transport, as many as there are: those in use, and those at rest.

    A watch holds its connection for minutes: with any limit, enough watches would leave none for
    the requests that the watchers make. The one that rested last is used first, so that those
    that are not needed grow old; they are closed when the pool is next used.
    """

    def __init__(self, *, clock: Clock) -> None:
        self.clock = clock
        self._tls: ssl.SSLContext | None = None
        self._all: set[Connection] = set()
        self._idle: deque[tuple[float, Connection]] = deque()  # the oldest first
        self.is_open = True

    def take(self, tls: ssl.SSLContext | None) -> Connection | None:
        """One that was made for this context, if there is any; from here on, only such are kept."""
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
            # It was fit for another request, and whatever may happen to it at rest ends it.
            if connection.is_there:
                return connection
            connection.abort()
        return None

    def add(self, connection: Connection) -> None:
        """A new one, in use."""
        if not connection.ended.done():
            self._all.add(connection)
            connection.on_end = self._forget

    def give_back(self, connection: Connection) -> None:
        """It is no longer in use: keep it, unless it is of no use to anyone."""
        if self.is_open and connection.tls is self._tls and connection.is_reusable:
            self._idle.append((self.clock.monotonic(), connection))
        else:
            connection.abort()

    async def close(self) -> None:
        """End all of them, and wait until they have ended."""
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
