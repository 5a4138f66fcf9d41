"""A cluster's address, its trusted authorities and the credentials for it: one frozen value.

Made by ``find_config`` and its parts from files, or by hand. A ``Path`` in it is a file that is
read again while the client runs; nothing in it that is secret appears in a repr.
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
    """A bearer token that does not change."""

    token: str = field(repr=False)


class TokenFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file with a bearer token, which someone else keeps fresh."""

    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Password:
    """A user name and password, for a proxy in front that takes them; API servers do not."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecPlugin:
    """A program that prints a token or a certificate: found, allowed, and ready to be started.

    ``environment`` is all that it gets. Arguments and environment may hold secrets.
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
    """A certificate and its key, each as PEM or as a file of it."""

    certificate: bytes | Path = field(repr=False)
    key: bytes | Path = field(repr=False)


class Reread(Protocol):
    """Reads a configuration again where it came from."""

    @property
    def first(self) -> "ClusterConfig":
        """The configuration as it was read at first."""
        ...

    def __call__(self) -> "ClusterConfig":
        """The configuration as it is now; the same object as long as nothing has changed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """A cluster's address, its trusted authorities, and the credentials for it.

    ``ca`` is PEM, a file of it, or ``None`` for the system's authorities. ``server_name`` is the
    name to expect in the server's certificate, where it is not the host's. ``source`` is the
    place of all this, for people. ``reread`` reads it again there, for a CA, a token or a
    certificate that is replaced while the client runs.
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
                problem="its server is reached over plain http, where anyone on the way can read"
                " the credentials",
                what_now="Use https, or come without credentials.",
            )

    @property
    def _is_private(self) -> bool:
        url = urlsplit(self.server)
        stays_here = is_loopback(url.hostname or "") and self.proxy_url is None
        return url.scheme == "https" or stays_here


def server_url(server: str, *, source: str) -> SplitResult:
    """The parts of a server's address, if it is one that can be used."""
    with suppress(ValueError):
        url = urlsplit(server)
        is_bare = url.username is None and not url.query and not url.fragment
        if url.scheme in ("http", "https") and url.hostname and url.port != 0 and is_bare:
            return url
    # The address is not shown: it may have a password in it.
    raise ConfigError(
        source=source,
        problem="its server is not a URL of a scheme, a host, a port and a path",
        what_now="Give it like https://kube.example.com:6443.",
    )
