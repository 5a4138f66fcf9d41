"""A token, certificate or CA that is replaced in the kubeconfig is read while the client runs."""

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from steersman.client import find_config
from steersman.client.access.cluster_config import ClusterConfig, Token
from steersman.client.access.credentials import FILE_SECONDS, ConfiguredCredentials
from steersman.errors import ConfigError
from steersman.observe import CredentialsNotRenewed, CredentialsRenewed, Observation, RiskAccepted
from tests.certificates import Authority
from tests.clocks import FakeClock
from tests.unit.client.access.kubeconfigs import SERVER

FIRST, SECOND = Authority(), Authority()


def write_kubeconfig(
    path: Path,
    *,
    token: str = "first",
    ca: bytes = FIRST.certificate,
    server: str = SERVER,
    current: str = "here",
) -> Path:
    cluster: dict[str, Any] = {
        "server": server,
        "certificate-authority-data": base64.b64encode(ca).decode(),
    }
    body = {
        "current-context": current,
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [
            {"name": "u", "user": {"token": token}},
            {"name": "other", "user": {"token": "of-another-user"}},
        ],
        "contexts": [
            {"name": "here", "context": {"cluster": "c", "user": "u"}},
            {"name": "there", "context": {"cluster": "c", "user": "other"}},
        ],
    }
    path.write_text(yaml.safe_dump(body))
    path.chmod(0o600)
    return path


class KubeconfigFixture:
    """Credentials from a kubeconfig, with a fake clock and the observations."""

    def __init__(self, directory: Path) -> None:
        self.path = write_kubeconfig(directory / "config")
        self.clock = FakeClock()
        self.observed: list[Observation] = []
        self.config = find_config(
            environ={}, home=directory, observe=self.observed.append, kubeconfig=self.path
        )
        self.credentials = self.credentials_for(self.config)

    def credentials_for(self, config: ClusterConfig) -> ConfiguredCredentials:
        return ConfiguredCredentials(config, clock=self.clock, observe=self.observed.append)

    async def authorization(self) -> str | None:
        return dict((await self.credentials.for_request()).headers).get("Authorization")

    def seen(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.observed if isinstance(each, kind)]


@pytest.fixture
def fixture(tmp_path: Path) -> KubeconfigFixture:
    return KubeconfigFixture(tmp_path)


async def test_a_token_replaced_in_the_kubeconfig_is_used_within_a_minute(
    fixture: KubeconfigFixture,
) -> None:
    before = await fixture.authorization()
    write_kubeconfig(fixture.path, token="second")
    fixture.clock.advance(FILE_SECONDS)

    after = await fixture.authorization()

    assert (before, after) == ("Bearer first", "Bearer second")
    assert [each.reason for each in fixture.seen(CredentialsRenewed)] == ["a file changed"]


async def test_a_rejected_token_is_read_again_from_the_kubeconfig_immediately(
    fixture: KubeconfigFixture,
) -> None:
    rejected = await fixture.credentials.for_request()
    write_kubeconfig(fixture.path, token="second")

    is_renewed = await fixture.credentials.renew(rejected)

    assert is_renewed
    assert await fixture.authorization() == "Bearer second"


async def test_a_ca_replaced_in_the_kubeconfig_creates_a_new_tls_context(
    fixture: KubeconfigFixture,
) -> None:
    before = (await fixture.credentials.for_request()).tls
    write_kubeconfig(fixture.path, ca=SECOND.certificate)
    fixture.clock.advance(FILE_SECONDS)

    after = (await fixture.credentials.for_request()).tls

    assert before is not None
    assert after is not None
    assert after is not before
    assert await fixture.authorization() == "Bearer first"


async def test_another_current_context_changes_nothing(fixture: KubeconfigFixture) -> None:
    await fixture.authorization()
    write_kubeconfig(fixture.path, current="there")
    fixture.clock.advance(FILE_SECONDS)

    assert await fixture.authorization() == "Bearer first"


async def test_a_token_for_another_server_is_not_sent_to_this_one(
    fixture: KubeconfigFixture,
) -> None:
    await fixture.authorization()
    write_kubeconfig(fixture.path, token="second", server="https://elsewhere.example.com:6443")
    fixture.clock.advance(FILE_SECONDS)

    after = await fixture.authorization()

    assert after == "Bearer first"
    (kept,) = fixture.seen(CredentialsNotRenewed)
    assert "it now names another server" in str(kept.error)
    assert "second" not in str(kept.error)


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_text("{")])
async def test_while_the_kubeconfig_cannot_be_read_the_last_token_stays(
    fixture: KubeconfigFixture, spoil: Any
) -> None:
    await fixture.authorization()
    spoil(fixture.path)
    fixture.clock.advance(FILE_SECONDS)
    meanwhile = await fixture.authorization()
    write_kubeconfig(fixture.path, token="second")
    fixture.clock.advance(FILE_SECONDS)

    assert meanwhile == "Bearer first"
    assert await fixture.authorization() == "Bearer second"
    (kept,) = fixture.seen(CredentialsNotRenewed)
    assert isinstance(kept.error, ConfigError)


async def test_credentials_set_by_the_caller_are_kept(fixture: KubeconfigFixture) -> None:
    fixture.credentials = fixture.credentials_for(
        replace(fixture.config, login=Token(token="of-mine"))
    )
    await fixture.authorization()
    write_kubeconfig(fixture.path, token="second")
    fixture.clock.advance(FILE_SECONDS)

    assert await fixture.authorization() == "Bearer of-mine"


async def test_a_file_that_has_not_changed_is_not_parsed_again(fixture: KubeconfigFixture) -> None:
    reread = fixture.config.reread
    assert reread is not None

    assert reread() is reread.first
    write_kubeconfig(fixture.path, token="second")
    now = reread()
    assert now is not reread.first
    assert reread() is now
    assert fixture.seen(RiskAccepted) == []
