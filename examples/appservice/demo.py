"""``steersman demo appservice``: an app is made, scaled, broken, followed by another, and deleted."""

import steersman as sm
from steersman.kinds import core_v1
from steersman_cluster.demos import Demo, Stage

from opdemo.appservice import App, AppService
from opdemo.operator import manager
from opdemo.webservice import WebService

NAME = "nginx-app"


def runs(app: App, *, size: int) -> bool:
    """Whether it is ready, with so many Pods."""
    return sm.is_ready(app) and app.status is not None and app.status.available_replicas == size


def refusal(app: App) -> str:
    """Whom it would have to take its children from, if that is why it is not ready."""
    for each in (app.status and app.status.conditions) or ():
        if each.type == "Ready" and each.reason == "NotOurs":
            return each.message or ""
    return ""


async def steps(stage: Stage) -> None:
    """From the first app to the last."""
    await stage.step(f"apply samples/appservice.yaml: {NAME}, two of nginx:1.7.9, on port 30002")
    await stage.apply("samples/appservice.yaml")
    await stage.until(AppService, NAME, lambda app: runs(app, size=2))

    await stage.step("scale it to three")
    await stage.patch(AppService, NAME, {"spec": {"size": 3}})
    await stage.until(AppService, NAME, lambda app: runs(app, size=3))

    await stage.step("break it: delete its Service")
    service = await stage.get(core_v1.Service, NAME)
    await stage.delete(core_v1.Service, NAME)
    await stage.until_back(core_v1.Service, NAME, not_uid=service.uid)
    stage.note("the operator has made it again")

    await stage.step("apply samples/webservice.yaml: the same name and port, which are taken")
    await stage.apply("samples/webservice.yaml")
    web = await stage.until(WebService, NAME, lambda web: bool(refusal(web)))
    stage.note(refusal(web))

    await stage.step("delete the AppService: the WebService gets its turn")
    await stage.delete(AppService, NAME)
    await stage.gone(AppService, NAME)
    await stage.until(WebService, NAME, lambda web: runs(web, size=2))

    await stage.step("delete that too")
    await stage.delete(WebService, NAME)
    await stage.gone(WebService, NAME)
    await stage.until_all(core_v1.Pod, lambda pods: not pods)


demo = Demo(
    title="An image kept running, and reachable on a port of every node",
    manager=manager,
    kinds=(AppService, WebService),
    steps=steps,
)
