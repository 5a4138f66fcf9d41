"""steersman's workload controllers in their own process, on the real or embedded server.

Run as ``python -m tests.real.workload_process KUBECONFIG ROOT_CA NODES PART…``.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from steersman.client import find_config, open_transport
from steersman.clock import SystemClock
from steersman.observe import Observation, StageReached, fan_out, ignore, log_to
from steersman_cluster.kubelet import simulated_kubelet
from steersman_cluster.testing import ControlPlane
from steersman_cluster.workloads import WorkloadSettings, running_workloads

# The process prints this when its caches are synced and all controllers run.
RUNNING = "running"

ROOT = Path(__file__).parents[2]

_GRACE_SECONDS = 5.0
_WARNING = 30


@contextmanager
def workload_process(cluster: ControlPlane, *parts: str, nodes: int = 0) -> Iterator[None]:
    """Run these parts of steersman's workloads on a cluster during the block."""
    arguments = (cluster.kubeconfig, cluster.credentials.ca_file, nodes, *parts)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.real.workload_process", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line == RUNNING, f"steersman's workloads ended with status {process.wait()}"
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


async def run(kubeconfig: Path, settings: WorkloadSettings) -> None:
    """Run the workloads until SIGTERM."""
    clock, ended = SystemClock(), asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    config = find_config(
        environ=os.environ, home=Path.home(), observe=ignore, kubeconfig=kubeconfig
    )

    def report(observation: Observation) -> None:
        if isinstance(observation, StageReached) and observation.stage == RUNNING:
            sys.stdout.write(f"{RUNNING}\n")
            sys.stdout.flush()

    async with running_workloads(
        settings,
        kubelet=simulated_kubelet,
        connect=partial(open_transport, config, clock=clock, observe=ignore),
        clock=clock,
        rng=Random(),
        observe=fan_out(report, log_to(sys.stderr, clock=clock, level=_WARNING)),
    ):
        await ended.wait()


def main(arguments: Sequence[str]) -> None:
    """Run the workloads of the command line."""
    kubeconfig, root_ca, nodes, *parts = arguments
    settings = WorkloadSettings(
        parts=tuple(parts), nodes=int(nodes), root_ca=Path(root_ca).read_text(encoding="utf-8")
    )
    asyncio.run(run(Path(kubeconfig), settings))


if __name__ == "__main__":
    main(sys.argv[1:])
