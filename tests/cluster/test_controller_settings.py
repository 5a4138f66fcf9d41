"""The queue settings of a controller: backoff, token bucket, debounce and priority."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import steersman as sm
from steersman.kinds import core_v1
from steersman.observe import ReconcileFinished, TriggerFailed
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, is_quiet, operating
from tests.real.definitions import Widget, widget


async def finish(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    return sm.Done()


async def fail(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    raise RuntimeError("not today")


def reconciled(operator: Operator) -> list[str]:
    return [each.ref.name for each in operator.seen(ReconcileFinished)]


async def test_a_failed_object_waits_for_the_backoff_of_its_controller(
    scene: Scene,
) -> None:
    backoff = sm.BackoffPolicy(first_seconds=10, max_seconds=20, jitter=0)
    controller = sm.Controller(Widget, reconcile=fail, backoff=backoff)
    tried_at: list[float] = []

    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(reconciled(operator)) == 2)
        for _ in range(60):
            before = reconciled(operator).count("one")
            scene.clock.advance(1)
            await scene.settle()
            if reconciled(operator).count("one") > before:
                tried_at.append(scene.clock.monotonic())

    waits = [later - earlier for earlier, later in pairwise(tried_at)]
    assert waits == [20.0, 20.0]


async def test_all_retries_of_a_controller_share_its_token_bucket(scene: Scene) -> None:
    for number in range(20):
        await scene.server.create(widget(HERE, f"more-{number}"))
    controller = sm.Controller(
        Widget,
        reconcile=fail,
        backoff=sm.BackoffPolicy(first_seconds=0.001, max_seconds=0.001, jitter=0),
        bucket=sm.BucketPolicy(per_second=1, burst=1),
    )

    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(reconciled(operator)) == 22)
        for _ in range(100):
            scene.clock.advance(0.1)
            await scene.settle()

    # One at once, then one a second for ten seconds.
    assert 9 <= len(reconciled(operator)) - 22 <= 12


async def test_changes_within_the_debounce_are_one_reconcile(scene: Scene) -> None:
    seen: list[tuple[float, tuple[str, ...]]] = []

    async def note(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        seen.append((scene.clock.monotonic(), tuple(why.event for why in ctx.reasons)))
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=note, debounce_seconds=5)
    await scene.server.delete(Widget, "two", namespace=HERE)

    async with operating(scene, controller):
        await scene.until(lambda: seen, seconds=1)
        seen.clear()
        began_at = scene.clock.monotonic()
        for color in ("red", "green", "blue", "black"):
            await scene.paint("one", color)
            await scene.settle()
            scene.clock.advance(1)
        await scene.until(lambda: seen, seconds=0.5)
        await scene.settle()

    # The first change starts the debounce: continuous changes cannot postpone a reconcile for ever.
    ((at, events),) = seen
    assert events == ("updated",) * 4
    assert 5 <= at - began_at <= 6


async def test_without_a_debounce_each_change_is_reconciled_at_once(scene: Scene) -> None:
    controller = sm.Controller(Widget, reconcile=finish)

    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        before = len(reconciled(operator))
        await scene.paint("one", "red")
        await scene.settle()

        assert len(reconciled(operator)) == before + 1


def by_size(obj: Widget) -> int:
    return obj.spec.size * 1000


async def sizes_in_order(scene: Scene, priority: Callable[[Any], int] | None) -> list[str]:
    for size in (1, 3, 2):
        await scene.server.create(widget(HERE, f"size-{size}", size=size))
    controller = sm.Controller(Widget, reconcile=finish, workers=1, priority=priority)
    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(reconciled(operator)) == 5)
    return [name for name in reconciled(operator) if name.startswith("size-")]


async def test_objects_with_a_higher_priority_are_reconciled_first(scene: Scene) -> None:
    assert await sizes_in_order(scene, by_size) == ["size-3", "size-2", "size-1"]


async def test_a_priority_function_that_raises_is_reported_and_counts_as_default(
    scene: Scene,
) -> None:
    def broken(obj: Widget) -> int:
        raise ValueError("no idea")

    controller = sm.Controller(Widget, reconcile=finish, priority=broken)

    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(reconciled(operator)) == 2)
        await is_quiet(scene, operator)
        events = await scene.server.list(core_v1.Event, namespace=HERE)

    assert {each.role for each in operator.seen(TriggerFailed)} == {"priority"}
    assert "PriorityFailed" in {each.reason for each in events.items}
