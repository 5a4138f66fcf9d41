"""steersman's workloads in a process beside a server, real or embedded.

Run as ``python -m tests.real.workloads_beside KUBECONFIG ROOT_CA NODES PART…``.
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

# What it prints once its caches are full and all run.
RUNNING = "running"

ROOT = Path(__file__).parents[2]

_GRACE_SECONDS = 5.0
_WARNING = 30


@contextmanager
def workloads_beside(cluster: ControlPlane, *parts: str, nodes: int = 0) -> Iterator[None]:
    """Our workloads, or some of them, on a cluster while the block runs."""
    given = (cluster.kubeconfig, cluster.credentials.ca_file, nodes, *parts)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.real.workloads_beside", *map(str, given)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        assert said == RUNNING, f"our workloads ended with status {process.wait()}"
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


async def work(kubeconfig: Path, settings: WorkloadSettings) -> None:
    """Run them until SIGTERM."""
    clock, ended = SystemClock(), asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    config = find_config(
        environ=os.environ, home=Path.home(), observe=ignore, kubeconfig=kubeconfig
    )

    def tell(observation: Observation) -> None:
        if isinstance(observation, StageReached) and observation.stage == RUNNING:
            sys.stdout.write(f"{RUNNING}\n")
            sys.stdout.flush()

    async with running_workloads(
        settings,
        kubelet=simulated_kubelet,
        connect=partial(open_transport, config, clock=clock, observe=ignore),
        clock=clock,
        rng=Random(),
        observe=fan_out(tell, log_to(sys.stderr, clock=clock, level=_WARNING)),
    ):
        await ended.wait()


def main(arguments: Sequence[str]) -> None:
    """Do what the command line says."""
    kubeconfig, root_ca, nodes, *parts = arguments
    settings = WorkloadSettings(
        parts=tuple(parts), nodes=int(nodes), root_ca=Path(root_ca).read_text(encoding="utf-8")
    )
    asyncio.run(work(Path(kubeconfig), settings))


if __name__ == "__main__":
    main(sys.argv[1:])
