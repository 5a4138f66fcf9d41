"""kubectl in one namespace, on any server that has a kubeconfig."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from steersman_cluster.testing import Program, find_binaries

# Longer than anything here takes, on whatever machine; as kubectl spells it.
PATIENCE = "--timeout=40s"

# How often a question is put that the server may answer from a cache. Each time takes as long as
# kubectl takes to start; once is enough, nearly always.
ATTEMPTS = 100


class Server(Protocol):
    """An API server, as far as clients that we did not write can tell."""

    @property
    def kubeconfig(self) -> Path: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What kubectl printed, where, and the status it ended with."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """``kubectl`` itself; ``home`` has its cache, so that no client's settings are shared."""

    server: Server
    namespace: str
    home: Path

    def __call__(self, *arguments: str, stdin: str | dict[str, Any] = "") -> str:
        """What it prints; it must succeed. An object for ``stdin`` is a manifest."""
        finished = self.run(*arguments, stdin=stdin)
        assert finished.status == 0, finished.stderr
        return finished.stdout

    def run(self, *arguments: str, stdin: str | dict[str, Any] = "") -> Finished:
        """Whatever comes of it."""
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
        """The object, or the list, decoded."""
        return json.loads(self("get", *what, "--output=json"))

    def wait(self, what: str, until: str) -> None:
        """Watch ``what`` until it is so, in the words of ``kubectl wait --for``."""
        self("wait", what, f"--for={until}", PATIENCE)

    def until(self, said: str, *arguments: str) -> None:
        """Ask again until it succeeds and prints ``said``."""
        answers = (self.run(*arguments) for _ in range(ATTEMPTS))
        assert any(answer.status == 0 and answer.stdout == said for answer in answers)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[IO[str]]:
        """What it prints while the block runs, with whose end it ends."""
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
