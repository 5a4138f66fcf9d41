"""Processes beside an operator: writers of AppServices, and watchers of their children."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.harness.child_processes import child, deadline, output_of
from bench.harness.procfs import cpu_in
from steersman_cluster.testing import RealControlPlane

WRITER = "bench.harness.app_writer"
WATCHER = "bench.harness.watch_recorder"

# The deadline for the response to a watch.
WATCH_START_SECONDS = 60.0


def write_all(what: str, kubeconfig: Path, *flags: object, into: Path) -> None:
    """Write AppServices, and record each write as a line of ``into``."""
    with into.open("wb") as output:
        output_of(_python(WRITER, what, kubeconfig, *flags), stdout=output)


@contextmanager
def running_writer(what: str, kubeconfig: Path, *flags: object, into: Path) -> Iterator[None]:
    """Write AppServices during the block, and record each write as a line of ``into``."""
    with (
        into.open("wb") as output,
        child(_python(WRITER, what, kubeconfig, *flags), stdout=output) as process,
    ):
        yield
        if process.poll() is not None:
            raise AssertionError(f"the writer ended before the block: {what} AppServices")


@contextmanager
def running_watcher(kubeconfig: Path, path: str, *, into: Path) -> Iterator[None]:
    """Record each event of the collection at ``path`` in ``into`` during the block."""
    with child(_python(WATCHER, kubeconfig, path, into), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with deadline(process, f"watch {path}", seconds=WATCH_START_SECONDS):
            line = process.stdout.readline()
        if line != b"watching\n":
            raise AssertionError(f"the watch of {path} did not start")
        yield
        if process.poll() is not None:
            raise AssertionError(f"the watcher of {path} ended before the block")


def server_cpu_seconds(plane: RealControlPlane) -> float:
    """The CPU seconds of kube-apiserver so far."""
    return cpu_in(Path(f"/proc/{plane.api_server.pid}/stat").read_text())


def _python(module: str, *arguments: object) -> Sequence[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]
