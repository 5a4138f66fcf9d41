"""Operators as authors write them: with async functions, plain functions and methods."""

from collections.abc import AsyncIterator, Iterable
from typing import assert_type

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1


class Spec(sm.Part):
    image: str
    config: str | None = None


class Status(apps_v1.DeploymentStatus):
    """The Deployment's status, inlined."""


class App(sm.CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """An image kept running."""


async def reconcile(app: App, ctx: sm.Context) -> sm.Outcome:
    container = core_v1.Container(name=app.name, image=app.spec.image)
    deployment = await ctx.apply_owned(recipes.deployment(app.name, container))
    assert_type(deployment, apps_v1.Deployment)
    assert_type(ctx.get(core_v1.ConfigMap, "settings"), core_v1.ConfigMap | None)
    assert_type(ctx.list(core_v1.ConfigMap), list[core_v1.ConfigMap])
    assert_type(await ctx.live.get(core_v1.Node, "one"), core_v1.Node)
    ready = sm.Condition.when(sm.is_ready(deployment), "Ready", yes="RolledOut", no="RollingOut")
    answer = await ctx.apply_status(app, Status.inlining(deployment.status).with_condition(ready))
    assert_type(answer, App)
    ctx.record("Applied", "all there")
    if app.spec.config == "":
        raise sm.Permanent("a name of a ConfigMap, or none")
    return sm.Done() if ready.is_true else sm.Later(after_seconds=30)


def reconcile_plainly(app: App, ctx: sm.BlockingContext) -> sm.Outcome:
    container = core_v1.Container(name=app.name, image=app.spec.image)
    deployment = ctx.apply_owned(recipes.deployment(app.name, container))
    assert_type(deployment, apps_v1.Deployment)
    ctx.apply_status(app, Status.inlining(deployment.status))
    return sm.Later(status=Status.inlining(deployment.status), after_seconds=30)


class Operator:
    """An operator with its own state."""

    def __init__(self, registry: str) -> None:
        self.registry = registry

    async def reconcile(self, app: App, ctx: sm.Context) -> sm.Done:
        ctx.record("Pulled", self.registry)
        return sm.Done(status={"registry": self.registry})


def who_uses(config: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[App]:
    return [app for app in cached.list(App) if app.spec.config == config.name]


async def calls() -> AsyncIterator[sm.ObjectKey]:
    yield sm.ObjectKey("default", "web")


controllers = (
    sm.Controller(
        App,
        reconcile=reconcile,
        finalize=reconcile,
        owns=(apps_v1.Deployment, sm.Owns(core_v1.Service, when=changed.generation)),
        watches=(sm.Watch(core_v1.ConfigMap, to=who_uses),),
        when=changed.any_of(changed.generation, changed.labels),
        sources=(sm.Every(60.0), sm.Keys(calls, name="calls")),
        workers=4,
    ),
    sm.Controller(App, reconcile=reconcile_plainly, owns=(apps_v1.Deployment,), name="plain"),
    sm.Controller(App, reconcile=Operator("registry.example.com").reconcile, name="method"),
)
assert_type(controllers[0], sm.Controller[App])

manager = sm.Manager(controllers=controllers, settings=sm.ManagerSettings(log_style="json"))
