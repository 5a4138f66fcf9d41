"""The status of a reconcile's outcome: transitions are written at once, progress at intervals."""

from typing import Any

import steersman as sm
from steersman import changed
from steersman.client import MergePatch
from steersman.errors import NotOurs
from steersman.kinds import core_v1, meta_v1
from steersman.observe import HotLoop, ReconcileFinished
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, is_quiet, operating
from tests.real.definitions import Widget, WidgetStatus

FINALIZER = "toys.example.com/widget"


class Rollout:
    """A reconcile function with a progress that the test sets."""

    def __init__(self, *, ready: int = 0, is_done: bool = False) -> None:
        self.ready = ready
        self.is_done = is_done
        self.after_seconds: float | None = None
        self.looks = 0

    @property
    def status(self) -> WidgetStatus:
        ready = sm.Condition.when(self.is_done, "Ready", yes="AllThere", no="OnTheirWay")
        return WidgetStatus(ready=self.ready).with_condition(ready)

    async def reconcile(self, obj: Widget, ctx: sm.Context) -> sm.Outcome:
        self.looks += 1
        if self.is_done:
            return sm.Done(status=self.status)
        return sm.Later(status=self.status, after_seconds=self.after_seconds)

    def controller(self, **rest: Any) -> sm.Controller[Widget]:
        return sm.Controller(Widget, reconcile=self.reconcile, when=changed.generation, **rest)


async def said(scene: Scene, name: str = "one") -> tuple[int | None, str | None]:
    """The ready count and the status of the condition in the object."""
    status = (await scene.server.get(Widget, name, namespace=HERE)).status
    if status is None:
        return None, None
    return status.ready, next((each.status for each in status.conditions or ()), None)


async def nudge(scene: Scene, operator: Operator, color: str) -> None:
    await scene.paint("one", color)
    await is_quiet(scene, operator)


async def test_progress_is_written_at_intervals_and_a_condition_transition_immediately(
    scene: Scene,
) -> None:
    rollout = Rollout()
    async with operating(scene, rollout.controller()) as operator:
        await is_quiet(scene, operator)
        for rollout.ready in (1, 2, 3):
            await nudge(scene, operator, f"shade {rollout.ready}")
        assert await said(scene) == (None, None)
        assert operator.writes == []

        scene.clock.advance(1)
        await is_quiet(scene, operator)
        assert await said(scene) == (3, "False")
        assert len([each for each in operator.writes if "/one/" in each]) == 1

        rollout.ready = 4
        await nudge(scene, operator, "blue")
        assert await said(scene) == (3, "False")

        rollout.ready, rollout.is_done = 5, True
        await nudge(scene, operator, "green")
        assert await said(scene) == (5, "True")

        rollout.ready, rollout.is_done = 4, False
        await nudge(scene, operator, "red")
        assert await said(scene) == (4, "False")


async def test_a_final_status_is_written_at_once(scene: Scene) -> None:
    rollout = Rollout(ready=1, is_done=True)
    async with operating(scene, rollout.controller()) as operator:
        await is_quiet(scene, operator)

    assert await said(scene) == (1, "True")


async def test_further_progress_does_not_postpone_the_write(scene: Scene) -> None:
    rollout = Rollout()
    async with operating(scene, rollout.controller()) as operator:
        await is_quiet(scene, operator)
        for rollout.ready in (1, 2, 3, 4):
            scene.clock.advance(0.3)
            await nudge(scene, operator, f"shade {rollout.ready}")
        assert await said(scene) == (4, "False")


async def test_a_written_progress_status_causes_no_reconcile(scene: Scene) -> None:
    rollout = Rollout()
    async with operating(scene, rollout.controller()) as operator:
        await is_quiet(scene, operator)
        scene.clock.advance(1)
        await is_quiet(scene, operator)
        looks = rollout.looks
        await nudge(scene, operator, "blue")

        assert rollout.looks == looks + 1
        assert operator.seen(ReconcileFinished)[-1].after_seconds is None


async def test_without_a_progress_interval_every_status_is_written_at_once(scene: Scene) -> None:
    rollout = Rollout()
    async with operating(scene, rollout.controller(progress_seconds=0)) as operator:
        await is_quiet(scene, operator)
        assert await said(scene) == (0, "False")


async def test_a_periodic_requeue_is_not_combined_with_a_progress_requeue(scene: Scene) -> None:
    rollout = Rollout()
    rollout.after_seconds = 30.0
    async with operating(scene, rollout.controller()) as operator:
        await is_quiet(scene, operator)
        assert await said(scene) == (0, "False")
        looks = rollout.looks

        scene.clock.advance(29)
        await is_quiet(scene, operator)
        assert rollout.looks == looks


async def test_a_later_explicit_status_replaces_a_pending_one(scene: Scene) -> None:
    rollout = Rollout(ready=1)

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.spec.color != "blue":
            return await rollout.reconcile(obj, ctx)
        await ctx.apply_status(obj, WidgetStatus(ready=102))
        return sm.Later(after_seconds=30)

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await is_quiet(scene, operator)
        await nudge(scene, operator, "blue")
        for _ in range(10):
            scene.clock.advance(30)
            await is_quiet(scene, operator)

        assert await said(scene) == (102, None)


async def test_the_status_of_finalize_replaces_a_pending_one(scene: Scene) -> None:
    rollout = Rollout()

    async def finalize(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if rollout.is_done:
            return sm.Done(status=WidgetStatus(ready=99))
        return sm.Later(after_seconds=5)

    async with operating(scene, rollout.controller(finalize=finalize)) as operator:
        await is_quiet(scene, operator)
        # Another finalizer blocks its deletion, too.
        await scene.server.patch(
            Widget,
            "one",
            MergePatch({"metadata": {"finalizers": [FINALIZER, "example.com/other"]}}),
            namespace=HERE,
        )
        await scene.server.delete(Widget, "one", namespace=HERE)
        await is_quiet(scene, operator)
        assert await said(scene) == (None, None)

        rollout.is_done = True
        scene.clock.advance(5)
        await is_quiet(scene, operator)
        assert await said(scene) == (99, None)


async def test_a_rejected_child_is_retried_while_a_status_is_pending(
    scene: Scene,
) -> None:
    looks: list[bool] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        child = core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="two"), data={})
        try:
            await ctx.apply_owned(child)
        except NotOurs:
            looks.append(False)
            return sm.Later(status=WidgetStatus(ready=0))
        looks.append(True)
        return sm.Done(status=WidgetStatus(ready=1))

    controller = sm.Controller(
        Widget, reconcile=reconcile, owns=(core_v1.ConfigMap,), when=changed.generation
    )
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        scene.clock.advance(1)
        await is_quiet(scene, operator)
        assert not any(looks)

        await scene.delete("two")
        await is_quiet(scene, operator)
        assert any(looks)


async def test_a_status_that_always_changes_is_reported_as_a_hot_loop(scene: Scene) -> None:
    rollout = Rollout()

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        rollout.ready += 1
        return await rollout.reconcile(obj, ctx)

    controller = sm.Controller(Widget, reconcile=reconcile, progress_seconds=0.1)
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        await scene.until(lambda: operator.seen(HotLoop), seconds=0.1)


async def test_the_next_leader_writes_a_pending_status(scene: Scene) -> None:
    rollout = Rollout(ready=2)
    async with operating(scene, rollout.controller()) as operator:
        await is_quiet(scene, operator)
    assert await said(scene) == (None, None)

    async with operating(scene, rollout.controller(), hostname="two") as operator:
        await is_quiet(scene, operator)
        scene.clock.advance(1)
        await is_quiet(scene, operator)
    assert await said(scene) == (2, "False")
