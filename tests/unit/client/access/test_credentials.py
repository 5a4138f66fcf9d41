"""Each kind of credentials: what it adds to requests, and how it is renewed."""

import asyncio
import traceback
from pathlib import Path

import pytest

from steersman.client.access.cluster_config import (
    ClientCertificate,
    ClusterConfig,
    Login,
    Password,
    Token,
    TokenFile,
)
from steersman.client.access.credentials import FILE_SECONDS, ConfiguredCredentials
from steersman.errors import CertificateRefused, ConfigError, CredentialPluginFailed
from steersman.observe import CredentialsNotRenewed, CredentialsRenewed, Observation
from tests.certificates import Authority, KeyPair
from tests.clocks import FakeClock
from tests.unit.client.access.kubeconfigs import CANARY, SERVER
from tests.unit.client.access.plugins import counting, exec_credential, plugin, printing, runs

# Without a CA, every TLS context would load all root certificates of the system.
CA = Authority().certificate


class CredentialsFixture:
    """Credentials for a server, with a fake clock and the observations."""

    def __init__(
        self,
        *,
        login: Login | None = None,
        server: str = SERVER,
        ca: bytes | Path = CA,
        certificate: ClientCertificate | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.observed: list[Observation] = []
        config = ClusterConfig(
            server=server, source="context here", login=login, ca=ca, certificate=certificate
        )
        self.credentials = ConfiguredCredentials(
            config, clock=self.clock, observe=self.observed.append
        )

    async def authorization(self) -> str | None:
        """The Authorization header of the next request."""
        return dict((await self.credentials.for_request()).headers).get("Authorization")


@pytest.mark.parametrize(
    ("login", "header"),
    [
        (None, None),
        (Token(token="abc"), "Bearer abc"),
        (Password(username="me", password="pass"), "Basic bWU6cGFzcw=="),
    ],
)
async def test_credentials_are_sent_in_the_authorization_header(
    login: Login | None, header: str | None
) -> None:
    assert await CredentialsFixture(login=login).authorization() == header


async def test_unchanged_credentials_are_sent_again() -> None:
    fixture = CredentialsFixture(login=Token(token="abc"))

    first = await fixture.credentials.for_request()
    fixture.clock.advance(10 * FILE_SECONDS)

    assert await fixture.credentials.for_request() is first
    assert await fixture.credentials.renew(first) is False
    assert fixture.observed == []


@pytest.mark.parametrize("token", ["", " ", f"{CANARY}\r\nX-Other: 1", f"{CANARY} {CANARY}", "é"])
async def test_an_invalid_token_is_rejected_without_being_shown(token: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(token)

    for login in (Token(token=token), TokenFile(path=path)):
        with pytest.raises(ConfigError, match="the token is empty, or contains") as refusal:
            await CredentialsFixture(login=login).authorization()
        assert CANARY not in "".join(traceback.format_exception(refusal.value))


async def test_a_replaced_token_is_used_for_at_most_a_minute(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first\n")
    fixture = CredentialsFixture(login=TokenFile(path=path))

    assert await fixture.authorization() == "Bearer first"
    path.write_text("second\n")
    fixture.clock.advance(59)
    assert await fixture.authorization() == "Bearer first"
    fixture.clock.advance(1)

    assert await fixture.authorization() == "Bearer second"
    assert fixture.observed == [CredentialsRenewed(source="context here", reason="a file changed")]


async def test_a_rejected_token_is_read_again_immediately(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first")
    fixture = CredentialsFixture(login=TokenFile(path=path))
    rejected = await fixture.credentials.for_request()

    assert await fixture.credentials.renew(rejected) is False
    path.write_text("second")

    assert await fixture.credentials.renew(rejected) is True
    assert await fixture.authorization() == "Bearer second"


async def test_a_token_replaced_since_the_request_counts_as_renewed(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first")
    fixture = CredentialsFixture(login=TokenFile(path=path))
    rejected = await fixture.credentials.for_request()
    path.write_text("second")
    fixture.clock.advance(FILE_SECONDS)
    await fixture.credentials.for_request()

    assert await fixture.credentials.renew(rejected) is True


async def test_while_a_file_is_unusable_the_last_token_is_used(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first")
    fixture = CredentialsFixture(login=TokenFile(path=path))
    proof = await fixture.credentials.for_request()

    path.unlink()
    fixture.clock.advance(FILE_SECONDS)
    assert await fixture.credentials.for_request() is proof
    path.write_text("")
    fixture.clock.advance(FILE_SECONDS)
    assert await fixture.credentials.for_request() is proof
    path.write_text("second")
    fixture.clock.advance(FILE_SECONDS)

    assert await fixture.authorization() == "Bearer second"
    assert [type(each) for each in fixture.observed] == [
        CredentialsNotRenewed,
        CredentialsNotRenewed,
        CredentialsRenewed,
    ]


async def test_a_missing_file_is_an_error_each_time(tmp_path: Path) -> None:
    fixture = CredentialsFixture(login=TokenFile(path=tmp_path / "token"))

    for _ in range(2):
        with pytest.raises(ConfigError, match="the file does not exist"):
            await fixture.authorization()


async def test_a_changed_ca_file_creates_a_new_tls_context(tmp_path: Path) -> None:
    path = tmp_path / "ca.crt"
    path.write_bytes(Authority().certificate)
    fixture = CredentialsFixture(ca=path)

    first = (await fixture.credentials.for_request()).tls
    path.write_bytes(path.read_bytes())
    fixture.clock.advance(FILE_SECONDS)
    same = (await fixture.credentials.for_request()).tls
    path.write_bytes(Authority().certificate)
    fixture.clock.advance(FILE_SECONDS)
    another = (await fixture.credentials.for_request()).tls

    assert first is not None
    assert same is first
    assert another is not first
    assert fixture.credentials.tls() is another


async def test_a_pair_replaced_file_by_file_is_used_once_it_matches(tmp_path: Path) -> None:
    authority = Authority()
    old, new = authority.client("old"), authority.client("new")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(old.certificate)
    key.write_bytes(old.key)
    fixture = CredentialsFixture(
        ca=authority.certificate, certificate=ClientCertificate(certificate=certificate, key=key)
    )
    proof = await fixture.credentials.for_request()

    certificate.write_bytes(new.certificate)
    assert await fixture.credentials.renew(proof) is False
    key.write_bytes(new.key)
    assert await fixture.credentials.renew(proof) is True

    rejected, renewed = fixture.observed
    assert isinstance(rejected, CredentialsNotRenewed)
    assert isinstance(rejected.error, CertificateRefused)
    assert isinstance(renewed, CredentialsRenewed)


async def test_an_invalid_key_is_rejected_without_being_shown() -> None:
    pair = ClientCertificate(certificate=b"no certificate", key=CANARY.encode())

    with pytest.raises(ConfigError, match="context here") as refusal:
        await CredentialsFixture(certificate=pair).credentials.for_request()

    assert CANARY not in "".join(traceback.format_exception(refusal.value))


async def test_plain_http_has_no_tls_context() -> None:
    fixture = CredentialsFixture(server="HTTP://127.0.0.1:8080", login=Token(token="abc"))

    proof = await fixture.credentials.for_request()

    assert proof.tls is None
    assert fixture.credentials.tls() is None


async def test_there_is_no_tls_context_before_the_first_request() -> None:
    with pytest.raises(RuntimeError, match="before the first request"):
        CredentialsFixture().credentials.tls()


async def test_a_plugin_runs_once_for_concurrent_requests(tmp_path: Path) -> None:
    fixture = CredentialsFixture(login=plugin(tmp_path, counting(tmp_path)))

    answers = await asyncio.gather(*(fixture.credentials.for_request() for _ in range(20)))
    assert {proof.headers for proof in answers} == {(("Authorization", "Bearer x"),)}
    renewed = await asyncio.gather(*(fixture.credentials.renew(answers[0]) for _ in range(20)))

    assert all(renewed)
    assert await fixture.authorization() == "Bearer xx"
    assert runs(tmp_path) == 2


async def test_a_failing_plugin_runs_once_for_concurrent_requests(tmp_path: Path) -> None:
    fixture = CredentialsFixture(login=plugin(tmp_path, counting(tmp_path, token="")))

    outcomes = await asyncio.gather(
        *(fixture.credentials.for_request() for _ in range(20)), return_exceptions=True
    )

    assert {type(outcome) for outcome in outcomes} == {CredentialPluginFailed}
    assert runs(tmp_path) == 1


async def test_invalid_output_of_a_plugin_is_an_error_each_time(tmp_path: Path) -> None:
    fixture = CredentialsFixture(login=plugin(tmp_path, printing(exec_credential(token="abc"))))
    proof = await fixture.credentials.for_request()
    plugin(tmp_path, printing(exec_credential(token="a b")))

    with pytest.raises(ConfigError, match="invalid characters"):
        await fixture.credentials.renew(proof)
    with pytest.raises(ConfigError, match="invalid characters"):
        await fixture.credentials.for_request()


async def test_a_cancelled_request_does_not_affect_others_that_wait(tmp_path: Path) -> None:
    fixture = CredentialsFixture(login=plugin(tmp_path, counting(tmp_path)))

    async with asyncio.TaskGroup() as group:
        impatient = group.create_task(fixture.credentials.for_request())
        patient = group.create_task(fixture.credentials.for_request())
        group.create_task(fixture.credentials.for_request())
        asyncio.get_running_loop().call_soon(impatient.cancel)

    assert impatient.cancelled()
    assert (await patient).headers


async def test_a_new_token_keeps_the_tls_context(tmp_path: Path) -> None:
    fixture = CredentialsFixture(login=plugin(tmp_path, counting(tmp_path)))
    proof = await fixture.credentials.for_request()

    assert await fixture.credentials.renew(proof) is True
    assert fixture.credentials.tls() is proof.tls


async def test_a_new_certificate_of_a_plugin_creates_a_new_tls_context(tmp_path: Path) -> None:
    authority = Authority()
    fixture = CredentialsFixture(
        login=plugin(tmp_path, giving(authority.client("me"))), ca=authority.certificate
    )
    proof = await fixture.credentials.for_request()
    plugin(tmp_path, giving(authority.client("me again")))

    assert proof.headers == ()
    assert await fixture.credentials.renew(proof) is True
    assert fixture.credentials.tls() is not proof.tls


async def test_the_certificate_of_the_kubeconfig_overrides_that_of_the_plugin(
    tmp_path: Path,
) -> None:
    authority = Authority()
    own = authority.client("me")
    fixture = CredentialsFixture(
        login=plugin(tmp_path, giving(authority.client("plugin"))),
        ca=authority.certificate,
        certificate=ClientCertificate(certificate=own.certificate, key=own.key),
    )
    proof = await fixture.credentials.for_request()
    plugin(tmp_path, giving(authority.client("plugin again")))

    assert await fixture.credentials.renew(proof) is True
    assert fixture.credentials.tls() is proof.tls


def giving(pair: KeyPair) -> str:
    """The source of a plugin that returns a certificate."""
    return printing(
        exec_credential(
            clientCertificateData=pair.certificate.decode(), clientKeyData=pair.key.decode()
        )
    )


async def test_no_secret_is_shown_or_observed(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(CANARY)
    fixture = CredentialsFixture(login=TokenFile(path=path))
    shown = [repr(await fixture.credentials.for_request()), repr(fixture.credentials)]
    path.write_text(f"{CANARY}\nnot a token")
    fixture.clock.advance(FILE_SECONDS)
    await fixture.credentials.for_request()
    path.write_text(f"{CANARY}2")
    fixture.clock.advance(FILE_SECONDS)
    await fixture.credentials.for_request()

    assert len(fixture.observed) == 2
    assert CANARY not in repr([*shown, *fixture.observed, vars(fixture.credentials)])
