"""``python -m bench.cluster_runs``: the cost of simulated clusters in one process.

The program prints figures and verdicts. The exit status is 1 if a limit is exceeded.

- **Runs**: create an AppService, wait for two Pods, scale it to three, and delete it. Each run has
  a new cluster, with the API server, the workload controllers and the operator. Runs use one core.
- **Growth**: create Deployments with three Pods each, and wait until the cluster is settled. Each
  size runs in a new process; the memory is that of the process.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median

from opdemo.appservice import AppService, Spec, controller

from steersman.kinds import apps_v1, core_v1, meta_v1, recipes
from steersman_cluster.simulation import SimulatedCluster, simulate
from steersman_cluster.workloads import WorkloadSettings

RUNS = 100
ROUNDS = 5
SIZES = (125, 250, 500, 1000)

# The minimum number of complete runs a minute.
MIN_PER_MINUTE = 1000
# The growth may be slightly more than linear, because the CPU caches hold a smaller share.
MAX_GROWTH = 1.25


def app(size: int) -> AppService:
    """The AppService of a run."""
    ports = (core_v1.ServicePort(port=80),)
    return AppService(
        metadata=meta_v1.ObjectMeta(name="web"), spec=Spec(image="nginx", size=size, ports=ports)
    )


async def steps(cluster: SimulatedCluster) -> None:
    """The steps of a run."""
    await cluster.install(AppService)
    await cluster.run_operator(controller)
    for size in (2, 3):
        await cluster.apply(app(size))
        await cluster.settle()
        phases = [pod.status and pod.status.phase for pod in await cluster.list(core_v1.Pod)]
        assert phases == ["Running"] * size, phases
    await cluster.delete(AppService, "web")
    await cluster.settle()
    assert not await cluster.list(core_v1.Pod)


async def create_deployments(cluster: SimulatedCluster, number: int) -> None:
    """Create Deployments, and wait until all are available."""
    container = core_v1.Container(name="main", image="nginx")
    for each in range(number):
        await cluster.apply(recipes.deployment(f"web-{each}", container, replicas=3))
    await cluster.settle()
    deployments = await cluster.list(apps_v1.Deployment)
    available = [each.status and each.status.available_replicas for each in deployments]
    assert available == [3] * number, available


def runs() -> bool:
    """Measure runs; return whether the limit is met."""
    simulate(steps)
    rounds = []
    for number in range(ROUNDS):
        began = time.process_time()
        for seed in range(RUNS):
            simulate(steps, seed=number * RUNS + seed)
        rounds.append((time.process_time() - began) / RUNS)
    each = median(rounds)
    a_minute = 60 / each
    spread = f"{min(rounds) * 1e3:.1f}–{max(rounds) * 1e3:.1f}"
    print(f"a complete run   {each * 1e3:6.1f} ms of CPU ({spread}), {a_minute:,.0f} a minute")
    return verdict(a_minute >= MIN_PER_MINUTE, f"at least {MIN_PER_MINUTE:,} runs a minute")


def growth(sizes: Sequence[int]) -> bool:
    """Measure the growth; return whether it is linear."""
    figures = []
    for size in sizes:
        said = subprocess.run(
            [sys.executable, "-m", "bench.cluster_runs", "--deployments", str(size)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        cpu, wall, memory = map(float, said.split())
        figures.append((size, cpu, memory))
        print(
            f"{size:5} Deployments {wall:7.1f} s, {cpu:6.1f} s of CPU"
            f" ({cpu / size * 1e3:.1f} ms each), {memory:6.0f} MB"
        )
    (small, first, _), (large, last, _) = figures[0], figures[-1]
    ratio = (last / large) / (first / small)
    return verdict(
        ratio <= MAX_GROWTH, f"CPU of one Deployment: {ratio:.2f} times that of the smallest size"
    )


def verdict(holds: bool, what: str) -> bool:
    """Print a verdict."""
    print(f"{'ok  ' if holds else 'MISS'} {what}")
    return holds


def measured(number: int) -> None:
    """Measure one size in this process, and print CPU seconds, wall seconds and MB."""

    async def main(cluster: SimulatedCluster) -> None:
        await create_deployments(cluster, number)

    settings = WorkloadSettings(nodes=number * 3 // 100 + 1)
    began, wall = time.process_time(), time.perf_counter()
    simulate(main, settings=settings)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(time.process_time() - began, time.perf_counter() - wall, largest)


def main() -> int:
    """Run the command line; return 0 if all limits are met."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster_runs", description=__doc__)
    parser.add_argument(
        "--deployments",
        type=int,
        help="measure this number of Deployments only, and print bare figures",
    )
    parser.add_argument("--quick", action="store_true", help="measure small sizes only")
    chosen = parser.parse_args()
    if chosen.deployments is not None:
        measured(chosen.deployments)
        return 0
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    holds = [runs(), growth(SIZES[:2] if chosen.quick else SIZES)]
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
