"""A proxy in front of a real API server that behaves like a broken or hostile server."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random

from steersman.cache import InformerSettings
from steersman.client import find_config, open_transport
from steersman.clock import SystemClock
from steersman.manager import Manager, ManagerEnvironment, ManagerSettings
from steersman.observe import ignore
from steersman.wire import (
    CertificateIdentity,
    NetworkTransport,
    Reply,
    Request,
    Transport,
    listening,
)
from steersman_cluster.testing import ControlPlane
from tests.real.recording_observer import RecordingObserver

MAX_BYTES = 2**30


class FaultProxy:
    """Passes requests on as the cluster's admin, unless the test wants something else.

    ``answer`` gives a reply in the server's place, or none. ``garble`` changes the pieces of
    watches. While it ``hangs``, nothing is answered and no watch says anything.
    """

    def __init__(self, server: Transport) -> None:
        self._server = server
        self.port = 0
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Reply | None] = lambda _: None
        self.garble: Callable[[bytes], bytes] = bytes
        self.hangs = False

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        """Answer one request."""
        self.requests.append(request)
        if self.hangs:
            await asyncio.Event().wait()
        if (reply := self.answer(request)) is not None:
            return reply
        kept = [each for each in request.headers if each[0].lower() in ("accept", "content-type")]
        onward = Request(
            method=request.method,
            path=request.path,
            query=request.query,
            headers=tuple(kept),
            body=request.body,
        )
        if ("watch", "true") in request.query:
            return Reply(status=200, headers=_JSON, stream=self._watch(onward))
        async with self._server.open(onward) as response:
            body = await response.read(limit_bytes=MAX_BYTES)
            return Reply(status=response.status, headers=_JSON, body=body)

    async def _watch(self, request: Request) -> AsyncGenerator[bytes, None]:
        async with self._server.open(request) as response:
            async for piece in response.chunks():
                if self.hangs:
                    await asyncio.Event().wait()
                yield self.garble(piece)


_JSON = (("Content-Type", "application/json"),)


@asynccontextmanager
async def fault_proxy(cluster: ControlPlane) -> AsyncIterator[FaultProxy]:
    """A proxy to the cluster, while the block runs."""
    config = find_config(
        environ={}, home=cluster.directory, kubeconfig=cluster.kubeconfig, observe=ignore
    )
    async with open_transport(config, clock=SystemClock(), observe=ignore) as server:
        proxy = FaultProxy(server)
        async with listening(
            proxy, host="127.0.0.1", port=0, tls=None, max_body_bytes=MAX_BYTES
        ) as proxy.port:
            yield proxy


class Operated:
    """An operator that runs behind a proxy, and what it observes."""

    def __init__(self, proxy: FaultProxy, namespace: str) -> None:
        self._proxy = proxy
        self._namespace = namespace
        self.seen = RecordingObserver()
        self.stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def _reach(self) -> AsyncIterator[Transport]:
        async with NetworkTransport(
            server=self._proxy.url, tls=lambda: None, clock=SystemClock()
        ) as transport:
            yield transport

    async def run(self, manager: Manager, settings: ManagerSettings) -> None:
        """Operate until stopped."""
        environment = ManagerEnvironment(
            connect=self._reach,
            namespace=self._namespace,
            hostname="here",
            server=self._proxy.url,
            clock=SystemClock(),
            rng=Random(0),
            observe=self.seen,
        )
        await manager.operate(environment, settings=settings, stop=self.stop)


@asynccontextmanager
async def operated(
    proxy: FaultProxy,
    namespace: str,
    *controllers: object,
    informers: InformerSettings | None = None,
    **settings: object,
) -> AsyncIterator[Operated]:
    """An operator behind the proxy, while the block runs."""
    operator = Operated(proxy, namespace)
    manager = Manager(controllers=controllers, informers=informers)  # type: ignore[arg-type]
    given = {"metrics_address": "", "namespaces": (namespace,), "grace_seconds": 2.0, **settings}
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.run(manager, ManagerSettings(**given)))  # type: ignore[arg-type]
        try:
            yield operator
        finally:
            operator.stop.set_result("test")
