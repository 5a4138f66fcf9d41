"""The servers that are compared: each starts in a block, with a kubeconfig and its processes."""

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

from bench.contend import memory_in
from bench.load import Destination
from steersman.clock import SystemClock
from steersman.errors import ControlPlaneError
from steersman.testing import find_binaries, running_control_plane

# How often a server that was started is asked whether it answers.
POLL_SECONDS = 0.005

START_SECONDS = 30.0

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server that answers: how to reach it, of which processes it is made, how long it took."""

    kubeconfig: Path
    pids: tuple[int, ...]
    start_seconds: float

    def cpu_seconds(self) -> float:
        """What its processes have used so far."""
        return sum(map(_cpu_seconds, self.pids))

    def resident(self) -> float:
        """What its processes hold in memory now, in megabytes."""
        return sum(
            memory_in(Path(f"/proc/{pid}/status").read_text())["resident"] for pid in self.pids
        )


def _cpu_seconds(pid: int) -> float:
    # After the name, which may have spaces in it, user and system time are the 12th and 13th.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


@contextmanager
def real() -> Iterator[Running]:
    """etcd and kube-apiserver."""
    started_at = time.perf_counter()
    with running_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
        start_seconds = time.perf_counter() - started_at
        pids = tuple(pid for pid in (plane.etcd.pid, plane.api_server.pid) if pid is not None)
        yield Running(kubeconfig=plane.kubeconfig, pids=pids, start_seconds=start_seconds)


@contextmanager
def embedded() -> Iterator[Running]:
    """``steersman cluster up``, with everything in memory."""
    with TemporaryDirectory(prefix="steersman-bench-") as directory:
        kubeconfig = Path(directory) / "kubeconfig"
        command = [
            sys.executable,
            "-m",
            "steersman",
            "cluster",
            "up",
            "--no-workloads",
            "--port",
            "0",
        ]
        started_at = time.perf_counter()
        with (
            kubeconfig.with_name("log").open("wb") as log,
            subprocess.Popen(
                [*command, "--kubeconfig", str(kubeconfig)], stdout=log, stderr=log
            ) as process,
        ):
            try:
                _wait_until_it_answers(process, kubeconfig, deadline=started_at + START_SECONDS)
                yield Running(
                    kubeconfig=kubeconfig,
                    pids=(process.pid,),
                    start_seconds=time.perf_counter() - started_at,
                )
            finally:
                process.terminate()


def _wait_until_it_answers(
    process: subprocess.Popen[bytes], kubeconfig: Path, *, deadline: float
) -> None:
    while not (kubeconfig.exists() and _is_ready(kubeconfig)):
        if process.poll() is not None or time.perf_counter() > deadline:
            said = kubeconfig.with_name("log").read_text()
            raise ControlPlaneError(
                problem="`steersman cluster up` did not answer",
                what_now="See what it said:",
                log_tail=said,
            )
        time.sleep(POLL_SECONDS)


def _is_ready(kubeconfig: Path) -> bool:
    to = Destination.of(kubeconfig)
    with closing(HTTPSConnection(to.host, to.port, context=to.tls)) as connection:
        try:
            connection.request("GET", "/readyz", headers={"Authorization": f"Bearer {to.token}"})
            return connection.getresponse().status == 200
        except OSError:
            return False
