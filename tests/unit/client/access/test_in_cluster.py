"""The in-cluster configuration: the server's address and the credentials of the Pod."""

from pathlib import Path

import pytest

from steersman.client.access.cluster_config import TokenFile
from steersman.client.access.credentials import FILE_SECONDS, ConfiguredCredentials
from steersman.client.access.in_cluster import in_cluster_config
from steersman.errors import ConfigError
from steersman.observe import ignore
from tests.certificates import Authority
from tests.clocks import FakeClock
from tests.unit.client.access.kubeconfigs import CANARY

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def service_account(tmp_path: Path) -> Path:
    """The files that the kubelet mounts into a Pod."""
    (tmp_path / "token").write_text(CANARY)
    (tmp_path / "ca.crt").write_bytes(Authority().certificate)
    (tmp_path / "namespace").write_text("apps\n")
    return tmp_path


def test_a_pod_finds_its_cluster_and_namespace(service_account: Path) -> None:
    config = in_cluster_config(environ=ENVIRON, service_account=service_account)

    assert config.server == "https://10.0.0.1:443"
    assert config.namespace == "apps"
    assert config.login == TokenFile(path=service_account / "token")
    assert config.ca == service_account / "ca.crt"
    assert config.verify
    assert CANARY not in repr(config)


def test_an_ipv6_address_is_written_as_urls_have_it(service_account: Path) -> None:
    environ = {**ENVIRON, "KUBERNETES_SERVICE_HOST": "fd00::1"}

    config = in_cluster_config(environ=environ, service_account=service_account)

    assert config.server == "https://[fd00::1]:443"


async def test_a_rotated_token_and_ca_are_picked_up_within_a_minute(service_account: Path) -> None:
    clock = FakeClock()
    config = in_cluster_config(environ=ENVIRON, service_account=service_account)
    credentials = ConfiguredCredentials(config, clock=clock, observe=ignore)
    before = await credentials.for_request()

    rotate(service_account)
    clock.advance(FILE_SECONDS)
    after = await credentials.for_request()

    assert after.headers == (("Authorization", "Bearer another"),)
    assert after.tls is not before.tls


async def test_a_rotated_token_is_read_immediately_after_a_401(service_account: Path) -> None:
    config = in_cluster_config(environ=ENVIRON, service_account=service_account)
    credentials = ConfiguredCredentials(config, clock=FakeClock(), observe=ignore)
    before = await credentials.for_request()

    rotate(service_account)

    assert await credentials.renew(before)
    assert (await credentials.for_request()).headers == (("Authorization", "Bearer another"),)


def rotate(service_account: Path) -> None:
    (service_account / "token").write_text("another")
    (service_account / "ca.crt").write_bytes(Authority().certificate)


@pytest.mark.parametrize("missing", sorted(ENVIRON))
def test_outside_a_pod_there_is_an_error(missing: str, service_account: Path) -> None:
    environ = {name: value for name, value in ENVIRON.items() if name != missing}

    with pytest.raises(ConfigError, match="Name a kubeconfig, or run inside a cluster"):
        in_cluster_config(environ=environ, service_account=service_account)


@pytest.mark.parametrize("missing", ["token", "ca.crt"])
def test_a_pod_without_a_service_account_is_an_error_that_says_how_to_get_one(
    missing: str, service_account: Path
) -> None:
    (service_account / missing).unlink()

    with pytest.raises(ConfigError, match=rf"{missing}: .*automountServiceAccountToken"):
        in_cluster_config(environ=ENVIRON, service_account=service_account)
