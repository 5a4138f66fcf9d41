"""The HTTP listener: requests from sockets to a handler, and its replies back."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from steersman.wire.conversation import Conversation
from steersman.wire.hearing import Hearing
from steersman.wire.messages import Handler

# For whoever has begun to answer when the listener ends; a stream never would, and is cut at once.
END_SECONDS: Final = 0.5

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
    room = memoryview(bytearray(_RECEIVED_BYTES))
    talks: dict[asyncio.Task[None], Conversation] = {}

    def begin(conversation: Conversation) -> asyncio.Task[None]:
        # Not in a group: what breaks one is no reason to end the others.
        task = loop.create_task(conversation.converse(), name="conversation")
        talks[task] = conversation
        task.add_done_callback(talks.pop)
        return task

    def meet() -> Conversation:
        hearing = Hearing(largest_body=largest_body)
        return Conversation(handler, hearing=hearing, room=room, begin=begin)

    server = await loop.create_server(
        meet, host, port, ssl=tls, backlog=_BACKLOG, reuse_port=share_port or None
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await _end(talks)


async def _end(talks: dict[asyncio.Task[None], Conversation]) -> None:
    """Let those who are about to answer do so, and end all others."""
    for talk in talks.values():
        talk.end()
    if talks:
        await asyncio.wait(list(talks), timeout=END_SECONDS)
    for talk in talks.values():
        talk.cut()
    if talks:
        await asyncio.wait(list(talks))
