"""The local files, programs and addresses that a kubeconfig may access."""

from pathlib import Path
from typing import Any

import pytest

from steersman.client.access.cluster_config import Token
from steersman.client.access.trust import UNTRUSTED, is_internal_host, is_loopback
from steersman.errors import ConfigError
from tests.unit.client.access.kubeconfigs import CANARY, document, read_config, write_kubeconfig

PLUGIN = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh"}}

# Name resolution treats each of these characters as the ASCII one that it resembles.
WIDE_LOOPBACK = "127.0.0.1".translate({ord(c): ord(c) + 0xFEE0 for c in "0127"})

BEYOND_TRUST = {
    "a plugin": document(user=PLUGIN),
    "a token file": document(user={"tokenFile": "/etc/passwd"}),
    "a CA file": document(cluster={"certificate-authority": "/etc/passwd"}),
    "a key file": document(user={"client-certificate-data": "YQ==", "client-key": "/k"}),
    "a proxy": document(cluster={"proxy-url": "http://10.0.0.1:3128"}),
    "plain http": document(cluster={"server": "http://kube.example.com"}),
    "this machine": document(cluster={"server": "https://127.0.0.1:6443"}),
    "this machine by name": document(cluster={"server": "https://LOCALHOST.:6443"}),
    "this machine in one number": document(cluster={"server": "https://2130706433"}),
    "this machine in IPv6": document(cluster={"server": "https://[::ffff:127.0.0.1]"}),
    "this machine through NAT64": document(cluster={"server": "https://[64:ff9b::7f00:1]"}),
    "this machine through 6to4": document(cluster={"server": "https://[2002:7f00:1::]"}),
    "any address": document(cluster={"server": "https://0.0.0.0"}),
    "this machine in wide digits": document(cluster={"server": f"https://{WIDE_LOOPBACK}"}),
    "a metadata service": document(cluster={"server": "https://169.254.169.254"}),
    "a metadata service by name": document(cluster={"server": "https://metadata.google.internal"}),
    "no verification": document(cluster={"insecure-skip-tls-verify": True}),
}


@pytest.mark.parametrize("content", BEYOND_TRUST.values(), ids=BEYOND_TRUST.keys())
def test_an_untrusted_kubeconfig_cannot_access_local_files_or_programs(
    content: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError):
        read_config(
            write_kubeconfig(tmp_path, content), trust=UNTRUSTED, environ={"PATH": "/usr/bin:/bin"}
        )


def test_an_untrusted_kubeconfig_can_contain_inline_credentials(tmp_path: Path) -> None:
    content = document(cluster={"certificate-authority-data": "Y2E="}, user={"token": CANARY})

    config = read_config(write_kubeconfig(tmp_path, content), trust=UNTRUSTED)

    assert (config.ca, config.login) == (b"ca", Token(token=CANARY))


@pytest.mark.parametrize(
    "host",
    ["localhost", "a.localhost", "127.0.0.1", "127.1", "0x7f.1", "2130706433", "::1", "127.9.9.9"],
)
def test_every_spelling_of_a_local_address_is_detected(host: str) -> None:
    assert is_loopback(host)
    assert is_internal_host(host)


@pytest.mark.parametrize(
    "host",
    [WIDE_LOOPBACK, "127\u30020\u30020\u30021", "loc\u24d0lhost", "local\xadhost", " localhost"],
)
def test_a_name_that_can_resolve_to_this_machine_is_not_trusted(host: str) -> None:
    assert is_internal_host(host)
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "host", ["kube.example.com", "notlocalhost", "10.0.0.1", "192.168.1.1", "fd00::1", "8.8.8.8"]
)
def test_addresses_of_other_machines_are_not_local(host: str) -> None:
    assert not is_loopback(host)
    assert not is_internal_host(host)


@pytest.mark.parametrize("host", ["64:ff9b::7f00:1", "2002:7f00:1::"])
def test_translated_addresses_are_internal_but_not_local(host: str) -> None:
    assert is_internal_host(host)
    assert not is_loopback(host)
