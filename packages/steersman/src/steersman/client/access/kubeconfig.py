"""Reads a kubeconfig into a ``ClusterConfig``, as far as a ``Trust`` policy permits."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from steersman.client.access.cluster_config import (
    ClientCertificate,
    ClusterConfig,
    Login,
    Password,
    Token,
    TokenFile,
    server_url,
)
from steersman.client.access.exec_config import resolved_plugin
from steersman.client.access.files import exists
from steersman.client.access.impersonation import Impersonation
from steersman.client.access.kubeconfig_files import (
    Entries,
    Entry,
    KubeconfigCluster,
    KubeconfigUser,
    parse_entries,
    read_entries,
)
from steersman.client.access.trust import Trust, is_internal_host
from steersman.errors import BadValue, ConfigError
from steersman.observe import Observer, RiskAccepted

# Enough to find a misspelled name.
_CONTEXTS_SHOWN: Final = 10


class Kubeconfig:
    """One or several merged kubeconfig files; ``choose`` selects one context."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    @classmethod
    def read(cls, *paths: Path) -> "Kubeconfig":
        """Read and merge the kubeconfig files ``paths``.

        If several files define the same name, the first definition is used, as in kubectl.
        """
        return cls(read_entries(paths))

    @classmethod
    def parse(cls, content: bytes, *, source: str) -> "Kubeconfig":
        """Parse a kubeconfig that is not in a file, for example in a Secret.

        ``source`` names its origin in errors.
        """
        return cls(parse_entries(content, source=source))

    @property
    def contexts(self) -> Sequence[str]:
        """The names of all contexts."""
        return tuple(self._entries.contexts)

    @property
    def current_context(self) -> str | None:
        """The name of the context that is used by default."""
        return self._entries.current_context or None

    def choose(
        self,
        context: str | None = None,
        *,
        trust: Trust,
        environ: Mapping[str, str],
        observe: Observer,
    ) -> ClusterConfig:
        """Return the cluster and user of ``context`` as a ``ClusterConfig``.

        If ``context`` is ``None``, the kubeconfig's current context is used.
        """
        name = context or self._entries.current_context
        if not name:
            raise self._unknown("does not set current-context")
        chosen = self._entries.contexts.get(name)
        if chosen is None:
            raise self._unknown(f"does not contain the context {name!r}")
        cluster = self._entries.clusters.get(chosen.content.cluster or "")
        if cluster is None:
            raise self._dangling(chosen.name, "cluster", chosen.content.cluster)
        # A context may omit the user: some servers accept anonymous requests.
        user = self._entries.users.get(chosen.content.user or "")
        if user is None and chosen.content.user:
            raise self._dangling(chosen.name, "user", chosen.content.user)
        reading = _EntryReader(cluster, user, trust=trust, environ=environ, observe=observe)
        return reading.config(
            source=f"context {name} of {chosen.origin.source}",
            namespace=chosen.content.namespace or "default",
        )

    def _unknown(self, problem: str) -> ConfigError:
        known = list(self._entries.contexts)
        shown = ", ".join(known[:_CONTEXTS_SHOWN]) or "none"
        more = f" and {len(known) - _CONTEXTS_SHOWN} more" if len(known) > _CONTEXTS_SHOWN else ""
        return ConfigError(
            source=self._entries.source,
            problem=problem,
            what_now=f"Choose one of the existing contexts: {shown}{more}.",
        )

    def _dangling(self, context: str, what: str, name: str | None) -> ConfigError:
        return ConfigError(
            source=self._entries.source,
            problem=f"context {context} names the {what} {name or ''!r}, which does not exist",
            what_now=f"Add that {what}, or choose another context.",
        )

    def __repr__(self) -> str:
        return f"<Kubeconfig {self._entries.source}: {len(self._entries.contexts)} contexts>"


class _EntryReader:
    """A reader of one cluster and one user."""

    def __init__(
        self,
        cluster: Entry[KubeconfigCluster],
        user: Entry[KubeconfigUser] | None,
        *,
        trust: Trust,
        environ: Mapping[str, str],
        observe: Observer,
    ) -> None:
        self._cluster = cluster
        self._user = user
        self._trust = trust
        self._environ = environ
        self._observe = observe

    def config(self, *, source: str, namespace: str) -> ClusterConfig:
        cluster = self._cluster.content
        self._check_server(cluster)
        verify = not cluster.insecure_skip_tls_verify
        if not verify:
            self._check_unverified()
        if self._user is not None:
            self._warn_of_readers(self._user)
        ca = self._bytes_or_file(
            self._cluster,
            "certificate-authority",
            cluster.certificate_authority_data,
            cluster.certificate_authority,
        )
        return ClusterConfig(
            server=cluster.server or "",
            source=source,
            namespace=namespace,
            ca=ca,
            server_name=cluster.tls_server_name or None,
            verify=verify,
            proxy_url=cluster.proxy_url or None,
            login=self._login(self._user, ca) if self._user else None,
            certificate=self._certificate(self._user) if self._user else None,
            impersonate=_impersonation(self._user) if self._user else None,
        )

    def _check_server(self, cluster: KubeconfigCluster) -> None:
        url = server_url(cluster.server or "", source=self._cluster.place)
        if url.scheme == "http" and not self._trust.plain_http:
            raise _refused(self._cluster, "its server URL uses plain http", "Use https.")
        if not self._trust.inner_addresses and is_internal_host(url.hostname or ""):
            raise _refused(
                self._cluster,
                "its server is, or may be, this machine or a machine in its network",
                "Use another server, and write its address in the usual form.",
            )
        if cluster.proxy_url and not self._trust.proxies:
            raise _refused(self._cluster, "it uses a proxy", "Remove proxy-url.")

    def _check_unverified(self) -> None:
        if not self._trust.unverified_servers:
            raise ConfigError(
                source=self._cluster.place,
                problem="it sets insecure-skip-tls-verify, which the program that uses the"
                " kubeconfig must allow as well",
                what_now="Set certificate-authority-data instead, or allow it with"
                " --insecure-skip-tls-verify (STEERSMAN_INSECURE_SKIP_TLS_VERIFY=true), or in code"
                " with Manager(trust=Trust(unverified_servers=True)).",
            )
        self._observe(
            RiskAccepted(
                source=self._cluster.place,
                risk="the server's certificate is not verified: any host on the network path can"
                " read and change everything",
            )
        )

    def _login(self, user: Entry[KubeconfigUser], ca: bytes | Path | None) -> Login | None:
        content = user.content
        if content.auth_provider is not None:
            raise ConfigError(
                source=user.place,
                problem="it uses an auth-provider, which Kubernetes no longer supports",
                what_now="Use exec with your provider's credential plugin instead.",
            )
        ways = [content.token or content.token_file, content.username, content.exec]
        if sum(map(bool, ways)) > 1:
            raise ConfigError(
                source=user.place,
                problem="it has more than one of token, username and exec",
                what_now="Keep one of them.",
            )
        if content.token_file:
            return TokenFile(path=self._path(user, "tokenFile", content.token_file))
        if content.token:
            return Token(token=content.token)
        if content.username:
            return Password(username=content.username, password=content.password or "")
        if content.exec is not None:
            return resolved_plugin(
                content.exec,
                user=user,
                cluster=self._cluster.content,
                ca=ca,
                policy=self._trust.plugins,
                environ=self._environ,
            )
        return None

    def _warn_of_readers(self, user: Entry[KubeconfigUser]) -> None:
        content, path = user.content, user.origin.path
        has_secrets = content.token or content.password or content.client_key_data
        if has_secrets and path is not None and exists(path) and path.stat().st_mode & 0o044:
            self._observe(
                RiskAccepted(
                    source=str(path),
                    risk="it contains a secret, and other users of this machine can read it:"
                    f" run chmod 600 {path}",
                )
            )

    def _certificate(self, user: Entry[KubeconfigUser]) -> ClientCertificate | None:
        content = user.content
        certificate = self._bytes_or_file(
            user, "client-certificate", content.client_certificate_data, content.client_certificate
        )
        key = self._bytes_or_file(user, "client-key", content.client_key_data, content.client_key)
        if certificate is None and key is None:
            return None
        if certificate is None or key is None:
            missing = "client-certificate" if certificate is None else "client-key"
            raise ConfigError(
                source=user.place,
                problem=f"{missing} is missing, and a client certificate needs its key",
                what_now="Set both, or neither.",
            )
        return ClientCertificate(certificate=certificate, key=key)

    def _bytes_or_file(
        self, entry: Entry[Any], field: str, data: str | None, file: str | None
    ) -> bytes | Path | None:
        if data:
            return _decoded(entry, f"{field}-data", data)
        return self._path(entry, field, file) if file else None

    def _path(self, entry: Entry[Any], field: str, file: str) -> Path:
        if not self._trust.files:
            raise _refused(entry, f"{field} names a file", "Put its content into the kubeconfig.")
        if entry.origin.path is None and not Path(file).is_absolute():
            raise ConfigError(
                source=entry.place,
                problem=f"{field} is a relative path, and the kubeconfig is not a file",
                what_now="Use an absolute path.",
            )
        return entry.origin.path.parent / file if entry.origin.path else Path(file)


def _refused(entry: Entry[Any], problem: str, what_now: str) -> ConfigError:
    return ConfigError(
        source=entry.place,
        problem=f"{problem}, which is not allowed for an untrusted kubeconfig",
        what_now=f"{what_now} If you trust the kubeconfig, read it with Trust().",
    )


def _decoded(entry: Entry[Any], field: str, data: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        # Not chained: the original error contains the data.
        raise ConfigError(
            source=entry.place,
            problem=f"{field} is not base64",
            what_now=f"Encode the file with base64, or name it in {field.removesuffix('-data')}.",
        ) from None


def _impersonation(user: Entry[KubeconfigUser]) -> Impersonation | None:
    content = user.content
    if not content.as_user:
        if content.as_uid or content.as_groups or content.as_user_extra:
            raise ConfigError(
                source=user.place,
                problem="it sets as-uid, as-groups or as-user-extra without `as`",
                what_now="Set `as` as well.",
            )
        return None
    try:
        return Impersonation(
            user=content.as_user,
            uid=content.as_uid or "",
            groups=content.as_groups or (),
            extra=content.as_user_extra or {},
        )
    except BadValue as error:
        raise ConfigError(
            source=user.place,
            problem="its impersonation contains characters that are not printable",
            what_now="Correct as, as-uid, as-groups or as-user-extra.",
        ) from error
