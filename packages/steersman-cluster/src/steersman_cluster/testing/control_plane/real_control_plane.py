"""A real control plane on this machine: etcd, kube-apiserver and, on request, controllers.

This module uses ``with`` and plain processes, not ``async with``: a pytest fixture of session scope
outlives the event loop of each test, and must be able to end when no event loop runs any more.
"""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from steersman.clock import Clock
from steersman_cluster.testing.calls import HttpCaller, UnixConnection
from steersman_cluster.testing.control_plane.component import Component
from steersman_cluster.testing.control_plane.control_plane import (
    LOOPBACK,
    ControlPlane,
    Flags,
    reserved_port,
)
from steersman_cluster.testing.control_plane.credentials import ControlPlaneCredentials
from steersman_cluster.testing.control_plane.programs import Binaries, Program
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox

# Two or three are usual; with a load of eight per core it was more than sixty. A program that exits
# fails at once.
START_SECONDS = 180.0

# An API server that can reach etcd ends within little more than a second; one that cannot would
# hang for minutes. etcd waits for clients to disconnect, which they may never do.
GRACE_SECONDS = {Program.ETCD: 1.0, Program.KUBE_APISERVER: 5.0}


@contextmanager
def running_real_control_plane(
    binaries: Binaries,
    *,
    clock: Clock,
    controllers: bool = False,
    api_server_flags: Flags | None = None,
    start_seconds: float = START_SECONDS,
) -> Iterator["RealControlPlane"]:
    """Run a control plane while the block runs; the block is entered once it is ready.

    The control plane and its files are removed when the block ends. With ``controllers``,
    kube-controller-manager runs too. There is no kubelet: Pods stay Pending until a test sets their
    status.
    """
    with reserved_port() as port, open_sandbox(prefix="steersman-") as inside:
        plane = RealControlPlane(
            binaries,
            inside,
            port=port,
            clock=clock,
            api_server_flags=api_server_flags or {},
            start_seconds=start_seconds,
        )
        # etcd is stopped last: without it the API server would hang for minutes.
        with plane.etcd.running(), plane.api_server.running():
            with plane.running_controllers() if controllers else nullcontext():
                yield plane


class RealControlPlane(ControlPlane):
    """A running control plane that consists of the real programs.

    A test can pause, stop and restart ``etcd`` and ``api_server``.
    """

    def __init__(
        self,
        binaries: Binaries,
        inside: Sandbox,
        *,
        port: int,
        clock: Clock,
        api_server_flags: Flags,
        start_seconds: float,
    ) -> None:
        super().__init__(inside, port=port, clock=clock)
        self._binaries = binaries
        self._start_seconds = start_seconds
        # In a directory for this user only: etcd does not authenticate its clients.
        self._etcd_socket = self.directory / "etcd.sock"
        self.etcd = self._component(
            Program.ETCD,
            _etcd_flags(self.directory, listen_at=self._etcd_socket),
            ready=lambda: self._etcd_caller().finds("/readyz"),
        )
        self.api_server = self._component(
            Program.KUBE_APISERVER,
            {**_api_server_flags(self.credentials, self._etcd_socket, port), **api_server_flags},
            # The namespace ``default`` may be created a moment after the server reports that it is
            # ready.
            ready=lambda: self.caller().finds("/readyz", "/api/v1/namespaces/default"),
        )

    def program(self, which: Program) -> Path:
        """Return the path of the Kubernetes program ``which``."""
        return self._binaries.path(which)

    def compact(self) -> None:
        """Compact etcd's history of changes; the API server's watch cache still has some of it."""
        with self._etcd_caller() as etcd:
            key = base64.b64encode(b"steersman/compacted").decode()
            # A new revision, so that the latest one that a client has read is history, too.
            written = etcd.call("POST", "/v3/kv/put", {"key": key}).json()
            revision = written["header"]["revision"]
            etcd.call("POST", "/v3/kv/compaction", {"revision": revision, "physical": True})

    def forget_history(self) -> None:
        """Drop the history of changes, and restart the API server, which takes seconds.

        After that, the API server rejects all earlier resourceVersions and continue tokens with
        status 410.
        """
        self.compact()
        self.api_server.restart()

    def _etcd_caller(self) -> HttpCaller:
        return HttpCaller(UnixConnection(self._etcd_socket), headers={})

    def _component(self, program: Program, flags: Flags, *, ready: Callable[[], bool]) -> Component:
        return Component(
            [self._binaries.path(program), *(f"--{name}={flags[name]}" for name in flags)],
            sandbox=self._inside,
            ready=ready,
            clock=self._clock,
            start_seconds=self._start_seconds,
            grace_seconds=GRACE_SECONDS[program],
        )


def _etcd_flags(directory: Path, *, listen_at: Path) -> Flags:
    return {
        "data-dir": directory / "etcd",
        "listen-client-urls": f"unix://{listen_at}",
        "listen-peer-urls": f"unix://{directory}/etcd-peer.sock",
        # It must look like an address; a cluster of one member has no peer.
        "advertise-client-urls": "http://localhost:2379",
        # The data is deleted with the directory.
        "unsafe-no-fsync": "true",
    }


def _api_server_flags(credentials: ControlPlaneCredentials, etcd_socket: Path, port: int) -> Flags:
    return {
        "etcd-servers": f"unix://{etcd_socket}",
        "bind-address": LOOPBACK,
        "secure-port": port,
        "permit-port-sharing": "true",
        # Otherwise it looks for the machine's address, which a machine without a network lacks, and
        # publishes it as an endpoint, which may not be a loopback address.
        "advertise-address": LOOPBACK,
        "endpoint-reconciler-type": "none",
        # By default, open watches would delay its end for a minute.
        "shutdown-watch-termination-grace-period": "1s",
        "tls-cert-file": credentials.serving_certificate_file,
        "tls-private-key-file": credentials.serving_key_file,
        "client-ca-file": credentials.client_ca_file,
        "token-auth-file": credentials.tokens_file,
        "authorization-mode": "RBAC",
        "allow-privileged": "true",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": credentials.service_account_key_file,
        "service-account-signing-key-file": credentials.service_account_key_file,
        "service-cluster-ip-range": "10.0.0.0/16",
        # It would reject every Pod until a controller had created the namespace's service account.
        "disable-admission-plugins": "ServiceAccount",
    }
