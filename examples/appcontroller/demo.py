"""``steersman demo appcontroller``: drift, a new name, a name conflict, and deletion."""

import steersman as sm
from steersman.kinds import apps_v1, meta_v1
from steersman_cluster.demos import Demo, DemoContext

from app_controller.appservice import AppService, Spec, manager

OTHER = AppService(
    metadata=meta_v1.ObjectMeta(name="other-app", namespace="default"),
    spec=Spec(deployment_name="edge", replicas=1),
)


async def steps(ctx: DemoContext) -> None:
    """Two AppServices that name the same Deployment."""
    await ctx.step("apply example-app, whose Deployment is named example-nginx")
    await ctx.apply("samples/appservice.yaml")
    await ctx.until(AppService, "example-app", sm.is_ready)

    await ctx.step("scale the Deployment to five: the controller sets it to two again")
    await ctx.patch(apps_v1.Deployment, "example-nginx", {"spec": {"replicas": 5}})
    await ctx.until(apps_v1.Deployment, "example-nginx", has_two)

    await ctx.step(
        "rename the Deployment to edge: the old one is deleted once the new one is ready"
    )
    await ctx.patch(AppService, "example-app", {"spec": {"deploymentName": "edge"}})
    await ctx.until_gone(apps_v1.Deployment, "example-nginx")
    await ctx.until(AppService, "example-app", sm.is_ready)

    await ctx.step("other-app asks for a Deployment of the same name: example-app keeps it")
    await ctx.apply(OTHER)
    rejected = await ctx.until(AppService, "other-app", lambda app: app.status is not None)
    if rejected.status is not None:
        ctx.note(rejected.status.conditions[0].message or "")

    await ctx.step("give other-app's Deployment a free name")
    await ctx.patch(AppService, "other-app", {"spec": {"deploymentName": "other-nginx"}})
    await ctx.until(AppService, "other-app", sm.is_ready)

    await ctx.step("remove the name: the API server rejects it, and nothing changes")
    await ctx.expect_rejection(ctx.patch(AppService, "other-app", {"spec": {"deploymentName": ""}}))

    await ctx.step("delete both: the garbage collector deletes their Deployments")
    await ctx.delete(AppService, "example-app")
    await ctx.delete(AppService, "other-app")
    await ctx.until_gone(apps_v1.Deployment, "edge")
    await ctx.until_gone(apps_v1.Deployment, "other-nginx")


def has_two(deployment: apps_v1.Deployment) -> bool:
    """Whether the Deployment has two replicas and is ready."""
    spec = deployment.spec
    return spec is not None and spec.replicas == 2 and sm.is_ready(deployment)


demo = Demo(
    title="A Deployment with a given name, and the correction of drift",
    manager=manager,
    kinds=(AppService,),
    steps=steps,
)
