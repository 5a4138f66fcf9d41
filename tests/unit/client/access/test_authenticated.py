"""Requests with credentials, and their renewal after a 401."""

import asyncio
from pathlib import Path

import pytest

from steersman.client.access.authenticated import AuthenticatedTransport
from steersman.client.access.cluster_config import (
    ClusterConfig,
    ExecPlugin,
    Login,
    Token,
    TokenFile,
)
from steersman.client.access.credentials import ConfiguredCredentials
from steersman.client.access.impersonation import Impersonation
from steersman.clock import SystemClock
from steersman.errors import ConfigError, CredentialPluginFailed
from steersman.observe import ignore
from steersman.wire import NetworkTransport, Request
from tests.certificates import Authority
from tests.clocks import FakeClock
from tests.raw_server import ok, raw_server, respond_with
from tests.transports import (
    FakeResponse,
    Scripted,
    ScriptedTransport,
    error_response,
    json_response,
)
from tests.unit.client.access.kubeconfigs import CANARY, SERVER
from tests.unit.client.access.plugins import HANGING, counting, listen_at, plugin, runs

GET = Request(method="GET", path="/version", headers=(("Accept", "application/json"),))
POST = Request(method="POST", path="/api/v1/pods", body=b"{}")

REFUSED = error_response(401, "Unauthorized")
FINE = json_response({})

# Without a CA, every TLS context would load all root certificates of the system.
CA = Authority().certificate


def authenticated(
    server: ScriptedTransport, login: Login | None, *, impersonate: Impersonation | None = None
) -> AuthenticatedTransport:
    config = ClusterConfig(server=SERVER, source="context here", ca=CA, login=login)
    credentials = ConfiguredCredentials(config, clock=FakeClock(), observe=ignore)
    return AuthenticatedTransport(server, credentials=credentials, impersonate=impersonate)


async def status_of(transport: AuthenticatedTransport, request: Request = GET) -> int:
    async with transport.open(request) as response:
        return response.status


def tokens(server: ScriptedTransport) -> list[str]:
    return [dict(request.headers)["Authorization"] for request in server.requests]


async def test_a_request_keeps_its_headers_and_gets_credentials() -> None:
    server = ScriptedTransport(FINE)
    request = Request(
        method="PATCH",
        path="/api/v1/pods/web",
        query=(("force", "true"),),
        headers=(("Accept", "application/json"),),
        body=b"{}",
        is_large=True,
    )

    await status_of(authenticated(server, Token(token="abc")), request)

    (sent,) = server.requests
    assert sent == Request(
        method="PATCH",
        path="/api/v1/pods/web",
        query=(("force", "true"),),
        headers=(("Accept", "application/json"), ("Authorization", "Bearer abc")),
        body=b"{}",
        is_large=True,
    )


async def test_a_request_acts_as_the_configured_user() -> None:
    server = ScriptedTransport(FINE)
    jane = Impersonation(
        user="jane", uid="u-1", groups=("a", "b"), extra={"Example.com/Scope": ("view",)}
    )

    await status_of(authenticated(server, Token(token="abc"), impersonate=jane))

    assert server.requests[0].headers[1:] == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-example.com%2Fscope", "view"),
        ("Authorization", "Bearer abc"),
    )


async def test_a_request_with_impersonation_of_its_own_keeps_it() -> None:
    server = ScriptedTransport(FINE)
    request = Request(method="GET", path="/version", headers=(("Impersonate-User", "joe"),))
    jane = Impersonation(user="jane", groups=("admins",))

    await status_of(authenticated(server, None, impersonate=jane), request)

    assert server.requests[0].headers == (("Impersonate-User", "joe"),)


@pytest.mark.parametrize("request_", [GET, POST])
async def test_after_a_401_the_request_is_retried_once_with_renewed_credentials(
    request_: Request, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    path.write_text("first")
    server = ScriptedTransport(REFUSED, FINE)
    transport = authenticated(server, TokenFile(path=path))
    await transport._credentials.for_request()
    path.write_text("second")

    assert await status_of(transport, request_) == 200
    assert tokens(server) == ["Bearer first", "Bearer second"]
    assert [request.body for request in server.requests] == [request_.body] * 2
    assert server.open_responses == 0


async def test_a_401_without_renewable_credentials_is_returned() -> None:
    server = ScriptedTransport(REFUSED)

    async with authenticated(server, Token(token="abc")).open(GET) as response:
        assert response.status == 401
        assert b"Unauthorized" in await response.read(limit_bytes=1000)

    assert server.open_responses == 0


async def test_a_second_401_is_returned(tmp_path: Path) -> None:
    server = ScriptedTransport(REFUSED, REFUSED)

    status = await status_of(authenticated(server, plugin(tmp_path, counting(tmp_path))))

    assert status == 401
    assert tokens(server) == ["Bearer x", "Bearer xx"]


async def test_a_401_to_every_request_does_not_start_the_plugin_for_every_request(
    tmp_path: Path,
) -> None:
    server = ScriptedTransport(respond=lambda _: REFUSED)
    transport = authenticated(server, plugin(tmp_path, counting(tmp_path)))

    statuses = [await status_of(transport) for _ in range(5)]

    assert statuses == [401] * 5
    assert runs(tmp_path) == 2


async def test_concurrent_401s_cause_one_renewal(tmp_path: Path) -> None:
    def respond(request: Request) -> Scripted:
        return FINE if ("Authorization", "Bearer xx") in request.headers else REFUSED

    server = ScriptedTransport(respond=respond)
    transport = authenticated(server, plugin(tmp_path, counting(tmp_path)))

    statuses = await asyncio.gather(*(status_of(transport) for _ in range(20)))

    assert statuses == [200] * 20
    assert runs(tmp_path) == 2


async def test_a_failed_renewal_is_raised_and_holds_no_connection(tmp_path: Path) -> None:
    failing = plugin(tmp_path, counting(tmp_path))
    server = ScriptedTransport(REFUSED)
    transport = authenticated(server, failing)
    await transport._credentials.for_request()
    failing.command.unlink()

    with pytest.raises(CredentialPluginFailed, match="could not be started"):
        await status_of(transport)

    assert server.open_responses == 0


async def test_a_renewal_that_is_cancelled_holds_no_connection(tmp_path: Path) -> None:
    login = plugin(tmp_path, counting(tmp_path), args=(f"{tmp_path}/line",))
    server = ScriptedTransport(REFUSED)
    transport = authenticated(server, login)
    await transport._credentials.for_request()
    hang(login)

    async with listen_at(tmp_path / "line") as line, asyncio.TaskGroup() as group:
        asking = group.create_task(status_of(transport))
        await line.started.wait()
        asking.cancel()
        await line.ended.wait()

    assert asking.cancelled()
    assert server.open_responses == 0


def hang(login: ExecPlugin) -> None:
    """From now on, the plugin hangs."""
    plugin(login.command.parent, HANGING)


async def test_a_response_is_released_when_its_block_raises() -> None:
    server = ScriptedTransport(FakeResponse())

    with pytest.raises(LookupError):
        async with authenticated(server, None).open(GET):
            raise LookupError

    assert server.open_responses == 0


async def test_credentials_never_travel_over_plain_http_to_another_machine() -> None:
    for server in ("http://kube.example.com", "http://10.0.0.1:8080", "HTTP://kube"):
        with pytest.raises(ConfigError, match="plain http") as refusal:
            ClusterConfig(server=server, source="context here", login=Token(token=CANARY))
        assert CANARY not in str(refusal.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_credentials_may_travel_over_plain_http_within_this_machine(host: str) -> None:
    async with raw_server(respond_with(ok())) as server:
        config = ClusterConfig(
            server=f"http://{host}:{server.port}", source="a test", login=Token(token="abc")
        )
        credentials = ConfiguredCredentials(config, clock=FakeClock(), observe=ignore)
        async with NetworkTransport(
            clock=SystemClock(), server=config.server, tls=credentials.tls
        ) as network:
            await status_of(AuthenticatedTransport(network, credentials=credentials))

    assert server.received[0].header("authorization") == "Bearer abc"
