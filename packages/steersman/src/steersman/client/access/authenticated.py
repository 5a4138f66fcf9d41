"""A transport that adds credentials to every request."""

import sys
from contextlib import AbstractAsyncContextManager
from types import TracebackType

import msgspec

from steersman.client.access.credentials import Credentials, RequestCredentials
from steersman.client.access.impersonation import Impersonation
from steersman.wire import Request, Response, Transport

_UNAUTHORIZED = 401


class AuthenticatedTransport:
    """A transport that adds ``credentials`` to each request before ``inner`` sends the request.

    A request with a 401 response was not carried out: the credentials are then renewed, and the
    request is sent once more. The headers of ``impersonate`` are left out if a request already
    contains impersonation headers.
    """

    def __init__(
        self,
        inner: Transport,
        *,
        credentials: Credentials,
        impersonate: Impersonation | None = None,
    ) -> None:
        self._inner = inner
        self._credentials = credentials
        self._acting_as = impersonate.headers() if impersonate else ()

    def open(self, request: Request) -> "_Exchange":
        """Send ``request`` with the credentials and impersonation headers of this transport."""
        headers = request.headers
        if self._acting_as and all(name != "Impersonate-User" for name, _ in headers):
            headers += self._acting_as
        return _Exchange(request, headers, self._inner, self._credentials)

    def __repr__(self) -> str:
        return f"<AuthenticatedTransport over {self._inner!r}>"


class _Exchange:
    """A context manager for one request; a class, because a generator would cost more time."""

    __slots__ = ("_credentials", "_headers", "_held", "_inner", "_request")

    def __init__(
        self,
        request: Request,
        headers: tuple[tuple[str, str], ...],
        inner: Transport,
        credentials: Credentials,
    ) -> None:
        self._request = request
        self._headers = headers
        self._inner = inner
        self._credentials = credentials
        self._held: AbstractAsyncContextManager[Response] | None = None

    async def __aenter__(self) -> Response:
        # ``for_request`` costs a second coroutine; most requests do not need it.
        current = self._credentials.fresh_for_request() or await self._credentials.for_request()
        held = self._with(current)
        response = await held.__aenter__()
        self._held = held
        if response.status == _UNAUTHORIZED and await self._is_renewed(current):
            await self.__aexit__(None, None, None)
            held = self._with(await self._credentials.for_request())
            response = await held.__aenter__()
            self._held = held
        return response

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        held, self._held = self._held, None
        return await held.__aexit__(kind, error, traceback) if held else None

    def _with(self, current: RequestCredentials) -> AbstractAsyncContextManager[Response]:
        headers = self._headers + current.headers
        return self._inner.open(msgspec.structs.replace(self._request, headers=headers))

    async def _is_renewed(self, rejected: RequestCredentials) -> bool:
        try:
            return await self._credentials.renew(rejected)
        except BaseException:
            # The block is never entered, so its exit would not return the connection.
            await self.__aexit__(*sys.exc_info())
            raise
