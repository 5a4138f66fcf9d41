"""A transport to a real API server that records an actor's mutating requests.

A test can cut the transport; then, all further requests fail.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from steersman.clock import Clock
from steersman.errors import Unreachable
from steersman.wire import Request, Response, Transport
from steersman_cluster.simulation import History

_MUTATING: Final = frozenset(("POST", "PUT", "PATCH", "DELETE"))

# Larger than any object that an API server accepts.
_LIMIT_BYTES: Final = 16 * 1024 * 1024


class _Metadata(msgspec.Struct, frozen=True):
    resource_version: str = msgspec.field(name="resourceVersion", default="")


class _ResponseBody(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class RecordingTransport:
    """A transport that records an actor's mutating requests, and which ones had an effect.

    While ``is_cut`` is true, every request fails.
    """

    def __init__(self, inner: Transport, *, actor: str, history: History, clock: Clock) -> None:
        self.is_cut = False
        self._inner = inner
        self._actor = actor
        self._history = history
        self._clock = clock
        self._began_at = clock.monotonic()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send ``request``."""
        self._check(request)
        if request.method not in _MUTATING:
            async with self._inner.open(request) as response:
                yield response
            return
        before = await self._revision()
        self._check(request)
        async with self._inner.open(request) as response:
            body = await response.read(limit_bytes=_LIMIT_BYTES)
            self._history.record(
                self._clock.monotonic() - self._began_at,
                self._actor,
                request,
                status=response.status,
                is_change=response.status < 300
                and (request.method == "DELETE" or _version(body) > before),
            )
            self._check(request)
            yield _Read(response, body)

    def _check(self, request: Request) -> None:
        if self.is_cut:
            raise Unreachable(f"{request.method} {request.path}: {self._actor} is dead")

    async def _revision(self) -> int:
        """Return the store's current revision; later changes have a newer one."""
        # Of a kind with hardly any objects.
        request = Request(method="GET", path="/api/v1/persistentvolumes", query=(("limit", "1"),))
        async with self._inner.open(request) as response:
            return _version(await response.read(limit_bytes=_LIMIT_BYTES))


class _Read:
    """A response whose body has been read already."""

    def __init__(self, inner: Response, body: bytes) -> None:
        self._inner = inner
        self._body = body

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._inner.headers

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._inner.warnings

    async def read(self, *, limit_bytes: int) -> bytes:
        if len(self._body) > limit_bytes:
            raise ValueError(f"the body is longer than {limit_bytes} bytes")
        return self._body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body


def _version(body: bytes) -> int:
    try:
        version = msgspec.json.decode(body, type=_ResponseBody).metadata.resource_version
    except msgspec.MsgspecError:
        return 0
    return int(version) if version.isdecimal() else 0
