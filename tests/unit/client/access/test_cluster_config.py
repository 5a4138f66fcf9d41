"""The address and the credentials of a cluster."""

import pytest

from steersman.client.access import ClusterConfig
from steersman.errors import ConfigError


@pytest.mark.parametrize("server", ["kube.example.com:6443", "ftp://kube.example.com", ""])
def test_a_configuration_without_a_valid_address_cannot_be_created(server: str) -> None:
    with pytest.raises(ConfigError, match=r"^the test: "):
        ClusterConfig(server=server, source="the test")
