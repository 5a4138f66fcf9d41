"""Informers on the embedded server: their objects, their handlers, and the faults they survive."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from steersman.cache import (
    Added,
    Deleted,
    Delta,
    InformerSettings,
    Scope,
    Updated,
    by_label,
)
from steersman.client import Fields, Labels, MergePatch
from steersman.errors import (
    BadName,
    BadValue,
    CacheMutated,
    NotInScope,
    NotSynced,
    NotWatched,
    Unreachable,
)
from steersman.kinds import Unstructured, core_v1, replace
from steersman.kinds.meta_v1 import ObjectMeta
from steersman.observe import (
    CacheEnded,
    CacheStale,
    HandlerFailed,
    IndexFailed,
    ObjectNotDecoded,
    WatchSilent,
    WatchStarted,
)
from tests.cluster.informer_setup import (
    HERE,
    THERE,
    Color,
    Colored,
    ConfigMap,
    RecordingHandler,
    Scene,
    names,
    outcome,
)
from tests.embedded import turns
from tests.real.definitions import AnyWidget, Octopus, Widget
from tests.real.objects import AnyConfigMap, create_config_maps
from tests.unit.cache.sample_objects import by_key

# Promises


async def test_the_store_is_updated_before_handlers_are_called(scene: Scene) -> None:
    informer = scene.informer()
    seen: list[str | None] = []

    def look(delta: Delta[Any]) -> None:
        found = informer.lister.get(delta.key.name, namespace=HERE)
        seen.append(None if found is None else found.resource_version)

    informer.add_handler(look)
    async with informer.running():
        patched = await scene.patch("one", color="red")
        await scene.until(lambda: seen and seen[-1] == patched.resource_version)
        await scene.delete("one")
        await scene.until(lambda: seen[-1] is None)


async def test_no_object_is_lost_and_no_deleted_object_stays(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    informer.add_handler(handler)
    async with informer.running():
        await scene.settle()
        async with scene.gap():
            await scene.delete("one")
            await create_config_maps(scene.server, HERE, "three")

        await scene.until(lambda: names(informer) == ["three", "two"], seconds=1)

        await scene.until(lambda: len(handler.deltas) == 4)
        assert handler.scenario[2:] == [("Deleted", "one"), ("Added", "three")]
        missed = handler.deltas[2]
        assert isinstance(missed, Deleted)
        assert missed.is_missed


async def test_an_object_recreated_during_a_gap_is_in_the_cache(scene: Scene) -> None:
    informer = scene.informer()
    async with informer.running():
        await scene.settle()
        before = informer.lister.get("one", namespace=HERE)
        async with scene.gap():
            await scene.delete("one")
            await create_config_maps(scene.server, HERE, "one")

        def is_new() -> bool:
            now = informer.lister.get("one", namespace=HERE)
            return before is not None and now is not None and now.uid != before.uid

        await scene.until(is_new, seconds=1)
        assert names(informer) == ["one", "two"]


async def test_reads_never_go_back_in_time(scene: Scene) -> None:
    caches = scene.caches()
    scope = Scope(namespaces=(HERE,))
    async with caches.running(), caches.informer(ConfigMap, scope=scope) as informer:
        await scene.settle()
        scene.transport.pause()
        await scene.patch("one", color="red")
        mine = MergePatch({"data": {"color": "blue"}})
        response = await caches.record_write(
            scene.client.patch(ConfigMap, "one", mine, namespace=HERE)
        )

        scene.transport.resume()
        for _ in range(50):
            found = informer.lister.get("one", namespace=HERE)
            assert found is not None
            assert found.resource_version == response.resource_version
            await turns()


async def test_a_slow_or_failing_handler_delays_no_other_handler(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    release = asyncio.Event()

    async def slow(delta: Delta[Any]) -> None:
        await release.wait()

    def failing(delta: Delta[Any]) -> None:
        raise ValueError("not today")

    sluggard = informer.add_handler(slow, name="slow")
    informer.add_handler(failing, name="failing")
    informer.add_handler(handler)
    async with informer.running():
        await scene.until(lambda: len(handler.deltas) == 2)

        assert len(sluggard) == 2
        assert not sluggard.has_synced
        failures = scene.seen(HandlerFailed)
        assert [(each.handler, each.ref.name) for each in failures] == [
            ("failing", "one"),
            ("failing", "two"),
        ]

        release.set()
        await scene.until(lambda: sluggard.has_synced)


async def test_handlers_get_existing_objects_first_and_each_objects_changes_in_order(
    scene: Scene,
) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    async with informer.running():
        await scene.patch("one", color="red")
        informer.add_handler(handler)
        await scene.patch("one", color="blue")
        await scene.delete("one")
        await create_config_maps(scene.server, HERE, "one")
        await scene.until(lambda: len(handler.deltas) >= 5)

    mine = [delta for delta in handler.deltas if delta.key.name == "one"]
    assert [type(delta) for delta in mine] in (
        [Added, Updated, Deleted, Added],
        [Added, Updated, Updated, Deleted, Added],
    )
    versions = [int(delta.obj.resource_version) for delta in mine]
    assert versions == sorted(versions)
    for before, after in pairwise(mine):
        if isinstance(after, Updated):
            assert after.old is before.obj
    assert all(delta.is_initial for delta in handler.deltas[:2] if isinstance(delta, Added))


async def test_one_informer_for_each_kind_and_scope_however_many_use_it(scene: Scene) -> None:
    caches = scene.caches()
    here = Scope(namespaces=(HERE,))
    async with (
        caches.running(),
        caches.informer(ConfigMap, scope=here) as first,
        caches.informer(ConfigMap, scope=Scope(namespaces=(HERE, HERE))) as second,
        caches.informer(ConfigMap) as wider,
        caches.informer(Unstructured.of("v1", "ConfigMap"), scope=here) as loose,
        caches.informer(Unstructured.of("v1", "ConfigMap"), scope=here) as looser,
    ):
        assert first is second
        assert loose is looser
        assert wider is not first
        assert len(caches) == 3


async def test_two_users_may_request_the_same_index(scene: Scene) -> None:
    caches = scene.caches()
    async with (
        caches.running(),
        caches.informer(ConfigMap, indexes={"app": by_label("app")}) as first,
        caches.informer(ConfigMap, indexes={"app": by_label("app")}) as second,
    ):
        assert first is second


async def test_an_informer_without_users_is_stopped(scene: Scene) -> None:
    caches = scene.caches()
    async with caches.running():
        before = len(asyncio.all_tasks())
        async with caches.informer(ConfigMap):
            async with caches.informer(ConfigMap):
                pass
            assert len(caches) == 1

        await scene.settle()
        assert len(caches) == 0
        assert len(scene.seen(CacheEnded)) == 1
        assert len(asyncio.all_tasks()) == before


async def test_caches_report_which_informers_are_synced(scene: Scene) -> None:
    caches = scene.caches(settings=InformerSettings(stale_seconds=60))
    async with caches.running(), caches.informer(ConfigMap) as informer:
        assert caches.informers == (informer,)
        assert all(each.has_synced for each in caches.informers)

        scene.transport.fixed_response = Unreachable("gone for a while")
        scene.transport.cut()
        await scene.until(lambda: not all(each.has_synced for each in caches.informers), seconds=1)
    assert len(caches.informers) == 0


async def test_a_cache_that_cannot_watch_no_longer_counts_as_synced(scene: Scene) -> None:
    informer = scene.informer(settings=InformerSettings(stale_seconds=60))
    async with informer.running():
        await scene.settle()
        scene.transport.fixed_response = Unreachable("gone for a while")
        scene.transport.cut()
        await scene.until(lambda: not informer.has_synced, seconds=1)
        await scene.until(lambda: scene.seen(CacheStale), seconds=1)

        assert names(informer) == ["one", "two"]
        assert len(scene.seen(CacheStale)) == 1

        scene.transport.fixed_response = None
        await scene.until(lambda: informer.has_synced, seconds=1)
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(informer.synced())
            await scene.until(waiting.done)


async def test_an_object_that_cannot_be_decoded_is_set_aside_and_the_others_continue(
    scene: Scene,
) -> None:
    informer, handler = scene.informer(Colored), RecordingHandler()
    informer.add_handler(handler)
    await scene.paint("one", "puce")
    async with informer.running():
        assert names(informer) == ["two"]
        assert [key.name for key in informer.decode_failures] == ["one"]

        await scene.paint("two", "puce")
        await scene.until(lambda: len(informer.decode_failures) == 2)
        assert [each.ref.name for each in scene.seen(ObjectNotDecoded)] == ["one", "two"]
        assert names(informer) == ["two"]  # the last version that could be decoded

        await scene.paint("one", "red")
        await scene.paint("two", "blue")
        await scene.until(lambda: not informer.decode_failures)
        await scene.until(lambda: len(handler.deltas) == 3)
        assert sorted(obj.spec.color for obj in informer.lister.list()) == ["blue", "red"]
        assert handler.scenario == [("Added", "two"), ("Added", "one"), ("Updated", "two")]


# Reading


async def test_reading_before_the_first_list_is_an_error(scene: Scene) -> None:
    informer = scene.informer()

    with pytest.raises(NotSynced, match="is not complete"):
        informer.lister.list()
    with pytest.raises(NotSynced):
        informer.lister.get("one", namespace=HERE)
    with pytest.raises(NotSynced):
        informer.lister.by_index("namespace", HERE)


async def test_reading_outside_the_scope_is_an_error(scene: Scene) -> None:
    informer = scene.informer()
    async with informer.running():
        with pytest.raises(NotInScope, match="of namespace there"):
            informer.lister.get("one", namespace=THERE)
        with pytest.raises(NotInScope):
            informer.lister.list(namespace=THERE)


async def test_reading_a_namespaced_object_without_a_namespace_is_an_error(scene: Scene) -> None:
    async with (everywhere := scene.informer(scope=Scope())).running():
        with pytest.raises(BadName, match="pass a namespace"):
            everywhere.lister.get("one")


async def test_a_scope_with_namespaces_for_a_cluster_scoped_kind_is_an_error(
    scene: Scene,
) -> None:
    with pytest.raises(BadValue, match="the kind is cluster-scoped"):
        scene.informer(Octopus, scope=Scope(namespaces=(HERE,)))


async def test_a_cluster_scoped_kind_can_be_cached(scene: Scene) -> None:
    caches = scene.caches()
    async with caches.running(), caches.informer(core_v1.Namespace) as informer:
        new = core_v1.Namespace(metadata=ObjectMeta(name="new"))
        made = await caches.record_write(scene.client.create(new))

        assert informer.lister.get("new") is not None
        assert informer.lister.get("new") == replace(
            made, metadata=replace(made.metadata, managed_fields=None)
        )
        with pytest.raises(BadName, match="this kind is cluster-scoped"):
            informer.lister.get("new", namespace=HERE)

        deletion = await caches.record_write(scene.client.delete(core_v1.Namespace, "new"))
        assert (informer.lister.get("new") is None) == deletion.is_gone


async def test_several_namespaces_are_watched_separately(scene: Scene) -> None:
    await scene.api.asked("POST", "/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
    await create_config_maps(scene.server, THERE, "three")
    await create_config_maps(scene.server, "elsewhere", "four")
    informer = scene.informer(scope=Scope(namespaces=(THERE, HERE)))

    async with informer.running():
        assert names(informer) == ["one", "three", "two"]
        assert [obj.name for obj in informer.lister.list(namespace=THERE)] == ["three"]
        assert {request.path for request in scene.transport.requests} == {
            f"/api/v1/namespaces/{namespace}/configmaps" for namespace in (HERE, THERE)
        }


async def test_a_handler_added_between_two_initial_lists_receives_both(scene: Scene) -> None:
    await create_config_maps(scene.server, THERE, "three")
    informer, handler = scene.informer(scope=Scope(namespaces=(THERE, HERE))), RecordingHandler()
    late = informer._children[THERE]
    early = informer._children[HERE]
    listing = await scene.server.list(ConfigMap, namespace=HERE)
    early.replace(by_key(listing.items), (), listing.resource_version, rewound=False)

    registration = informer.add_handler(handler)
    assert not registration.has_synced
    assert early.has_listed
    assert not late.has_listed

    async with informer.running():
        await scene.until(lambda: registration.has_synced)
        assert sorted(name for _, name in handler.scenario) == ["one", "three", "two"]


async def test_a_list_can_be_narrowed_by_labels(scene: Scene) -> None:
    await scene.server.patch(
        ConfigMap, "one", MergePatch({"metadata": {"labels": {"app": "web"}}}), namespace=HERE
    )
    informer = scene.informer(indexes={"app": by_label("app")})
    async with informer.running():
        lister = informer.lister
        assert [obj.name for obj in lister.list(labels=Labels.equal({"app": "web"}))] == ["one"]
        assert [obj.name for obj in lister.list(labels=Labels.lacks("app"))] == ["two"]
        assert [obj.name for obj in lister.by_index("app", "web")] == ["one"]


async def test_label_and_field_selectors_limit_a_cache(scene: Scene) -> None:
    await scene.server.patch(
        ConfigMap, "one", MergePatch({"metadata": {"labels": {"app": "web"}}}), namespace=HERE
    )
    labelled = scene.informer(scope=Scope(labels=Labels.has("app")))
    named = scene.informer(
        scope=Scope(namespaces=(HERE,), fields=Fields((("metadata.name", "=", "two"),)))
    )
    async with labelled.running(), named.running():
        assert names(labelled) == ["one"]
        assert names(named) == ["two"]


async def test_an_index_function_that_raises_is_reported_and_the_object_is_cached(
    scene: Scene,
) -> None:
    def by_color(obj: core_v1.ConfigMap) -> list[str]:
        return [(obj.data or {})["color"]]

    informer = scene.informer(indexes={"color": by_color})
    async with informer.running():
        assert names(informer) == ["one", "two"]
        assert {each.ref.name for each in scene.seen(IndexFailed)} == {"one", "two"}

        await scene.patch("one", color="red")
        await scene.until(lambda: informer.lister.by_index("color", "red"))


# Cached fields


async def test_managed_fields_are_dropped_by_default(scene: Scene) -> None:
    bare = scene.informer(Widget)
    whole = scene.informer(Widget, settings=InformerSettings(keep_managed_fields=True))
    loose = scene.informer(AnyWidget)
    async with bare.running(), whole.running(), loose.running():
        for _ in range(2):
            assert all(obj.metadata.managed_fields is None for obj in bare.lister.list())
            assert all(obj.metadata.managed_fields for obj in whole.lister.list())
            assert all("managedFields" not in obj.metadata for obj in loose.lister.list())
            await scene.paint("one", "red")
            await scene.settle()


async def test_a_class_with_fewer_fields_keeps_only_those(scene: Scene) -> None:
    await scene.paint("one", "red")
    informer = scene.informer(Colored)
    async with informer.running():
        found: Any = informer.lister.get("one", namespace=HERE)

    assert found.spec == Color(color="red")


async def test_a_transform_that_raises_or_changes_the_name_sets_the_object_aside(
    scene: Scene,
) -> None:
    def transform(obj: core_v1.ConfigMap) -> core_v1.ConfigMap:
        match (obj.data or {}).get("mood"):
            case "angry":
                raise ValueError("no")
            case "shy":
                return replace(obj, metadata=replace(obj.metadata, name="another"))
            case "lost":
                return None  # type: ignore[return-value]
            case _:
                return replace(obj, data={"seen": "yes"})

    await scene.patch("one", mood="angry")
    informer = scene.informer(transform=transform)
    async with informer.running():
        assert [obj.data for obj in informer.lister.list()] == [{"seen": "yes"}]
        for mood in ("shy", "lost"):
            await scene.patch("one", mood=mood)
            await scene.settle()
            assert len(informer.decode_failures) == 1

        await scene.patch("one", mood=None)
        await scene.until(lambda: not informer.decode_failures)
        assert names(informer) == ["one", "two"]


async def test_a_mutation_of_a_cached_object_is_detected(scene: Scene) -> None:
    informer = scene.informer(AnyConfigMap, settings=InformerSettings(detect_mutations=True))

    async def change_one() -> None:
        async with informer.running():
            found: Any = informer.lister.get("one", namespace=HERE)
            found.body["data"] = {"color": "red"}

    with pytest.raises(CacheMutated, match="ConfigMap here/one at data"):
        await change_one()


# Lifecycle


async def test_a_user_that_is_cancelled_while_it_waits_leaves_no_informer(scene: Scene) -> None:
    caches = scene.caches()
    scene.transport.fixed_response = Unreachable("gone for a while")

    async def use() -> None:
        async with caches.informer(ConfigMap):
            raise AssertionError("it was never synced")

    async with caches.running(), asyncio.TaskGroup() as group:
        before = len(asyncio.all_tasks())
        user = group.create_task(use())
        await scene.settle()
        assert len(caches) == 1
        user.cancel()
        await scene.settle()

        assert len(caches) == 0
        assert len(asyncio.all_tasks()) == before


async def test_waiting_for_an_informer_fails_when_the_caches_stop(scene: Scene) -> None:
    caches = scene.caches()
    scene.transport.fixed_response = Unreachable("gone for a while")

    async def use() -> None:
        async with caches.informer(ConfigMap):
            raise AssertionError("it was never synced")

    async with asyncio.TaskGroup() as group:
        async with caches.running():
            user = group.create_task(outcome(use()))
            await scene.settle()
        assert isinstance(await user, NotWatched)


async def test_requesting_an_informer_fails_when_the_caches_stop(scene: Scene) -> None:
    caches = scene.caches()

    async def use() -> None:
        async with caches.informer(ConfigMap):
            raise AssertionError("it was never synced")

    async with asyncio.TaskGroup() as group:
        async with caches.running():
            # It requests the informer, and its task is cancelled in the same iteration of the loop.
            user = group.create_task(outcome(use()))
            await scene.clock.sleep(0)
        assert isinstance(await user, NotWatched)


async def test_stopped_caches_can_start_again(scene: Scene) -> None:
    caches = scene.caches()
    for _ in range(2):
        async with caches.running(), caches.informer(ConfigMap) as informer:
            assert "one" in names(informer)
    with pytest.raises(NotWatched, match="are not running"):
        async with caches.informer(ConfigMap):
            pass


async def test_a_stopped_informer_can_start_again(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    informer.add_handler(handler)
    async with informer.running():
        await scene.settle()
    await scene.delete("one")
    assert not informer.has_synced
    assert names(informer) == ["one", "two"]

    async with informer.running():
        assert names(informer) == ["two"]
        await scene.settle()

    assert handler.scenario == [("Added", "one"), ("Added", "two"), ("Deleted", "one")]


async def test_a_handler_added_during_a_restart_receives_existing_objects(
    scene: Scene,
) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    async with informer.running():
        await scene.settle()
    await create_config_maps(scene.server, HERE, "three")

    scene.transport.fixed_response = Unreachable("for a moment")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(informer.run())
        await scene.settle()
        informer.add_handler(handler)
        scene.transport.fixed_response = None
        await scene.until(lambda: informer.has_synced, seconds=1)
        await scene.settle()
        running.cancel()

    assert sorted(handler.scenario) == [("Added", "one"), ("Added", "three"), ("Added", "two")]


async def test_a_clock_that_jumps_costs_one_new_watch_and_nothing_else(scene: Scene) -> None:
    informer, handler = scene.informer(), RecordingHandler()
    informer.add_handler(handler, resync_seconds=600)
    async with informer.running():
        await scene.settle()
        scene.clock.advance(86_400)
        await scene.settle()
        await scene.until(lambda: informer.has_synced and len(handler.deltas) == 4, seconds=1)
        await scene.patch("one", color="red")
        await scene.until(lambda: len(handler.deltas) == 5, seconds=1)

    assert len(scene.seen(WatchSilent)) == 1
    assert len(scene.seen(WatchStarted)) == 2
    assert scene.seen(CacheStale) == []
    assert sorted(handler.scenario[2:4]) == [("Sync", "one"), ("Sync", "two")]


async def test_an_exception_of_the_block_is_raised_unchanged(scene: Scene) -> None:
    caches = scene.caches()
    with pytest.raises(ZeroDivisionError):
        async with caches.running(), caches.informer(ConfigMap):
            _ = 1 / 0
    with pytest.raises(ZeroDivisionError):
        async with scene.informer().running():
            _ = 1 / 0
