"""The promises of a controller, on the embedded server."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import steersman as sm
from steersman import changed
from steersman.cache import InformerSettings
from steersman.client import MergePatch
from steersman.controller import PAUSED, ThreadPolicy, ThreadPool, synced_controller
from steersman.errors import (
    BadOutcome,
    NotOurs,
    Permanent,
    ReconcileTimedOut,
    UndeclaredRead,
    UndeclaredWrite,
)
from steersman.kinds import apps_v1, core_v1, events_v1, meta_v1
from steersman.names import ObjectKey
from steersman.observe import ReconcileFinished, ReconcileSkipped, ignore
from tests.cluster.informer_setup import HERE, Scene
from tests.cluster.operators import is_quiet, operating
from tests.real.definitions import Widget, WidgetStatus, widget

ConfigMap = core_v1.ConfigMap


def config_map(name: str, **data: str) -> core_v1.ConfigMap:
    return ConfigMap(metadata=meta_v1.ObjectMeta(name=name), data=data)


async def make_config_map(obj: Widget, ctx: sm.Context) -> sm.Outcome:
    await ctx.apply_owned(config_map(f"of-{obj.name}", size=str(obj.spec.size)))
    return sm.Done()


def owning(reconcile: Any = make_config_map, **rest: Any) -> sm.Controller[Widget]:
    return sm.Controller(Widget, reconcile=reconcile, owns=(ConfigMap,), **rest)


async def child(scene: Scene, name: str) -> core_v1.ConfigMap | None:
    listed = await scene.server.list(ConfigMap, namespace=HERE)
    return next((each for each in listed.items if each.name == name), None)


async def events_about(scene: Scene, name: str) -> list[events_v1.Event]:
    listed = await scene.server.list(events_v1.Event, namespace=HERE)
    return [each for each in listed.items if each.regarding and each.regarding.name == name]


class BlockingReconciler:
    """A reconcile function that waits for ``go``, and records the objects inside it."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.inside: set[str] = set()
        self.go = asyncio.Event()

    async def reconcile(self, obj: Widget, ctx: sm.Context) -> sm.Outcome:
        assert obj.name not in self.inside, "two workers reconcile it"
        self.started.append(obj.name)
        self.inside.add(obj.name)
        await self.go.wait()
        self.inside.discard(obj.name)
        return sm.Done()


async def test_children_are_created_kept_and_corrected(scene: Scene) -> None:
    async with operating(scene, owning()) as operator:
        await is_quiet(scene, operator)
        made = await child(scene, "of-one")
        assert made is not None
        assert made.data == {"size": "3"}

        await scene.patch("of-one", size="9")
        await is_quiet(scene, operator)
        corrected = await child(scene, "of-one")

        await scene.delete("of-two")
        await is_quiet(scene, operator)
        again = await child(scene, "of-two")

    assert corrected is not None
    assert corrected.data == {"size": "3"}
    assert again is not None
    owners = again.metadata.owner_references or ()
    assert [(each.kind, each.name, each.controller) for each in owners] == [("Widget", "two", True)]


async def test_one_worker_at_a_time_reconciles_an_object(scene: Scene) -> None:
    looks = BlockingReconciler()
    controller = sm.Controller(Widget, reconcile=looks.reconcile, workers=5)

    async with operating(scene, controller):
        await scene.until(lambda: looks.inside == {"one", "two"})
        for size in range(5):
            await scene.server.patch(
                Widget, "one", MergePatch({"spec": {"size": size}}), namespace=HERE
            )
        await scene.settle()

        assert sorted(looks.started) == ["one", "two"]


async def test_a_starting_operator_reconciles_the_newest_objects_first(scene: Scene) -> None:
    looks = BlockingReconciler()
    looks.go.set()
    controller = sm.Controller(Widget, reconcile=looks.reconcile, workers=1)
    async with operating(scene, controller):
        await scene.settle()
    looks.started.clear()
    await scene.server.create(widget(HERE, "another"))
    await scene.paint("one", "blue")

    async with operating(scene, controller):
        await scene.settle()

    assert looks.started == ["one", "another", "two"]


async def test_a_change_during_a_reconcile_leads_to_another_reconcile(scene: Scene) -> None:
    looks = BlockingReconciler()
    controller = sm.Controller(Widget, reconcile=looks.reconcile)

    async with operating(scene, controller):
        await scene.until(lambda: "one" in looks.inside)
        await scene.paint("one", "blue")
        await scene.paint("one", "red")
        await scene.settle()
        looks.go.set()
        await scene.settle()

    assert sorted(looks.started) == ["one", "one", "two"]


async def test_a_failure_of_one_object_never_delays_another(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.name == "one":
            raise RuntimeError("poison")
        if obj.name == "two":
            await asyncio.Event().wait()
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, workers=2, timeout_seconds=5)
    async with operating(scene, controller) as operator:
        await scene.settle()
        await scene.server.create(widget(HERE, "three"))
        await scene.settle()
        finished = operator.seen(ReconcileFinished)
        assert [each.ref.name for each in finished if each.outcome == "done"] == ["three"]

        await scene.until(
            lambda: any(each.outcome == "timed out" for each in operator.seen(ReconcileFinished)),
            seconds=1.0,
        )

    late = next(each for each in operator.seen(ReconcileFinished) if each.outcome == "timed out")
    assert late.ref.name == "two"
    assert isinstance(late.error, ReconcileTimedOut)


async def test_failures_are_retried_with_increasing_backoff(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if ctx.failures < 3:
            raise RuntimeError("not yet")
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(
            lambda: [each.outcome for each in operator.seen(ReconcileFinished)].count("done") == 2,
            seconds=0.01,
        )

    about_one = [each for each in operator.seen(ReconcileFinished) if each.ref.name == "one"]
    assert [each.outcome for each in about_one] == ["failed", "failed", "failed", "done"]
    assert [each.reasons[0].event for each in about_one] == ["initial", "retry", "retry", "retry"]


async def test_only_what_is_declared_can_be_read_or_written(scene: Scene) -> None:
    raised: list[Exception] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        for attempt in (
            lambda: ctx.apply_owned(config_map("a")),
            lambda: ctx.apply(config_map("a")),
            lambda: ctx.delete(config_map("a")),
            lambda: ctx.live.get(core_v1.Secret, "a"),
            lambda: ctx.live.scale(apps_v1.Deployment, "a"),
        ):
            try:
                await attempt()
            except (UndeclaredRead, UndeclaredWrite) as error:
                raised.append(error)
        try:
            ctx.get(core_v1.Secret, "a")
        except UndeclaredRead as error:
            raised.append(error)
        return sm.Done()

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: len(operator.seen(ReconcileFinished)) == 2)

    assert len(raised) == 12
    assert "owns=(ConfigMap,)" in str(raised[0])
    assert "reads=(Scale,)" in str(raised[4])
    assert not operator.writes


async def test_an_apply_that_would_change_nothing_sends_nothing(scene: Scene) -> None:
    async with operating(scene, owning()) as operator:
        await is_quiet(scene, operator)
        before = operator.writes
        assert len(before) == 2

        await scene.server.patch(
            ConfigMap,
            "of-one",
            MergePatch({"metadata": {"labels": {"foreign": "label"}}}),
            namespace=HERE,
        )
        await is_quiet(scene, operator)

    assert operator.writes == before
    assert operator.seen(ReconcileFinished)[-1].skipped_writes == 1
    kept = await child(scene, "of-one")
    assert kept is not None
    assert kept.labels == {"foreign": "label"}


async def test_an_object_that_another_owner_controls_is_left_alone(scene: Scene) -> None:
    stranger = meta_v1.OwnerReference(
        api_version="v1", kind="Secret", name="boss", uid="another-uid", controller=True
    )
    meta = meta_v1.ObjectMeta(name="of-one", namespace=HERE, owner_references=(stranger,))
    await scene.server.create(ConfigMap(metadata=meta, data={"size": "7"}))

    async with operating(scene, owning()) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished), seconds=0.001)
        await is_quiet(scene, operator)
        failed = [each for each in operator.seen(ReconcileFinished) if each.error is not None]
        await scene.settle()
        events = await events_about(scene, "one")

    assert failed
    assert all(isinstance(each.error, NotOurs) for each in failed)
    assert [(each.reason, each.type) for each in events] == [("NotOurs", "Warning")]
    left = await child(scene, "of-one")
    assert left is not None
    assert left.data == {"size": "7"}


async def test_a_child_is_created_as_soon_as_the_conflicting_object_is_deleted(
    scene: Scene,
) -> None:
    meta = meta_v1.ObjectMeta(name="of-one", namespace=HERE)
    await scene.server.create(ConfigMap(metadata=meta, data={"size": "7"}))

    async with operating(scene, owning()) as operator:
        await scene.until(
            lambda: any(each.failures == 15 for each in operator.seen(ReconcileFinished)),
            seconds=1.0,
        )
        await scene.delete("of-one")
        await is_quiet(scene, operator)  # at once, long before the next retry in a minute
        made = await child(scene, "of-one")

    assert made is not None
    assert made.data == {"size": "3"}


async def test_a_controller_that_handles_notours_is_woken_when_the_object_is_deleted(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        try:
            return await make_config_map(obj, ctx)
        except NotOurs:
            await scene.delete("of-one")  # before the reconcile returns
            return sm.Later()

    meta = meta_v1.ObjectMeta(name="of-one", namespace=HERE)
    await scene.server.create(ConfigMap(metadata=meta, data={"size": "7"}))

    async with operating(scene, owning(reconcile)) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished), seconds=0.001)
        await is_quiet(scene, operator)
        made = await child(scene, "of-one")

    assert made is not None
    assert made.data == {"size": "3"}


async def test_a_deleted_conflicting_object_is_replaced_without_a_restart(scene: Scene) -> None:
    meta = meta_v1.ObjectMeta(name="of-one", namespace=HERE)
    await scene.server.create(ConfigMap(metadata=meta, data={"size": "7"}))

    async with operating(scene, owning()) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished), seconds=0.001)
        await is_quiet(scene, operator)
        await scene.delete("of-one")
        await scene.until(
            lambda: (
                f"PATCH /api/v1/namespaces/{HERE}/configmaps/of-one" in operator.writes
                and operator.seen(ReconcileFinished)[-1].outcome == "done"
            ),
            seconds=0.5,
        )

    made = await child(scene, "of-one")
    assert made is not None
    assert made.data == {"size": "3"}


async def test_the_finalizer_is_added_before_the_first_side_effect_and_removed_after_the_last(
    scene: Scene,
) -> None:
    finalizers: list[tuple[str, ...]] = []
    cleaned: list[str] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        live = await ctx.live.get(Widget, obj.name)
        finalizers.append(live.metadata.finalizers or ())
        return sm.Done()

    async def finalize(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if not cleaned:
            cleaned.append("began")
            return sm.Later(after_seconds=10)
        cleaned.append("ended")
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, finalize=finalize)
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        await scene.server.delete(Widget, "one", namespace=HERE)
        await is_quiet(scene, operator)
        held = await scene.server.get(Widget, "one", namespace=HERE)
        await scene.until(lambda: len(cleaned) == 2, seconds=1.0)
        await is_quiet(scene, operator)

    assert set(finalizers) == {("toys.example.com/widget",)}
    assert held.metadata.finalizers == ("toys.example.com/widget",)
    listed = await scene.server.list(Widget, namespace=HERE)
    assert [each.name for each in listed.items] == ["two"]


async def test_an_unused_finalizer_is_removed_from_a_deleted_object(
    scene: Scene,
) -> None:
    meta = {"metadata": {"finalizers": ["toys.example.com/widget"]}}
    await scene.server.patch(Widget, "one", MergePatch(meta), namespace=HERE)

    async with operating(scene, owning()) as operator:
        await is_quiet(scene, operator)
        await scene.server.delete(Widget, "one", namespace=HERE)
        await is_quiet(scene, operator)

    listed = await scene.server.list(Widget, namespace=HERE)
    assert [each.name for each in listed.items] == ["two"]


async def test_each_reconcile_knows_why_it_ran(scene: Scene) -> None:
    reasons: list[list[tuple[str, str]]] = []

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.name == "one":
            reasons.append([(why.event, str(why.about)) for why in ctx.reasons])
        return await make_config_map(obj, ctx)

    async with operating(scene, owning(reconcile)) as operator:
        await is_quiet(scene, operator)
        await scene.paint("one", "blue")
        await is_quiet(scene, operator)
        painted = operator.seen(ReconcileFinished)[-1]
        await scene.patch("of-one", size="9")
        await is_quiet(scene, operator)
        corrected = next(
            each
            for each in reversed(operator.seen(ReconcileFinished))
            if each.writes and each.ref.name == "one"
        )

    assert reasons[0] == [("initial", f"Widget {HERE}/one")]
    assert [why.changed_fields for why in painted.reasons] == [("spec.color",)]
    assert painted.writes == ()
    assert str(corrected.reasons[0].about) == f"ConfigMap {HERE}/of-one"
    assert corrected.reasons[0].changed_fields == ("data.size",)
    assert [str(each.ref) for each in corrected.writes] == [f"ConfigMap {HERE}/of-one"]


async def test_a_paused_object_is_not_reconciled(scene: Scene) -> None:
    def pause(value: str | None) -> MergePatch:
        return MergePatch({"metadata": {"annotations": {PAUSED: value}}})

    await scene.server.patch(Widget, "one", pause("true"), namespace=HERE)

    async with operating(scene, owning(when=changed.generation)) as operator:
        await is_quiet(scene, operator)
        assert await child(scene, "of-one") is None
        assert [each.reason for each in operator.seen(ReconcileSkipped)] == ["paused"]

        await scene.server.patch(Widget, "one", pause(None), namespace=HERE)
        await is_quiet(scene, operator)

    assert await child(scene, "of-one") is not None


async def test_a_permanent_failure_is_not_retried_until_the_object_changes(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.spec.color == "blue":
            raise Permanent("blue is not a color")
        return sm.Done()

    controller = owning(reconcile)
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        await scene.paint("one", "blue")
        await is_quiet(scene, operator)
        owner = await scene.server.get(Widget, "one", namespace=HERE)
        mine = meta_v1.OwnerReference(
            api_version=owner.api_version,
            kind="Widget",
            name="one",
            uid=owner.uid,
            controller=True,
        )
        meta = meta_v1.ObjectMeta(name="x", namespace=HERE, owner_references=(mine,))
        await scene.server.create(ConfigMap(metadata=meta))
        await scene.until(lambda: operator.seen(ReconcileSkipped), seconds=60.0)
        tries = [each for each in operator.seen(ReconcileFinished) if each.outcome == "permanent"]
        await scene.paint("one", "red")
        await is_quiet(scene, operator)
        events = await events_about(scene, "one")

    assert len(tries) == 1
    assert operator.seen(ReconcileSkipped)[0].reason == "permanent"
    assert operator.seen(ReconcileFinished)[-1].outcome == "done"
    assert [(each.reason, each.note) for each in events] == [("Permanent", "blue is not a color")]


async def test_the_error_for_a_wrong_return_value_says_what_to_return(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> Any:
        return None

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))
        await scene.settle()
        events = await events_about(scene, "one")

    error = next(each.error for each in operator.seen(ReconcileFinished) if each.ref.name == "one")
    assert isinstance(error, BadOutcome)
    assert "returned None for Widget here/one. Return sm.Done()" in str(error)
    assert [each.reason for each in events] == ["BadOutcome"]


async def test_the_message_of_an_authors_exception_is_in_the_log_and_not_in_the_event(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        raise RuntimeError("password=hunter2")

    async with operating(scene, sm.Controller(Widget, reconcile=reconcile)) as operator:
        await scene.until(lambda: operator.seen(ReconcileFinished))
        await scene.settle()
        (event,) = await events_about(scene, "one")

    assert "hunter2" not in str(event.note)
    assert event.reason == "ReconcileFailed"
    assert "hunter2" in str(operator.seen(ReconcileFinished)[0].error)


async def test_a_status_is_applied_once_and_its_transition_time_changes_only_with_it(
    scene: Scene,
) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        is_big = sm.Condition.when(obj.spec.size > 2, "Big", yes="Grown", no="Small")
        await ctx.apply_status(obj, WidgetStatus(ready=obj.spec.size).with_condition(is_big))
        return sm.Done()

    def conditions(obj: Widget) -> tuple[sm.Condition, ...]:
        return (obj.status and obj.status.conditions) or ()

    controller = sm.Controller(Widget, reconcile=reconcile)
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        first = await scene.server.get(Widget, "one", namespace=HERE)
        assert len(operator.writes) == 2

        scene.clock.advance(60)
        await scene.server.patch(Widget, "one", MergePatch({"spec": {"size": 5}}), namespace=HERE)
        await is_quiet(scene, operator)
        bigger = await scene.server.get(Widget, "one", namespace=HERE)

        await scene.server.patch(Widget, "one", MergePatch({"spec": {"size": 1}}), namespace=HERE)
        await is_quiet(scene, operator)
        smaller = await scene.server.get(Widget, "one", namespace=HERE)

    (then,), (still,), (now,) = map(conditions, (first, bigger, smaller))
    assert then.last_transition_time == still.last_transition_time
    assert now.last_transition_time is not None
    assert then.last_transition_time is not None
    assert now.last_transition_time > then.last_transition_time
    assert len(operator.writes) == 4


async def test_undesired_children_are_pruned(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        for number in range(obj.spec.size):
            await ctx.apply_owned(config_map(f"{obj.name}-{number}"))
        await ctx.prune()
        return sm.Done()

    pruning = sm.Owns(ConfigMap, verbs=("create", "patch", "delete"))
    controller = sm.Controller(Widget, reconcile=reconcile, owns=(pruning,))
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        await scene.server.patch(Widget, "one", MergePatch({"spec": {"size": 1}}), namespace=HERE)
        await is_quiet(scene, operator)
        writes = operator.writes
        listed = await scene.server.list(ConfigMap, namespace=HERE)

    assert sorted(each.name for each in listed.items) == [
        "one",
        "one-0",
        "two",
        "two-0",
        "two-1",
        "two-2",
    ]
    assert len(writes) == 6 + 2


async def test_a_watched_object_enqueues_the_objects_that_it_maps_to(scene: Scene) -> None:
    looked: list[str] = []

    def users(config: core_v1.ConfigMap, cached: sm.CacheReader) -> Iterable[Widget]:
        return cached.by_index(Widget, "color", config.name)

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        found = ctx.get(ConfigMap, obj.spec.color or "none")
        looked.append(f"{obj.name}: {found.data if found else None}")
        return sm.Done()

    controller = sm.Controller(
        Widget,
        reconcile=reconcile,
        watches=(sm.Watch(ConfigMap, to=users),),
        indexes={"color": lambda obj: (obj.spec.color or "none",)},
    )
    await scene.paint("one", "two")
    async with operating(scene, controller) as operator:
        await is_quiet(scene, operator)
        looked.clear()
        await scene.patch("two", key="value")
        await is_quiet(scene, operator)

    assert looked == ["one: {'key': 'value'}"]


async def test_external_sources_enqueue_objects(scene: Scene) -> None:
    outside: asyncio.Queue[ObjectKey] = asyncio.Queue()
    looked: list[tuple[str, str]] = []

    async def opened() -> AsyncIterator[ObjectKey]:
        while True:
            yield await outside.get()

    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        looked.append((obj.name, ctx.reasons[0].event))
        return sm.Done()

    controller = sm.Controller(Widget, reconcile=reconcile, sources=(sm.Keys(opened), sm.Every(60)))
    async with operating(scene, controller):
        await scene.settle()
        looked.clear()
        outside.put_nowait(ObjectKey(HERE, "two"))
        await scene.settle()
        assert looked == [("two", "stream")]

        await scene.until(lambda: len(looked) == 3, seconds=10.0)

    assert sorted(looked[1:]) == [("one", "timer"), ("two", "timer")]


async def test_no_state_about_a_deleted_object_is_stored(scene: Scene) -> None:
    async def reconcile(obj: Widget, ctx: sm.Context) -> sm.Outcome:
        if obj.name.startswith("bad"):
            raise Permanent("never")
        await make_config_map(obj, ctx)
        # Deletion events have arrived for half of the objects.
        if obj.name.endswith(("0", "2", "4", "6", "8")):
            return sm.Done(status=WidgetStatus(ready=1))
        return sm.Later(status=WidgetStatus(ready=0))

    managers = frozenset(("widget.toys.example.com",))
    caches = scene.caches(settings=InformerSettings(kept_managers=managers))
    async with (
        caches.running(),
        synced_controller(
            owning(reconcile),
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
        for number in range(20):
            await scene.server.create(widget(HERE, f"bad-{number}"))
            await scene.server.create(widget(HERE, f"good-{number}"))
        await scene.settle()
        assert loop.entry_count > 50
        for kind in (Widget, ConfigMap):
            for each in (await scene.server.list(kind, namespace=HERE)).items:
                await scene.server.delete(kind, each.name, namespace=HERE)
        await scene.settle()
        assert loop.entry_count == 0
        running.cancel()
