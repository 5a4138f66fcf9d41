"""Plain reconcile functions, which run in threads."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.errors import ContextEnded, ReconcileTimedOut
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ReconcileFinished, ThreadAbandoned, ThreadsExhausted
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, operating
from tests.real.definitions import Widget, WidgetStatus, widget

ConfigMap = core_v1.ConfigMap


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    """An event for functions to wait for, which is set at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


async def finished(operator: Operator, number: int) -> list[ReconcileFinished]:
    """The first ``number`` results; threads take real time, which the test's clock cannot skip."""
    while len(found := operator.seen(ReconcileFinished)) < number:
        operator.changed.clear()
        await operator.changed.wait()
    return found


async def test_a_plain_function_has_the_same_context_methods(scene: Scene) -> None:
    said: list[object] = []

    def reconcile(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        child = ctx.apply_owned(
            ConfigMap(metadata=meta_v1.ObjectMeta(name=f"of-{obj.name}"), data={"a": "b"})
        )
        labelled = ctx.patch(child, MergePatch({"metadata": {"labels": {"some": "label"}}}))
        ctx.apply_status(obj, WidgetStatus(ready=1))
        ctx.record("Made", "a ConfigMap")
        said.append(
            (
                [each.name for each in ctx.owned(ConfigMap)],
                ctx.get(ConfigMap, child.name) is not None,
                labelled.labels,
                len(ctx.list(Widget)),
                ctx.live.get(ConfigMap, child.name).labels,
                [each.name for each in ctx.live.list(Widget)],
                ctx.reasons[0].event,
                ctx.failures,
                ctx.now.year,
            )
        )
        ctx.delete(child)
        ctx.prune()
        return sm.Done()

    deleting = sm.Owns(ConfigMap, verbs=("create", "patch", "delete"))
    controller = sm.Controller(Widget, reconcile=reconcile, owns=(deleting,), workers=1)
    async with operating(scene, controller) as operator:
        first, *_ = await finished(operator, 1)

    assert first.error is None
    assert said[0] == (
        [f"of-{first.ref.name}"],
        True,
        {"some": "label"},
        2,
        {"some": "label"},
        ["one", "two"],
        "initial",
        0,
        2026,
    )


async def test_a_function_that_is_not_async_does_not_block_the_event_loop(
    scene: Scene, hang: threading.Event
) -> None:
    def reconcile(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        if obj.name == "one":
            hang.wait()
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=2)
    async with operating(scene, controller) as operator:
        (first,) = await finished(operator, 1)
        assert first.ref.name == "two"
        await scene.server.create(widget(HERE, "three"))
        assert (await finished(operator, 2))[1].ref.name == "three"

        hang.set()
        assert (await finished(operator, 3))[2].ref.name == "one"


async def test_a_hanging_function_keeps_its_object_and_frees_its_worker(
    scene: Scene, hang: threading.Event
) -> None:
    inside: list[str] = []
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()
    errors: list[Exception] = []

    def reconcile(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        inside.append(obj.name)
        is_first = len(inside) == 1
        loop.call_soon_threadsafe(entered.set)
        if is_first:
            hang.wait()
            try:
                ctx.list(Widget)
            except ContextEnded as error:
                errors.append(error)
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1, timeout_seconds=5)
    await scene.paint("one", "red")  # it is now the newest object, so it is reconciled first
    async with operating(scene, controller) as operator:
        await entered.wait()
        scene.clock.advance(5)
        timed_out, other = (await finished(operator, 2))[:2]
        await scene.paint("one", "blue")
        scene.clock.advance(60)
        await scene.settle()
        assert inside == ["one", "two"], "no other worker reconciles it while the thread goes on"

        hang.set()
        again = (await finished(operator, 3))[2]

    assert isinstance(timed_out.error, ReconcileTimedOut)
    assert (other.ref.name, other.outcome) == ("two", "done")
    assert (again.ref.name, again.outcome) == ("one", "done")
    assert [type(each) for each in errors] == [ContextEnded]
    assert {each.ref.name for each in operator.seen(ThreadAbandoned)} == {"one"}


async def test_a_controller_that_uses_all_threads_is_reported(
    scene: Scene, hang: threading.Event
) -> None:
    def reconcile(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        hang.wait()
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile)
    await scene.paint("one", "red")  # it is now the newest object, so it is reconciled first
    async with operating(scene, controller, max_threads=1) as operator:
        await scene.until(lambda: operator.seen(ThreadsExhausted))
        hang.set()
        await finished(operator, 2)

    (exhausted,) = operator.seen(ThreadsExhausted)
    assert exhausted.held_by == (f"widget: Widget {HERE}/one",)
