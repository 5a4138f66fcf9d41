"""An operator whose parts do not fit together is a type error."""

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
    await ctx.apply_owned(app.spec)  # rejected
    await ctx.apply_status(app, "ready")  # rejected
    await about_pods(await ctx.apply_owned(core_v1.Service()), ctx)  # rejected
    print(ctx.get(core_v1.Pod, "web").name)  # rejected
    ctx.record("Ready", "it is", type="Good")  # rejected
    return True  # rejected


def plainly(app: App, ctx: sm.BlockingContext) -> sm.Outcome:
    if app.name:
        return sm.Done(status="ready")  # rejected
    return sm.Later(30)  # rejected


def by_name(config: core_v1.ConfigMap, cached: sm.CacheReader) -> list[str]:
    return [config.name]


sm.Controller(App, reconcile=about_pods)  # rejected
sm.Controller(App, reconcile=of_nothing)  # rejected
sm.Controller(App, reconcile=from_afar)  # rejected
sm.Controller(App, reconcile=wrong, owns=(apps_v1.DeploymentSpec,))  # rejected
sm.Controller(App)  # rejected
sm.Watch(core_v1.ConfigMap, to=by_name)  # rejected
sm.Watch(core_v1.Pod, to=lambda pod, cached: [pod.nothing])  # rejected
controller = sm.Controller(App, reconcile=wrong)
controller.workers = 4  # rejected
sm.Manager(controllers=[App])  # rejected
