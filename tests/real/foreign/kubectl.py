"""kubectl in one namespace of a server."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from steersman_cluster.testing import Program, find_binaries

# More than any command of these tests takes on a slow machine.
TIMEOUT = "--timeout=40s"

# How often a request is sent that the server may answer from a stale cache; one attempt is nearly
# always enough.
ATTEMPTS = 100


class Server(Protocol):
    """An API server with a kubeconfig."""

    @property
    def kubeconfig(self) -> Path: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """kubectl's output and exit status."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """``kubectl``; its cache and settings are in ``home``."""

    server: Server
    namespace: str
    home: Path

    def __call__(self, *arguments: str, stdin: str | dict[str, Any] = "") -> str:
        """Run kubectl, which must succeed, and return its output; ``stdin`` can be an object."""
        finished = self.run(*arguments, stdin=stdin)
        assert finished.status == 0, finished.stderr
        return finished.stdout

    def run(self, *arguments: str, stdin: str | dict[str, Any] = "") -> Finished:
        """Run kubectl, which may fail."""
        finished = subprocess.run(
            self._command(arguments),
            input=stdin if isinstance(stdin, str) else json.dumps(stdin),
            env=self._environ(),
            capture_output=True,
            text=True,
            check=False,
        )
        return Finished(status=finished.returncode, stdout=finished.stdout, stderr=finished.stderr)

    def get(self, *what: str) -> Any:
        """The decoded object or list."""
        return json.loads(self("get", *what, "--output=json"))

    def wait(self, what: str, until: str) -> None:
        """Run ``kubectl wait --for``."""
        self("wait", what, f"--for={until}", TIMEOUT)

    def until(self, output: str, *arguments: str) -> None:
        """Repeat the command until it succeeds and prints ``output``."""
        results = (self.run(*arguments) for _ in range(ATTEMPTS))
        assert any(each.status == 0 and each.stdout == output for each in results)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[IO[str]]:
        """Run kubectl during the block, and yield its output."""
        with subprocess.Popen(
            self._command(arguments), env=self._environ(), stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
            finally:
                process.terminate()

    def _command(self, arguments: tuple[str, ...]) -> list[str | Path]:
        program = find_binaries(environ=os.environ).path(Program.KUBECTL)
        return [program, f"--namespace={self.namespace}", *arguments]

    def _environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "KUBECONFIG": str(self.server.kubeconfig),
            "PATH": os.environ["PATH"],
        }
