"""Exposed metrics, for accounts with and without the permission to read them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from steersman.client import Client
from steersman.clock import SystemClock
from steersman.kinds import authorization_v1, meta_v1, rbac_v1
from steersman.manager.endpoints.listener import serving
from steersman.manager.endpoints.metrics_access import metrics_endpoint
from steersman.manager.settings.manager_settings import ManagerSettings
from steersman.observe import ignore, new_registry
from steersman.wire import NetworkTransport, Request, TlsSettings, tls_context
from steersman_cluster.testing import ControlPlane
from tests.certificates import Authority
from tests.real.clients import connected
from tests.real.relay import relay_to
from tests.real.rights import GROUP, new_account, token_for

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.05


class Scraper:
    """An HTTPS client of the metrics endpoint that trusts one certificate authority."""

    def __init__(self, port: int, authority: Authority) -> None:
        self._server = f"https://{LOOPBACK}:{port}"
        self._tls = tls_context(TlsSettings(ca_data=authority.certificate), source="test")

    async def scrape(self, token: str | None) -> tuple[int, str]:
        headers = (("Authorization", f"Bearer {token}"),) if token else ()
        request = Request(method="GET", path="/metrics", headers=headers)
        async with (
            NetworkTransport(
                clock=SystemClock(), server=self._server, tls=lambda: self._tls
            ) as transport,
            transport.open(request) as response,
        ):
            return response.status, (await response.read(limit_bytes=2**20)).decode()

    async def status(self, token: str | None) -> int:
        return (await self.scrape(token))[0]


@asynccontextmanager
async def exposed(client: Client, directory: Path) -> AsyncIterator[Scraper]:
    """Expose the metrics of an operator on all addresses."""
    authority = Authority()
    pair = authority.server(LOOPBACK)
    settings = ManagerSettings(
        metrics_address="0.0.0.0:0",
        tls_cert_file=directory / "tls.crt",
        tls_key_file=directory / "tls.key",
    )
    (directory / "tls.crt").write_bytes(pair.certificate)
    (directory / "tls.key").write_bytes(pair.key)
    assert settings.metrics is not None
    endpoint = metrics_endpoint(
        new_registry(),
        settings,
        client=client,
        clock=SystemClock(),
        observe=ignore,
    )
    async with serving(
        endpoint.handler, settings.metrics, tls=endpoint.tls, what="metrics", observe=ignore
    ) as address:
        yield Scraper(address.port, authority)


async def allow_metrics(client: Client, namespace: str, account: str) -> None:
    """Let an account read metrics; kube-apiserver's RBAC cache is updated with a delay."""
    meta = meta_v1.ObjectMeta(name=f"{namespace}-{account}-metrics")
    rule = rbac_v1.PolicyRule(non_resource_urls=("/metrics",), verbs=("get",))
    await client.create(rbac_v1.ClusterRole(metadata=meta, rules=(rule,)))
    await client.create(
        rbac_v1.ClusterRoleBinding(
            metadata=meta,
            role_ref=rbac_v1.RoleRef(api_group=GROUP, kind="ClusterRole", name=meta.name or ""),
            subjects=(rbac_v1.Subject(kind="ServiceAccount", name=account, namespace=namespace),),
        )
    )
    while not await may_read_metrics(client, f"system:serviceaccount:{namespace}:{account}"):
        await client.clock.sleep(POLL_SECONDS)


async def may_read_metrics(client: Client, user: str) -> bool:
    wanted = authorization_v1.NonResourceAttributes(path="/metrics", verb="get")
    spec = authorization_v1.SubjectAccessReviewSpec(user=user, non_resource_attributes=wanted)
    review = await client.create(authorization_v1.SubjectAccessReview(spec=spec))
    return review.status is not None and review.status.allowed


@pytest.fixture
async def scraper(client: Client, tmp_path: Path) -> AsyncIterator[Scraper]:
    async with exposed(client, tmp_path) as scraper:
        yield scraper


async def test_an_account_with_permission_reads_the_metrics(
    client: Client, namespace: str, scraper: Scraper
) -> None:
    token = await new_account(client, namespace, "prometheus")
    await allow_metrics(client, namespace, "prometheus")

    status, text = await scraper.scrape(token)

    assert status == 200
    assert "process_cpu_seconds_total" in text


async def test_an_account_without_permission_is_forbidden(
    client: Client, namespace: str, scraper: Scraper
) -> None:
    token = await new_account(client, namespace, "unprivileged")

    assert await scraper.scrape(token) == (403, "forbidden\n")


async def test_a_client_without_a_token_of_the_cluster_is_rejected(
    client: Client, namespace: str, scraper: Scraper
) -> None:
    token = await new_account(client, namespace, "prometheus")
    await allow_metrics(client, namespace, "prometheus")
    head, claims, signature = token.split(".")

    assert await scraper.status(None) == 401
    assert await scraper.status("made-up") == 401
    assert await scraper.status(f"{head}.{claims}.{signature[::-1]}") == 401


async def test_an_operator_without_permission_to_create_reviews_rejects_all_clients(
    control_plane: ControlPlane, client: Client, namespace: str, tmp_path: Path
) -> None:
    token = await new_account(client, namespace, "prometheus")
    await allow_metrics(client, namespace, "prometheus")
    unprivileged = await new_account(client, namespace, "operator")

    async with (
        connected(control_plane, observe=ignore, token=unprivileged) as operator,
        exposed(operator, tmp_path) as scraper,
    ):
        assert await scraper.scrape(token) == (500, "the token review failed\n")


async def test_new_clients_are_rejected_while_the_api_server_is_down(
    control_plane: ControlPlane, client: Client, namespace: str, tmp_path: Path
) -> None:
    known = await new_account(client, namespace, "prometheus")
    await allow_metrics(client, namespace, "prometheus")
    other = await token_for(client, namespace, "prometheus")

    async with (
        relay_to(control_plane.url) as relay,
        connected(control_plane, observe=ignore, server=relay.url) as operator,
        exposed(operator, tmp_path) as scraper,
    ):
        before = await scraper.status(known)
        with relay.refusing():
            during = (await scraper.status(known), await scraper.status(other))
        after = await scraper.status(other)

    assert before == 200
    assert during == (200, 500)
    assert after == 200
