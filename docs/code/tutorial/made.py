"""AppService: runs an image in a Deployment of a given size."""

from typing import Annotated

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    """The desired state."""

    image: str
    """The image of the container, such as nginx:1.29."""

    size: Annotated[int, sm.Rule(ge=0)] = 1
    """The number of Pods."""


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
    """Runs an image in a Deployment of a given size."""


async def reconcile(obj: AppService, ctx: sm.Context) -> sm.Outcome:
    """Apply the desired state of ``obj``; the controller calls this after each change."""
    container = core_v1.Container(name="main", image=obj.spec.image)
    deployment = await ctx.apply_owned(
        recipes.deployment(obj.name, container, replicas=obj.spec.size)
    )
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    status = Status(conditions=(ready,))
    return sm.Done(status=status) if ready.is_true else sm.Later(status=status)


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment,),
    when=changed.generation,
    condition="Ready",
)
