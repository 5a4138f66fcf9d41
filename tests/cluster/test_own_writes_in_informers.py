"""Own writes in the caches of informers, on the embedded server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from steersman.cache import (
    CacheOptions,
    Caches,
    Informer,
    Scope,
)
from steersman.client import Labels, MergePatch
from steersman.errors import (
    InvalidObject,
    Unreachable,
)
from steersman.kinds import Codec, Unstructured, core_v1, replace
from steersman.kinds.meta_v1 import ObjectMeta
from tests.cluster.informer_setup import (
    HERE,
    Colored,
    ConfigMap,
    Scene,
    WidgetMetadata,
    names,
)
from tests.embedded import turns
from tests.real.definitions import GROUP, AnyWidget, Widget, widget
from tests.real.objects import AnyConfigMap, config_map

Following = AbstractAsyncContextManager[tuple[Caches, Informer[Any]]]


def following(scene: Scene, kind: type[Any] = ConfigMap, **rest: Any) -> Following:
    """An informer that receives no further events."""

    @asynccontextmanager
    async def both() -> AsyncIterator[tuple[Caches, Informer[Any]]]:
        caches = scene.caches(**rest)
        async with caches.running(), caches.informer(kind, scope=Scope(namespaces=(HERE,))) as it:
            await scene.settle()
            scene.transport.pause()
            yield caches, it
            scene.transport.resume()
            await scene.settle()
            assert [len(part.writes) for part in it._children.values()] == [0]

    return both()


RED = MergePatch({"spec": {"color": "red"}})


@pytest.mark.parametrize("kind", [Widget, AnyWidget, WidgetMetadata])
async def test_a_transform_does_not_change_the_response_for_the_caller(
    scene: Scene, kind: type[Any]
) -> None:
    async with following(scene, kind) as (caches, informer):
        response = await caches.record_write(scene.client.patch(kind, "one", RED, namespace=HERE))
        found: Any = informer.lister.get("one", namespace=HERE)

        assert found.resource_version == response.resource_version
        assert b"managedFields" in Codec().encode(response)
        assert b"managedFields" not in Codec().encode(found)


async def test_a_deep_transform_does_not_change_the_response_for_the_caller(scene: Scene) -> None:
    def transform(obj: Unstructured) -> Unstructured:
        body: Any = obj.body
        body["spec"].clear()
        return obj

    caching = {"options": (CacheOptions(AnyWidget, transform=transform),)}
    async with following(scene, AnyWidget, **caching) as (caches, informer):
        response = await caches.record_write(
            scene.client.patch(AnyWidget, "one", RED, namespace=HERE)
        )
        found: Any = informer.lister.get("one", namespace=HERE)

        assert found.get("spec") == {}
        assert response.get("spec", "color") == "red"


async def test_transforms_apply_to_every_class_of_unstructured_of(scene: Scene) -> None:
    def transform(obj: Unstructured) -> Unstructured:
        return obj.changed("data", to={"seen": "yes"})

    options = CacheOptions(Unstructured.of("v1", "ConfigMap"), transform=transform)
    caches = scene.caches(options=(options,))
    async with caches.running(), caches.informer(AnyConfigMap) as informer:
        found: Any = informer.lister.get("one", namespace=HERE)
        assert found.get("data") == {"seen": "yes"}


@pytest.mark.parametrize(
    ("writing", "reading"),
    [
        (Widget, Colored),
        (AnyWidget, Widget),
        (AnyWidget, Colored),
        (Widget, WidgetMetadata),
        (AnyWidget, WidgetMetadata),
        (Colored, WidgetMetadata),
        (Unstructured.of(f"{GROUP}/v1", "Widget"), AnyWidget),
    ],
)
async def test_a_response_of_another_class_is_cached_if_it_has_all_fields(
    scene: Scene, writing: type[Any], reading: type[Any]
) -> None:
    async with following(scene, reading) as (caches, informer):
        response = await caches.record_write(
            scene.client.patch(writing, "one", RED, namespace=HERE)
        )

        found: Any = informer.lister.get("one", namespace=HERE)
        assert type(found) is reading
        assert found.resource_version == response.resource_version
        assert found.ref == response.ref


@pytest.mark.parametrize(
    ("writing", "reading"),
    [
        (Colored, Widget),
        (Widget, AnyWidget),
        (WidgetMetadata, Widget),
        (WidgetMetadata, AnyWidget),
    ],
)
async def test_a_response_that_lacks_fields_is_cached_when_its_event_arrives(
    scene: Scene, writing: type[Any], reading: type[Any]
) -> None:
    async with following(scene, reading) as (caches, informer):
        before = informer.lister.get("one", namespace=HERE)
        await caches.record_write(scene.client.patch(writing, "one", RED, namespace=HERE))
        assert informer.lister.get("one", namespace=HERE) is before

        # A deletion identifies its object, whatever the class is.
        await caches.record_write(scene.client.delete(writing, "one", namespace=HERE))
        assert informer.lister.get("one", namespace=HERE) is None


async def test_a_response_that_the_cache_cannot_decode_is_still_returned(scene: Scene) -> None:
    async with following(scene, Colored) as (caches, informer):
        puce = MergePatch({"spec": {"color": "puce"}})
        response = await caches.record_write(
            scene.client.patch(Widget, "one", puce, namespace=HERE)
        )
        assert response.spec.color == "puce"

        scene.transport.resume()
        await scene.until(lambda: informer.decode_failures)
        assert isinstance(next(iter(informer.decode_failures.values())), InvalidObject)


async def test_an_own_write_stays_cached_when_another_client_makes_it_undecodable(
    scene: Scene,
) -> None:
    async with following(scene, Colored) as (caches, informer):
        response = await caches.record_write(scene.client.patch(Widget, "one", RED, namespace=HERE))
        scene.transport.cut()
        await scene.paint("one", "puce")
        scene.api.server.compactor.compact_all()
        scene.transport.resume()
        await scene.until(lambda: informer.decode_failures, seconds=1)

        found: Any = informer.lister.get("one", namespace=HERE)
        assert found.resource_version == response.resource_version

        await scene.server.delete(Widget, "one", namespace=HERE)
        await scene.until(lambda: names(informer) == ["two"], seconds=1)


async def test_the_record_of_a_deleted_undecodable_object_is_removed(
    scene: Scene,
) -> None:
    await scene.paint("one", "puce")
    async with following(scene, Colored) as (caches, informer):
        assert names(informer) == ["two"]

        await caches.record_write(scene.client.delete(Widget, "one", namespace=HERE))


async def test_an_undecodable_object_in_a_list_does_not_decrease_the_position(
    scene: Scene,
) -> None:
    await scene.paint("one", "puce")
    await scene.patch("one", color="red")
    caches = scene.caches()
    scope = Scope(namespaces=(HERE,))
    async with caches.running(), caches.informer(Colored, scope=scope) as informer:
        (part,) = informer._children.values()
        listed = await scene.server.list(core_v1.Secret)

        assert part.writes.position == listed.resource_version


async def test_a_write_in_flight_while_the_informer_starts_is_cached(scene: Scene) -> None:
    caches = scene.caches()

    async def slow_patch() -> Any:
        response = await scene.server.patch(Widget, "one", RED, namespace=HERE)
        await started.wait()
        return response

    async with caches.running(), asyncio.TaskGroup() as group:
        started = asyncio.Event()
        noted = group.create_task(caches.record_write(slow_patch()))
        await turns()
        async with caches.informer(Widget) as informer:
            started.set()
            response = await noted
            found = informer.lister.get("one", namespace=HERE)
            assert found is not None
            assert found.resource_version == response.resource_version


async def test_a_deleted_pod_is_cached_as_terminating_and_then_removed(
    scene: Scene,
) -> None:
    pod = core_v1.Pod(
        metadata=ObjectMeta(name="web", namespace=HERE),
        spec=core_v1.PodSpec(
            node_name="node", containers=(core_v1.Container(name="web", image="web"),)
        ),
    )
    async with following(scene, core_v1.Pod) as (caches, informer):
        await caches.record_write(scene.client.create(pod))
        await caches.record_write(
            scene.client.delete(core_v1.Pod, "web", namespace=HERE, grace_seconds=20)
        )
        found = informer.lister.get("web", namespace=HERE)
        assert found is not None
        assert found.deletion_time is not None

        await caches.record_write(
            scene.client.delete(core_v1.Pod, "web", namespace=HERE, grace_seconds=0)
        )
        assert informer.lister.get("web", namespace=HERE) is None


async def test_a_write_of_another_kind_does_not_affect_an_informer(scene: Scene) -> None:
    informer = scene.informer()
    async with informer.running():
        response = await informer.record_write(scene.client.create(widget(HERE, "three", size=3)))

        assert response.name == "three"
        assert names(informer) == ["one", "two"]


async def test_a_failed_write_leaves_no_record(scene: Scene) -> None:
    async with following(scene, Widget) as (caches, informer):
        before = informer.lister.list()
        scene.transport.fixed_response = Unreachable("gone for a while")
        with pytest.raises(Unreachable):
            await caches.record_write(scene.client.patch(Widget, "one", RED, namespace=HERE))

        assert informer.lister.list() == before
        assert len(caches._inflight) == 0
        scene.transport.fixed_response = None


async def test_a_label_limited_cache_drops_an_object_that_an_own_write_unlabels(
    scene: Scene,
) -> None:
    caches = scene.caches()
    scope = Scope(labels=Labels.equal({"tier": "front"}))
    new = widget(HERE, "web")
    new = replace(new, metadata=replace(new.metadata, labels={"tier": "front"}))
    async with caches.running(), caches.informer(Widget, scope=scope) as informer:
        await scene.settle()
        scene.transport.pause()
        await caches.record_write(scene.client.create(new))
        assert names(informer) == ["web"]

        back = MergePatch({"metadata": {"labels": {"tier": "back"}}})
        await caches.record_write(scene.client.patch(Widget, "web", back, namespace=HERE))
        assert names(informer) == []


async def test_a_bookmark_removes_the_record_of_a_write_outside_the_selector(scene: Scene) -> None:
    caches = scene.caches()
    scope = Scope(labels=Labels.has("app"))
    async with caches.running(), caches.informer(ConfigMap, scope=scope) as informer:
        await caches.record_write(scene.client.create(config_map(HERE, "web")))
        (part,) = informer._children.values()
        assert len(part.writes) == 1

        await scene.until(lambda: len(part.writes) == 0, seconds=1)
        assert names(informer) == []


async def test_an_event_received_before_the_response_of_a_write_is_kept(scene: Scene) -> None:
    informer = scene.informer()
    async with informer.running():
        (part,) = informer._children.values()
        known: Any = informer.lister.get("one", namespace=HERE)

        async def delete() -> Any:
            deletion = await scene.server.delete(ConfigMap, "one", namespace=HERE)
            later = str(int(known.resource_version) + 1000)
            last = replace(known, metadata=replace(known.metadata, resource_version=later))
            part.delete(last)
            return deletion

        await informer.record_write(delete())

        assert names(informer) == ["two"]
        assert len(part.writes) == 0


async def test_a_label_that_the_transform_removes_still_matches_the_selector(scene: Scene) -> None:
    def transform(obj: core_v1.ConfigMap) -> core_v1.ConfigMap:
        return replace(obj, metadata=replace(obj.metadata, labels=None))

    caches = scene.caches(options=(CacheOptions(ConfigMap, transform=transform),))
    scope = Scope(labels=Labels.has("app"))
    new = config_map(HERE, "web")
    new = replace(new, metadata=replace(new.metadata, labels={"app": "web"}))
    async with caches.running(), caches.informer(ConfigMap, scope=scope) as informer:
        await scene.settle()
        scene.transport.pause()
        await caches.record_write(scene.client.create(new))

        assert names(informer) == ["web"]
        scene.transport.resume()
