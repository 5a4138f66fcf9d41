"""The certificates that the transport accepts and sends."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from steersman.clock import SystemClock
from steersman.errors import CertificateRefused, ConfigError, Unreachable
from steersman.wire import NetworkTransport, Request, TlsSettings, tls_context
from tests.certificates import LONG_AGO, Authority
from tests.raw_server import Received, listening, ok, raw_server, respond_with, server_tls

POST = Request(method="POST", path="/api/v1/pods", headers=(("Authorization", "Bearer canary"),))


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def trusting(authority: Authority) -> ssl.SSLContext:
    return tls_context(TlsSettings(ca_data=authority.certificate), source="test")


async def ask(transport: NetworkTransport) -> bytes:
    async with transport.open(POST) as response:
        return await response.read(limit_bytes=1000)


def transport_to(
    port: int, tls: ssl.SSLContext, *, server_name: str | None = None
) -> NetworkTransport:
    return NetworkTransport(
        clock=SystemClock(),
        server=f"https://127.0.0.1:{port}",
        tls=lambda: tls,
        server_name=server_name,
    )


async def test_a_server_certificate_of_the_ca_is_accepted(authority: Authority) -> None:
    tls = server_tls(authority.server("127.0.0.1"))

    async with raw_server(respond_with(ok(b"hello")), tls=tls) as server:
        async with transport_to(server.port, trusting(authority)) as transport:
            assert await ask(transport) == b"hello"


async def test_tls_server_name_overrides_the_hostname(authority: Authority) -> None:
    tls = server_tls(authority.server("kubernetes.default.svc"))

    async with raw_server(respond_with(ok(b"hello")), tls=tls) as server:
        settings = trusting(authority)
        async with transport_to(
            server.port, settings, server_name="kubernetes.default.svc"
        ) as transport:
            assert await ask(transport) == b"hello"


async def test_an_intermediate_ca_can_be_the_root(authority: Authority) -> None:
    intermediate = Authority("intermediate", signed_by=authority)
    tls = server_tls(intermediate.server("127.0.0.1"))

    async with raw_server(respond_with(ok(b"hello")), tls=tls) as server:
        async with transport_to(server.port, trusting(intermediate)) as transport:
            assert await ask(transport) == b"hello"


REFUSED: dict[str, tuple[Callable[[Authority], ssl.SSLContext], str, str]] = {
    "another authority": (
        lambda _: server_tls(Authority("another").server("127.0.0.1")),
        "unable to get local issuer certificate",
        "use the CA of its certificate",
    ),
    "another name": (
        lambda ca: server_tls(ca.server("kube.example.com")),
        "IP address mismatch, certificate is not valid for '127.0.0.1'",
        "set tls-server-name",
    ),
    "expired": (
        lambda ca: server_tls(ca.server("127.0.0.1", expires_time=LONG_AGO + timedelta(days=1))),
        "certificate has expired",
        "Renew the server's certificate",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_server_with_a_wrong_certificate_is_rejected(
    case: str, authority: Authority
) -> None:
    make_tls, problem, what_now = REFUSED[case]

    async with raw_server(respond_with(ok()), tls=make_tls(authority)) as server:
        async with transport_to(server.port, trusting(authority)) as transport:
            with pytest.raises(CertificateRefused) as caught:
                await ask(transport)

    assert str(caught.value).startswith(f"https://127.0.0.1:{server.port}: the server's cert")
    assert problem in str(caught.value)
    assert what_now in str(caught.value)
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)
    assert server.received == []


async def test_a_given_ca_replaces_the_system_roots(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = Authority("of the system")
    bundle = tmp_path / "roots.pem"
    bundle.write_bytes(system.certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    tls = server_tls(system.server("127.0.0.1"))

    async with raw_server(respond_with(ok()), tls=tls) as server:
        async with transport_to(server.port, trusting(authority)) as transport:
            with pytest.raises(CertificateRefused):
                await ask(transport)

        async with transport_to(
            server.port, tls_context(TlsSettings(), source="test")
        ) as transport:
            assert await ask(transport) == b"{}"


@asynccontextmanager
async def handshaking_server(tls: ssl.SSLContext) -> AsyncIterator[int]:
    """A server that sends TLS alerts with a reason, unlike asyncio's own."""

    async def shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = tls.wrap_bio(incoming, outgoing, server_side=True)
        wants_more = True
        while wants_more:
            incoming.write(await reader.read(2**16))
            try:
                session.do_handshake()
            except ssl.SSLError as error:
                wants_more = isinstance(error, ssl.SSLWantReadError)
            writer.write(outgoing.read())

    async with listening(shake_hands) as port:
        yield port


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
async def test_a_server_without_tls_1_2_is_rejected(authority: Authority) -> None:
    tls = server_tls(authority.server("127.0.0.1"))
    # OpenSSL supports TLS 1.1 only at this security level.
    tls.set_ciphers("DEFAULT:@SECLEVEL=0")
    tls.minimum_version = ssl.TLSVersion.TLSv1_1
    tls.maximum_version = ssl.TLSVersion.TLSv1_1

    async with (
        handshaking_server(tls) as port,
        transport_to(port, trusting(authority)) as transport,
    ):
        with pytest.raises(Unreachable, match="the TLS handshake failed") as caught:
            await ask(transport)

    assert not caught.value.may_have_happened
    assert "alert protocol version" in str(caught.value)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
async def test_a_server_without_tls_gets_no_request(answer: bytes, authority: Authority) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer)
        writer.close()

    async with listening(serve) as port, transport_to(port, trusting(authority)) as transport:
        with pytest.raises(Unreachable) as caught:
            await ask(transport)

    assert not caught.value.may_have_happened


async def test_a_client_certificate_is_sent(authority: Authority) -> None:
    users: list[object] = []

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        users.append(writer.get_extra_info("peercert")["subject"])
        writer.write(ok())

    pair = authority.client("me", "us")
    settings = TlsSettings(
        ca_data=authority.certificate, client_certificate=pair.certificate, client_key=pair.key
    )
    tls = server_tls(authority.server("127.0.0.1"), client_ca=authority.certificate)

    async with raw_server(answer, tls=tls) as server:
        async with transport_to(server.port, tls_context(settings, source="test")) as transport:
            await ask(transport)

    assert users == [((("organizationName", "us"),), (("commonName", "me"),))]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_an_error_names_a_rejected_client_certificate(
    version: ssl.TLSVersion, authority: Authority
) -> None:
    pair = Authority("another").client("me")
    settings = TlsSettings(
        ca_data=authority.certificate, client_certificate=pair.certificate, client_key=pair.key
    )
    tls = server_tls(authority.server("127.0.0.1"), client_ca=authority.certificate)
    tls.maximum_version = version

    async with handshaking_server(tls) as port:
        async with transport_to(port, tls_context(settings, source="test")) as transport:
            with pytest.raises(CertificateRefused, match="rejected the client certificate"):
                await ask(transport)


async def test_an_error_names_a_missing_client_certificate(authority: Authority) -> None:
    tls = server_tls(authority.server("127.0.0.1"), client_ca=authority.certificate)

    async with (
        handshaking_server(tls) as port,
        transport_to(port, trusting(authority)) as transport,
    ):
        with pytest.raises(CertificateRefused, match="alert certificate required"):
            await ask(transport)


async def test_a_new_context_is_used_for_new_connections(authority: Authority) -> None:
    old, new = Authority("old"), Authority("new")
    contexts = [trusting(old), trusting(new)]

    async with (
        raw_server(respond_with(ok()), tls=server_tls(new.server("127.0.0.1"))) as server,
        NetworkTransport(
            clock=SystemClock(), server=f"https://127.0.0.1:{server.port}", tls=lambda: contexts[0]
        ) as transport,
    ):
        with pytest.raises(CertificateRefused):
            await ask(transport)
        del contexts[0]
        await ask(transport)

    assert len(server.received) == 1


async def test_a_connection_of_an_old_context_is_not_reused(authority: Authority) -> None:
    contexts = [trusting(authority), trusting(authority)]

    async with (
        raw_server(respond_with(ok()), tls=server_tls(authority.server("127.0.0.1"))) as server,
        NetworkTransport(
            clock=SystemClock(), server=f"https://127.0.0.1:{server.port}", tls=lambda: contexts[0]
        ) as transport,
    ):
        await ask(transport)
        del contexts[0]
        await ask(transport)

    assert [request.connection for request in server.received] == [1, 2]


async def test_credentials_that_cannot_be_read_fail_the_request_that_needs_them() -> None:
    def tls() -> ssl.SSLContext:
        raise ConfigError(source="ca.crt", problem="it is gone", what_now="Bring it back.")

    async with NetworkTransport(
        clock=SystemClock(), server="https://127.0.0.1:1", tls=tls
    ) as transport:
        with pytest.raises(ConfigError, match="it is gone"):
            await ask(transport)


@asynccontextmanager
async def tunnelling_proxy(heads: list[str]) -> AsyncIterator[int]:
    """A proxy that opens any requested tunnel, and records the targets."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        heads.append(head)
        host, _, port = head.split()[1].rpartition(":")
        upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(pump(reader, upstream_writer))
            pumps.create_task(pump(upstream_reader, writer))

    async with listening(serve) as port:
        yield port


async def test_a_configured_proxy_tunnels_tls(
    authority: Authority,
) -> None:
    tls = server_tls(authority.server("127.0.0.1"))
    heads: list[str] = []

    async with (
        raw_server(respond_with(ok(b"hello")), tls=tls) as server,
        tunnelling_proxy(heads) as port,
    ):
        transport = NetworkTransport(
            clock=SystemClock(),
            server=f"https://127.0.0.1:{server.port}",
            tls=lambda: context,
            proxy_url=f"http://me:password@127.0.0.1:{port}",
        )
        context = trusting(authority)
        async with transport:
            answers = [await ask(transport), await ask(transport)]

    assert answers == [b"hello", b"hello"]
    (head,) = heads
    assert head.startswith(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1")
    assert "Proxy-Authorization: Basic" in head
    assert "canary" not in head
    assert server.received[0].header("proxy-authorization") is None


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
async def test_proxies_from_the_environment_are_ignored_for_tls(
    variable: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = server_tls(authority.server("127.0.0.1"))

    async with (
        raw_server(respond_with(ok())) as proxy,
        raw_server(respond_with(ok()), tls=tls) as server,
    ):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        async with transport_to(server.port, trusting(authority)) as transport:
            await ask(transport)

    assert proxy.connections == 0
