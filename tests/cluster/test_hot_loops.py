"""Hot loops and field conflicts are reported with the field."""

import asyncio

import steersman as sm
from steersman.client import MergePatch
from steersman.kinds import core_v1, meta_v1
from steersman.observe import FieldConflictFound, HotLoop
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import operating
from tests.real.definitions import Widget, WidgetStatus

ConfigMap = core_v1.ConfigMap


async def test_a_hot_loop_is_reported_with_the_field_that_the_reconcile_changes(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        count = (obj.status and obj.status.ready) or 0
        await ctx.apply_status(obj, WidgetStatus(ready=count + 1))
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: operator.seen(HotLoop), seconds=0.1)

    found = operator.seen(HotLoop)[0]
    assert found.controller == "widget"
    assert found.fields == ("status.ready",)
    assert found.count == 10


async def test_a_field_conflict_is_reported_with_the_field_and_the_other_manager(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        meta = meta_v1.ObjectMeta(name=f"of-{obj.name}")
        await ctx.apply_owned(ConfigMap(metadata=meta, data={"mode": "ours"}))
        return sm.Done()

    async def meddle() -> None:
        patch = MergePatch({"data": {"mode": "theirs"}})
        while True:
            found = await scene.server.get(ConfigMap, "of-one", namespace=HERE)
            if (found.data or {}).get("mode") == "ours":
                await scene.server.patch(
                    ConfigMap, "of-one", patch, namespace=HERE, field_manager="meddler"
                )
            await scene.clock.sleep(0.1)

    controller = sm.Controller(Widget, reconcile=reconcile, owns=(ConfigMap,))
    async with operating(scene, controller) as operator, asyncio.TaskGroup() as group:
        await scene.until(lambda: len(operator.writes) == 2)
        meddling = group.create_task(meddle())
        await scene.until(lambda: operator.seen(FieldConflictFound), seconds=0.1)
        meddling.cancel()

    found = operator.seen(FieldConflictFound)[0]
    assert str(found.ref) == f"ConfigMap {HERE}/of-one"
    assert found.fields == ("data.mode",)
    assert found.managers == ("meddler",)


async def test_a_rollout_that_completes_is_not_a_hot_loop(scene: Scene) -> None:
    """Another client makes each step, and the controller writes a new status after each."""

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        found = ctx.get(ConfigMap, "two")
        step = int(((found and found.data) or {}).get("step", 0))
        await ctx.apply_status(obj, WidgetStatus(ready=step))
        return sm.Done()

    def everyone(obj: core_v1.ConfigMap, cached: sm.CacheReader) -> list[Widget]:
        return cached.list(Widget)

    controller = sm.Controller(
        Widget, reconcile=reconcile, watches=(sm.Watch(ConfigMap, to=everyone),)
    )
    async with operating(scene, controller) as operator:
        for step in range(30):
            await scene.patch("two", step=str(step))
            await scene.settle()

    assert not operator.seen(HotLoop)
