"""A transport between a client and a server that changes or delays requests."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace as changed
from random import Random

import msgspec

from steersman.client import AuthenticatedTransport, Client, ClusterConfig, find_config
from steersman.client.access import ConfiguredCredentials
from steersman.clock import SystemClock
from steersman.observe import Observer
from steersman.wire import NetworkTransport, Request, Response, Transport
from steersman_cluster.testing import ControlPlane
from tests.real.running_informers import FastClock


class InterceptingTransport:
    """Sends requests, and can replace a watch request or delay the pages of a list."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._replacement: Callable[[Request], Request] | None = None
        self._pages_released = asyncio.Event()
        self._pages_released.set()
        self.page_requested = asyncio.Event()

    def change_next_watch(self, into: Callable[[Request], Request]) -> None:
        """Replace the next watch request by ``into(request)``."""
        self._replacement = into

    def block_pages(self) -> None:
        """Block requests for further pages of a list; set ``page_requested`` at the first."""
        self.page_requested.clear()
        self._pages_released.clear()

    def release_pages(self) -> None:
        """Send the blocked requests."""
        self._pages_released.set()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send ``request`` or its replacement, after ``release_pages`` if pages are blocked."""
        query = dict(request.query)
        if "continue" in query:
            self.page_requested.set()
            await self._pages_released.wait()
        if "watch" in query and self._replacement is not None:
            request, self._replacement = self._replacement(request), None
        async with self._inner.open(request) as response:
            yield response


def watch_from_version_1(request: Request) -> Request:
    """The same watch from version 1: a real server sends a 410 in the stream."""
    return msgspec.structs.replace(request, query=(*_without(request, "resourceVersion"), _FIRST))


def list_at_version_1(request: Request) -> Request:
    """A list at version 1: a real server responds with status 410."""
    query_without_version = _without(
        request, "resourceVersion", "watch", "allowWatchBookmarks", "timeoutSeconds"
    )
    query = (*query_without_version, _FIRST, ("resourceVersionMatch", "Exact"), ("limit", "1"))
    return msgspec.structs.replace(request, query=query)


_FIRST = ("resourceVersion", "1")


def _without(request: Request, *names: str) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in request.query if pair[0] not in names)


@asynccontextmanager
async def intercepted(
    cluster: ControlPlane, *, server: str, observe: Observer
) -> AsyncIterator[tuple[Client, InterceptingTransport]]:
    """A client of the cluster as its admin, and its transport."""
    clock = FastClock()
    config: ClusterConfig = changed(
        find_config(
            environ={}, home=cluster.directory, kubeconfig=cluster.kubeconfig, observe=observe
        ),
        server=server,
    )
    credentials = ConfiguredCredentials(config, clock=clock, observe=observe)
    async with NetworkTransport(clock=SystemClock(), server=server, tls=credentials.tls) as network:
        transport = InterceptingTransport(AuthenticatedTransport(network, credentials=credentials))
        yield Client(transport, clock=clock, rng=Random(0), observe=observe), transport
