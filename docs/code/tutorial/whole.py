"""AppService: an image kept running, and reachable on a port of every node."""

from typing import Annotated

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    """What is wanted."""

    image: Annotated[str, sm.Rule(min_length=1)]
    """What runs, such as nginx:1.29."""

    size: Annotated[int, sm.Rule(ge=0)] = 1
    """How many Pods run it."""

    ports: Annotated[tuple[core_v1.ServicePort, ...], sm.Rule(min_length=1)]
    """Where it is reached, on every node."""

    envs: tuple[core_v1.EnvVar, ...] = ()
    """What its containers have in their environment."""

    resources: core_v1.ResourceRequirements | None = None
    """What each of them may use."""


class Status(apps_v1.DeploymentStatus):
    """What has become of it: the status of its Deployment, inlined."""


class AppService(
    sm.CustomResource[Spec, Status],
    group="app.example.com",
    version="v1",
    crd=sm.Crd(
        columns=(
            sm.Column("Size", ".spec.size"),
            sm.Column("Available", ".status.availableReplicas"),
            sm.Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            sm.Column("Age", ".metadata.creationTimestamp"),
        ),
    ),
):
    """An image kept running at a given size, reachable on a port of every node."""


async def reconcile(obj: AppService, ctx: sm.Context) -> sm.Outcome:
    """Say what should be there for ``obj``; called whenever that may not be so."""
    container = core_v1.Container(
        name="main", image=obj.spec.image, env=obj.spec.envs, resources=obj.spec.resources
    )
    deployment = await ctx.apply_owned(
        recipes.deployment(obj.name, container, replicas=obj.spec.size)
    )
    await ctx.apply_owned(recipes.service(obj.name, obj.spec.ports, type="NodePort"))
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    status = Status.inlining(deployment.status).with_condition(ready)
    return sm.Done(status=status) if ready.is_true else sm.Later(status=status)


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
    condition="Ready",
)
