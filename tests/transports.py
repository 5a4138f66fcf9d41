"""A transport that returns the responses of a script, and records the requests."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from steersman.wire import Request

# Bytes are received, an exception is raised, and a function is awaited.
Piece: TypeAlias = bytes | Exception | Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeResponse:
    """A response: a status, headers by lower-case name, and a body in pieces."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()
    body: bytes | Iterable[Piece] = b""
    # Awaited before the response starts.
    after: Callable[[], Awaitable[object]] | None = None


Scripted: TypeAlias = FakeResponse | Exception


def json_response(body: object, **rest: Any) -> FakeResponse:
    """A response with this body, as JSON."""
    return FakeResponse(body=msgspec.json.encode(body), **rest)


def error_response(
    code: int, reason: str = "", message: str = "because", **rest: Any
) -> FakeResponse:
    """A response with the Status of an error, as an API server sends it."""
    status = {
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
        "details": rest.pop("details", {}),
    }
    return json_response(status, status=code, **rest)


class ScriptedTransport:
    """Returns the responses of its script in order, or those of a function."""

    def __init__(
        self, *script: Scripted, respond: Callable[[Request], Scripted] | None = None
    ) -> None:
        self._script = list(script)
        self._respond = respond or self._next
        self.requests: list[Request] = []
        self.open_responses = 0

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator["ScriptedResponse"]:
        self.requests.append(request)
        response = self._respond(request)
        if isinstance(response, Exception):
            raise response
        self.open_responses += 1
        try:
            if response.after is not None:
                await response.after()
            yield ScriptedResponse(response)
        finally:
            self.open_responses -= 1

    @property
    def sent(self) -> list[str]:
        """The requests so far, as ``GET /path?query``."""
        return [f"{request.method} {request.target}" for request in self.requests]

    def _next(self, request: Request) -> Scripted:
        assert self._script, f"unexpected request {request}"
        return self._script.pop(0)


class ScriptedResponse:
    """A response of the script."""

    def __init__(self, response: FakeResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.warnings = response.warnings
        self._pieces = [response.body] if isinstance(response.body, bytes) else response.body

    async def read(self, *, limit_bytes: int) -> bytes:
        body = b""
        async for chunk in self.chunks():
            body += chunk
            if len(body) > limit_bytes:
                raise ValueError(f"the body is longer than {limit_bytes} bytes")
        return body

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, bytes):
                yield piece
            elif isinstance(piece, Exception):
                raise piece
            else:
                await piece()
