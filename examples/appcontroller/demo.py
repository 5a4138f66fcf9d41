"""What ``steersman demo appcontroller`` shows: made, corrected, renamed, refused, and gone."""

import steersman as sm
from steersman.kinds import apps_v1, meta_v1
from steersman_cluster.demos import Demo, Stage

from app_controller.appservice import AppService, Spec, manager

OTHER = AppService(
    metadata=meta_v1.ObjectMeta(name="other-app", namespace="default"),
    spec=Spec(deployment_name="edge", replicas=1),
)


async def steps(stage: Stage) -> None:
    """An AppService, and another that wants what it has."""
    await stage.step("somebody applies example-app, whose Deployment is called example-nginx")
    await stage.apply("samples/appservice.yaml")
    await stage.until(AppService, "example-app", sm.is_ready)

    await stage.step("somebody scales the Deployment to five behind its back: it has two again")
    await stage.patch(apps_v1.Deployment, "example-nginx", {"spec": {"replicas": 5}})
    await stage.until(apps_v1.Deployment, "example-nginx", has_two)

    await stage.step("it is to be called edge: once a new one is up, the old one goes")
    await stage.patch(AppService, "example-app", {"spec": {"deploymentName": "edge"}})
    await stage.gone(apps_v1.Deployment, "example-nginx")
    await stage.until(AppService, "example-app", sm.is_ready)

    await stage.step("other-app wants a Deployment of that name, too: it is not taken away")
    await stage.apply(OTHER)
    refused = await stage.until(AppService, "other-app", lambda app: app.status is not None)
    if refused.status is not None:
        stage.note(refused.status.conditions[0].message or "")

    await stage.step("so it is given a name that is free")
    await stage.patch(AppService, "other-app", {"spec": {"deploymentName": "other-nginx"}})
    await stage.until(AppService, "other-app", sm.is_ready)

    await stage.step("no name at all is refused by the server, and changes nothing")
    await stage.refused(stage.patch(AppService, "other-app", {"spec": {"deploymentName": ""}}))

    await stage.step("both are deleted, and their Deployments go with them")
    await stage.delete(AppService, "example-app")
    await stage.delete(AppService, "other-app")
    await stage.gone(apps_v1.Deployment, "edge")
    await stage.gone(apps_v1.Deployment, "other-nginx")


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
