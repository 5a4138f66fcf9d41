"""``steersman demo appservice``: an app is made, scaled, broken, followed by another, and deleted."""

import steersman as sm
from steersman.kinds import core_v1
from steersman_cluster.demos import Demo, DemoContext

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


async def steps(ctx: DemoContext) -> None:
    """From the first app to the last."""
    await ctx.step(f"apply samples/appservice.yaml: {NAME}, two of nginx:1.7.9, on port 30002")
    await ctx.apply("samples/appservice.yaml")
    await ctx.until(AppService, NAME, lambda app: runs(app, size=2))

    await ctx.step("scale it to three")
    await ctx.patch(AppService, NAME, {"spec": {"size": 3}})
    await ctx.until(AppService, NAME, lambda app: runs(app, size=3))

    await ctx.step("break it: delete its Service")
    service = await ctx.get(core_v1.Service, NAME)
    await ctx.delete(core_v1.Service, NAME)
    await ctx.until_back(core_v1.Service, NAME, not_uid=service.uid)
    ctx.note("the operator has made it again")

    await ctx.step("apply samples/webservice.yaml: the same name and port, which are taken")
    await ctx.apply("samples/webservice.yaml")
    web = await ctx.until(WebService, NAME, lambda web: bool(refusal(web)))
    ctx.note(refusal(web))

    await ctx.step("delete the AppService: the WebService gets its turn")
    await ctx.delete(AppService, NAME)
    await ctx.gone(AppService, NAME)
    await ctx.until(WebService, NAME, lambda web: runs(web, size=2))

    await ctx.step("delete that too")
    await ctx.delete(WebService, NAME)
    await ctx.gone(WebService, NAME)
    await ctx.until_all(core_v1.Pod, lambda pods: not pods)


demo = Demo(
    title="An image kept running, and reachable on a port of every node",
    manager=manager,
    kinds=(AppService, WebService),
    steps=steps,
)
