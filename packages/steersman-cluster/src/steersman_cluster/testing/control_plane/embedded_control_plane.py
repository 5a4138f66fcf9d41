"""The embedded API server in a separate process, used like a real control plane.

The process is ``steersman cluster up``, with the server's data in a file, so that the server can be
stopped and restarted without losing its objects.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from steersman.clock import Clock
from steersman_cluster.apiserver import Key, RevisionLog, SqliteJournal
from steersman_cluster.testing.control_plane.component import Component
from steersman_cluster.testing.control_plane.control_plane import (
    LOOPBACK,
    ControlPlane,
    reserved_port,
)
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox

START_SECONDS = 60.0
GRACE_SECONDS = 5.0

# The key of no resource.
FORGOTTEN = Key("history", "forgotten")


@contextmanager
def running_embedded_control_plane(
    *, clock: Clock, nodes: int | None = None
) -> Iterator["EmbeddedControlPlane"]:
    """Run an embedded cluster while the block runs; the block is entered once it is ready.

    The cluster and its files are removed when the block ends. With ``nodes``, the cluster has that
    many nodes and its own controllers; without ``nodes``, it consists of an API server only.
    """
    with reserved_port() as port, open_sandbox(prefix="steersman-") as inside:
        cluster = EmbeddedControlPlane(inside, port=port, clock=clock, nodes=nodes)
        with cluster.api_server.running():
            yield cluster


class EmbeddedControlPlane(ControlPlane):
    """An embedded cluster in a separate process, which tests can pause and restart."""

    def __init__(self, inside: Sandbox, *, port: int, clock: Clock, nodes: int | None) -> None:
        super().__init__(inside, port=port, clock=clock)
        self._data = inside.directory / "data"
        given = self.credentials
        flags = {
            "port": port,
            "bind-address": LOOPBACK,
            "data": self._data,
            "kubeconfig": inside.directory / "own.kubeconfig",
            "tls-cert-file": given.serving_certificate_file,
            "tls-private-key-file": given.serving_key_file,
            "client-ca-file": given.client_ca_file,
            "token-auth-file": given.tokens_file,
            "service-account-key-file": given.service_account_key_file,
            "service-account-signing-key-file": given.service_account_key_file,
        }
        expected = ["/readyz", "/api/v1/namespaces/default"]
        # The controllers run once there is a service account, which every Pod needs.
        if nodes is not None:
            expected.append("/api/v1/namespaces/default/serviceaccounts/default")
        self.api_server = Component(
            [
                sys.executable,
                "-m",
                "steersman",
                "cluster",
                "up",
                "--permit-port-sharing",
                "--no-workloads" if nodes is None else f"--nodes={nodes}",
                *(f"--{name}={value}" for name, value in flags.items()),
            ],
            sandbox=inside,
            ready=lambda: self.caller().finds(*expected),
            clock=clock,
            start_seconds=START_SECONDS,
            grace_seconds=GRACE_SECONDS,
        )

    def forget_history(self) -> None:
        """Drop the history of changes, and restart the API server.

        After that, the API server rejects all earlier resourceVersions and continue tokens with
        status 410.
        """
        with self.api_server.stopped():
            journal = SqliteJournal(self._data)
            log = RevisionLog(journal)
            # A new revision, so that the latest one that a client has read is history, too.
            entry = log.append(FORGOTTEN, {}, expected=0)
            log.append(FORGOTTEN, None, expected=entry.revision)
            log.compact(log.revision)
            journal.close()
