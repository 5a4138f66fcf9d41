"""The network transport to webhooks, on loopback."""

from collections.abc import Iterator

import msgspec
import pytest

from steersman.clock import SystemClock
from steersman_cluster.apiserver.webhooks import WebhookResponse, WebhookUnreachable
from steersman_cluster.apiserver.webhooks.network import (
    MAX_DESTINATIONS,
    MAX_RESPONSE_BYTES,
    NetworkWebhookTransport,
)
from tests.webhook_server import RawReply, WebhookServer, webhook_server

REVIEW = msgspec.json.encode({"apiVersion": "v1", "request": {"uid": "1"}})


@pytest.fixture(scope="module")
def server() -> Iterator[WebhookServer]:
    with webhook_server("hook.default.svc") as server:
        yield server


async def post(
    server: WebhookServer,
    url: str = "",
    *,
    ca_bundle: bytes | None = None,
    server_name: str = "",
    connect_to: str = "",
    timeout_seconds: float = 10.0,
) -> WebhookResponse:
    async with NetworkWebhookTransport(clock=SystemClock()) as outbound:
        return await outbound.post(
            url or server.url("path?timeout=3s"),
            REVIEW,
            ca_bundle=server.authority if ca_bundle is None else ca_bundle,
            server_name=server_name,
            connect_to=connect_to,
            timeout_seconds=timeout_seconds,
        )


async def test_the_response_of_a_webhook_is_returned(server: WebhookServer) -> None:
    server.scripts["path"] = lambda _: RawReply(status=418, body=b"tea", headers={"x-of": "china"})

    response = await post(server)

    assert (response.status, response.body, response.headers["x-of"]) == (418, b"tea", "china")
    assert (server.received[-1].path, server.received[-1].query) == ("path", "timeout=3s")


async def test_redirects_of_a_webhook_are_not_followed(server: WebhookServer) -> None:
    elsewhere = {"location": server.url("other")}
    server.scripts["moved"] = lambda _: RawReply(status=307, body=b"", headers=elsewhere)

    response = await post(server, server.url("moved"))

    assert (response.status, server.received[-1].path) == (307, "moved")


async def test_a_response_that_is_too_long_is_an_error(server: WebhookServer) -> None:
    server.scripts["long"] = lambda _: RawReply(status=200, body=b" " * (MAX_RESPONSE_BYTES + 1))

    with pytest.raises(WebhookUnreachable, match="longer than"):
        await post(server, server.url("long"))


async def test_connections_are_reused(server: WebhookServer) -> None:
    connections = server.connections

    async with NetworkWebhookTransport(clock=SystemClock()) as outbound:
        for _ in range(3):
            await outbound.post(
                server.url("path"),
                REVIEW,
                ca_bundle=server.authority,
                server_name="",
                connect_to="",
                timeout_seconds=10.0,
            )

    assert server.connections == connections + 1


async def test_idle_connections_are_limited_to_a_hundred_hosts(
    server: WebhookServer,
) -> None:
    async with NetworkWebhookTransport(clock=SystemClock()) as outbound:
        for number in range(MAX_DESTINATIONS + 5):
            with pytest.raises(WebhookUnreachable):
                await outbound.post(
                    "https://127.0.0.1:1/path",
                    REVIEW,
                    ca_bundle=server.authority,
                    server_name=f"hook-{number}.default.svc",
                    connect_to="",
                    timeout_seconds=10.0,
                )

        assert repr(outbound) == f"<NetworkWebhookTransport to {MAX_DESTINATIONS} places>"


async def test_a_service_is_reached_at_its_address_with_its_own_server_name(
    server: WebhookServer,
) -> None:
    response = await post(
        server,
        "https://hook.default.svc:443/path",
        server_name="hook.default.svc",
        connect_to=f"127.0.0.1:{server.port}",
    )

    assert response.status == 418


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ({"url": "https://127.0.0.1:1/x"}, "dial tcp 127.0.0.1:1: connect: connection refused"),
        (
            {"ca_bundle": b""},
            "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        ),
        (
            {"server_name": "other.default.svc"},
            "tls: failed to verify certificate: x509: certificate is not valid for any names,"
            " but wanted to match other.default.svc",
        ),
    ],
)
async def test_an_unreachable_server_is_reported_with_gos_message(
    server: WebhookServer, case: dict[str, str], why: str
) -> None:
    with pytest.raises(WebhookUnreachable) as raised:
        await post(server, **case)  # type: ignore[arg-type]

    assert raised.value.why == why


async def test_a_closed_connection_of_a_webhook_is_an_error(server: WebhookServer) -> None:
    server.scripts["path"] = lambda _: RawReply(hangs_up=True)

    with pytest.raises(WebhookUnreachable) as raised:
        await post(server)

    assert raised.value.why == "EOF"


async def test_a_webhook_call_times_out(server: WebhookServer) -> None:
    server.scripts["path"] = lambda _: RawReply(hangs=True)

    with pytest.raises(WebhookUnreachable) as raised:
        await post(server, timeout_seconds=0.05)

    assert raised.value.why == "context deadline exceeded"
