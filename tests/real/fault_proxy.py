"""An HTTP proxy to an API server that injects faults."""

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
    """Forwards requests as the cluster's admin, unless a test injects a fault.

    ``answer`` returns a reply instead of the server's, or None. ``transform_watch`` changes the
    chunks of watches. While ``hangs`` is true, requests get no response, and watches no events.
    """

    def __init__(self, server: Transport) -> None:
        self._server = server
        self.port = 0
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Reply | None] = lambda _: None
        self.transform_watch: Callable[[bytes], bytes] = bytes
        self.hangs = False

    @property
    def url(self) -> str:
        """The address of the proxy."""
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        """Answer one request."""
        self.requests.append(request)
        if self.hangs:
            await asyncio.Event().wait()
        if (reply := self.answer(request)) is not None:
            return reply
        headers = [
            each for each in request.headers if each[0].lower() in ("accept", "content-type")
        ]
        forwarded = Request(
            method=request.method,
            path=request.path,
            query=request.query,
            headers=tuple(headers),
            body=request.body,
        )
        if ("watch", "true") in request.query:
            return Reply(status=200, headers=_JSON, stream=self._watch(forwarded))
        async with self._server.open(forwarded) as response:
            body = await response.read(limit_bytes=MAX_BYTES)
            return Reply(status=response.status, headers=_JSON, body=body)

    async def _watch(self, request: Request) -> AsyncGenerator[bytes, None]:
        async with self._server.open(request) as response:
            async for chunk in response.chunks():
                if self.hangs:
                    await asyncio.Event().wait()
                yield self.transform_watch(chunk)


_JSON = (("Content-Type", "application/json"),)


@asynccontextmanager
async def fault_proxy(cluster: ControlPlane) -> AsyncIterator[FaultProxy]:
    """A proxy to the cluster, during the block."""
    config = find_config(
        environ={}, home=cluster.directory, kubeconfig=cluster.kubeconfig, observe=ignore
    )
    async with open_transport(config, clock=SystemClock(), observe=ignore) as server:
        proxy = FaultProxy(server)
        async with listening(
            proxy, host="127.0.0.1", port=0, tls=None, max_body_bytes=MAX_BYTES
        ) as proxy.port:
            yield proxy


class ProxiedOperator:
    """An operator behind a proxy, and its observations."""

    def __init__(self, proxy: FaultProxy, namespace: str) -> None:
        self._proxy = proxy
        self._namespace = namespace
        self.seen = RecordingObserver()
        self.stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[Transport]:
        async with NetworkTransport(
            server=self._proxy.url, tls=lambda: None, clock=SystemClock()
        ) as transport:
            yield transport

    async def run(self, manager: Manager, settings: ManagerSettings) -> None:
        """Run until ``stop`` is set."""
        environment = ManagerEnvironment(
            connect=self._connect,
            namespace=self._namespace,
            hostname="localhost",
            server=self._proxy.url,
            clock=SystemClock(),
            rng=Random(0),
            observe=self.seen,
        )
        await manager.operate(environment, settings=settings, stop=self.stop)


@asynccontextmanager
async def running_operator(
    proxy: FaultProxy,
    namespace: str,
    *controllers: object,
    informers: InformerSettings | None = None,
    **settings: object,
) -> AsyncIterator[ProxiedOperator]:
    """An operator that runs behind the proxy during the block."""
    operator = ProxiedOperator(proxy, namespace)
    manager = Manager(controllers=controllers, informers=informers)  # type: ignore[arg-type]
    chosen = {"metrics_address": "", "namespaces": (namespace,), "grace_seconds": 2.0, **settings}
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.run(manager, ManagerSettings(**chosen)))  # type: ignore[arg-type]
        try:
            yield operator
        finally:
            operator.stop.set_result("test")
