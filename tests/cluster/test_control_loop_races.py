"""A controller during concurrent changes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import steersman as sm
from steersman.cache import InformerSettings
from steersman.client import MergePatch
from steersman.controller import ControlLoop, ThreadPolicy, ThreadPool, synced_controller
from steersman.errors import BadOutcome, Invalid, NotInScope, Permanent
from steersman.kinds import core_v1, meta_v1
from steersman.observe import ReconcileFinished, ReconcileSkipped, ignore
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import is_quiet, operating
from tests.real.definitions import OCTOPODES, Octopus, OctopusSpec, Widget, install

ConfigMap = core_v1.ConfigMap


def config_map(name: str, **data: str) -> core_v1.ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name=name, namespace=HERE), data=data)


@asynccontextmanager
async def looping(
    scene: Scene, controller: sm.Controller[Any]
) -> AsyncIterator[ControlLoop[Widget]]:
    """A running control loop, without a manager."""
    managers = frozenset((controller.field_manager,))
    caches = scene.caches(settings=InformerSettings(kept_managers=managers))
    async with (
        caches.running(),
        synced_controller(
            controller,
            client=scene.client,
            caches=caches,
            namespaces=(HERE,),
            threads=ThreadPool(1, policy=ThreadPolicy.CONCURRENT, observe=ignore),
            instance="test",
            observe=ignore,
        ) as ready,
        asyncio.TaskGroup() as group,
    ):
        loop = ready.loop()
        running = group.create_task(loop.run())
        yield loop
        running.cancel()


async def test_an_object_deleted_before_its_finalizer_is_added_is_not_reconciled(
    scene: Scene,
) -> None:
    looked: list[str] = []
    go = asyncio.Event()

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        looked.append(obj.name)
        await go.wait()
        return sm.Done()

    async def finalize(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        return sm.Done()

    keep = MergePatch({"metadata": {"finalizers": ["example.com/other"]}})
    await scene.server.patch(Widget, "two", keep, namespace=HERE)
    await scene.paint("one", "red")  # it is now the newest object, so it is reconciled first
    controller = sm.Controller(Widget, reconcile=reconcile, finalize=finalize, workers=1)
    async with operating(scene, controller) as operator:
        await scene.until(lambda: looked == ["one"])
        operator.transports[0].pause()
        await scene.server.delete(Widget, "two", namespace=HERE)
        go.set()
        await scene.until(
            lambda: any(each.ref.name == "two" for each in operator.seen(ReconcileFinished))
        )
        operator.transports[0].resume()
        await is_quiet(scene, operator)

    assert "two" not in looked
    assert operator.seen(ReconcileSkipped)[-1].reason == "being deleted"
    left = await scene.server.get(Widget, "two", namespace=HERE)
    assert left.metadata.finalizers == ("example.com/other",)


async def test_a_child_whose_apply_was_rejected_is_not_pruned(
    scene: Scene,
) -> None:
    refused: list[Exception] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        wanted = config_map(f"of-{obj.name}", size="1")
        if obj.spec.color == "blue":
            meta = meta_v1.ObjectMeta(name=wanted.name, labels={"not a label": "!"})
            wanted = ConfigMap(metadata=meta)
        try:
            await ctx.apply_owned(wanted)
        except Invalid as error:
            refused.append(error)
        await ctx.prune()
        return sm.Done()

    pruning = sm.Owns(ConfigMap, verbs=("create", "patch", "delete"))
    controller = sm.Controller(Widget, reconcile=reconcile, owns=(pruning,))
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        await scene.paint("one", "blue")
        await is_quiet(scene, operator)

    assert refused
    assert (await scene.server.get(ConfigMap, "of-one", namespace=HERE)).data == {"size": "1"}


async def test_an_object_deleted_during_its_reconcile_leaves_no_state(scene: Scene) -> None:
    looking = asyncio.Event()
    go = asyncio.Event()

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.name == "one":
            looking.set()
            await go.wait()
            raise Permanent("never")
        return sm.Done()

    async with looping(scene, sm.Controller(Widget, reconcile=reconcile)) as loop:
        await looking.wait()
        await scene.server.delete(Widget, "one", namespace=HERE)
        await scene.settle()
        go.set()
        await scene.settle()

        assert loop.entry_count == 0


async def test_a_deleted_unowned_object_leaves_no_state(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        await ctx.apply(config_map(f"of-{obj.name}"))
        return sm.Done()

    controller = sm.Controller(
        Widget, reconcile=reconcile, watches=(sm.Watch(ConfigMap),), writes=(ConfigMap,)
    )
    async with looping(scene, controller) as loop:
        await scene.settle()
        entry_count = loop.entry_count
        for name in ("one", "two"):
            await scene.server.delete(Widget, name, namespace=HERE)
            await scene.delete(f"of-{name}")
        await scene.settle()

        assert entry_count > 0
        assert loop.entry_count == 0


async def test_a_timeout_in_the_authors_code_is_not_a_reconcile_timeout(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        scene.clock.advance(200.0)
        raise TimeoutError("theirs")

    controller = sm.Controller(Widget, reconcile=reconcile, timeout_seconds=100, workers=1)
    async with operating(scene, controller) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))

    first = operator.seen(ReconcileFinished)[0]
    assert (first.outcome, str(first.error)) == ("failed", "theirs")


async def test_the_use_of_a_context_after_its_reconcile_is_an_error(scene: Scene) -> None:
    kept: list[sm.Context] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        kept.append(ctx)
        kept[0].list(Widget)
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) >= 2)

    failed = operator.seen(ReconcileFinished)[1]
    assert failed.outcome == "failed"
    assert "has ended" in str(failed.error)


async def test_a_plain_function_that_wraps_a_coroutine_function_must_await(scene: Scene) -> None:
    async def inner(obj: Widget, ctx: Any) -> sm.Outcome:
        return sm.Done()

    controller: Any = sm.Controller(Widget, reconcile=lambda obj, ctx: inner(obj, ctx))
    async with operating(scene, controller) as operator:
        while not operator.seen(ReconcileFinished):
            operator.changed.clear()
            await operator.changed.wait()

    error = operator.seen(ReconcileFinished)[0].error
    assert isinstance(error, BadOutcome)
    assert "Write it as `async def`" in str(error)


async def test_a_function_that_cancels_its_own_task_does_not_stop_the_worker(scene: Scene) -> None:
    looks: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        looks.append(obj.name)
        if obj.name == "one" and looks.count("one") < 5:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.Event().wait()
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1)
    async with operating(scene, controller) as operator:
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) == 2)

    assert looks.count("one") == 5


async def test_a_loop_stops_if_a_function_raises_during_cancellation(scene: Scene) -> None:
    looks: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        looks.append(obj.name)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("not now") from None
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=1)
    async with looping(scene, controller):
        await scene.until(lambda: looks)

    assert len(looks) == 1


async def test_objects_of_all_namespaces_can_be_listed(scene: Scene) -> None:
    counted: list[tuple[int, int]] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        counted.append((len(ctx.list(ConfigMap)), len(ctx.list(ConfigMap, all_namespaces=True))))
        return sm.Done()

    meta = meta_v1.ObjectMeta(name="far", namespace="there")
    await scene.server.create(ConfigMap(metadata=meta))
    controller = sm.Controller(Widget, reconcile=reconcile, watches=(sm.Watch(ConfigMap),))
    async with operating(scene, controller):
        await scene.until(lambda: counted)

    here, everywhere = counted[0]
    assert here == 2
    assert everywhere > 2


async def test_a_child_outside_the_watched_namespaces_is_not_created(scene: Scene) -> None:
    async def reconcile(obj: Octopus, ctx: sm.Context) -> sm.Outcome:
        meta = meta_v1.ObjectMeta(name="arm", namespace="there")
        await ctx.apply_owned(ConfigMap(metadata=meta))
        return sm.Done()

    await install(scene.server, OCTOPODES)
    await scene.server.create(Octopus(metadata=meta_v1.ObjectMeta(name="o"), spec=OctopusSpec()))
    controller = sm.Controller(Octopus, reconcile=reconcile, owns=(ConfigMap,))
    async with operating(scene, controller, namespaces=(HERE,)) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))

    assert isinstance(operator.seen(ReconcileFinished)[0].error, NotInScope)
    assert not operator.writes
