"""Informers on the embedded server: what they hold, whom they tell, and what they live with."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import pairwise
from random import Random
from typing import Any, Literal, TypeVar

import pytest

from steersman.apiserver import InProcessTransport
from steersman.cache import (
    Added,
    Caches,
    Deleted,
    Delta,
    Informer,
    InformerSettings,
    Scope,
    Sync,
    Updated,
    by_label,
    on,
)
from steersman.client import Client, ClientSettings, Fields, Labels, MergePatch, RetryPolicy
from steersman.errors import (
    BadName,
    BadValue,
    CacheMutated,
    InvalidObject,
    NotFollowed,
    NotInScope,
    NotSynced,
    Unreachable,
)
from steersman.kinds import Codec, Part, Resource, Unstructured, core_v1, metadata_only, replace
from steersman.kinds.meta_v1 import ObjectMeta
from steersman.observe import (
    CacheStale,
    HandlerFailed,
    HandlerStuck,
    IndexFailed,
    ObjectRefused,
)
from tests.clocks import ManualClock
from tests.cluster.disturbing import DisturbedTransport
from tests.embedded import World, turns
from tests.real.definitions import GROUP, WIDGETS, AnyWidget, Octopus, Widget, install, widget
from tests.real.objects import AnyConfigMap, config_map, create_config_maps

E = TypeVar("E")

ConfigMap = core_v1.ConfigMap
HERE = "here"
THERE = "there"


class Color(Part):
    """All that is wanted of a spec."""

    color: Literal["red", "blue"] | None = None


class Colored(Resource, group=GROUP, version="v1", kind="Widget", plural="widgets"):
    """A Widget of which only one thing is of interest, and has no other value than these."""

    spec: Color = Color()


WidgetMetadata = metadata_only(Widget)


class Scene:
    """A server, a way to it that can be disturbed, and time that the test moves."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.world = World(clock=self.clock)
        self.server = self.world.client()
        self.way = DisturbedTransport(InProcessTransport(self.world.server))
        self.observed: list[Any] = []
        self.client = Client(
            self.way,
            clock=self.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=ClientSettings(retry=RetryPolicy(attempts=1)),
        )

    def informer(self, kind: type[Any] = ConfigMap, **rest: Any) -> Informer[Any]:
        rest.setdefault("scope", Scope(namespaces=() if kind is Octopus else (HERE,)))
        return Informer(self.client, kind, observe=self.observed.append, **rest)

    def caches(self, **rest: Any) -> Caches:
        return Caches(self.client, observe=self.observed.append, **rest)

    def seen(self, kind: type[E]) -> list[E]:
        return [each for each in self.observed if isinstance(each, kind)]

    async def until(self, is_so: Callable[[], object], *, seconds: float = 0.0) -> None:
        """Let everybody have their turns until it is so, and time pass if it takes time."""
        for _ in range(2000):
            if is_so():
                return
            await turns()
            if seconds:
                self.clock.advance(seconds)
        raise AssertionError("it never came to that")

    async def settle(self) -> None:
        """Let all that was written be heard."""
        for _ in range(20):
            await turns()

    async def patch(self, name: str, namespace: str = HERE, **data: str | None) -> Any:
        return await self.server.patch(
            ConfigMap, name, MergePatch({"data": data}), namespace=namespace
        )

    async def paint(self, name: str, color: str) -> Any:
        patch = MergePatch({"spec": {"color": color}})
        return await self.server.patch(Widget, name, patch, namespace=HERE)

    async def delete(self, name: str, namespace: str = HERE) -> None:
        await self.server.delete(ConfigMap, name, namespace=namespace)


@pytest.fixture
async def scene() -> Scene:
    """Two namespaces, of which nothing is in ``there``."""
    scene = Scene()
    for namespace in (HERE, THERE):
        await scene.world.asked("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    await create_config_maps(scene.server, HERE, "one", "two")
    await install(scene.server, WIDGETS)
    for name in ("one", "two"):
        await scene.server.create(widget(HERE, name, size=3))
    return scene


class Told:
    """A handler that remembers what it was told."""

    def __init__(self) -> None:
        self.deltas: list[Delta[Any]] = []

    def __call__(self, delta: Delta[Any]) -> None:
        self.deltas.append(delta)

    @property
    def story(self) -> list[tuple[str, str]]:
        return [(type(delta).__name__, delta.key.name) for delta in self.deltas]


def names(informer: Informer[Any]) -> list[str]:
    return sorted(obj.name for obj in informer.lister.list())


# What is promised


async def test_the_store_is_updated_before_anyone_is_told(scene: Scene) -> None:
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


async def test_no_object_is_lost_and_no_ghost_is_kept(scene: Scene) -> None:
    informer, told = scene.informer(), Told()
    informer.add_handler(told)
    async with informer.running():
        await scene.settle()
        scene.way.answer = Unreachable("gone for a while")
        scene.way.cut()
        await scene.delete("one")
        await create_config_maps(scene.server, HERE, "three")
        scene.world.server.history.forget()
        await scene.settle()
        scene.way.answer = None

        await scene.until(lambda: names(informer) == ["three", "two"], seconds=1)

        await scene.until(lambda: len(told.deltas) == 4)
        assert told.story[2:] == [("Deleted", "one"), ("Added", "three")]
        missed = told.deltas[2]
        assert isinstance(missed, Deleted)
        assert missed.is_missed


async def test_reads_never_go_back_in_time(scene: Scene) -> None:
    caches = scene.caches()
    scope = Scope(namespaces=(HERE,))
    async with caches.running(), caches.following(ConfigMap, scope=scope) as informer:
        await scene.settle()
        scene.way.hold()
        await scene.patch("one", color="red")
        mine = MergePatch({"data": {"color": "blue"}})
        answer = await caches.noting(scene.client.patch(ConfigMap, "one", mine, namespace=HERE))

        scene.way.let_go()
        for _ in range(50):
            found = informer.lister.get("one", namespace=HERE)
            assert found is not None
            assert found.resource_version == answer.resource_version
            await turns()


async def test_a_slow_or_failing_handler_delays_nobody_but_itself(scene: Scene) -> None:
    informer, told = scene.informer(), Told()
    release = asyncio.Event()

    async def slow(delta: Delta[Any]) -> None:
        await release.wait()

    def failing(delta: Delta[Any]) -> None:
        raise ValueError("not today")

    sluggard = informer.add_handler(slow, name="slow")
    informer.add_handler(failing, name="failing")
    informer.add_handler(told)
    async with informer.running():
        await scene.until(lambda: len(told.deltas) == 2)

        assert len(sluggard) == 2
        assert not sluggard.has_synced
        failures = scene.seen(HandlerFailed)
        assert [(each.handler, each.ref.name) for each in failures] == [
            ("failing", "one"),
            ("failing", "two"),
        ]

        release.set()
        await scene.until(lambda: sluggard.has_synced)


async def test_handlers_see_what_is_there_first_and_each_objects_changes_in_order(
    scene: Scene,
) -> None:
    informer, told = scene.informer(), Told()
    async with informer.running():
        await scene.patch("one", color="red")
        informer.add_handler(told)
        await scene.patch("one", color="blue")
        await scene.delete("one")
        await create_config_maps(scene.server, HERE, "one")
        await scene.until(lambda: len(told.deltas) >= 5)

    mine = [delta for delta in told.deltas if delta.key.name == "one"]
    assert [type(delta) for delta in mine] in (
        [Added, Updated, Deleted, Added],
        [Added, Updated, Updated, Deleted, Added],
    )
    versions = [int(delta.obj.resource_version) for delta in mine]
    assert versions == sorted(versions)
    for before, after in pairwise(mine):
        if isinstance(after, Updated):
            assert after.old is before.obj
    assert all(delta.is_initial for delta in told.deltas[:2] if isinstance(delta, Added))


async def test_one_informer_for_each_kind_and_scope_however_many_use_it(scene: Scene) -> None:
    caches = scene.caches()
    here = Scope(namespaces=(HERE,))
    async with (
        caches.running(),
        caches.following(ConfigMap, scope=here) as first,
        caches.following(ConfigMap, scope=Scope(namespaces=(HERE, HERE))) as second,
        caches.following(ConfigMap) as wider,
        caches.following(Unstructured.of("v1", "ConfigMap"), scope=here) as loose,
        caches.following(Unstructured.of("v1", "ConfigMap"), scope=here) as looser,
    ):
        assert first is second
        assert loose is looser
        assert wider is not first
        assert len(caches) == 3


async def test_two_users_may_ask_for_the_same_index(scene: Scene) -> None:
    caches = scene.caches()
    async with (
        caches.running(),
        caches.following(ConfigMap, indexes={"app": by_label("app")}) as first,
        caches.following(ConfigMap, indexes={"app": by_label("app")}) as second,
    ):
        assert first is second


async def test_an_informer_that_nobody_needs_is_dropped(scene: Scene) -> None:
    caches = scene.caches()
    async with caches.running():
        before = len(asyncio.all_tasks())
        async with caches.following(ConfigMap):
            async with caches.following(ConfigMap):
                pass
            assert len(caches) == 1

        await scene.settle()
        assert len(caches) == 0
        assert len(asyncio.all_tasks()) == before


async def test_a_cache_that_cannot_follow_no_longer_counts_as_synced(scene: Scene) -> None:
    informer = scene.informer(settings=InformerSettings(stale_seconds=60))
    async with informer.running():
        await scene.settle()
        scene.way.answer = Unreachable("gone for a while")
        scene.way.cut()
        await scene.until(lambda: not informer.has_synced, seconds=1)
        await scene.until(lambda: scene.seen(CacheStale), seconds=1)

        assert names(informer) == ["one", "two"]
        assert len(scene.seen(CacheStale)) == 1

        scene.way.answer = None
        await scene.until(lambda: informer.has_synced, seconds=1)
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(informer.synced())
            await scene.until(waiting.done)


async def test_an_object_that_does_not_fit_is_kept_aside_and_the_others_go_on(
    scene: Scene,
) -> None:
    informer, told = scene.informer(Colored), Told()
    informer.add_handler(told)
    await scene.paint("one", "puce")
    async with informer.running():
        assert names(informer) == ["two"]
        assert [key.name for key in informer.refused] == ["one"]

        await scene.paint("two", "puce")
        await scene.until(lambda: len(informer.refused) == 2)
        assert [each.ref.name for each in scene.seen(ObjectRefused)] == ["one", "two"]
        assert names(informer) == ["two"]  # as it was when it last fitted

        await scene.paint("one", "red")
        await scene.paint("two", "blue")
        await scene.until(lambda: not informer.refused)
        await scene.until(lambda: len(told.deltas) == 3)
        assert sorted(obj.spec.color for obj in informer.lister.list()) == ["blue", "red"]
        assert told.story == [("Added", "two"), ("Added", "one"), ("Updated", "two")]


# Reading


async def test_reading_before_the_first_list_is_refused(scene: Scene) -> None:
    informer = scene.informer()

    with pytest.raises(NotSynced, match="has not been heard to its end"):
        informer.lister.list()
    with pytest.raises(NotSynced):
        informer.lister.get("one", namespace=HERE)
    with pytest.raises(NotSynced):
        informer.lister.by_index("namespace", HERE)


async def test_reading_outside_the_scope_is_refused(scene: Scene) -> None:
    informer = scene.informer()
    async with informer.running():
        with pytest.raises(NotInScope, match="of namespace there"):
            informer.lister.get("one", namespace=THERE)
        with pytest.raises(NotInScope):
            informer.lister.list(namespace=THERE)


async def test_reading_an_object_without_saying_where_is_refused(scene: Scene) -> None:
    async with (everywhere := scene.informer(scope=Scope())).running():
        with pytest.raises(BadName, match="say which"):
            everywhere.lister.get("one")


async def test_a_scope_with_namespaces_for_a_kind_that_lives_in_none_is_refused(
    scene: Scene,
) -> None:
    with pytest.raises(BadValue, match="live in no namespace"):
        scene.informer(Octopus, scope=Scope(namespaces=(HERE,)))


async def test_a_cluster_scoped_kind_is_followed(scene: Scene) -> None:
    caches = scene.caches()
    async with caches.running(), caches.following(core_v1.Namespace) as informer:
        new = core_v1.Namespace(metadata=ObjectMeta(name="new"))
        made = await caches.noting(scene.client.create(new))

        assert informer.lister.get("new") is not None
        assert informer.lister.get("new") == replace(
            made, metadata=replace(made.metadata, managed_fields=None)
        )
        with pytest.raises(BadName, match="lives in no namespace"):
            informer.lister.get("new", namespace=HERE)

        deletion = await caches.noting(scene.client.delete(core_v1.Namespace, "new"))
        assert (informer.lister.get("new") is None) == deletion.is_gone


async def test_several_namespaces_are_followed_one_by_one(scene: Scene) -> None:
    await scene.world.asked("POST", "/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
    await create_config_maps(scene.server, THERE, "three")
    await create_config_maps(scene.server, "elsewhere", "four")
    informer = scene.informer(scope=Scope(namespaces=(THERE, HERE)))

    async with informer.running():
        assert names(informer) == ["one", "three", "two"]
        assert [obj.name for obj in informer.lister.list(namespace=THERE)] == ["three"]
        assert {request.path for request in scene.way.requests} == {
            f"/api/v1/namespaces/{namespace}/configmaps" for namespace in (HERE, THERE)
        }


async def test_a_handler_that_comes_between_two_namespaces_is_told_of_both(scene: Scene) -> None:
    await create_config_maps(scene.server, THERE, "three")
    informer, told = scene.informer(scope=Scope(namespaces=(THERE, HERE))), Told()
    late = informer._parts[THERE]
    early = informer._parts[HERE]
    listing = await scene.server.list(ConfigMap, namespace=HERE)
    early.fifo.replace(listing.items, (), listing.resource_version, rewound=False)

    registration = informer.add_handler(told)
    assert not registration.has_synced
    assert early.is_whole
    assert not late.is_whole

    async with informer.running():
        await scene.until(lambda: registration.has_synced)
        assert sorted(name for _, name in told.story) == ["one", "three", "two"]


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


async def test_label_and_field_limited_caches_hold_only_those(scene: Scene) -> None:
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


async def test_an_index_function_that_raises_is_reported_and_the_object_is_there(
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


# Handlers


async def test_a_handler_that_never_returns_is_reported_once(scene: Scene) -> None:
    informer = scene.informer()

    async def stuck(delta: Delta[Any]) -> None:
        await asyncio.Event().wait()

    informer.add_handler(stuck, name="stuck")
    async with informer.running():
        await scene.until(lambda: scene.seen(HandlerStuck), seconds=5)
        for _ in range(20):
            scene.clock.advance(5)
            await turns()

    (reported,) = scene.seen(HandlerStuck)
    assert reported.handler == "stuck"
    assert reported.busy_seconds >= 30
    assert reported.waiting == 1


async def test_a_handler_whose_own_task_was_cancelled_has_failed_and_goes_on(scene: Scene) -> None:
    informer = scene.informer()
    told: list[str] = []

    async def handle(delta: Delta[Any]) -> None:
        told.append(delta.key.name)
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    informer.add_handler(handle)
    async with informer.running():
        await scene.until(lambda: len(told) == 2)
        await scene.until(lambda: len(scene.seen(HandlerFailed)) == 2)


async def test_a_handler_that_was_removed_is_told_nothing_more(scene: Scene) -> None:
    informer, told = scene.informer(), Told()
    registration = informer.add_handler(told)
    async with informer.running():
        await scene.until(lambda: len(told.deltas) == 2)
        informer.remove_handler(registration)
        await scene.patch("one", color="red")
        await scene.settle()

    assert len(told.deltas) == 2


async def test_a_handler_may_remove_itself(scene: Scene) -> None:
    informer = scene.informer()
    told: list[str] = []

    def once(delta: Delta[Any]) -> None:
        told.append(delta.key.name)
        informer.remove_handler(registration)

    registration = informer.add_handler(once)
    async with informer.running():
        await scene.settle()

    assert len(told) == 1


async def test_each_handler_has_its_own_resync(scene: Scene) -> None:
    informer, often, never = scene.informer(), Told(), Told()
    informer.add_handler(often, resync_seconds=10)
    informer.add_handler(never)
    async with informer.running():
        await scene.until(lambda: len(often.deltas) >= 6, seconds=1)

    assert [type(delta) for delta in never.deltas] == [Added, Added]
    assert {type(delta) for delta in often.deltas[2:]} == {Sync}


async def test_a_handler_that_is_slower_than_its_resync_is_not_buried(scene: Scene) -> None:
    informer = scene.informer()

    async def stuck(delta: Delta[Any]) -> None:
        await asyncio.Event().wait()

    registration = informer.add_handler(stuck, resync_seconds=10)
    async with informer.running():
        await scene.settle()
        for _ in range(200):
            scene.clock.advance(5)
            await turns()

        assert len(registration) == 4  # both objects, and both once more


async def test_a_handler_can_be_made_of_functions(scene: Scene) -> None:
    informer = scene.informer()
    said: list[str] = []
    informer.add_handler(
        on(
            added=lambda obj: said.append(f"+{obj.name}"),
            updated=lambda old, obj: said.append(f"{old.data}→{obj.data}"),
            deleted=lambda obj: said.append(f"-{obj.name}"),
        )
    )
    async with informer.running():
        await scene.settle()
        await scene.patch("one", color="red")
        await scene.delete("two")
        await scene.until(lambda: len(said) == 4)

    assert said[:2] == ["+one", "+two"]
    assert said[2].endswith("→{'color': 'red'}")
    assert said[3] == "-two"


async def test_a_resync_that_makes_no_sense_is_refused(scene: Scene) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        scene.informer().add_handler(Told(), resync_seconds=0)


async def test_a_warmed_cache_is_put_right_by_the_first_list(scene: Scene) -> None:
    informer, told = scene.informer(), Told()
    informer.warm([config_map(HERE, "one"), config_map(HERE, "nobody"), config_map(THERE, "x")])
    informer.add_handler(told)
    async with informer.running():
        assert names(informer) == ["one", "two"]
        await scene.until(lambda: len(told.deltas) == 3)
        assert set(told.story) == {("Deleted", "nobody"), ("Updated", "one"), ("Added", "two")}

        informer.warm([config_map(HERE, "one", color="old")])
        assert (informer.lister.get("one", namespace=HERE) or config_map(HERE, "")).uid


# What is kept of an object


async def test_managed_fields_are_dropped_unless_they_are_wanted(scene: Scene) -> None:
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


async def test_a_class_that_names_fewer_fields_keeps_only_those(scene: Scene) -> None:
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
                return replace(obj, metadata=replace(obj.metadata, name="somebody-else"))
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
            assert len(informer.refused) == 1

        await scene.patch("one", mood=None)
        await scene.until(lambda: not informer.refused)
        assert names(informer) == ["one", "two"]


async def test_a_change_to_what_belongs_to_the_cache_is_detected(scene: Scene) -> None:
    informer = scene.informer(AnyConfigMap, settings=InformerSettings(detect_mutations=True))

    async def change_one() -> None:
        async with informer.running():
            found: Any = informer.lister.get("one", namespace=HERE)
            found.body["data"] = {"color": "red"}

    with pytest.raises(CacheMutated, match="ConfigMap here/one at data"):
        await change_one()


# Our own writes


Following = AbstractAsyncContextManager[tuple[Caches, Informer[Any]]]


def following(scene: Scene, kind: type[Any] = ConfigMap, **rest: Any) -> Following:
    """An informer that hears nothing of what is written from now on."""

    @asynccontextmanager
    async def both() -> AsyncIterator[tuple[Caches, Informer[Any]]]:
        caches = scene.caches(**rest)
        async with caches.running(), caches.following(kind, scope=Scope(namespaces=(HERE,))) as it:
            await scene.settle()
            scene.way.hold()
            yield caches, it
            scene.way.let_go()
            await scene.settle()
            assert [len(part.writes) for part in it._parts.values()] == [0]

    return both()


RED = MergePatch({"spec": {"color": "red"}})


@pytest.mark.parametrize("kind", [Widget, AnyWidget, WidgetMetadata])
async def test_an_answer_stays_as_it_is_for_whoever_has_it(scene: Scene, kind: type[Any]) -> None:
    async with following(scene, kind) as (caches, informer):
        answer = await caches.noting(scene.client.patch(kind, "one", RED, namespace=HERE))
        found: Any = informer.lister.get("one", namespace=HERE)

        assert found.resource_version == answer.resource_version
        assert b"managedFields" in Codec().encode(answer)
        assert b"managedFields" not in Codec().encode(found)


async def test_an_answer_stays_as_it_is_even_if_a_transform_reaches_deep(scene: Scene) -> None:
    def transform(obj: Unstructured) -> Unstructured:
        body: Any = obj.body
        body["spec"].clear()
        return obj

    caching = {"transforms": {AnyWidget: transform}}
    async with following(scene, AnyWidget, **caching) as (caches, informer):
        answer = await caches.noting(scene.client.patch(AnyWidget, "one", RED, namespace=HERE))
        found: Any = informer.lister.get("one", namespace=HERE)

        assert found.get("spec") == {}
        assert answer.get("spec", "color") == "red"


async def test_transforms_are_for_every_class_that_unstructured_of_made(scene: Scene) -> None:
    def transform(obj: Unstructured) -> Unstructured:
        return obj.changed("data", to={"seen": "yes"})

    caches = scene.caches(transforms={Unstructured.of("v1", "ConfigMap"): transform})
    async with caches.running(), caches.following(AnyConfigMap) as informer:
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
async def test_an_answer_of_another_class_is_shown_if_it_has_all_fields(
    scene: Scene, writing: type[Any], reading: type[Any]
) -> None:
    async with following(scene, reading) as (caches, informer):
        answer = await caches.noting(scene.client.patch(writing, "one", RED, namespace=HERE))

        found: Any = informer.lister.get("one", namespace=HERE)
        assert type(found) is reading
        assert found.resource_version == answer.resource_version
        assert found.ref == answer.ref


@pytest.mark.parametrize(
    ("writing", "reading"),
    [
        (Colored, Widget),
        (Widget, AnyWidget),
        (WidgetMetadata, Widget),
        (WidgetMetadata, AnyWidget),
    ],
)
async def test_an_answer_that_lacks_fields_is_shown_when_it_is_heard(
    scene: Scene, writing: type[Any], reading: type[Any]
) -> None:
    async with following(scene, reading) as (caches, informer):
        before = informer.lister.get("one", namespace=HERE)
        await caches.noting(scene.client.patch(writing, "one", RED, namespace=HERE))
        assert informer.lister.get("one", namespace=HERE) is before

        # Which object a deletion ends is clear, whatever its class.
        await caches.noting(scene.client.delete(writing, "one", namespace=HERE))
        assert informer.lister.get("one", namespace=HERE) is None


async def test_an_answer_that_does_not_fit_the_cache_is_still_an_answer(scene: Scene) -> None:
    async with following(scene, Colored) as (caches, informer):
        puce = MergePatch({"spec": {"color": "puce"}})
        answer = await caches.noting(scene.client.patch(Widget, "one", puce, namespace=HERE))
        assert answer.spec.color == "puce"

        scene.way.let_go()
        await scene.until(lambda: informer.refused)
        assert isinstance(next(iter(informer.refused.values())), InvalidObject)


async def test_what_we_wrote_stays_when_a_stranger_makes_it_unreadable(scene: Scene) -> None:
    async with following(scene, Colored) as (caches, informer):
        answer = await caches.noting(scene.client.patch(Widget, "one", RED, namespace=HERE))
        scene.way.cut()
        await scene.paint("one", "puce")
        scene.world.server.history.forget()
        scene.way.let_go()
        await scene.until(lambda: informer.refused, seconds=1)

        found: Any = informer.lister.get("one", namespace=HERE)
        assert found.resource_version == answer.resource_version

        await scene.server.delete(Widget, "one", namespace=HERE)
        await scene.until(lambda: names(informer) == ["two"], seconds=1)


async def test_our_own_deletion_of_what_does_not_fit_is_forgotten_with_its_end(
    scene: Scene,
) -> None:
    await scene.paint("one", "puce")
    async with following(scene, Colored) as (caches, informer):
        assert names(informer) == ["two"]

        await caches.noting(scene.client.delete(Widget, "one", namespace=HERE))


async def test_a_misfit_in_a_list_does_not_take_the_position_back(scene: Scene) -> None:
    await scene.paint("one", "puce")
    await scene.patch("one", color="red")
    caches = scene.caches()
    scope = Scope(namespaces=(HERE,))
    async with caches.running(), caches.following(Colored, scope=scope) as informer:
        (part,) = informer._parts.values()
        listed = await scene.server.list(core_v1.Secret)

        assert part.writes.position == listed.resource_version


async def test_a_write_under_way_while_the_informer_begins_is_shown(scene: Scene) -> None:
    caches = scene.caches()

    async def slow_patch() -> Any:
        answer = await scene.server.patch(Widget, "one", RED, namespace=HERE)
        await started.wait()
        return answer

    async with caches.running(), asyncio.TaskGroup() as group:
        started = asyncio.Event()
        noted = group.create_task(caches.noting(slow_patch()))
        await turns()
        async with caches.following(Widget) as informer:
            started.set()
            answer = await noted
            found = informer.lister.get("one", namespace=HERE)
            assert found is not None
            assert found.resource_version == answer.resource_version


async def test_a_pod_with_a_grace_period_is_shown_as_ending_and_then_not_at_all(
    scene: Scene,
) -> None:
    pod = core_v1.Pod(
        metadata=ObjectMeta(name="web", namespace=HERE),
        spec=core_v1.PodSpec(
            node_name="node", containers=(core_v1.Container(name="web", image="web"),)
        ),
    )
    async with following(scene, core_v1.Pod) as (caches, informer):
        await caches.noting(scene.client.create(pod))
        await caches.noting(
            scene.client.delete(core_v1.Pod, "web", namespace=HERE, grace_seconds=20)
        )
        found = informer.lister.get("web", namespace=HERE)
        assert found is not None
        assert found.deletion_time is not None

        await caches.noting(
            scene.client.delete(core_v1.Pod, "web", namespace=HERE, grace_seconds=0)
        )
        assert informer.lister.get("web", namespace=HERE) is None


async def test_a_write_that_fails_shows_nothing_and_leaves_nothing(scene: Scene) -> None:
    async with following(scene, Widget) as (caches, informer):
        before = informer.lister.list()
        scene.way.answer = Unreachable("gone for a while")
        with pytest.raises(Unreachable):
            await caches.noting(scene.client.patch(Widget, "one", RED, namespace=HERE))

        assert informer.lister.list() == before
        assert len(caches._flights) == 0
        scene.way.answer = None


async def test_a_label_limited_cache_drops_what_our_write_takes_out(scene: Scene) -> None:
    caches = scene.caches()
    scope = Scope(labels=Labels.equal({"tier": "front"}))
    new = widget(HERE, "web")
    new = replace(new, metadata=replace(new.metadata, labels={"tier": "front"}))
    async with caches.running(), caches.following(Widget, scope=scope) as informer:
        await scene.settle()
        scene.way.hold()
        await caches.noting(scene.client.create(new))
        assert names(informer) == ["web"]

        back = MergePatch({"metadata": {"labels": {"tier": "back"}}})
        await caches.noting(scene.client.patch(Widget, "web", back, namespace=HERE))
        assert names(informer) == []


async def test_a_bookmark_ends_what_is_never_heard_of(scene: Scene) -> None:
    caches = scene.caches()
    scope = Scope(labels=Labels.has("app"))
    async with caches.running(), caches.following(ConfigMap, scope=scope) as informer:
        await caches.noting(scene.client.create(config_map(HERE, "web")))
        (part,) = informer._parts.values()
        assert len(part.writes) == 1

        await scene.until(lambda: len(part.writes) == 0, seconds=1)
        assert names(informer) == []


async def test_what_was_heard_before_an_answer_came_counts_before_it(scene: Scene) -> None:
    informer = scene.informer()
    async with informer.running():
        (part,) = informer._parts.values()
        known: Any = informer.lister.get("one", namespace=HERE)
        with informer.in_flight() as ticket:
            deletion = await scene.server.delete(ConfigMap, "one", namespace=HERE)
            later = str(int(known.resource_version) + 1000)
            last = replace(known, metadata=replace(known.metadata, resource_version=later))
            part.fifo.removed(last)  # heard, and not yet taken in
            informer.note(deletion, ticket)

        assert names(informer) == ["two"]
        assert len(part.writes) == 0


async def test_a_label_that_the_transform_takes_away_still_decides(scene: Scene) -> None:
    def transform(obj: core_v1.ConfigMap) -> core_v1.ConfigMap:
        return replace(obj, metadata=replace(obj.metadata, labels=None))

    caches = scene.caches(transforms={ConfigMap: transform})
    scope = Scope(labels=Labels.has("app"))
    new = config_map(HERE, "web")
    new = replace(new, metadata=replace(new.metadata, labels={"app": "web"}))
    async with caches.running(), caches.following(ConfigMap, scope=scope) as informer:
        await scene.settle()
        scene.way.hold()
        await caches.noting(scene.client.create(new))

        assert names(informer) == ["web"]
        scene.way.let_go()


# Lifetimes


async def test_a_user_that_is_cancelled_while_it_waits_leaves_nothing_behind(scene: Scene) -> None:
    caches = scene.caches()
    scene.way.answer = Unreachable("gone for a while")

    async def use() -> None:
        async with caches.following(ConfigMap):
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


async def test_a_user_that_waits_when_the_caches_end_is_told_so(scene: Scene) -> None:
    caches = scene.caches()
    scene.way.answer = Unreachable("gone for a while")

    async def use() -> None:
        async with caches.following(ConfigMap):
            raise AssertionError("it was never synced")

    async with asyncio.TaskGroup() as group:
        async with caches.running():
            user = group.create_task(_outcome(use()))
            await scene.settle()
        assert isinstance(await user, NotFollowed)


async def _outcome(work: Any) -> Exception | None:
    try:
        await work
    except NotFollowed as error:
        return error
    return None


async def test_caches_that_ended_can_begin_again(scene: Scene) -> None:
    caches = scene.caches()
    for _ in range(2):
        async with caches.running(), caches.following(ConfigMap) as informer:
            assert "one" in names(informer)
    with pytest.raises(NotFollowed, match="are not running"):
        async with caches.following(ConfigMap):
            pass


async def test_an_informer_that_ended_can_begin_again(scene: Scene) -> None:
    informer, told = scene.informer(), Told()
    informer.add_handler(told)
    async with informer.running():
        await scene.settle()
    await scene.delete("one")
    async with informer.running():
        await scene.until(lambda: len(told.deltas) == 3, seconds=1)

    assert told.story[-1] == ("Deleted", "one")


async def test_what_the_block_raises_comes_out_as_it_is(scene: Scene) -> None:
    caches = scene.caches()
    with pytest.raises(ZeroDivisionError):
        async with caches.running(), caches.following(ConfigMap):
            _ = 1 / 0
    with pytest.raises(ZeroDivisionError):
        async with scene.informer().running():
            _ = 1 / 0
