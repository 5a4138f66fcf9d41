"""The parts of a server's URL."""

import pytest

from steersman.errors import ConfigError
from steersman.wire.addresses import proxy_address, server_address


@pytest.mark.parametrize(
    ("text", "host", "port", "written"),
    [
        ("https://kube.example.com", "kube.example.com", 443, "https://kube.example.com"),
        ("https://kube.example.com:443/", "kube.example.com", 443, "https://kube.example.com"),
        ("HTTPS://Kube.Example.Com:6443", "kube.example.com", 6443, None),
        ("http://127.0.0.1:8001", "127.0.0.1", 8001, "http://127.0.0.1:8001"),
        ("http://127.0.0.1:443", "127.0.0.1", 443, "http://127.0.0.1:443"),
        ("https://[::1]:6443", "::1", 6443, "https://[::1]:6443"),
        ("https://[::1]", "::1", 443, "https://[::1]"),
        ("https://bücher.example", "xn--bcher-kva.example", 443, None),
        ("https://host_with_underscores", "host_with_underscores", 443, None),
        ("https://x/k8s/clusters/c%2F1/", "x", 443, "https://x/k8s/clusters/c%2F1"),
        ("https://x/a b/é", "x", 443, "https://x/a%20b/%C3%A9"),
    ],
)
def test_an_address_has_host_port_and_path(
    text: str, host: str, port: int, written: str | None
) -> None:
    address = server_address(text)

    assert (address.host, address.port) == (host, port)
    if written is not None:
        assert str(address) == written


@pytest.mark.parametrize("host", ["a$b", "a%0Ab", f"{'a' * 64}.example", "[::1"])
def test_an_address_without_a_valid_host_is_rejected(host: str) -> None:
    with pytest.raises(ConfigError, match="it is not an http:// or https:// URL"):
        server_address(f"https://{host}:6443")


def test_no_repr_shows_the_credentials_of_a_proxy() -> None:
    proxy = proxy_address("http://me:canary@proxy.example.com:3128")

    assert proxy.login is not None
    assert "canary" not in f"{proxy} {proxy!r}"
    assert proxy.login not in f"{proxy} {proxy!r}"
