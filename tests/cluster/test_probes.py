"""Probes and metrics on real sockets, beside informers of the embedded server."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from steersman.cache import Informer
from steersman.client import Client
from steersman.clock import SystemClock
from steersman.errors import ManagerFailed
from steersman.kinds import core_v1
from steersman.manager.endpoints.listener import serving
from steersman.manager.endpoints.metrics_access import metrics_endpoint
from steersman.manager.endpoints.probes import Check, Routes, metrics_pages, probe_pages
from steersman.manager.settings.address import ListenAddress
from steersman.manager.settings.manager_settings import ManagerSettings
from steersman.observe import Listening, MetricsObserver, Observation, ignore, new_registry
from steersman.wire import NetworkTransport, Request
from steersman_cluster.apiserver import InProcessTransport
from tests.embedded import TOKEN, EmbeddedServer

LOOPBACK = ListenAddress("127.0.0.1", 0)


async def ask(
    address: ListenAddress,
    path: str,
    *,
    method: str = "GET",
    token: str = "",
    secure: bool = False,
    query: tuple[tuple[str, str], ...] = (),
) -> tuple[int, str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    scheme = "https" if secure else "http"
    headers = (("Authorization", f"Bearer {token}"),) if token else ()
    async with (
        NetworkTransport(
            clock=SystemClock(),
            server=f"{scheme}://127.0.0.1:{address.port}",
            tls=lambda: context if secure else None,
        ) as transport,
        transport.open(Request(method=method, path=path, query=query, headers=headers)) as response,
    ):
        return response.status, (await response.read(limit_bytes=2**20)).decode()


@asynccontextmanager
async def probing(*checks: Check) -> AsyncIterator[ListenAddress]:
    handler = Routes(probe_pages(live=lambda: (), ready=lambda: checks), observe=ignore)
    async with serving(handler, LOOPBACK, tls=None, what="probes", observe=ignore) as address:
        yield address


async def test_the_readiness_probe_succeeds_once_the_caches_are_synced(client: Client) -> None:
    informer = Informer(client, core_v1.ConfigMap, observe=ignore)
    synced = Check("caches", lambda: None if informer.has_synced else "not synced")

    async with probing(synced) as address:
        before = await ask(address, "/readyz")
        async with informer.running():
            during = await ask(address, "/readyz")
        after = await ask(address, "/readyz")
        alive = await ask(address, "/livez")

    assert before == after == (503, "[-]caches failed\nreadyz check failed\n")
    assert during == alive == (200, "ok\n")


async def test_a_response_to_head_has_no_body() -> None:
    async with probing() as address:
        assert await ask(address, "/readyz", method="HEAD") == (200, "")


async def test_the_listening_address_is_reported_with_the_assigned_port() -> None:
    observed: list[Observation] = []
    handler = Routes({}, observe=observed.append)

    async with serving(
        handler, LOOPBACK, tls=None, what="probes", observe=observed.append
    ) as address:
        assert address.port != 0

    assert observed == [Listening(what="probes", address=f"http://127.0.0.1:{address.port}")]


async def test_the_error_for_a_port_in_use_says_what_to_do() -> None:
    async with probing() as address:
        with pytest.raises(ManagerFailed) as caught:
            async with serving(
                Routes({}, observe=ignore), address, tls=None, what="metrics", observe=ignore
            ):
                pass

    assert str(caught.value) == (
        f"cannot listen on {address} for metrics: another process already listens there. End it,"
        " or choose another --metrics-address; an empty one is off."
    )


async def test_an_error_in_the_block_is_raised_unchanged() -> None:
    with pytest.raises(OSError, match="mine"):
        async with probing():
            raise OSError("mine")


async def test_a_host_that_does_not_resolve_is_named() -> None:
    with pytest.raises(ManagerFailed, match=r"nowhere\.invalid:0 for probes: the host name"):
        async with serving(
            Routes({}, observe=ignore),
            ListenAddress("nowhere.invalid", 0),
            tls=None,
            what="probes",
            observe=ignore,
        ):
            pass


async def test_client_requests_are_in_the_metrics(api: EmbeddedServer) -> None:
    registry = new_registry()
    metrics = MetricsObserver(registry, clock=api.clock)
    transport = InProcessTransport(api.server)
    client = Client(transport, clock=api.clock, rng=Random(0), observe=metrics)
    await client.list(core_v1.Node)

    async with serving(
        Routes(metrics_pages(registry), observe=ignore),
        LOOPBACK,
        tls=None,
        what="metrics",
        observe=ignore,
    ) as address:
        status, text = await ask(address, "/metrics")

    assert status == 200
    assert 'steersman_client_requests_total{code="2xx",resource="nodes",verb="list"} 1.0' in text


async def test_exposed_metrics_require_a_token_and_https(
    client: Client,
) -> None:
    settings = ManagerSettings(metrics_address="0.0.0.0:0")
    assert settings.metrics is not None
    door = metrics_endpoint(
        new_registry(), settings, client=client, clock=SystemClock(), observe=ignore
    )

    async with serving(
        door.handler, settings.metrics, tls=door.tls, what="metrics", observe=ignore
    ) as address:
        admin = await ask(address, "/metrics", token=TOKEN, secure=True)
        anonymous = await ask(address, "/metrics", secure=True)
        stranger = await ask(address, "/metrics", token="made-up", secure=True)
        reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        plain = await reader.read()
        writer.close()

    assert admin[0] == 200
    assert "process_cpu_seconds_total" in admin[1]
    assert (anonymous, stranger) == ((401, "unauthorized\n"),) * 2
    assert b"200" not in plain
    assert b"process" not in plain
