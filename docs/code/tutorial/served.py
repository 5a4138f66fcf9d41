"""AppService: runs an image in a Deployment, and exposes it on a port of every node."""

from typing import Annotated

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    """The desired state."""

    image: Annotated[str, sm.Rule(min_length=1)]
    """The image of the container, such as nginx:1.29."""

    size: Annotated[int, sm.Rule(ge=0)] = 1
    """The number of Pods."""

    ports: Annotated[tuple[core_v1.ServicePort, ...], sm.Rule(min_length=1)]
    """The ports of the Service; each gets a port on every node."""

    envs: tuple[core_v1.EnvVar, ...] = ()
    """The environment variables of the container."""

    resources: core_v1.ResourceRequirements | None = None
    """The resources of each container."""


class Status(sm.Part):
    """The observed state."""

    observed_generation: int | None = None
    conditions: tuple[sm.Condition, ...] = ()


class AppService(
    sm.CustomResource[Spec, Status],
    group="app.example.com",
    version="v1",
    crd=sm.Crd(
        columns=(
            sm.Column("Size", ".spec.size"),
            sm.Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            sm.Column("Age", ".metadata.creationTimestamp"),
        ),
    ),
):
    """Runs an image in a Deployment, and exposes it on a port of every node."""


async def reconcile(obj: AppService, ctx: sm.Context) -> sm.Outcome:
    """Apply the desired state of ``obj``; the controller calls this after each change."""
    container = core_v1.Container(
        name="main", image=obj.spec.image, env=obj.spec.envs, resources=obj.spec.resources
    )
    deployment = await ctx.apply_owned(
        recipes.deployment(obj.name, container, replicas=obj.spec.size)
    )
    await ctx.apply_owned(recipes.service(obj.name, obj.spec.ports, type="NodePort"))
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    status = Status(conditions=(ready,))
    return sm.Done(status=status) if ready.is_true else sm.Later(status=status)


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
    condition="Ready",
)
