"""A cluster's address, its trusted authorities and its credentials, in one frozen value.

``find_config`` and the functions that it calls create a ``ClusterConfig`` from files; it can also
be created directly. A ``Path`` in it names a file that is read again while the client runs. No
secret appears in a repr.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias
from urllib.parse import SplitResult, urlsplit

import msgspec

from steersman.client.access.impersonation import Impersonation
from steersman.client.access.trust import is_loopback
from steersman.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A bearer token as text, which does not change."""

    token: str = field(repr=False)


class TokenFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file with a bearer token that another program replaces before the token expires."""

    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Password:
    """A user name and password for a proxy in front of the API server.

    API servers themselves accept no passwords.
    """

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecPlugin:
    """A program that prints a token or a certificate: resolved, permitted and ready to start.

    ``environment`` is the complete environment of the program. Arguments and environment may
    contain secrets.
    """

    command: Path
    args: tuple[str, ...] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(repr=False)
    api_version: str
    terminal: bool = False
    timeout_seconds: float


Login: TypeAlias = Token | TokenFile | Password | ExecPlugin


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCertificate:
    """A certificate and its key, each as PEM or as the path of a PEM file."""

    certificate: bytes | Path = field(repr=False)
    key: bytes | Path = field(repr=False)


class Reread(Protocol):
    """A function that reads a configuration again from its source."""

    @property
    def first(self) -> "ClusterConfig":
        """The configuration that the first read returned."""
        ...

    def __call__(self) -> "ClusterConfig":
        """Read the configuration again; return the same object as long as nothing has changed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """A cluster's address, its trusted certificate authorities, and the client's credentials.

    ``ca`` is PEM, the path of a PEM file, or ``None`` for the system's authorities. ``server_name``
    is the expected name in the server's certificate, if that name differs from the host. ``source``
    names the origin of the configuration, for messages. ``reread`` reads the configuration again
    from that origin, because a CA, a token or a certificate may be replaced while the client runs.
    """

    server: str
    source: str
    namespace: str = "default"
    ca: bytes | Path | None = field(default=None, repr=False)
    server_name: str | None = None
    verify: bool = True
    login: Login | None = None
    certificate: ClientCertificate | None = None
    impersonate: Impersonation | None = None
    proxy_url: str | None = field(default=None, repr=False)
    reread: "Reread | None" = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        server_url(self.server, source=self.source)
        if self.login is not None and not self._is_private:
            raise ConfigError(
                source=self.source,
                problem="its server URL uses plain http, so any host on the network path can read"
                " the credentials",
                what_now="Use https, or remove the credentials.",
            )

    @property
    def _is_private(self) -> bool:
        url = urlsplit(self.server)
        stays_here = is_loopback(url.hostname or "") and self.proxy_url is None
        return url.scheme == "https" or stays_here


def server_url(server: str, *, source: str) -> SplitResult:
    """Split ``server``, a cluster's address; raise ``ConfigError`` if it cannot be used.

    ``source`` names the origin of the address in the error.
    """
    with suppress(ValueError):
        url = urlsplit(server)
        is_bare = url.username is None and not url.query and not url.fragment
        if url.scheme in ("http", "https") and url.hostname and url.port != 0 and is_bare:
            return url
    # The error does not show the address, because it may contain a password.
    raise ConfigError(
        source=source,
        problem="its server must be a URL that consists of a scheme, a host, a port and a path",
        what_now="Write it like https://kube.example.com:6443.",
    )
