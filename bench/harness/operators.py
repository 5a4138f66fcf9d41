"""The operators of the contenders, each in a process whose CPU and memory are read from /proc.

Each creates a Deployment, a Service and a status for every AppService, with ten workers, or, with
kopf, with one for each AppService.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench.harness.child_processes import ROOT, TIMEOUT_SECONDS, child, child_environ
from bench.harness.contenders import (
    CONTROLLER_RUNTIME,
    CONTROLLER_RUNTIME_PATCHING,
    KOPF,
    STEERSMAN,
    STEERSMAN_UVLOOP,
)
from bench.harness.go_programs import GoProgram
from bench.harness.procfs import cpu_in, memory_in, scheduled_in
from steersman_cluster.testing.control_plane.sandbox import tail

PEERS = Path(__file__).parents[1] / "peers"
PEER = GoProgram(
    name="operator",
    family="peers",
    sources=PEERS / "controller_runtime",
    package="./operator",
)

POLL_SECONDS = 0.1

# An operator is idle if it uses less of one core than this: timers use some.
IDLE_SHARE = 0.02

# A command line, to which flags can be appended.
Command: TypeAlias = Sequence[str]


def commands(names: Sequence[str]) -> Mapping[str, Command]:
    """How to start each contender; Go programs are built."""
    ours = [sys.executable, "-m", "bench.peers.steersman_operator"]
    known: Mapping[str, Callable[[], Command]] = {
        CONTROLLER_RUNTIME: lambda: [str(PEER.build())],
        CONTROLLER_RUNTIME_PATCHING: lambda: [str(PEER.build()), "-patch-status"],
        # kopf uses uvloop if it is installed. --standalone disables peering.
        KOPF: lambda: [
            *(sys.executable, "-m", "bench.peers.kopf_program", "run", "-A", "--standalone"),
            str(PEERS / "kopf_operator.py"),
        ],
        STEERSMAN: lambda: ours,
        STEERSMAN_UVLOOP: lambda: [*ours, "--uvloop"],
    }
    return {name: known[name]() for name in names}


def with_resync(name: str, command: Command, *, seconds: int, starts: Path) -> Command:
    """The command with a resync period, and with a file that records the starts of reconciles."""
    resync = (
        ["-resync", f"{seconds}s"]
        if name == CONTROLLER_RUNTIME
        else ["--resync-seconds", str(seconds)]
    )
    return [*command, *resync, "--starts", str(starts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A running operator."""

    process: subprocess.Popen[bytes]
    log: Path

    def cpu_seconds(self) -> float:
        """User and system time so far; raise an error if the operator has ended."""
        if self.process.poll() is not None:
            raise self.failed(f"ended with status {self.process.returncode}")
        return cpu_in(Path(f"/proc/{self.process.pid}/stat").read_text())

    def scheduled_seconds(self) -> float:
        """The CPU time in nanoseconds, without threads that have ended; for idle operators."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        found = scheduled_in(each.read_text() for each in tasks.glob("*/schedstat"))
        if not found:
            raise AssertionError(f"the kernel has no CPU times in {tasks}/*/schedstat")
        return found

    def memory(self) -> Mapping[str, float]:
        """The current and the maximum resident memory, in megabytes."""
        return memory_in(Path(f"/proc/{self.process.pid}/status").read_text())

    def wait_until_idle(self, *, seconds: float) -> float:
        """Wait until the operator is idle for ``seconds``; return the start of the idle time."""
        began_at = since_at = time.monotonic()
        before_seconds = self.cpu_seconds()
        while time.monotonic() - since_at < seconds:
            time.sleep(POLL_SECONDS)
            cpu_seconds = self.cpu_seconds()
            if cpu_seconds - before_seconds > IDLE_SHARE * seconds:
                since_at, before_seconds = time.monotonic(), cpu_seconds
            if since_at - began_at > TIMEOUT_SECONDS:
                raise self.failed(f"was still busy after {TIMEOUT_SECONDS:g} s")
        return since_at

    def wait_until(
        self,
        what: str,
        is_so: Callable[[], bool],
        *,
        poll_seconds: float,
        within_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """Poll ``is_so`` while the operator runs."""
        began_at = time.monotonic()
        while not is_so():
            self.cpu_seconds()
            if time.monotonic() - began_at > within_seconds:
                raise self.failed(f"did not complete within {within_seconds:g} s: {what}")
            time.sleep(poll_seconds)

    def failed(self, what: str) -> AssertionError:
        """The error for a failure of the operator, with the end of its log."""
        return AssertionError(f"{self.process.args!r} {what}. Its log:\n{tail(self.log)}")


@contextmanager
def running_operator(command: Sequence[str], *, kubeconfig: Path) -> Iterator[Operator]:
    """Run an operator during the block, and kill it at the end."""
    log = kubeconfig.with_name("operator.log")
    environ = child_environ(KUBECONFIG=str(kubeconfig), PYTHONPATH=str(ROOT))
    with (
        log.open("wb") as output,
        child(command, stdout=output, stderr=subprocess.STDOUT, environ=environ) as process,
    ):
        yield Operator(process=process, log=log)
