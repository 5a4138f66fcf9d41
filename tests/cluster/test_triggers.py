"""Event handlers on the embedded server: which keys a change of an object enqueues."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any

from steersman.cache import background_tasks
from steersman.client import MergePatch
from steersman.controller import CacheReader, Controller, Watch, changed
from steersman.controller.loop.hot_loop import HotLoopFound, HotLoops
from steersman.controller.pause import PAUSED
from steersman.controller.triggers.event_handlers import EventHandlers
from steersman.controller.triggers.reasons import Reasons
from steersman.controller.writer.reports import EffectiveWrite
from steersman.kinds import core_v1, meta_v1
from steersman.names import ObjectKey
from steersman.observe import ReconcileReason, TriggerFailed
from steersman.workqueue import LOW_PRIORITY
from tests.cluster.informer_setup import HERE, Scene
from tests.real.definitions import GROUP, Widget, widget
from tests.real.objects import config_map

ONE = ObjectKey(HERE, "one")
TWO = ObjectKey(HERE, "two")
ConfigMap = core_v1.ConfigMap


async def reconcile(obj: Any, ctx: Any) -> Any: ...


class HandlerScene:
    """A controller of Widgets that only records the enqueued keys."""

    def __init__(self, scene: Scene, **declared: Any) -> None:
        self.scene = scene
        self.controller = Controller(Widget, reconcile=reconcile, **declared)
        self.informers = {kind: scene.informer(kind) for kind in self.controller.cached_kinds}
        self.woken: list[tuple[ObjectKey, str, str]] = []
        self.priorities: list[int] = []
        self.reasons = Reasons()
        self.recorded: list[str] = []
        listers = {kind: informer.lister for kind, informer in self.informers.items()}
        self.triggers = EventHandlers(
            self.controller,
            cached=CacheReader("widget", listers),
            enqueue=self.enqueue,
            clock=scene.clock,
            rng=Random(0),
            observe=scene.observed.append,
            recorder=self,
        )

    def enqueue(self, key: ObjectKey, why: ReconcileReason, priority: int) -> None:
        self.woken.append((key, why.event, str(why.about)))
        self.priorities.append(priority)
        self.reasons.note(key, why, self.scene.clock.monotonic())

    def record(self, obj: Any, reason: str, note: str, *, type: str) -> None:
        self.recorded.append(f"{obj.ref}: {type} {reason}: {note}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch inside the block, which starts after the initial list."""
        async with AsyncExitStack() as stack:
            for informer in self.informers.values():
                await stack.enter_async_context(informer.running())
            start = await stack.enter_async_context(background_tasks())
            start(self.triggers.retry_mappings(), name="retrying")
            self.informers[Widget].add_handler(self.triggers.own)
            for owns in self.controller.owned:
                self.informers[owns.kind].add_handler(self.triggers.owned(owns))
            for watch in self.controller.watches:
                self.informers[watch.kind].add_handler(self.triggers.watched(watch))
            await self.scene.settle()
            yield

    async def enqueued(self) -> list[tuple[ObjectKey, str, str]]:
        """The keys enqueued since the last call."""
        await self.scene.settle()
        woken, self.woken = self.woken, []
        return woken


async def child_of(scene: Scene, owner: str) -> core_v1.ConfigMap:
    """A ConfigMap that a Widget controls."""
    found = await scene.server.get(Widget, owner, namespace=HERE)
    reference = meta_v1.OwnerReference(
        api_version=f"{GROUP}/v1", kind="Widget", name=owner, uid=found.uid, controller=True
    )
    metadata = meta_v1.ObjectMeta(
        name=f"{owner}-child", namespace=HERE, owner_references=(reference,)
    )
    return await scene.server.create(ConfigMap(metadata=metadata))


async def patch_widget(scene: Scene, name: str, **patch: Any) -> Widget:
    return await scene.server.patch(Widget, name, MergePatch(patch), namespace=HERE)


async def patch_status(scene: Scene, **status: Any) -> Widget:
    patch = MergePatch({"status": status})
    return await scene.server.status(Widget, "one", namespace=HERE).patch(patch)


async def test_initial_objects_are_queued_behind_later_changes(scene: Scene) -> None:
    handlers = HandlerScene(scene)

    async with handlers.running():
        initial = await handlers.enqueued()
        await scene.server.create(widget(HERE, "new"))
        await scene.paint("one", "red")
        await scene.settle()

    assert initial == [(ONE, "initial", "Widget here/one"), (TWO, "initial", "Widget here/two")]
    assert [event for _, event, _ in handlers.woken] == ["added", "updated"]
    assert handlers.priorities == [LOW_PRIORITY, LOW_PRIORITY, 0, 0]
    assert handlers.reasons.take(ONE).reasons[-1].changed_fields == ("spec.color",)


async def test_a_generation_predicate_drops_status_and_label_changes(scene: Scene) -> None:
    handlers = HandlerScene(scene, when=changed.generation)

    async with handlers.running():
        await handlers.enqueued()
        await patch_status(scene, ready=1)
        await patch_widget(scene, "one", metadata={"labels": {"a": "b"}})
        ignored = await handlers.enqueued()
        await scene.paint("one", "red")
        painted = await handlers.enqueued()

    assert ignored == []
    assert painted == [(ONE, "updated", "Widget here/one")]


async def test_pause_and_deletion_pass_every_predicate(scene: Scene) -> None:
    handlers = HandlerScene(scene, when=lambda old, new: False)
    await patch_widget(scene, "one", metadata={"finalizers": [f"{GROUP}/hold"]})

    async with handlers.running():
        initial = await handlers.enqueued()
        await patch_widget(scene, "one", metadata={"annotations": {PAUSED: "true"}})
        paused = await handlers.enqueued()
        await patch_widget(scene, "one", metadata={"annotations": {PAUSED: None}})
        resumed = await handlers.enqueued()
        await scene.server.delete(Widget, "one", namespace=HERE)
        asked = await handlers.enqueued()
        await patch_widget(scene, "one", metadata={"finalizers": None})
        gone = await handlers.enqueued()

    assert initial == []
    assert paused == resumed == asked == [(ONE, "updated", "Widget here/one")]
    assert gone == [(ONE, "deleted", "Widget here/one")]


async def test_a_created_changed_or_deleted_child_enqueues_its_owner(scene: Scene) -> None:
    handlers = HandlerScene(scene, owns=(ConfigMap,))

    async with handlers.running():
        await handlers.enqueued()
        await child_of(scene, "one")
        await scene.patch("one-child", text="x")
        await scene.patch("two", text="x")
        await scene.delete("one-child")
        woken = await handlers.enqueued()

    about = "ConfigMap here/one-child"
    assert woken == [(ONE, "added", about), (ONE, "updated", about), (ONE, "deleted", about)]


async def test_a_child_deleted_during_a_gap_enqueues_its_owner(scene: Scene) -> None:
    handlers = HandlerScene(scene, owns=(ConfigMap,))
    await child_of(scene, "one")

    async with handlers.running():
        await handlers.enqueued()
        scene.transport.pause()
        scene.transport.cut()
        await scene.delete("one-child")
        scene.transport.resume()
        await scene.until(lambda: handlers.woken, seconds=1)

    assert handlers.woken == [(ONE, "deleted", "ConfigMap here/one-child")]


async def test_a_watched_object_enqueues_the_objects_that_use_it(scene: Scene) -> None:
    def users(config: core_v1.ConfigMap, cached: CacheReader) -> Iterable[Widget]:
        return [each for each in cached.list(Widget) if each.spec.color == config.name]

    handlers = HandlerScene(scene, watches=(Watch(ConfigMap, to=users),))
    await scene.paint("two", "one")

    async with handlers.running():
        await handlers.enqueued()
        await scene.patch("one", text="x")
        await scene.patch("two", text="x")
        woken = await handlers.enqueued()

    assert woken == [(TWO, "updated", "ConfigMap here/one")]


async def test_a_failed_mapping_is_retried_without_another_change(
    scene: Scene,
) -> None:
    def users(config: core_v1.ConfigMap, cached: CacheReader) -> Iterable[ObjectKey]:
        if config.name != "late":
            return []
        # Raises until the Widget exists.
        found = cached.get(Widget, "new", namespace=HERE)
        assert found is not None, "no Widget new"
        return [ObjectKey(HERE, found.name)]

    handlers = HandlerScene(
        scene, watches=(Watch(ConfigMap, to=users),), when=lambda old, new: False
    )

    async with handlers.running():
        await scene.server.create(config_map(HERE, "late"))
        await scene.until(lambda: len(scene.seen(TriggerFailed)) > 3, seconds=1)
        none_enqueued = await handlers.enqueued()
        await scene.server.create(widget(HERE, "new"))
        await scene.until(lambda: handlers.woken, seconds=1)

    assert none_enqueued == []
    assert handlers.woken == [(ObjectKey(HERE, "new"), "mapped", "ConfigMap here/late")]
    assert handlers.triggers.num_failing == 0
    failed = scene.seen(TriggerFailed)[0]
    assert (failed.role, failed.controller) == ("mapping", "widget")
    assert handlers.recorded[0].startswith("ConfigMap here/late: Warning MappingFailed: ")


class Writer:
    """Writes the status of each enqueued Widget, and records hot loops."""

    def __init__(self, handlers: HandlerScene) -> None:
        self.handlers = handlers
        self.loops = HotLoops()
        self.found: list[HotLoopFound] = []

    async def reconcile(self, *, status: int) -> None:
        scene = self.handlers.scene
        reasons = self.handlers.reasons.take(ONE).reasons
        assert reasons
        response = await patch_status(scene, ready=status)
        wrote = EffectiveWrite(
            response.ref, response.resource_version, b'{"status":{"ready":%d}}' % status
        )
        found = self.loops.note(ONE, reasons=reasons, wrote=[wrote], now_at=scene.clock.monotonic())
        if found is not None:
            self.found.append(found)
        await scene.settle()


async def test_an_object_woken_by_its_own_status_is_reported_as_a_hot_loop(scene: Scene) -> None:
    handlers = HandlerScene(scene)
    writer = Writer(handlers)

    async with handlers.running():
        for number in range(11):
            await writer.reconcile(status=number)

    assert writer.found == [HotLoopFound(("status.ready",), 10, 0.0)]


async def test_a_status_that_follows_a_child_is_not_a_hot_loop(scene: Scene) -> None:
    handlers = HandlerScene(scene, owns=(ConfigMap,))
    writer = Writer(handlers)
    await child_of(scene, "one")

    async with handlers.running():
        for number in range(50):
            await scene.patch("one-child", step=str(number))
            await scene.settle()
            await writer.reconcile(status=number)

    assert writer.found == []
