"""Third-party operators, each in its own process."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from steersman_cluster.testing.control_plane.sandbox import open_sandbox
from tests.real.foreign.go_programs import CLIENT_GO_GREETER
from tests.real.foreign.kubectl import Server

OPERATORS = Path(__file__).with_name("operators")
PROGRAMS = Path(__file__).parents[3] / ".venv-foreign" / "bin"

# For an operator after SIGTERM; kopf, the slowest, takes one or two.
STOP_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator that turns the Greetings of one namespace into ConfigMaps."""

    name: str
    command: Callable[[str], Sequence[str | Path]]

    def __str__(self) -> str:
        return self.name

    @property
    def finalizer(self) -> str:
        """The finalizer that the operator adds to a Greeting."""
        return f"foreign.steersman.dev/{self.name}"


def client_go(namespace: str, *arguments: str) -> Sequence[str | Path]:
    """The command of the operator with client-go, which can run with several replicas."""
    return [CLIENT_GO_GREETER.path, f"-namespace={namespace}", *arguments]


CLIENT_GO = Operator(name="client-go", command=client_go)
KOPF = Operator(
    name="kopf",
    command=lambda namespace: [
        PROGRAMS / "kopf",
        "run",
        "--standalone",
        f"--namespace={namespace}",
        OPERATORS / "kopf_greeter.py",
    ],
)
LIGHTKUBE = Operator(
    name="lightkube",
    command=lambda namespace: [
        PROGRAMS / "python",
        OPERATORS / "lightkube_greeter.py",
        namespace,
    ],
)


@contextmanager
def running(command: Sequence[str | Path], *, server: Server) -> Iterator[None]:
    """Run an operator during the block; pytest shows its output if the test fails."""
    with open_sandbox(prefix="steersman-foreign-") as sandbox:
        log = sandbox.directory / "log"
        process = sandbox.start(
            command,
            log=log,
            environ={
                "HOME": str(sandbox.directory),
                "KUBECONFIG": str(server.kubeconfig),
                "PATH": os.environ["PATH"],
                "PYTHONUNBUFFERED": "1",
            },
        )
        try:
            yield
            assert process.poll() is None, f"the operator exited with status {process.returncode}"
            _stop(process)
        finally:
            sys.stdout.write(f"{Path(command[0]).name} printed:\n{log.read_text()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(timeout=STOP_SECONDS)
