"""``steersman demo appservice``: create an app, scale it, delete its Service, and replace it."""

import steersman as sm
from steersman.kinds import core_v1
from steersman_cluster.demos import Demo, DemoContext

from opdemo.appservice import App, AppService
from opdemo.operator import manager
from opdemo.webservice import WebService

NAME = "nginx-app"


def runs(app: App, *, size: int) -> bool:
    """Whether the app is ready and has this number of Pods."""
    return sm.is_ready(app) and app.status is not None and app.status.available_replicas == size


def refusal(app: App) -> str:
    """The message of the condition, if another object owns the children of this app."""
    for each in (app.status and app.status.conditions) or ():
        if each.type == "Ready" and each.reason == "NotOurs":
            return each.message or ""
    return ""


async def steps(ctx: DemoContext) -> None:
    """Two apps, one after the other."""
    await ctx.step(f"apply samples/appservice.yaml: {NAME}, two of nginx:1.7.9, on port 30002")
    await ctx.apply("samples/appservice.yaml")
    await ctx.until(AppService, NAME, lambda app: runs(app, size=2))

    await ctx.step(f"scale {NAME} to three")
    await ctx.patch(AppService, NAME, {"spec": {"size": 3}})
    await ctx.until(AppService, NAME, lambda app: runs(app, size=3))

    await ctx.step("delete its Service: the controller creates it again")
    service = await ctx.get(core_v1.Service, NAME)
    await ctx.delete(core_v1.Service, NAME)
    await ctx.until_back(core_v1.Service, NAME, not_uid=service.uid)
    ctx.note("the Service has a new uid")

    await ctx.step("apply samples/webservice.yaml: the same name and port, which are taken")
    await ctx.apply("samples/webservice.yaml")
    web = await ctx.until(WebService, NAME, lambda web: bool(refusal(web)))
    ctx.note(refusal(web))

    await ctx.step("delete the AppService: the WebService gets the name and the port")
    await ctx.delete(AppService, NAME)
    await ctx.until_gone(AppService, NAME)
    await ctx.until(WebService, NAME, lambda web: runs(web, size=2))

    await ctx.step("delete the WebService")
    await ctx.delete(WebService, NAME)
    await ctx.until_gone(WebService, NAME)
    await ctx.until_all(core_v1.Pod, lambda pods: not pods)


demo = Demo(
    title="A Deployment and a NodePort Service for each AppService",
    manager=manager,
    kinds=(AppService, WebService),
    steps=steps,
)
