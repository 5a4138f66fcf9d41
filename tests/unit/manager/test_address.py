"""Listen addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadValue
from steersman.manager.settings.address import ListenAddress


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("[::1]:8080", "::1", 8080),
        (":8080", "", 8080),
        ("localhost:0", "localhost", 0),
        ("metrics.example.com:65535", "metrics.example.com", 65535),
    ],
)
def test_an_address_is_a_host_and_a_port_and_prints_as_it_was_written(
    text: str, host: str, port: int
) -> None:
    address = ListenAddress.parse(text)

    assert address == ListenAddress(host, port)
    assert str(address) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8080",
        "localhost",
        "localhost:",
        "localhost:http",
        "localhost:65536",
        "localhost:-1",
        "localhost:٣",
        "::1:8080",
        "[::1]8080",
        "[127.0.0.1]:8080",
        "[]:8080",
        "[::g]:8080",
        "300.0.0.1:8080",
        "a b:8080",
        "a/b:8080",
        "http://localhost:8080",
        "-a:1",
        "a..b:1",
        "a:1\n",
    ],
)
def test_the_error_for_an_invalid_address_states_the_rule(text: str) -> None:
    with pytest.raises(BadValue, match="is not an address to listen on: "):
        ListenAddress.parse(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST."])
def test_only_loopback_addresses_are_not_exposed(host: str) -> None:
    assert ListenAddress(host, 1).is_loopback


@pytest.mark.parametrize(
    "host", ["", "::", "10.0.0.1", "localhost.example.com", "127.0.0.1.example.com"]
)
def test_an_address_that_may_not_be_loopback_counts_as_exposed(host: str) -> None:
    assert not ListenAddress(host, 1).is_loopback


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    try:
        address = ListenAddress.parse(text)
    except BadValue:
        return
    assert ListenAddress.parse(str(address)) == address
