"""``ControlPlane``: an API server for tests in a separate process, real or embedded."""

import os
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path
from typing import TypeAlias

from steersman.clock import Clock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing.calls import CALL_SECONDS, HttpCaller
from steersman_cluster.testing.control_plane.component import Component
from steersman_cluster.testing.control_plane.controller_manager import (
    CONTROLLERS,
    GRACE_SECONDS,
    START_SECONDS,
    controller_manager_flags,
)
from steersman_cluster.testing.control_plane.credentials import (
    ADMIN,
    make_credentials,
    write_private,
)
from steersman_cluster.testing.control_plane.programs import Program, find_binaries
from steersman_cluster.testing.control_plane.sandbox import Sandbox

LOOPBACK = "127.0.0.1"

# For one request of kubectl: longer than a healthy server needs, shorter than a test may take.
KUBECTL_SECONDS = 30.0

Flags: TypeAlias = Mapping[str, object]


class ControlPlane:
    """A running control plane: its URL, its users, kubectl, and its API server's process.

    A test can pause, stop and restart ``api_server``.
    """

    api_server: Component

    def __init__(self, inside: Sandbox, *, port: int, clock: Clock) -> None:
        self.url = f"https://{LOOPBACK}:{port}"
        self.directory = inside.directory
        self._inside = inside
        self._clock = clock
        self.credentials = make_credentials(self.directory, now=clock.now())
        self.kubeconfig = write_private(
            self.directory / "kubeconfig", self.credentials.kubeconfig(server=self.url).encode()
        )
        self._port = port
        self._tls = ssl.create_default_context(cafile=self.credentials.ca_file)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url}>"

    def program(self, which: Program) -> Path:
        """Return the path of the Kubernetes program ``which``."""
        return find_binaries(environ=os.environ).path(which)

    def kubectl_program(self) -> Path:
        """The path of kubectl."""
        return self.program(Program.KUBECTL)

    @contextmanager
    def running_controllers(self, *names: str, flags: Flags | None = None) -> Iterator[None]:
        """Run kube-controller-manager while the block runs.

        ``names`` are the controllers that it runs; the default is ``CONTROLLERS``. ``flags`` are
        added to the usual command-line flags, and override flags of the same name.
        """
        with reserved_port() as port:
            usual = controller_manager_flags(
                self.credentials,
                kubeconfig=self.kubeconfig,
                address=LOOPBACK,
                port=port,
                controllers=names or CONTROLLERS,
            )
            given = {**usual, **(flags or {})}
            manager = Component(
                [
                    self.program(Program.KUBE_CONTROLLER_MANAGER),
                    *(f"--{name}={value}" for name, value in given.items()),
                ],
                sandbox=self._inside,
                ready=lambda: self._https_caller(port).finds("/healthz"),
                clock=self._clock,
                start_seconds=START_SECONDS,
                grace_seconds=GRACE_SECONDS,
            )
            with manager.running():
                yield

    def forget_history(self) -> None:
        """Drop the history of changes, and restart the API server.

        After that, the API server rejects all earlier resourceVersions and continue tokens with
        status 410.
        """
        raise NotImplementedError

    def kubectl(self, *arguments: str | Path, context: str = ADMIN, stdin: str = "") -> str:
        """Run kubectl with ``arguments`` and return its output; raise if kubectl fails.

        ``context`` is the kubeconfig context, which determines the user. ``stdin`` is the input of
        kubectl.
        """
        command = [
            self.kubectl_program(),
            f"--context={context}",
            f"--request-timeout={KUBECTL_SECONDS:g}s",
            *arguments,
        ]
        # With HOME in this directory, so that no caches or settings are shared.
        environ = {"HOME": str(self.directory), "KUBECONFIG": str(self.kubeconfig)}
        finished = subprocess.run(
            command, input=stdin, env=environ, capture_output=True, text=True, check=False
        )
        if finished.returncode != 0:
            # Not the arguments: some of them may be the data of a Secret.
            raise ControlPlaneError(
                problem=f"kubectl with context {context} exited with status {finished.returncode}",
                what_now="See its output:",
                log_tail=finished.stderr.strip(),
            )
        return finished.stdout

    def caller(self) -> HttpCaller:
        """Return an HTTP caller with the admin's token, for a test's setup and assertions."""
        return self._https_caller(self._port)

    def _https_caller(self, port: int) -> HttpCaller:
        return HttpCaller(
            HTTPSConnection(LOOPBACK, port, timeout=CALL_SECONDS, context=self._tls),
            headers={"Authorization": f"Bearer {self.credentials.admin_token}"},
        )


@contextmanager
def reserved_port() -> Iterator[int]:
    """Reserve a free port while the block runs, for a server that also uses SO_REUSEPORT.

    The port is bound by a socket that never listens, so a server can bind the same port each time
    it is started.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind((LOOPBACK, 0))
        yield holder.getsockname()[1]
