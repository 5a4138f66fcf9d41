"""A kubeconfig whose token, certificate or authority is replaced while the client runs."""

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


def written(
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


class Fixture:
    """Credentials from a kubeconfig, the clock they go by, and what was observed."""

    def __init__(self, directory: Path) -> None:
        self.path = written(directory / "config")
        self.clock = FakeClock()
        self.observed: list[Observation] = []
        self.config = find_config(
            environ={}, home=directory, observe=self.observed.append, kubeconfig=self.path
        )
        self.credentials = self.of(self.config)

    def of(self, config: ClusterConfig) -> ConfiguredCredentials:
        return ConfiguredCredentials(config, clock=self.clock, observe=self.observed.append)

    async def authorization(self) -> str | None:
        return dict((await self.credentials.for_request()).headers).get("Authorization")

    def seen(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.observed if isinstance(each, kind)]


@pytest.fixture
def world(tmp_path: Path) -> Fixture:
    return Fixture(tmp_path)


async def test_a_token_replaced_in_the_kubeconfig_is_used_within_a_minute(world: Fixture) -> None:
    before = await world.authorization()
    written(world.path, token="second")
    world.clock.advance(FILE_SECONDS)

    after = await world.authorization()

    assert (before, after) == ("Bearer first", "Bearer second")
    assert [each.reason for each in world.seen(CredentialsRenewed)] == ["a file changed"]


async def test_a_refused_token_is_read_again_from_the_kubeconfig_at_once(world: Fixture) -> None:
    refused = await world.credentials.for_request()
    written(world.path, token="second")

    is_renewed = await world.credentials.renew(refused)

    assert is_renewed
    assert await world.authorization() == "Bearer second"


async def test_an_authority_replaced_in_the_kubeconfig_makes_another_tls_context(
    world: Fixture,
) -> None:
    before = (await world.credentials.for_request()).tls
    written(world.path, ca=SECOND.certificate)
    world.clock.advance(FILE_SECONDS)

    after = (await world.credentials.for_request()).tls

    assert before is not None
    assert after is not None
    assert after is not before
    assert await world.authorization() == "Bearer first"


async def test_another_current_context_changes_nothing(world: Fixture) -> None:
    await world.authorization()
    written(world.path, current="there")
    world.clock.advance(FILE_SECONDS)

    assert await world.authorization() == "Bearer first"


async def test_a_token_for_another_server_is_not_sent_to_this_one(world: Fixture) -> None:
    await world.authorization()
    written(world.path, token="second", server="https://elsewhere.example.com:6443")
    world.clock.advance(FILE_SECONDS)

    after = await world.authorization()

    assert after == "Bearer first"
    (kept,) = world.seen(CredentialsNotRenewed)
    assert "it now names another server" in str(kept.error)
    assert "second" not in str(kept.error)


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_text("{")])
async def test_while_the_kubeconfig_cannot_be_read_the_last_token_stays(
    world: Fixture, spoil: Any
) -> None:
    await world.authorization()
    spoil(world.path)
    world.clock.advance(FILE_SECONDS)
    meanwhile = await world.authorization()
    written(world.path, token="second")
    world.clock.advance(FILE_SECONDS)

    assert meanwhile == "Bearer first"
    assert await world.authorization() == "Bearer second"
    (kept,) = world.seen(CredentialsNotRenewed)
    assert isinstance(kept.error, ConfigError)


async def test_credentials_set_by_the_caller_are_kept(world: Fixture) -> None:
    world.credentials = world.of(replace(world.config, login=Token(token="of-mine")))
    await world.authorization()
    written(world.path, token="second")
    world.clock.advance(FILE_SECONDS)

    assert await world.authorization() == "Bearer of-mine"


async def test_a_file_that_has_not_changed_is_not_parsed_again(world: Fixture) -> None:
    reread = world.config.reread
    assert reread is not None

    assert reread() is reread.first
    written(world.path, token="second")
    now = reread()
    assert now is not reread.first
    assert reread() is now
    assert world.seen(RiskAccepted) == []
