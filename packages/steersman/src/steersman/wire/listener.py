"""The HTTP listener: requests from sockets to a handler, and its replies back."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final

from steersman.wire.conversation import Conversation
from steersman.wire.hearing import Hearing
from steersman.wire.messages import Handler

# For whoever has begun to answer when the listener ends; a stream never would, and is cut at once.
END_SECONDS: Final = 0.5

# A client that has nothing to ask for three of these, or takes as long to say it, is told goodbye.
ROUND_SECONDS: Final = 30.0
SILENT_ROUNDS: Final = 3

# Nobody who means it needs longer for a handshake, or to hear that it is over.
_HANDSHAKE_SECONDS: Final = 10.0
_SHUTDOWN_SECONDS: Final = 2.0

# As much is taken from a socket at once.
_RECEIVED_BYTES: Final = 2**16

# As many may knock at once.
_BACKLOG: Final = 1024


@asynccontextmanager
async def listening(
    handler: Handler,
    *,
    host: str,
    port: int,
    tls: ssl.SSLContext | None,
    largest_body: int,
    share_port: bool = False,
) -> AsyncIterator[int]:
    """Answer requests while the block runs; gives the port, which is a free one if ``port`` is 0.

    Without ``tls`` all of it can be read on the way: that is for what is no secret, or never leaves
    the machine. Of a body that is larger than ``largest_body`` the handler gets that much and one
    byte more.
    """
    loop = asyncio.get_running_loop()
    guests = _Guests(loop)
    room = memoryview(bytearray(_RECEIVED_BYTES))

    def meet() -> Conversation:
        hearing = Hearing(largest_body=largest_body)
        return Conversation(handler, hearing=hearing, room=room, guests=guests)

    server = await loop.create_server(
        meet,
        host,
        port,
        ssl=tls,
        ssl_handshake_timeout=None if tls is None else _HANDSHAKE_SECONDS,
        ssl_shutdown_timeout=None if tls is None else _SHUTDOWN_SECONDS,
        backlog=_BACKLOG,
        reuse_port=share_port or None,
    )
    rounds = loop.create_task(guests.look_after(), name="silent clients")
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        rounds.cancel()
        await guests.say_goodbye()


class _Guests:
    """Everybody who is connected, until the connection is gone."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._present: set[Conversation] = set()
        self._is_closed = False

    def arrived(self, talk: Conversation) -> asyncio.Task[None] | None:
        """Not in a group of tasks: what breaks one is no reason to end the others."""
        if self._is_closed:
            return None
        self._present.add(talk)
        return self._loop.create_task(talk.converse(), name="conversation")

    def left(self, talk: Conversation) -> None:
        self._present.discard(talk)

    async def look_after(self) -> None:
        """Now and then, let those go who have had nothing to ask for too long."""
        while True:
            await asyncio.wait([self._loop.create_future()], timeout=ROUND_SECONDS)
            for talk in self._present:
                if talk.is_silent:
                    talk.rounds_in_silence += 1
                    if talk.rounds_in_silence >= SILENT_ROUNDS:
                        talk.end()

    async def say_goodbye(self) -> None:
        """Let those who are about to answer do so, and end all others."""
        self._is_closed = True
        for talk in list(self._present):
            talk.end()
        await self._talked(self._present)
        rest = list(self._present)
        for talk in rest:
            talk.cut()
        await self._talked(rest)

    @staticmethod
    async def _talked(talks: Iterable[Conversation]) -> None:
        # Not for ever: a handler may not let itself be cancelled.
        tasks = [talk.task for talk in talks if talk.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=END_SECONDS)
