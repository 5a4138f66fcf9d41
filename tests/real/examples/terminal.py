"""A terminal in an example's directory, for one cluster."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from steersman.clock import Clock
from steersman_cluster.testing import ControlPlane
from steersman_cluster.testing.control_plane.sandbox import Sandbox, open_sandbox, tail
from tools.transcripts import Step, steps

# More than any step takes on a busy machine.
TIMEOUT_SECONDS = 90.0
POLL_SECONDS = 0.2
STEP_SECONDS = 60.0


class Terminal:
    """Commands of bash, with kubectl and python on the path and the cluster in ~/.kube/config."""

    def __init__(
        self, cluster: ControlPlane, inside: Sandbox, *, directory: Path, clock: Clock
    ) -> None:
        self._directory = directory
        self._inside = inside
        self._clock = clock
        home = inside.directory
        (home / "bin").mkdir()
        (home / "bin" / "kubectl").symlink_to(cluster.kubectl_program())
        (home / ".kube").mkdir()
        (home / ".kube" / "config").symlink_to(cluster.kubeconfig)
        venv = Path(sys.executable).parent
        self._environ = {
            "HOME": str(home),
            "PATH": f"{home / 'bin'}:{venv}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
            # The ports may be in use, and no test waits for the lease of a dead leader.
            "STEERSMAN_HEALTH_ADDRESS": "",
            "STEERSMAN_METRICS_ADDRESS": "",
            "STEERSMAN_LEADER_ELECTION": "false",
        }
        self._background: list[subprocess.Popen[bytes]] = []

    @property
    def log(self) -> Path:
        """The output of the background commands."""
        return self._inside.directory / "background.log"

    async def follow(self, text: str) -> None:
        """Run the steps of a transcript and compare the output with it."""
        for step in steps(text):
            await self.take(step)

    async def take(self, step: Step) -> None:
        """Run one command; repeat a command that only reads until the output is right."""
        if step.stays:
            self.start(step.command.removesuffix(" &"))
            return
        deadline = self._clock.monotonic() + TIMEOUT_SECONDS
        while not step.fits(output := self.run(step.command)):
            if not step.asks or self._clock.monotonic() > deadline:
                shown = "\n".join(step.shown)
                raise AssertionError(
                    f"line {step.line}: $ {step.command}\n{output}\n--- expected\n{shown}\n"
                    f"--- background commands\n{tail(self.log, lines=30)}"
                )
            await self._clock.sleep(POLL_SECONDS)

    def run(self, command: str) -> str:
        """Run a command and return its output, errors included."""
        finished = subprocess.run(
            ["bash", "-c", command],
            cwd=self._directory,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=STEP_SECONDS,
            encoding="utf-8",
        )
        return finished.stdout

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """Start a command in the background."""
        process = self._inside.start(
            ["bash", "-c", f"cd {quote(str(self._directory))} && exec {command}"],
            log=self.log,
            environ=self._environ,
        )
        self._background.append(process)
        return process

    def end_all(self) -> None:
        """Send Ctrl-C to all commands that still run."""
        for each in self._background:
            each.terminate()
        for each in self._background:
            each.wait(timeout=STEP_SECONDS)
        self._background.clear()


@contextmanager
def terminal(cluster: ControlPlane, *, directory: Path, clock: Clock) -> Iterator[Terminal]:
    """A terminal in a directory; its processes and files are removed when the block ends."""
    with open_sandbox(prefix="steersman-terminal-") as inside:
        opened = Terminal(cluster, inside, directory=directory, clock=clock)
        try:
            yield opened
        finally:
            opened.end_all()
