"""Processes beside an operator: who writes AppServices, and who watches what becomes of them."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.harness.children import at_most, child, output_of
from bench.harness.kernel import cpu_in
from steersman_cluster.testing import RealControlPlane

WRITER = "bench.harness.changing"
WATCHER = "bench.harness.watching"

# For the answer to a watch.
WATCHED_SECONDS = 60.0


def write_all(what: str, kubeconfig: Path, *flags: object, into: Path) -> None:
    """Write AppServices until that is done; each is a line of ``into``."""
    with into.open("wb") as output:
        output_of(_python(WRITER, what, kubeconfig, *flags), stdout=output)


@contextmanager
def writing(what: str, kubeconfig: Path, *flags: object, into: Path) -> Iterator[None]:
    """Write AppServices while the block runs; each is a line of ``into``."""
    with (
        into.open("wb") as output,
        child(_python(WRITER, what, kubeconfig, *flags), stdout=output) as process,
    ):
        yield
        if process.poll() is not None:
            raise AssertionError(f"who should {what} AppServices has ended")


@contextmanager
def watching(kubeconfig: Path, path: str, *, into: Path) -> Iterator[None]:
    """Write down in ``into`` what becomes of the collection at ``path``, while the block runs."""
    with child(_python(WATCHER, kubeconfig, path, into), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with at_most(process, f"watch {path}", seconds=WATCHED_SECONDS):
            answer = process.stdout.readline()
        if answer != b"watching\n":
            raise AssertionError(f"{path} is not watched")
        yield
        if process.poll() is not None:
            raise AssertionError(f"who watched {path} has ended")


def server_cpu_seconds(plane: RealControlPlane) -> float:
    """What kube-apiserver has used so far."""
    return cpu_in(Path(f"/proc/{plane.api_server.pid}/stat").read_text())


def _python(module: str, *arguments: object) -> Sequence[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]
