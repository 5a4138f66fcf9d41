"""One client's connection to a listener: its requests, one after the other, and their replies."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from hashlib import sha256
from typing import Any, Final, Protocol, cast

from steersman.wire.hearing import Heard, Hearing
from steersman.wire.messages import ClientCertificate, Handler, Reply
from steersman.wire.replies import CONTINUE, LAST_CHUNK, chunk, has_body, refusal, reply_head
from steersman.wire.sockets import make_watchful

# A connection that ends while its client still talks takes with it what the client was told: who
# has said too much gets as long to hear it.
PARTING_SECONDS: Final = 1.0


class Guestbook(Protocol):
    """Who is there."""

    def arrived(self, talk: "Conversation") -> "asyncio.Task[None] | None":
        """A task in which it ``converse``s, unless nobody is received any more."""
        ...

    def left(self, talk: "Conversation") -> None:
        """It is over, connection and all."""
        ...


class Conversation(asyncio.BufferedProtocol):
    """Hands each request to ``handler`` once it is whole, and sends the reply before the next.

    What comes is put into ``room``, which all conversations of a loop can share. Who goes away has
    the task cancelled: a watch would go on for nobody.
    """

    def __init__(
        self, handler: Handler, *, hearing: Hearing, room: memoryview, guests: Guestbook
    ) -> None:
        self._handler = handler
        self._hearing = hearing
        self._room = room
        self._guests = guests
        self._transport: asyncio.Transport | None = None
        self._certificate: ClientCertificate | None = None
        self._change: asyncio.Future[None] | None = None
        self._is_answering = False
        self._has_begun = False  # to send the answer
        self._is_streaming = False
        self._is_full = False  # nothing more can be written for now
        self.task: asyncio.Task[None] | None = None
        self.rounds_in_silence = 0  # for whoever looks now and then

    @property
    def is_silent(self) -> bool:
        """Whether nothing is being answered."""
        return not self._is_answering

    async def converse(self) -> None:
        """Answer, until the client leaves or has been told to."""
        hearing = self._hearing
        try:
            is_last = False
            while not is_last and (heard := await self._next()) is not None:
                is_last = await self._answer(heard)
                del heard  # it may be long until the next
            if hearing.refused is not None and not is_last:
                self._write(refusal(hearing.refused))
                await self._part()
            elif hearing.is_cut_short:
                await self._part()
        except Exception:
            # A fault of the handler's or of a stream's, which is for those who run it to see.
            if self._is_answering and not self._has_begun:
                self._write(refusal(500))
            raise
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
        self._cancel()
        if self._transport is not None:
            self._transport.abort()

    # Answering

    async def _next(self) -> Heard | None:
        hearing = self._hearing
        while not hearing.requests:
            if hearing.is_over:
                return None
            if hearing.is_waiting:
                hearing.is_waiting = False
                self._write(CONTINUE)
            await self._changed()
        heard = hearing.requests.popleft()
        if not hearing.requests and self._transport is not None:
            self._transport.resume_reading()
        return heard

    async def _answer(self, heard: Heard) -> bool:
        """Whether it was the last."""
        self._is_answering = True
        reply = await self._handler.handle(heard.request, certificate=self._certificate)
        if reply.stream is None:
            is_last = heard.is_last or self._is_ending
            head = reply_head(reply, version=heard.version, is_last=is_last)
            self._write(head + reply.body if has_body(reply.status, heard.request.method) else head)
            while self._is_full:
                await self._changed()
        else:
            is_last = await self._stream(reply, reply.stream, heard)
        self._is_answering = self._has_begun = self._is_streaming = False
        self.rounds_in_silence = 0
        return is_last

    async def _stream(
        self, reply: Reply, stream: AsyncGenerator[bytes, None], heard: Heard
    ) -> bool:
        self._is_streaming = True
        self._listen_for_the_end()
        is_chunked = heard.version != "1.0"
        is_last = heard.is_last or not is_chunked or self._is_ending
        async with aclosing(stream) as pieces:
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
        return is_last or self._is_ending

    @property
    def _is_ending(self) -> bool:
        """Whether there is nothing to be said after this."""
        hearing = self._hearing
        return hearing.is_over and not hearing.requests and hearing.refused is None

    def _listen_for_the_end(self) -> None:
        """Of what comes behind a stream, only whether the client has gone away is heard."""
        hearing = self._hearing
        if hearing.requests:
            hearing.requests.clear()
            hearing.is_over = True
            if self._transport is not None:
                self._transport.resume_reading()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._has_begun = True
            self._transport.write(data)

    async def _part(self) -> None:
        """Wait for the client to leave, which cancels this, but not for long."""
        if self._transport is not None and self._transport.can_write_eof():
            self._transport.write_eof()
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

    def _cancel(self) -> None:
        # Once: a second time would end what is done because of the first.
        if self.task is not None and not self.task.cancelling():
            self.task.cancel()

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.task = self._guests.arrived(self)
        if self.task is None:
            self._transport.abort()
            return
        make_watchful(transport.get_extra_info("socket"))
        self._certificate = certificate_of(transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - all there is
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        hearing = self._hearing
        hearing.feed(self._room[:nbytes])
        if self._is_streaming:
            self._listen_for_the_end()
        elif len(hearing.requests) + self._is_answering > 1 and self._transport is not None:
            # One at a time: who sends more has to wait.
            self._transport.pause_reading()
        self._wake()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - nobody is told why
        self._transport = None
        self._guests.left(self)
        if self.task is not None and not self.task.done():
            self._cancel()


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
