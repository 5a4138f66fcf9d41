"""What ``steersman demo appcontroller`` shows: made, corrected, renamed, refused, and gone."""

import steersman as sm
from steersman.kinds import apps_v1, meta_v1
from steersman_cluster.demos import Demo, DemoContext

from app_controller.appservice import AppService, Spec, manager

OTHER = AppService(
    metadata=meta_v1.ObjectMeta(name="other-app", namespace="default"),
    spec=Spec(deployment_name="edge", replicas=1),
)


async def steps(ctx: DemoContext) -> None:
    """An AppService, and another that wants what it has."""
    await ctx.step("somebody applies example-app, whose Deployment is called example-nginx")
    await ctx.apply("samples/appservice.yaml")
    await ctx.until(AppService, "example-app", sm.is_ready)

    await ctx.step("somebody scales the Deployment to five behind its back: it has two again")
    await ctx.patch(apps_v1.Deployment, "example-nginx", {"spec": {"replicas": 5}})
    await ctx.until(apps_v1.Deployment, "example-nginx", has_two)

    await ctx.step("it is to be called edge: once a new one is up, the old one goes")
    await ctx.patch(AppService, "example-app", {"spec": {"deploymentName": "edge"}})
    await ctx.gone(apps_v1.Deployment, "example-nginx")
    await ctx.until(AppService, "example-app", sm.is_ready)

    await ctx.step("other-app wants a Deployment of that name, too: it is not taken away")
    await ctx.apply(OTHER)
    refused = await ctx.until(AppService, "other-app", lambda app: app.status is not None)
    if refused.status is not None:
        ctx.note(refused.status.conditions[0].message or "")

    await ctx.step("so it is given a name that is free")
    await ctx.patch(AppService, "other-app", {"spec": {"deploymentName": "other-nginx"}})
    await ctx.until(AppService, "other-app", sm.is_ready)

    await ctx.step("no name at all is refused by the server, and changes nothing")
    await ctx.refused(ctx.patch(AppService, "other-app", {"spec": {"deploymentName": ""}}))

    await ctx.step("both are deleted, and their Deployments go with them")
    await ctx.delete(AppService, "example-app")
    await ctx.delete(AppService, "other-app")
    await ctx.gone(apps_v1.Deployment, "edge")
    await ctx.gone(apps_v1.Deployment, "other-nginx")


def has_two(deployment: apps_v1.Deployment) -> bool:
    """Whether it should have two Pods, and has."""
    spec = deployment.spec
    return spec is not None and spec.replicas == 2 and sm.is_ready(deployment)


demo = Demo(
    title="A Deployment under a name of one's choice, corrected when it drifts",
    manager=manager,
    kinds=(AppService,),
    steps=steps,
)
