"""The AppService example at work, on a real control plane that lives as long as the demo.

python -m examples.demo
"""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path
from random import Random

from examples.appservice import AppService, Spec, controller
from examples.installing import install
from examples.operating import operating
from steersman.client import Client, MergePatch, connect, find_config, reaching, wait_for
from steersman.clock import SystemClock
from steersman.kinds import apps_v1, core_v1, meta_v1
from steersman.manager import Surroundings
from steersman.observe import log_to
from steersman.testing import ControlPlane, find_binaries, running_control_plane

NAMESPACE = "default"


async def play(client: Client) -> None:
    """What a person would do with kubectl."""
    metadata = meta_v1.ObjectMeta(name="web", namespace=NAMESPACE)
    spec = Spec(image="nginx:1.29", ports=(core_v1.ServicePort(port=80),))
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
    """Wait until Kubernetes has heard of the Deployment, and say what the AppService makes of it.

    No node runs its Pods here, so that they never become ready.
    """

    def has_begun(app: AppService) -> bool:
        return app.status is not None and app.status.replicas == size

    app = await wait_for(
        client, AppService, "web", has_begun, namespace=NAMESPACE, within_seconds=30
    )
    for kind in (apps_v1.Deployment, core_v1.Service):
        child = await client.get(kind, "web", namespace=NAMESPACE)
        owners = [f"{each.kind} {each.name}" for each in child.metadata.owner_references or ()]
        print(f"  {child.ref}, of {', '.join(owners)}")
    for condition in (app.status and app.status.conditions) or ():
        if condition.type == "Ready":
            print(f"  {app.ref}: {condition.reason}, Pods: {size}")


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
    around = Surroundings(
        reach=partial(reaching, config, clock=clock, observe=observe),
        namespace=NAMESPACE,
        hostname="demo",
        clock=clock,
        rng=Random(),
        observe=observe,
    )
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        await install(client, AppService)
        async with operating(around, controller):
            await play(client)


if __name__ == "__main__":
    print("starting etcd, kube-apiserver and kube-controller-manager", file=sys.stderr)
    binaries = find_binaries(environ=os.environ)
    with running_control_plane(binaries, clock=SystemClock(), controllers=True) as running:
        asyncio.run(demonstrate(running))
