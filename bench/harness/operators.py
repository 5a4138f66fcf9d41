"""The operators that are compared, each as a process that is watched from outside.

All do the same: an AppService becomes a Deployment, a Service and a status, by ten workers, or by
one for each AppService with kopf.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench.harness.children import PATIENCE_SECONDS, ROOT, child, child_environ
from bench.harness.contenders import KOPF, OURS, OURS_UVLOOP, THEIRS, THEIRS_PATCHING
from bench.harness.go_programs import GoProgram
from bench.harness.kernel import cpu_in, memory_in, scheduled_in
from steersman_cluster.testing.control_plane.sandbox import tail

PEERS = Path(__file__).parents[1] / "peers"
PEER = GoProgram(
    name="operator",
    family="peers",
    sources=PEERS / "controller_runtime",
    package="./operator",
)

POLL_SECONDS = 0.1

# A program that does nothing still looks at its clock: this much of one core is nothing.
IDLE_SHARE = 0.02

# What to start. Flags may follow.
Command: TypeAlias = Sequence[str]


def commands(names: Sequence[str]) -> Mapping[str, Command]:
    """How each of these is started; what has to be built is built."""
    ours = [sys.executable, "-m", "bench.peers.steersman_operator"]
    known: Mapping[str, Callable[[], Command]] = {
        THEIRS: lambda: [str(PEER.build())],
        THEIRS_PATCHING: lambda: [str(PEER.build()), "-patch-status"],
        # It takes uvloop by itself where that is installed; peers of itself it does not look for.
        KOPF: lambda: [
            *(sys.executable, "-m", "bench.peers.kopf_alone", "run", "-A", "--standalone"),
            str(PEERS / "kopf_operator.py"),
        ],
        OURS: lambda: ours,
        OURS_UVLOOP: lambda: [*ours, "--uvloop"],
    }
    return {name: known[name]() for name in names}


def resyncing(name: str, command: Command, *, seconds: int, starts: Path) -> Command:
    """The same one, when it looks at everything again so often, and notes when it does."""
    resync = ["-resync", f"{seconds}s"] if name == THEIRS else ["--resync-seconds", str(seconds)]
    return [*command, *resync, "--starts", str(starts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A running operator."""

    process: subprocess.Popen[bytes]
    log: Path

    def cpu_seconds(self) -> float:
        """User and system time so far; an error if it has ended."""
        if self.process.poll() is not None:
            raise self.failed(f"ended with status {self.process.returncode}")
        return cpu_in(Path(f"/proc/{self.process.pid}/stat").read_text())

    def scheduled_seconds(self) -> float:
        """The same to the nanosecond, without threads that have ended: for while it does little."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        found = scheduled_in(each.read_text() for each in tasks.glob("*/schedstat"))
        if not found:
            raise AssertionError(f"the kernel does not say in {tasks}/*/schedstat what was used")
        return found

    def memory(self) -> Mapping[str, float]:
        """What it holds now and held at its peak, in megabytes."""
        return memory_in(Path(f"/proc/{self.process.pid}/status").read_text())

    def quiet(self, *, seconds: float) -> float:
        """Wait until it has done nothing for so long; since when, on the monotonic clock."""
        began_at = since_at = time.monotonic()
        before_seconds = self.cpu_seconds()
        while time.monotonic() - since_at < seconds:
            time.sleep(POLL_SECONDS)
            cpu_seconds = self.cpu_seconds()
            if cpu_seconds - before_seconds > IDLE_SHARE * seconds:
                since_at, before_seconds = time.monotonic(), cpu_seconds
            if since_at - began_at > PATIENCE_SECONDS:
                raise self.failed(f"was still busy after {PATIENCE_SECONDS:g} s")
        return since_at

    def wait_until(
        self,
        what: str,
        is_so: Callable[[], bool],
        *,
        poll_seconds: float,
        within_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Ask again and again while it runs."""
        began_at = time.monotonic()
        while not is_so():
            self.cpu_seconds()
            if time.monotonic() - began_at > within_seconds:
                raise self.failed(f"had not brought it about in {within_seconds:g} s: {what}")
            time.sleep(poll_seconds)

    def failed(self, what: str) -> AssertionError:
        """That it did not do what was expected, and what it said."""
        return AssertionError(f"{self.process.args!r} {what}. It said:\n{tail(self.log)}")


@contextmanager
def operating(command: Sequence[str], *, kubeconfig: Path) -> Iterator[Operator]:
    """Start one; kill it when the block ends."""
    log = kubeconfig.with_name("operator.log")
    environ = child_environ(KUBECONFIG=str(kubeconfig), PYTHONPATH=str(ROOT))
    # How it would stop does not matter here: it is killed.
    with (
        log.open("wb") as output,
        child(command, stdout=output, stderr=subprocess.STDOUT, environ=environ) as process,
    ):
        yield Operator(process=process, log=log)
