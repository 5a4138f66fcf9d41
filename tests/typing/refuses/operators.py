"""An operator whose parts do not fit together."""

import steersman as sm
from steersman.kinds import apps_v1, core_v1


class App(sm.CustomResource[sm.Part, sm.Part], group="app.example.com", version="v1"):
    """An image kept running."""


async def about_pods(pod: core_v1.Pod, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


async def of_nothing(app: App, ctx: sm.Context) -> None: ...


async def from_afar(app: App, ctx: sm.BlockingContext) -> sm.Outcome:
    return sm.Done()


async def wrong(app: App, ctx: sm.Context) -> sm.Outcome:
    await ctx.apply_owned(app.spec)  # refused
    await ctx.apply_status(app, "ready")  # refused
    await about_pods(await ctx.apply_owned(core_v1.Service()), ctx)  # refused
    print(ctx.get(core_v1.Pod, "web").name)  # refused
    ctx.record("Ready", "it is", type="Good")  # refused
    return True  # refused


def plainly(app: App, ctx: sm.BlockingContext) -> sm.Outcome:
    if app.name:
        return sm.Done(status="ready")  # refused
    return sm.Later(30)  # refused


def by_name(config: core_v1.ConfigMap, cached: sm.CacheReader) -> list[str]:
    return [config.name]


sm.Controller(App, reconcile=about_pods)  # refused
sm.Controller(App, reconcile=of_nothing)  # refused
sm.Controller(App, reconcile=from_afar)  # refused
sm.Controller(App, reconcile=wrong, owns=(apps_v1.DeploymentSpec,))  # refused
sm.Controller(App)  # refused
sm.Watch(core_v1.ConfigMap, to=by_name)  # refused
sm.Watch(core_v1.Pod, to=lambda pod, cached: [pod.nothing])  # refused
controller = sm.Controller(App, reconcile=wrong)
controller.workers = 4  # refused
sm.Manager(controllers=[App])  # refused
