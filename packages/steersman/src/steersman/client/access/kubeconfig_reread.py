"""A kubeconfig that is read again while the client runs, because its content may be replaced.

A tool that renews a token or a client certificate writes it into the kubeconfig. A rotated
authority appears in the kubeconfig as ``certificate-authority-data``. The context stays the one
that was selected first: a change of the current context takes effect at the next start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from steersman.client.access.cluster_config import ClusterConfig
from steersman.client.access.files import CONFIG_BYTES, read_if_exists
from steersman.client.access.kubeconfig import Kubeconfig
from steersman.client.access.trust import Trust
from steersman.errors import ConfigError
from steersman.observe import Observer, ignore


class KubeconfigReread:
    """A reader that selects the same context again after one of the files has changed."""

    def __init__(
        self,
        paths: Sequence[Path],
        context: str | None,
        *,
        trust: Trust,
        environ: Mapping[str, str],
        observe: Observer,
    ) -> None:
        self._paths = tuple(paths)
        self._trust = trust
        self._environ = environ
        # Read before parsing, so that the next check detects a change in between.
        self._contents = self._read()
        kubeconfig = Kubeconfig.read(*self._paths)
        self._context = context or kubeconfig.current_context
        self._now = self.first = kubeconfig.choose(
            context, trust=trust, environ=environ, observe=observe
        )

    def __repr__(self) -> str:
        return f"<KubeconfigReread of {self.first.source}>"

    @property
    def config(self) -> ClusterConfig:
        """The configuration from the first read, with this object as its ``reread``."""
        return replace(self.first, reread=self)

    def __call__(self) -> ClusterConfig:
        """Return the current configuration; the same object as long as nothing has changed."""
        contents = self._read()
        if contents != self._contents:
            # The observer was notified of the risks when the file was first read.
            now = Kubeconfig.read(*self._paths).choose(
                self._context, trust=self._trust, environ=self._environ, observe=ignore
            )
            if (now.server, now.proxy_url) != (self.first.server, self.first.proxy_url):
                # Another cluster's credentials must not be sent to this server.
                raise ConfigError(
                    source=now.source,
                    problem="it now names another server",
                    what_now="Restart to use it; until then the old credentials are used.",
                )
            self._contents, self._now = contents, now
        return self._now

    def _read(self) -> tuple[bytes | None, ...]:
        return tuple(read_if_exists(path, limit_bytes=CONFIG_BYTES) for path in self._paths)
