"""One client's connection to a listener: its requests, one after the other, and their replies."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from hashlib import sha256
from typing import Any, Final, cast

from steersman.wire.hearing import Heard, Hearing
from steersman.wire.messages import ClientCertificate, Handler, Reply
from steersman.wire.replies import CONTINUE, LAST_CHUNK, chunk, has_body, refusal, reply_head

# A connection that ends while its client still talks takes with it what the client was told: who
# has said too much gets as long to hear it.
PARTING_SECONDS: Final = 2.0


class Conversation(asyncio.BufferedProtocol):
    """Hands each request to ``handler`` once it is whole, and sends the reply before the next.

    What comes is put into ``room``, which all conversations of a loop can share. ``begin`` starts
    the task in which it ``converse``s. Who goes away has that cancelled: a watch would go on for
    nobody.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        hearing: Hearing,
        room: memoryview,
        begin: "Callable[[Conversation], asyncio.Task[None]]",
    ) -> None:
        self._handler = handler
        self._hearing = hearing
        self._room = room
        self._begin = begin
        self._transport: asyncio.Transport | None = None
        self._certificate: ClientCertificate | None = None
        self._task: asyncio.Task[None] | None = None
        self._change: asyncio.Future[None] | None = None
        self._is_answering = False
        self._is_streaming = False
        self._is_full = False  # nothing more can be written for now

    async def converse(self) -> None:
        """Answer, until the client leaves or has been told to."""
        hearing = self._hearing
        try:
            while (heard := await self._next()) is not None:
                self._is_answering = True
                is_last = await self._answer(heard)
                self._is_answering = self._is_streaming = False
                if is_last:
                    break
            if hearing.refused is not None:
                self._write(refusal(hearing.refused))
            if hearing.is_cut_short:
                await self._part()
        finally:
            if self._transport is not None:
                self._transport.close()

    def end(self) -> None:
        """Answer who waits for it, but no more after that; a stream is cut."""
        self._hearing.is_over = True
        if self._is_streaming:
            self.cut()
        self._wake()

    def cut(self) -> None:
        """End it at once."""
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            self._transport.abort()

    # Answering

    async def _next(self) -> Heard | None:
        hearing = self._hearing
        while not hearing.requests:
            if hearing.is_over:
                return None
            await self._changed()
        heard = hearing.requests.popleft()
        if not hearing.requests and self._transport is not None:
            self._transport.resume_reading()
        return heard

    async def _answer(self, heard: Heard) -> bool:
        """Whether it was the last."""
        reply = await self._handler.handle(heard.request, certificate=self._certificate)
        if reply.stream is not None:
            return await self._stream(reply, heard)
        head = reply_head(reply, version=heard.version, is_last=heard.is_last)
        self._write(head + reply.body if has_body(reply.status, heard.request.method) else head)
        while self._is_full:
            await self._changed()
        return heard.is_last

    async def _stream(self, reply: Reply, heard: Heard) -> bool:
        assert reply.stream is not None  # noqa: S101 - that is why we are here
        is_chunked = heard.version != "1.0"
        is_last = heard.is_last or not is_chunked
        self._is_streaming = True
        async with aclosing(reply.stream) as pieces:
            self._write(reply_head(reply, version=heard.version, is_last=is_last))
            if not has_body(reply.status, heard.request.method):
                return is_last
            async for piece in pieces:
                if piece:
                    self._write(chunk(piece) if is_chunked else piece)
                while self._is_full:
                    await self._changed()
        if is_chunked:
            self._write(LAST_CHUNK)
        return is_last

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    async def _part(self) -> None:
        """Wait for the client to leave, which cancels this, but not for long."""
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=PARTING_SECONDS)

    async def _changed(self) -> None:
        """Wait until something has changed."""
        self._change = asyncio.get_running_loop().create_future()
        try:
            await self._change
        finally:
            self._change = None

    def _wake(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._certificate = certificate_of(transport)
        self._task = self._begin(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - all there is
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        hearing = self._hearing
        hearing.feed(self._room[:nbytes])
        if len(hearing.requests) + self._is_answering > 1 and self._transport is not None:
            # One at a time: who sends more has to wait.
            self._transport.pause_reading()
        if hearing.is_waiting and not hearing.requests and not self._is_answering:
            hearing.is_waiting = False
            self._write(CONTINUE)
        self._wake()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - nobody is told why
        self._transport = None
        if self._task is not None:
            self._task.cancel()


def certificate_of(transport: asyncio.BaseTransport) -> ClientCertificate | None:
    """What the client has shown of itself, if it was asked to."""
    shown: Any = transport.get_extra_info("peercert")
    if not shown:
        return None
    names = [pair for part in shown["subject"] for pair in part]
    whole = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return ClientCertificate(
        # Of several the last, as Go has it: two servers must not see two users.
        common_name=next((value for key, value in reversed(names) if key == "commonName"), ""),
        organizations=tuple(value for key, value in names if key == "organizationName"),
        fingerprint=sha256(whole).hexdigest(),
    )
