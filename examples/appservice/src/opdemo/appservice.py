"""AppService: keep an image running, and reachable on a port of every node."""

from typing import Annotated

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    image: str
    size: Annotated[int, sm.Rule(ge=0)] = 1
    ports: Annotated[tuple[core_v1.ServicePort, ...], sm.Rule(min_length=1)]
    envs: tuple[core_v1.EnvVar, ...] = ()  # a default is a real value: always sent
    resources: core_v1.ResourceRequirements | None = None


class Status(apps_v1.DeploymentStatus):
    """The Deployment's status, inlined."""


class AppService(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """An image kept running at a given size, reachable on a port of every node."""


async def reconcile(app: AppService, ctx: sm.Context) -> sm.Outcome:
    container = core_v1.Container(
        name=app.name, image=app.spec.image, env=app.spec.envs, resources=app.spec.resources
    )
    deployment = await ctx.apply_owned(
        recipes.deployment(app.name, container, replicas=app.spec.size)
    )
    await ctx.apply_owned(recipes.service(app.name, app.spec.ports, type="NodePort"))
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    await ctx.apply_status(app, Status.inlining(deployment.status).with_condition(ready))
    return sm.Done() if ready.is_true else sm.Later()


controller = sm.Controller(
    AppService,
    reconcile=reconcile,
    owns=(apps_v1.Deployment, core_v1.Service),
    when=changed.generation,
)
