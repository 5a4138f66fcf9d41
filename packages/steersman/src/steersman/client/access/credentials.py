"""The client's credentials, sent with every request and renewed while the client runs."""

import asyncio
import base64
import math
import re
import ssl
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol, assert_never

from steersman.client.access.cluster_config import (
    ClusterConfig,
    ExecPlugin,
    Login,
    Password,
    Token,
    TokenFile,
    server_url,
)
from steersman.client.access.exec_plugin import PluginCredential, PluginSession
from steersman.client.access.files import read_small_file
from steersman.clock import Clock
from steersman.errors import ConfigError
from steersman.observe import CredentialsNotRenewed, CredentialsRenewed, Observer
from steersman.wire import TlsSettings, tls_context

# The kubelet replaces a token after four fifths of its lifetime, so the shortest-lived token is
# valid for two more minutes. This interval is half of that; the files are only a few kilobytes.
FILE_SECONDS: Final = 60.0

_BEARER: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequestCredentials:
    """The credentials of one request.

    Renewed credentials are always a new object, even if their values are equal to the old ones.
    """

    headers: tuple[tuple[str, str], ...] = field(repr=False)
    tls: ssl.SSLContext | None


class Credentials(Protocol):
    """A source of the current credentials of the client."""

    def fresh_for_request(self) -> RequestCredentials | None:
        """Return the credentials for the next request; ``None`` if they must be renewed first."""
        ...

    async def for_request(self) -> RequestCredentials:
        """Return the credentials for the next request; wait only if they must be renewed."""
        ...

    async def renew(self, rejected: RequestCredentials) -> bool:
        """Try to replace ``rejected``, the credentials of a request that was responded to with 401.

        Return whether the credentials were replaced. Concurrent calls cause only one attempt.
        """
        ...

    def tls(self) -> ssl.SSLContext | None:
        """The TLS context for connections that send the last credentials; ``None`` without TLS."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    """The file contents and plugin output for one request, all read at the same time."""

    login: Login | None = field(repr=False)
    ca: bytes | None = field(repr=False)
    certificate: bytes | None = field(repr=False)
    key: bytes | None = field(repr=False)
    token: bytes | None = field(repr=False)
    given: PluginCredential | None


class ConfiguredCredentials:
    """The credentials from a ``ClusterConfig``.

    The files and the kubeconfig are read again after ``FILE_SECONDS``, and after a 401. A
    credential plugin runs again when its last credential expires, and after a 401. While a file
    cannot be used, its previous content stays in use, and the failure is reported as an
    observation. The failure of a plugin is raised as an exception.
    """

    def __init__(self, config: ClusterConfig, *, clock: Clock, observe: Observer) -> None:
        self._config = config
        self._clock = clock
        self._observe = observe
        self._plugin = (
            PluginSession(config.login, source=config.source, clock=clock)
            if isinstance(config.login, ExecPlugin)
            else None
        )
        self._over_tls = server_url(config.server, source=config.source).scheme == "https"
        self._one_at_a_time = asyncio.Lock()
        self._material: _Material | None = None
        # Separate from the token: a new token does not require new connections.
        self._tls: tuple[TlsSettings, ssl.SSLContext] | None = None
        self._current: RequestCredentials | None = None
        self._read_again_at = -math.inf

    def fresh_for_request(self) -> RequestCredentials | None:
        """Return the credentials for the next request; ``None`` if they must be renewed first."""
        if self._clock.monotonic() >= self._read_again_at:
            return None
        return self._current if self._plugin is None or self._plugin.is_fresh else None

    async def for_request(self) -> RequestCredentials:
        """Return the credentials for the next request; wait only if they must be renewed."""
        if current := self.fresh_for_request():
            return current
        async with self._one_at_a_time:
            if current := self.fresh_for_request():
                return current
            given = await self._plugin.current() if self._plugin else None
            return self._update(given)

    async def renew(self, rejected: RequestCredentials) -> bool:
        """Try to replace ``rejected``, the credentials of a request that was responded to with 401.

        Return whether the credentials were replaced.
        """
        async with self._one_at_a_time:
            if self._current is rejected:
                given = await self._plugin.renew() if self._plugin else None
                self._update(given)
            return self._current is not rejected

    def tls(self) -> ssl.SSLContext | None:
        """The TLS context for connections that send the last credentials; ``None`` without TLS."""
        if self._current is None:
            raise RuntimeError(f"{self!r} has no TLS context before the first request")
        return self._current.tls

    def _update(self, given: PluginCredential | None) -> RequestCredentials:
        """Return the current credentials; the same object as before if nothing has changed."""
        last = self._material
        self._read_again_at = self._clock.monotonic() + FILE_SECONDS
        try:
            material = self._read(given)
            if self._current is not None and material == last:
                return self._current
            current = self._request_credentials(material)
        except ConfigError as error:
            if self._current is None or last is None or given is not last.given:
                # Otherwise the next caller would get credentials that the plugin has replaced.
                self._read_again_at = -math.inf
                raise
            self._observe(CredentialsNotRenewed(source=self._config.source, error=error))
            return self._current
        if last is not None:
            reason = "the plugin ran again" if given is not last.given else "a file changed"
            self._observe(CredentialsRenewed(source=self._config.source, reason=reason))
        self._material = material
        self._current = current
        return current

    def _read(self, given: PluginCredential | None) -> _Material:
        config = _with_reread_values(self._config)
        login, pair = config.login, config.certificate
        return _Material(
            login=login,
            ca=_content(config.ca),
            certificate=_content(pair.certificate if pair else None),
            key=_content(pair.key if pair else None),
            token=_content(login.path if isinstance(login, TokenFile) else None),
            given=given,
        )

    def _request_credentials(self, material: _Material) -> RequestCredentials:
        authorization = self._authorization(material.login, material)
        return RequestCredentials(
            headers=(("Authorization", authorization),) if authorization else (),
            tls=self._tls_context(material) if self._over_tls else None,
        )

    def _authorization(self, login: Login | None, material: _Material) -> str | None:
        match login:
            case Token(token=token):
                return _bearer(token, source=self._config.source)
            case TokenFile(path=path):
                text = (material.token or b"").decode("ascii", errors="replace")
                return _bearer(text.strip(), source=str(path))
            case Password(username=username, password=password):
                return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
            case ExecPlugin():
                given = material.given.token if material.given else None
                return _bearer(given, source=str(login.command)) if given else None
            case None:
                return None
            case _:
                assert_never(login)

    def _tls_context(self, material: _Material) -> ssl.SSLContext:
        # The kubeconfig's certificate takes precedence over the plugin's, as in kubectl.
        pair = material if material.certificate or not material.given else material.given
        settings = TlsSettings(
            ca_data=material.ca,
            client_certificate=pair.certificate,
            client_key=pair.key,
            verify=self._config.verify,
        )
        if self._tls is None or self._tls[0] != settings:
            self._tls = (settings, tls_context(settings, source=self._config.source))
        return self._tls[1]

    def __repr__(self) -> str:
        return f"<ConfiguredCredentials of {self._config.source}>"


def _with_reread_values(config: ClusterConfig) -> ClusterConfig:
    """Return ``config`` with the values that were replaced in its source.

    A value that the caller has overridden is not replaced. A credential plugin is neither replaced
    nor introduced while the client runs.
    """
    if config.reread is None or (now := config.reread()) is (first := config.reread.first):
        return config
    found: dict[str, Any] = {
        name: getattr(now, name)
        for name in ("ca", "certificate", "login")
        if getattr(config, name) == getattr(first, name)
    }
    if isinstance(config.login, ExecPlugin) or isinstance(now.login, ExecPlugin):
        found.pop("login", None)
    return replace(config, **found)


def _content(place: bytes | Path | None) -> bytes | None:
    return read_small_file(place) if isinstance(place, Path) else place


def _bearer(token: str, *, source: str) -> str:
    if not _BEARER.fullmatch(token):
        raise ConfigError(
            source=source,
            problem="the token is empty, or contains invalid characters",
            what_now="Write the token as a single line of text.",
        )
    return f"Bearer {token}"
