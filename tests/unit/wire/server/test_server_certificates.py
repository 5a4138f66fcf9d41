"""The certificate of a listener, over real sockets and real TLS on loopback."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from steersman.clock import SystemClock
from steersman.errors import CertificateRefused, ConfigError
from steersman.observe import CredentialsNotRenewed, CredentialsRenewed, Observation, ignore
from steersman.wire import (
    CertificateFiles,
    CertificateIdentity,
    NetworkTransport,
    Reply,
    Request,
    SelfSigned,
    TlsSettings,
    listening,
    server_tls,
    tls_context,
)
from steersman.wire.server.server_certificates import RENEW_AFTER
from tests.certificates import Authority, KeyPair
from tests.clocks import FakeClock

LOOPBACK = "127.0.0.1"


class FixedHandler:
    async def handle(self, request: Request, *, certificate: CertificateIdentity | None) -> Reply:
        return Reply(status=200, body=b"here")


@asynccontextmanager
async def listener(tls: ssl.SSLContext | None) -> AsyncIterator[int]:
    async with listening(FixedHandler(), host=LOOPBACK, port=0, tls=tls, max_body_bytes=10) as port:
        yield port


def trusting(authority: Authority, port: int) -> NetworkTransport:
    context = tls_context(TlsSettings(ca_data=authority.certificate), source="test")
    return NetworkTransport(
        clock=SystemClock(), server=f"https://{LOOPBACK}:{port}", tls=lambda: context
    )


async def get(transport: NetworkTransport) -> bytes:
    async with transport.open(Request(method="GET", path="/")) as response:
        return await response.read(limit_bytes=100)


async def is_trusted(authority: Authority, port: int) -> bool:
    """Whether a new connection gets a certificate that ``authority`` signed."""
    async with trusting(authority, port) as transport:
        try:
            return await get(transport) == b"here"
        except CertificateRefused:
            return False


class Files:
    """The files of a certificate behind a symbolic link, as Kubernetes mounts a Secret."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._number = 0
        self.certificate = directory / "data" / "tls.crt"
        self.key = directory / "data" / "tls.key"

    def swap(self, *, certificate: bytes, key: bytes) -> None:
        self._number += 1
        content = self._directory / str(self._number)
        content.mkdir()
        (content / "tls.crt").write_bytes(certificate)
        (content / "tls.key").write_bytes(key)
        link = self._directory / "new"
        link.symlink_to(content)
        link.replace(self._directory / "data")

    def use(self, pair: KeyPair) -> None:
        self.swap(certificate=pair.certificate, key=pair.key)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


async def test_a_changed_certificate_is_used_for_the_next_connection(files: Files) -> None:
    old, new = Authority("old"), Authority("new")
    observed: list[Observation] = []
    files.use(old.server(LOOPBACK))
    shown = CertificateFiles(files.certificate, files.key, observe=observed.append)

    async with listener(server_tls(shown)) as port:
        before = await is_trusted(old, port)
        files.use(new.server(LOOPBACK))
        after = (await is_trusted(old, port), await is_trusted(new, port))

    assert before
    assert after == (False, True)
    assert [type(each) for each in observed] == [CredentialsRenewed]


async def test_an_open_connection_survives_a_change_of_the_certificate(files: Files) -> None:
    old = Authority("old")
    files.use(old.server(LOOPBACK))
    shown = CertificateFiles(files.certificate, files.key, observe=ignore)

    async with listener(server_tls(shown)) as port, trusting(old, port) as transport:
        await get(transport)
        files.use(Authority("new").server(LOOPBACK))

        assert await get(transport) == b"here"


async def test_files_that_are_written_in_place_are_reloaded_too(files: Files) -> None:
    old, new = Authority("old"), Authority("new")
    files.use(old.server(LOOPBACK))
    shown = CertificateFiles(files.certificate, files.key, observe=ignore)
    pair = new.server(LOOPBACK)

    async with listener(server_tls(shown)) as port:
        files.certificate.write_bytes(pair.certificate)
        files.key.write_bytes(pair.key)
        os.utime(files.certificate, (1, 1))  # also if the writes were too fast for a new mtime

        assert await is_trusted(new, port)


@pytest.mark.parametrize("fault", ["other key", "no PEM", "empty"])
async def test_an_invalid_pair_keeps_the_old_certificate_in_use(files: Files, fault: str) -> None:
    old, new = Authority("old"), Authority("new")
    observed: list[Observation] = []
    files.use(old.server(LOOPBACK))
    shown = CertificateFiles(files.certificate, files.key, observe=observed.append)
    pair = new.server(LOOPBACK)
    key = {"other key": old.server(LOOPBACK).key, "no PEM": b"nonsense", "empty": b""}[fault]

    async with listener(server_tls(shown)) as port:
        files.swap(certificate=pair.certificate, key=key)
        during = [await is_trusted(old, port) for _ in range(3)]
        kinds = [type(each) for each in observed]
        files.use(pair)
        after = await is_trusted(new, port)

    assert during == [True] * 3
    assert kinds == [CredentialsNotRenewed]
    assert after


async def test_temporarily_missing_files_keep_the_old_certificate_in_use(files: Files) -> None:
    old = Authority("old")
    observed: list[Observation] = []
    files.use(old.server(LOOPBACK))
    shown = CertificateFiles(files.certificate, files.key, observe=observed.append)

    async with listener(server_tls(shown)) as port:
        files.certificate.unlink()

        assert await is_trusted(old, port)
    assert observed == []


def test_invalid_files_at_the_start_are_rejected(files: Files) -> None:
    pair = Authority().server(LOOPBACK)
    files.swap(certificate=pair.certificate, key=pair.encrypted_key(b"password"))

    with pytest.raises(ConfigError, match="the certificate and its key cannot be used"):
        CertificateFiles(files.certificate, files.key, observe=ignore)
    files.key.unlink()
    with pytest.raises(ConfigError, match=r"tls\.key: cannot be read"):
        CertificateFiles(files.certificate, files.key, observe=ignore)


async def certificate_at(port: int) -> x509.Certificate:
    """The certificate that a client gets which verifies nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _, writer = await asyncio.open_connection(LOOPBACK, port, ssl=context)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return x509.load_der_x509_certificate(shown)


def is_unchanged(shown: Callable[[], ssl.SSLContext], clock: FakeClock, after: timedelta) -> bool:
    """Whether the context is still the same ``after`` this time."""
    before = shown()
    clock.advance(after.total_seconds())
    return shown() is before


def test_a_self_signed_certificate_is_renewed_long_before_it_expires() -> None:
    clock = FakeClock(now=datetime(2026, 1, 1, tzinfo=UTC))
    shown = SelfSigned("metrics", reachable_as=[LOOPBACK], clock=clock)

    assert is_unchanged(shown, clock, RENEW_AFTER - timedelta(seconds=1))
    assert not is_unchanged(shown, clock, timedelta(seconds=1))
    assert is_unchanged(shown, clock, RENEW_AFTER - timedelta(seconds=1))
    assert timedelta(days=7) > RENEW_AFTER * 2


async def test_a_self_signed_certificate_has_the_given_names() -> None:
    shown = SelfSigned("metrics", reachable_as=["localhost", LOOPBACK], clock=SystemClock())

    async with listener(server_tls(shown)) as port:
        certificate = await certificate_at(port)

    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(each.value) for each in names] == ["localhost", LOOPBACK]


async def test_without_tls_a_listener_speaks_plain_http() -> None:
    async with listener(None) as port:
        transport = NetworkTransport(
            clock=SystemClock(), server=f"http://{LOOPBACK}:{port}", tls=lambda: None
        )
        async with transport:
            assert await get(transport) == b"here"
