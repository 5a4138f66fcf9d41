"""The operator of ``steersman demo``: keep an image running, reachable on a port of every node."""

from typing import Annotated

from steersman.controller import Context, Controller, Done, Later, Outcome, changed
from steersman.kinds import (
    Condition,
    CustomResource,
    Part,
    Rule,
    apps_v1,
    core_v1,
    is_ready,
    recipes,
)


class Spec(Part):
    """What to run, and how often."""

    image: str
    size: Annotated[int, Rule(ge=0)] = 1


class Status(apps_v1.DeploymentStatus):
    """The Deployment's status, inlined."""


class AppService(CustomResource[Spec, Status], group="demo.example.com", version="v1"):
    """An image kept running at a given size, reachable on a port of every node."""


async def reconcile(app: AppService, ctx: Context) -> Outcome:
    """Describe what should be there; what is there already is left alone."""
    container = core_v1.Container(name="main", image=app.spec.image)
    deployment = await ctx.apply_owned(
        recipes.deployment(app.name, container, replicas=app.spec.size)
    )
    port = core_v1.ServicePort(port=80)
    await ctx.apply_owned(recipes.service(app.name, (port,), type="NodePort"))
    ready = Condition.when(is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    await ctx.apply_status(app, Status.inlining(deployment.status).with_condition(ready))
    return Done() if ready.is_true else Later()


controller = Controller(
    AppService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
)
