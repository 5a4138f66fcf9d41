"""Measures how long Deployments take to become available on nodes without processes.

    python -m tests.real.deployment_availability [DEPLOYMENTS] [steersman]

The server is the real kube-apiserver, with either kube-controller-manager and simulated nodes, or
with all of steersman's controllers.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from random import Random
from typing import Any

from steersman.client import Client, find_config, open_transport
from steersman.clock import SystemClock
from steersman.kinds import apps_v1, core_v1, is_ready, meta_v1, recipes
from steersman.kinds.base import replace
from steersman.observe import Observer, ignore
from steersman_cluster.kubelet import simulated_kubelet
from steersman_cluster.testing import ControlPlane, find_binaries, running_real_control_plane
from steersman_cluster.workloads import PARTS, WorkloadSettings, running_workloads
from tests.real.clients import connected

# The default controllers without their request limit, which would dominate the duration.
FLAGS = {"kube-api-qps": "2000", "kube-api-burst": "2000", "node-monitor-grace-period": "12s"}
HEARTBEAT_SECONDS = 2.0
POLL_SECONDS = 0.2
NODES = ("nodes", "scheduler")
CONCURRENCY = 8


@contextmanager
def with_controllers() -> Iterator[ControlPlane]:
    """A real control plane with Kubernetes' own controllers."""
    with without_controllers() as plane, plane.running_controllers("*", flags=FLAGS):
        yield plane


@contextmanager
def without_controllers() -> Iterator[ControlPlane]:
    """A real API server, without controllers."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        yield plane


@asynccontextmanager
async def workloads(
    plane: ControlPlane, *, observe: Observer = ignore, **settings: Any
) -> AsyncIterator[None]:
    """Run steersman's controllers on the cluster; by default, only nodes and scheduler."""
    config = find_config(
        environ={}, home=plane.directory, kubeconfig=plane.kubeconfig, observe=observe
    )
    chosen: dict[str, Any] = {
        "parts": NODES,
        "heartbeat_seconds": HEARTBEAT_SECONDS,
        **settings,
    }
    clock = SystemClock()
    async with running_workloads(
        WorkloadSettings(**chosen),
        kubelet=simulated_kubelet,
        connect=partial(open_transport, config, clock=clock, observe=observe),
        clock=clock,
        rng=Random(0),
        observe=observe,
    ):
        yield


def deployment(name: str, namespace: str, *, replicas: int = 1) -> apps_v1.Deployment:
    """A Deployment whose Pods request no resources."""
    made = recipes.deployment(name, core_v1.Container(name="app", image="app:1"), replicas=replicas)
    return replace(made, metadata=replace(made.metadata, namespace=namespace))


async def create_deployments(client: Client, namespace: str, number: int) -> None:
    """Create this many Deployments, a few concurrently."""
    names = iter(f"app-{each}" for each in range(number))

    async def make() -> None:
        for name in names:
            await client.create(deployment(name, namespace))

    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENCY):
            group.create_task(make())


async def wait_until_available(client: Client, namespace: str, *, within_seconds: float) -> float:
    """Wait until all Deployments are available, and return the duration in seconds."""
    clock = client.clock
    began_at = clock.monotonic()
    async with clock.timeout(within_seconds):
        while True:
            found = (await client.list(apps_v1.Deployment, namespace=namespace)).items
            if all(map(is_ready, found)):
                return clock.monotonic() - began_at
            await clock.sleep(POLL_SECONDS)


async def main(number: int, *, is_steersman_only: bool) -> None:
    """Create the Deployments, wait for them, and print the duration."""
    running, parts = (
        (without_controllers, PARTS) if is_steersman_only else (with_controllers, NODES)
    )
    with running() as plane:
        async with (
            connected(plane, observe=ignore) as client,
            workloads(plane, nodes=3, parts=parts),
        ):
            namespace = meta_v1.ObjectMeta(name="crowded")
            await client.create(core_v1.Namespace(metadata=namespace))
            began_at = client.clock.monotonic()
            await create_deployments(client, "crowded", number)
            created_seconds = client.clock.monotonic() - began_at
            waited_seconds = await wait_until_available(client, "crowded", within_seconds=300.0)
            print(  # noqa: T201 - the output of the program
                f"{number} Deployments: created in {created_seconds:.1f} s,"
                f" all available {waited_seconds:.1f} s later"
            )


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:] if each.isdecimal()]
    asyncio.run(main(numbers[0] if numbers else 200, is_steersman_only="steersman" in sys.argv))
