"""AppService: an image kept running at a given size.

A kind of one's own, and the function that brings its Deployment in line with it, on nothing but
the client: one watch, and server-side apply.

    python -m examples.appservice --kubeconfig FILE
"""

import asyncio
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from random import Random
from typing import Annotated

import steersman as sm
from steersman.client import (
    Client,
    MergePatch,
    Wrote,
    connect,
    find_config,
    has_condition,
    wait_for,
)
from steersman.clock import SystemClock
from steersman.kinds import apiextensions_v1, apps_v1, core_v1, meta_v1
from steersman.observe import log_to

MANAGER = "appservice.example.com"


class Spec(sm.Part):
    image: str
    size: Annotated[int, sm.Rule(ge=0)] = 1
    envs: tuple[core_v1.EnvVar, ...] = ()


class Status(sm.Part):
    ready_replicas: int | None = None
    conditions: tuple[sm.Condition, ...] | None = None


class AppService(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """An image kept running at a given size."""


def deployment_for(app: AppService) -> apps_v1.Deployment:
    """What should be there for ``app``."""
    labels = {"app": app.name}
    container = core_v1.Container(name=app.name, image=app.spec.image, env=app.spec.envs)
    return apps_v1.Deployment(
        metadata=meta_v1.ObjectMeta(
            name=app.name,
            namespace=app.namespace,
            owner_references=(
                meta_v1.OwnerReference(
                    api_version=app.api_version,
                    kind=app.kind,
                    name=app.name,
                    uid=app.uid,
                    controller=True,
                ),
            ),
        ),
        spec=apps_v1.DeploymentSpec(
            replicas=app.spec.size,
            selector=meta_v1.LabelSelector(match_labels=labels),
            template=core_v1.PodTemplateSpec(
                metadata=meta_v1.ObjectMeta(labels=labels),
                spec=core_v1.PodSpec(containers=(container,)),
            ),
        ),
    )


async def reconcile(app: AppService, client: Client) -> None:
    """Make it so, and say how far it has got."""
    deployment = await client.apply(deployment_for(app), field_manager=MANAGER)
    ready = (deployment.status and deployment.status.ready_replicas) or 0
    condition = sm.Condition.when(ready == app.spec.size, "Ready", yes="RolledOut", no="RollingOut")
    status = Status(ready_replicas=ready, conditions=(condition,))
    await client.status(AppService, app.name, namespace=app.namespace).patch(
        MergePatch({"status": status}), field_manager=MANAGER
    )


async def operate(client: Client) -> None:
    """Reconcile every AppService there is, and each again when someone changes it."""
    while True:
        there = await client.list(AppService)
        done = {app.uid: app.generation for app in there.items}
        for app in there.items:
            await reconcile(app, client)
        # The server ends every watch after a while.
        async with client.watch(AppService, resource_version=there.resource_version) as events:
            async for event in events:
                # A change of the status alone, our own among them, leaves the generation as it is.
                if isinstance(event, Wrote) and done.get(event.obj.uid) != event.obj.generation:
                    done[event.obj.uid] = event.obj.generation
                    await reconcile(event.obj, client)


async def install(client: Client) -> None:
    """Tell the API server about the kind, and wait until it serves it."""
    crd = await client.apply(definition(), field_manager=MANAGER)
    await wait_for(client, type(crd), crd.name, has_condition("Established"), within_seconds=10)


def definition() -> apiextensions_v1.CustomResourceDefinition:
    """The kind, as the API server wants to hear of it."""
    gvk = AppService.resource_type.gvk
    anything = apiextensions_v1.JSONSchemaProps(
        type="object", x_kubernetes_preserve_unknown_fields=True
    )
    return apiextensions_v1.CustomResourceDefinition(
        metadata=meta_v1.ObjectMeta(name=f"{AppService.resource_type.plural}.{gvk.group}"),
        spec=apiextensions_v1.CustomResourceDefinitionSpec(
            group=gvk.group,
            names=apiextensions_v1.CustomResourceDefinitionNames(
                kind=gvk.kind, plural=AppService.resource_type.plural
            ),
            scope="Namespaced",
            versions=(
                apiextensions_v1.CustomResourceDefinitionVersion(
                    name=gvk.version,
                    served=True,
                    storage=True,
                    subresources=apiextensions_v1.CustomResourceSubresources(status={}),
                    schema=apiextensions_v1.CustomResourceValidation(
                        open_api_v3_schema=apiextensions_v1.JSONSchemaProps(
                            type="object", properties={"spec": anything, "status": anything}
                        )
                    ),
                ),
            ),
        ),
    )


async def main(kubeconfig: Path | None) -> None:
    """Operate on the cluster that the kubeconfig leads to, until interrupted."""
    clock = SystemClock()
    observe = log_to(sys.stderr, clock=clock)
    config = find_config(
        environ=os.environ, home=Path.home(), observe=observe, kubeconfig=kubeconfig
    )
    async with connect(config, clock=clock, rng=Random(), observe=observe) as client:
        await install(client)
        await operate(client)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, help="default: where kubectl looks")
    asyncio.run(main(parser.parse_args().kubeconfig))
