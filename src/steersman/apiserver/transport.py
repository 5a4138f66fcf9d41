"""A transport to a server in the same process: no sockets, no threads, no encoding of HTTP."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager

from steersman.apiserver.asking.negotiating import header
from steersman.wire import ClientCertificate, Handler, Reply, Request, Response


class InProcessTransport:
    """Hands requests to a handler as somebody, unless they bring a token of their own."""

    def __init__(
        self,
        handler: Handler,
        *,
        user: str = "admin",
        groups: tuple[str, ...] = ("system:masters",),
    ) -> None:
        self._handler = handler
        self._certificate = ClientCertificate(common_name=user, organizations=groups)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Have ``request`` answered."""
        own = header(request, "authorization")
        if request.guard is not None:
            request.guard()
        reply = await self._handler.handle(request, certificate=None if own else self._certificate)
        try:
            yield _Answered(reply)
        finally:
            if reply.stream is not None:
                await reply.stream.aclose()


class _Answered:
    """A reply, as the one who asked sees it."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    @property
    def status(self) -> int:
        return self._reply.status

    @property
    def headers(self) -> Mapping[str, str]:
        return dict(self._reply.headers)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(value for name, value in self._reply.headers if name == "warning")

    async def read(self, *, limit_bytes: int) -> bytes:
        body = self._reply.body
        if self._reply.stream is None and len(body) <= limit_bytes:
            return body
        pieces, size = [], 0
        async for piece in self.chunks():
            size += len(piece)
            if size > limit_bytes:
                raise ValueError(f"the answer is longer than {limit_bytes} bytes")
            pieces.append(piece)
        return b"".join(pieces)

    def chunks(self) -> AsyncGenerator[bytes, None]:
        # The stream itself: each generator that passes pieces on takes time at every event.
        return self._reply.stream or self._whole()

    async def _whole(self) -> AsyncGenerator[bytes, None]:
        if self._reply.body:
            yield self._reply.body
