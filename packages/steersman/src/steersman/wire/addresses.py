"""Reads the address of a server or a proxy from its URL. No I/O."""

import base64
import re
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urlsplit

from steersman.errors import ConfigError

_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[0-9A-Za-z._~-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The parts of a URL that a connection needs.

    The repr contains neither the user nor the password.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    login: str | None = field(default=None, repr=False)

    # Host and port as in a Host header and a URL; needed for every request.
    host_header: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        header = self.authority.removesuffix(f":{_PORTS[self.scheme]}")
        object.__setattr__(self, "host_header", header)

    @property
    def is_https(self) -> bool:
        """Whether connections to the address use TLS."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The host and port, in the format of a CONNECT request."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header}{self.path}"


def server_address(text: str) -> Address:
    """Return the address in ``text``, the URL of a server.

    If ``text`` is invalid, raise ``ConfigError``, which does not quote ``text``.
    """
    source = "the server's address"
    url, address = _address(text, source=source)
    if "@" in url.netloc or url.query or url.fragment:
        raise ConfigError(
            source=source,
            problem="it contains more than a scheme, a host, a port and a path",
            what_now="Write it like https://kube.example.com:6443.",
        )
    return address


def proxy_address(text: str) -> Address:
    """Return the address and login in ``text``, the URL of a proxy.

    If ``text`` is invalid, raise ``ConfigError``.
    """
    return _address(text, source="the proxy's address")[1]


def is_ip(host: str) -> bool:
    """Whether ``host`` is an IP address, which needs no name resolution."""
    with suppress(ValueError):
        ip_address(host)
        return True
    return False


def _address(text: str, *, source: str) -> tuple[SplitResult, Address]:
    # urlsplit raises for some errors, and invalid ports and hosts raise when they are read.
    with suppress(ValueError):
        url = urlsplit(text)
        port = _PORTS.get(url.scheme) if url.port is None else url.port
        if url.scheme in _PORTS and url.hostname and port:
            return url, Address(
                scheme=url.scheme,
                host=_host(url.hostname),
                port=port,
                # Encoded characters stay encoded: %2F may be part of a name.
                path=quote(url.path, safe="/:@!$&'()*+,;=-._~%").rstrip("/"),
                login=_login(url),
            )
    raise ConfigError(
        source=source,
        problem="it is not an http:// or https:// URL",
        what_now="Write it like https://kube.example.com:6443.",
    )


def _host(name: str) -> str:
    if ":" in name:
        return str(IPv6Address(name))
    # Encoded here, because a label that is too long would only fail in the name lookup.
    host = name.encode("idna").decode("ascii")
    if not _HOST.fullmatch(host):
        raise ValueError("this is not a host name")
    return host


def _login(url: SplitResult) -> str | None:
    """Return user and password in the format of HTTP's Basic scheme; ``None`` without a user."""
    if url.username is None:
        return None
    login = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return base64.b64encode(login.encode()).decode("ascii")
