"""Errors in the author's functions that could stop the operator or have no visible effect."""

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import pytest

import steersman as sm
from steersman.client import MergePatch
from steersman.errors import ExitRaised, ManagerFailed, NotAwaited
from steersman.kinds import core_v1, meta_v1
from steersman.manager import Runnable, Services
from steersman.names import ObjectKey
from steersman.observe import (
    KeyTaken,
    ReconcileFinished,
    RunnableFailed,
    SourceFailed,
    TriggerFailed,
)
from steersman.workqueue import LOW_PRIORITY
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import Operator, operating
from tests.real.definitions import Widget, WidgetStatus, widget
from tests.transports import FakeResponse

ConfigMap = core_v1.ConfigMap


def exits() -> None:
    sys.exit(1)


def is_interrupted() -> None:
    raise KeyboardInterrupt


def config_map(name: str) -> core_v1.ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name=name), data={"a": "b"})


def outcomes(operator: Operator, name: str) -> list[str]:
    return [each.outcome for each in operator.seen(ReconcileFinished) if each.ref.name == name]


@pytest.mark.parametrize("leave", [exits, is_interrupted])
async def test_a_systemexit_in_a_reconcile_fails_that_object_and_is_retried(
    scene: Scene, leave: Callable[[], None]
) -> None:
    tries: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        tries.append(obj.name)
        if obj.name == "one" and tries.count("one") < 3:
            leave()
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: len(outcomes(operator, "one")) == 3, seconds=0.01)
        await scene.server.create(widget(HERE, "three"))
        await scene.until(lambda: outcomes(operator, "three"), seconds=0.01)

    assert outcomes(operator, "one") == ["failed", "failed", "done"]
    assert outcomes(operator, "two") == outcomes(operator, "three") == ["done"]
    failed = next(each.error for each in operator.seen(ReconcileFinished) if each.error)
    assert isinstance(failed, ExitRaised)
    assert f"{__file__}:{leave.__code__.co_firstlineno + 1}" in str(failed)


async def test_a_systemexit_in_a_thread_fails_that_object_and_reports_its_line(
    scene: Scene,
) -> None:
    def reconcile(obj: Widget, ctx: sm.BlockingContext) -> sm.Outcome:
        exits()
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        while not operator.seen(ReconcileFinished):
            operator.changed.clear()
            await operator.changed.wait()

    failed = operator.seen(ReconcileFinished)[0].error
    assert isinstance(failed, ExitRaised)
    assert failed.where.startswith(__file__)


async def test_a_systemexit_in_a_callback_does_not_stop_the_operator(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    def when(old: Widget | None, new: Widget) -> bool:
        raise SystemExit

    def mapped(obj: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[Widget]:
        raise SystemExit

    def index(obj: Widget) -> Iterable[str]:
        raise SystemExit

    def chosen(cached: sm.CacheReader) -> Iterable[ObjectKey]:
        raise SystemExit

    async def stream() -> AsyncIterator[ObjectKey]:
        raise SystemExit
        yield ObjectKey(HERE, "one")

    controller = sm.Controller(
        Widget,
        reconcile=reconcile,
        when=when,
        indexes={"by-color": index},
        watches=(sm.Watch(ConfigMap, to=mapped),),
        sources=(sm.Every(1.0, chosen), sm.Keys(stream)),
    )
    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(operator.seen(SourceFailed)) > 3, seconds=0.1)
        await scene.server.create(widget(HERE, "three"))
        await scene.until(lambda: outcomes(operator, "three"), seconds=0.1)

    assert {each.role for each in operator.seen(TriggerFailed)} == {"predicate", "mapping"}
    assert {type(each.error) for each in operator.seen(TriggerFailed)} == {ExitRaised}
    assert {type(each.error) for each in operator.seen(SourceFailed)} == {ExitRaised}


async def test_a_systemexit_in_a_runnable_stops_the_manager_and_names_the_runnable(
    scene: Scene,
) -> None:
    async def leave(services: Services) -> None:
        sys.exit(1)

    seen: list[Operator] = []
    with pytest.RaisesGroup(ManagerFailed) as raised:
        async with operating(scene, runnables=[Runnable(leave)]) as operator:
            seen.append(operator)
            await scene.until(lambda: False)

    assert "ExitRaised" in str(raised.value.exceptions[0])
    assert len(seen[0].seen(RunnableFailed)) == 1


def line_of(function: Any, words: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if words in line)


async def forget_apply(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    ctx.apply_owned(config_map(f"of-{obj.name}"))  # type: ignore[unused-coroutine]
    return sm.Done()


async def forget_status(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    await ctx.apply_owned(config_map(f"of-{obj.name}"))
    ctx.apply_status(obj, WidgetStatus(ready=1))  # type: ignore[unused-coroutine]
    return sm.Done()


async def forget_read(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    ctx.live.get(Widget, obj.name)  # type: ignore[unused-coroutine]
    return sm.Later(after_seconds=60)


@pytest.mark.parametrize(
    ("function", "verb"),
    [
        (forget_apply, "ctx.apply_owned"),
        (forget_status, "ctx.apply_status"),
        (forget_read, "ctx.live.get"),
    ],
)
async def test_a_missing_await_fails_and_reports_the_authors_line(
    scene: Scene, function: Any, verb: str
) -> None:
    controller = sm.Controller(Widget, reconcile=function, owns=(ConfigMap,))

    async with operating(scene, controller) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))

    finished = operator.seen(ReconcileFinished)[0]
    assert finished.outcome == "failed"
    assert isinstance(finished.error, NotAwaited)
    words = verb.removeprefix("ctx") + "("
    assert finished.error.where == f"{__file__}:{line_of(function, f'    ctx{words}')}"
    assert f"await {verb}(…)" in str(finished.error)


async def test_a_write_in_an_unawaited_task_fails_the_reconcile(scene: Scene) -> None:
    tasks: list[asyncio.Task[Any]] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if not tasks:
            operator.transports[0].fixed_response = FakeResponse(after=asyncio.Event().wait)
            write = ctx.apply_owned(config_map(f"of-{obj.name}"))
            tasks.append(asyncio.create_task(write))  # noqa: TID251 - the mistake
            await scene.clock.sleep(0)
            operator.transports[0].fixed_response = None
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, owns=(ConfigMap,), workers=1)
    async with operating(scene, controller) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))
        await scene.settle()

    finished = operator.seen(ReconcileFinished)[0]
    assert finished.outcome == "failed"
    assert isinstance(finished.error, NotAwaited)
    assert finished.error.has_begun
    assert finished.error.where == f"{__file__}:{line_of(reconcile, 'ctx.apply_owned(')}"
    assert tasks[0].cancelled()


async def test_a_read_in_an_unawaited_task_has_no_effect(scene: Scene) -> None:
    tasks: list[asyncio.Task[Any]] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        read = ctx.live.get(Widget, obj.name)
        tasks.append(asyncio.create_task(read))  # noqa: TID251 - what is tested
        await scene.clock.sleep(0)
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) == 2)
        await asyncio.gather(*tasks)

    assert {each.outcome for each in operator.seen(ReconcileFinished)} == {"done"}


async def test_calls_that_are_gathered_or_awaited_later_are_valid(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        calls = [ctx.apply_owned(config_map(f"{number}-of-{obj.name}")) for number in range(3)]
        for call in calls:
            await call
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, owns=(ConfigMap,))
    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) >= 2)

    assert {each.outcome for each in operator.seen(ReconcileFinished)} == {"done"}


def priorities(operator: Operator, name: str) -> list[int]:
    taken = [each for each in operator.seen(KeyTaken) if each.queue == "widget"]
    return [each.priority for each in taken if getattr(each.key, "name", "") == name]


async def test_a_delayed_key_keeps_its_priority(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Later(after_seconds=30)

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: len(priorities(operator, "one")) == 2, seconds=1.0)
        patch = MergePatch({"spec": {"color": "blue"}})
        await scene.server.patch(Widget, "one", patch, namespace=HERE)
        await scene.until(lambda: len(priorities(operator, "one")) == 4, seconds=1.0)

    assert priorities(operator, "one")[:4] == [LOW_PRIORITY, LOW_PRIORITY, 0, 0]


async def test_a_failed_key_keeps_its_priority(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.name == "one":
            raise LookupError
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: len(priorities(operator, "one")) == 3, seconds=0.01)

    assert priorities(operator, "one")[:3] == [LOW_PRIORITY] * 3
