"""A client transport to a server in the same process.

It uses no sockets, no threads and no HTTP encoding.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType

from steersman.wire import CertificateIdentity, Reply, Request, RequestHandler, Response
from steersman_cluster.apiserver.request.negotiation import header


class InProcessTransport:
    """A client transport that passes requests to ``handler``, a server in the same process.

    Requests without a token are sent with a client certificate of ``user`` in ``groups``.
    """

    def __init__(
        self,
        handler: RequestHandler,
        *,
        user: str = "admin",
        groups: tuple[str, ...] = ("system:masters",),
    ) -> None:
        self._handler = handler
        self._certificate = CertificateIdentity(common_name=user, organizations=groups)

    def open(self, request: Request) -> AbstractAsyncContextManager[Response]:
        """Send ``request``; the response's stream is closed at the end of the ``with`` block."""
        own = header(request, "Authorization")
        return _Exchange(self._handler, request, None if own else self._certificate)


class _Exchange:
    """A context manager for a request and its response.

    It is a class, because a context manager made from a generator would take more time.
    """

    __slots__ = ("_certificate", "_handler", "_request", "_stream")

    def __init__(
        self, handler: RequestHandler, request: Request, certificate: CertificateIdentity | None
    ) -> None:
        self._handler = handler
        self._request = request
        self._certificate = certificate
        self._stream: AsyncGenerator[bytes, None] | None = None

    async def __aenter__(self) -> Response:
        request = self._request
        if request.guard is not None:
            request.guard()
        reply = await self._handler.handle(request, certificate=self._certificate)
        self._stream = reply.stream
        return _InProcessResponse(reply)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._stream is not None:
            await self._stream.aclose()


class _InProcessResponse:
    """A reply with the interface of a client's response."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.status = reply.status

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
                raise ValueError(f"the response is longer than {limit_bytes} bytes")
            pieces.append(piece)
        return b"".join(pieces)

    def chunks(self) -> AsyncGenerator[bytes, None]:
        # The stream itself: a generator in between would cost time at every event.
        return self._reply.stream or self._whole()

    async def _whole(self) -> AsyncGenerator[bytes, None]:
        if self._reply.body:
            yield self._reply.body
