"""The AppService example at work, on a real control plane that lives as long as the demo.

python -m examples.demo
"""

import asyncio
import os
import sys
from pathlib import Path
from random import Random

from examples import appservice
from examples.appservice import AppService, Spec
from steersman.client import Client, MergePatch, connect, find_config, wait_for
from steersman.clock import SystemClock
from steersman.kinds import apps_v1, meta_v1
from steersman.observe import log_to
from steersman.testing import ControlPlane, find_binaries, running_control_plane

NAMESPACE = "default"


async def play(client: Client) -> None:
    """What a person would do with kubectl."""
    metadata = meta_v1.ObjectMeta(name="web", namespace=NAMESPACE)
    spec = Spec(image="nginx:1.29")
    app = await client.apply(AppService(metadata=metadata, spec=spec), field_manager="demo")
    print(f"applied {app.ref}: {app.spec.size} of {app.spec.image}")
    await show_rollout(client, size=1)

    grown = MergePatch({"spec": {"size": 3}})
    app = await client.patch(AppService, "web", grown, namespace=NAMESPACE, field_manager="demo")
    print(f"patched {app.ref}: {app.spec.size} of {app.spec.image}")
    await show_rollout(client, size=3)

    await client.delete(AppService, "web", namespace=NAMESPACE)
    print(f"deleted {app.ref}")


async def show_rollout(client: Client, *, size: int) -> None:
    """Wait until Kubernetes has heard of the Deployment, and say what it makes of it."""

    def has_begun(deployment: apps_v1.Deployment) -> bool:
        status = deployment.status
        return status is not None and status.replicas == size

    deployment = await wait_for(
        client, apps_v1.Deployment, "web", has_begun, namespace=NAMESPACE, within_seconds=30
    )
    owner = (deployment.metadata.owner_references or ())[0]
    print(f"  {deployment.ref}, of {owner.kind} {owner.name}, has started {size} Pods")


async def demonstrate(control_plane: ControlPlane) -> None:
    """The operator and the person, side by side."""
    clock = SystemClock()
    observe = log_to(sys.stderr, clock=clock)
    config = find_config(
        environ=os.environ,
        home=Path.home(),
        observe=observe,
        kubeconfig=control_plane.kubeconfig,
    )
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        await appservice.install(client)
        async with asyncio.TaskGroup() as tasks:
            operator = tasks.create_task(appservice.operate(client), name="operator")
            await play(client)
            operator.cancel()


if __name__ == "__main__":
    print("starting etcd, kube-apiserver and kube-controller-manager", file=sys.stderr)
    binaries = find_binaries(environ=os.environ)
    with running_control_plane(binaries, clock=SystemClock(), controllers=True) as running:
        asyncio.run(demonstrate(running))
