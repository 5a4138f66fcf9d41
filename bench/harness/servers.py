"""The servers of the contenders, each as a context manager with a kubeconfig and processes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness.child_processes import child, wait_for_exit
from bench.harness.load import Destination
from bench.harness.procfs import cpu_in, memory_in
from bench.harness.rounds import Cost
from steersman.clock import SystemClock
from steersman_cluster.errors import ControlPlaneError
from steersman_cluster.testing import find_binaries, running_real_control_plane

# The interval between two readiness checks of a new server.
POLL_SECONDS = 0.005

START_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A ready server: its kubeconfig, its processes, and the duration of its start."""

    kubeconfig: Path
    pids: tuple[int, ...]
    start_seconds: float

    def cpu_seconds(self) -> float:
        """The CPU seconds of its processes so far."""
        return sum(cpu_in(Path(f"/proc/{pid}/stat").read_text()) for pid in self.pids)

    def memory(self) -> Cost:
        """The current and the maximum resident memory of its processes, in megabytes."""
        each = [memory_in(Path(f"/proc/{pid}/status").read_text()) for pid in self.pids]
        return {figure: sum(one[figure] for one in each) for figure in ("resident", "peak")}


@contextmanager
def real() -> Iterator[Running]:
    """etcd and kube-apiserver."""
    started_at = time.perf_counter()
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        start_seconds = time.perf_counter() - started_at
        pids = tuple(pid for pid in (plane.etcd.pid, plane.api_server.pid) if pid is not None)
        yield Running(kubeconfig=plane.kubeconfig, pids=pids, start_seconds=start_seconds)


@contextmanager
def embedded(*, has_workloads: bool = False) -> Iterator[Running]:
    """``steersman cluster up``, without persistence."""
    with TemporaryDirectory(prefix="steersman-bench-") as directory:
        kubeconfig = Path(directory) / "kubeconfig"
        command = [
            *(sys.executable, "-m", "steersman", "cluster", "up", "--port", "0"),
            *([] if has_workloads else ["--no-workloads"]),
        ]
        started_at = time.perf_counter()
        with (
            kubeconfig.with_name("log").open("wb") as log,
            child([*command, "--kubeconfig", str(kubeconfig)], stdout=log, stderr=log) as process,
        ):
            _wait_until_ready(process, kubeconfig, deadline=started_at + START_SECONDS)
            yield Running(
                kubeconfig=kubeconfig,
                pids=(process.pid,),
                start_seconds=time.perf_counter() - started_at,
            )
            process.terminate()
            wait_for_exit(process)


def _wait_until_ready(
    process: subprocess.Popen[bytes], kubeconfig: Path, *, deadline: float
) -> None:
    while not (kubeconfig.exists() and _is_ready(kubeconfig)):
        if process.poll() is not None or time.perf_counter() > deadline:
            said = kubeconfig.with_name("log").read_text()
            raise ControlPlaneError(
                problem="`steersman cluster up` did not become ready",
                what_now="See its log:",
                log_tail=said,
            )
        time.sleep(POLL_SECONDS)


def _is_ready(kubeconfig: Path) -> bool:
    to = Destination.of(kubeconfig)
    with closing(
        HTTPSConnection(to.host, to.port, context=to.tls, timeout=START_SECONDS)
    ) as connection:
        try:
            connection.request("GET", "/readyz", headers={"Authorization": f"Bearer {to.token}"})
            return connection.getresponse().status == 200
        except OSError:
            return False
