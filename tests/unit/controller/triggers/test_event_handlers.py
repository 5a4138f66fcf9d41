from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from steersman.cache import Added, Deleted, Delta, Sync, Updated, background_tasks
from steersman.controller import CacheReader, Controller, Owns, Watch, changed
from steersman.controller.pause import PAUSED
from steersman.controller.triggers.event_handlers import DeltaHandler, EventHandlers
from steersman.controller.triggers.mappings import TRIES_WHEN_GONE
from steersman.kinds import Unstructured, apps_v1, core_v1, meta_v1
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ReconcileReason, TriggerFailed
from steersman.watch import key_of
from steersman.workqueue import LOW_PRIORITY
from tests.clocks import ManualClock
from tests.embedded import turns
from tests.unit.controller.apps import App, Fleet, app, widget

WEB = ObjectKey("here", "web")
API = ObjectKey("here", "api")
ConfigMap = core_v1.ConfigMap


async def reconcile(obj: Any, ctx: Any) -> Any: ...


class HandlersFixture:
    """The event handlers of a controller, and what they enqueue and report."""

    def __init__(self, kind: Any = App, **declared: Any) -> None:
        self.controller = Controller(kind, reconcile=reconcile, **declared)
        self.clock = ManualClock()
        self.reasons: list[ReconcileReason] = []
        self.enqueued: list[tuple[ObjectKey, int]] = []
        self.failed: list[TriggerFailed] = []
        self.events: list[tuple[str, str, str]] = []
        self.triggers = EventHandlers(
            self.controller,
            cached=CacheReader("app", {}),
            enqueue=self.enqueue,
            clock=self.clock,
            rng=Random(0),
            observe=self.failed.append,  # type: ignore[arg-type]
            recorder=self,
        )

    def enqueue(self, key: ObjectKey, why: ReconcileReason, priority: int) -> None:
        self.enqueued.append((key, priority))
        self.reasons.append(why)

    def record(self, obj: Any, reason: str, note: str, *, type: str) -> None:
        self.events.append((str(obj.ref), f"{type} {reason}", note))

    @property
    def own(self) -> DeltaHandler:
        return self.triggers.own

    @property
    def owned(self) -> DeltaHandler:
        return self.triggers.owned(self.controller.owned[0])

    @property
    def watched(self) -> DeltaHandler:
        return self.triggers.watched(self.controller.watches[0])

    @asynccontextmanager
    async def retry_mappings(self) -> AsyncIterator[None]:
        async with background_tasks() as start:
            start(self.triggers.retry_mappings(), name="retrying")
            await turns()
            yield

    async def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await turns()

    def taken(self) -> list[tuple[ObjectKey, int]]:
        enqueued, self.enqueued = self.enqueued, []
        return enqueued


def added(obj: Any, *, is_initial: bool = False) -> Delta[Any]:
    return Added(obj, key_of(obj), is_initial)


def updated(old: Any, obj: Any) -> Delta[Any]:
    return Updated(old, obj, key_of(obj))


def deleted(obj: Any) -> Delta[Any]:
    return Deleted(obj, key_of(obj), "9")


def sync(obj: Any) -> Delta[Any]:
    return Sync(obj, key_of(obj))


def never(old: Any, new: Any) -> bool:
    return False


# The controller's own kind


def test_initial_objects_and_resyncs_are_enqueued_behind_changes() -> None:
    fixture = HandlersFixture()

    for delta in (
        added(app(), is_initial=True),
        added(app()),
        updated(app(), app(version="2")),
        sync(app()),
        deleted(app()),
    ):
        fixture.own(delta)

    assert [priority for _, priority in fixture.enqueued] == [LOW_PRIORITY, 0, 0, LOW_PRIORITY, 0]
    assert {key for key, _ in fixture.enqueued} == {WEB}
    assert [why.event for why in fixture.reasons] == [
        "initial",
        "added",
        "updated",
        "resync",
        "deleted",
    ]


def test_a_reason_names_the_object_its_version_and_what_has_changed() -> None:
    fixture = HandlersFixture()

    fixture.own(updated(app(size=1), app(size=2, version="2")))

    (why,) = fixture.reasons
    assert (why.about, why.version) == (ObjectRef("App", "here", "web"), "2")
    assert why.changed_fields == ("spec.size",)


def test_a_predicate_decides_on_changes_and_on_new_objects() -> None:
    fixture = HandlersFixture(when=changed.generation)

    fixture.own(added(app()))
    fixture.own(updated(app(size=1), app(size=1, version="2")))
    fixture.own(updated(app(size=1), app(size=2, version="3")))

    assert [why.version for why in fixture.reasons] == ["1", "3"]


def test_a_predicate_is_not_called_for_deletions_and_resyncs() -> None:
    fixture = HandlersFixture(when=never)

    fixture.own(added(app()))
    fixture.own(updated(app(), app(version="2")))
    assert fixture.enqueued == []

    fixture.own(sync(app()))
    fixture.own(deleted(app()))
    assert [why.event for why in fixture.reasons] == ["resync", "deleted"]


@pytest.mark.parametrize("make", [app, widget])
def test_a_requested_deletion_always_passes(make: Any) -> None:
    kind = App if make is app else Unstructured.of("example.com/v1", "Widget")
    fixture = HandlersFixture(kind, when=never)
    mapped: dict[str, Any] = (
        {"deletion_timestamp": datetime(2026, 1, 1, tzinfo=UTC)}
        if make is app
        else {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    )

    fixture.own(updated(make(), make(**mapped)))
    fixture.own(added(make(**mapped)))

    assert len(fixture.enqueued) == 2


@pytest.mark.parametrize("make", [app, widget])
def test_pausing_and_resuming_an_object_always_passes(make: Any) -> None:
    kind = App if make is app else Unstructured.of("example.com/v1", "Widget")
    fixture = HandlersFixture(kind, when=never)
    free, paused = make(annotations={PAUSED: "false"}), make(annotations={PAUSED: "true"})

    fixture.own(updated(free, paused))
    fixture.own(updated(paused, free))
    fixture.own(updated(paused, paused))

    assert len(fixture.enqueued) == 2


def test_a_predicate_that_raises_counts_as_true_and_is_reported() -> None:
    fixture = HandlersFixture(when=changed.fields("spec.sise"))

    fixture.own(updated(app(), app(version="2")))

    assert fixture.taken() == [(WEB, 0)]
    (failed,) = fixture.failed
    assert (failed.role, failed.wait_seconds) == ("predicate", None)
    assert failed.function == "fields('spec.sise')"
    assert failed.ref == ObjectRef("App", "here", "web")
    ((ref, reason, note),) = fixture.events
    assert (ref, reason) == ("App here/web", "Warning PredicateFailed")
    assert "'sise' is not a field of Spec" in note


def test_an_async_predicate_is_reported_as_such() -> None:
    async def grows(old: Any, new: Any) -> bool:
        return False

    fixture = HandlersFixture(when=grows)

    fixture.own(added(app()))

    assert fixture.taken() == [(WEB, 0)]
    assert "make it a plain function" in str(fixture.failed[0].error)


# Owned kinds


def deployment(
    owner: str | None = "web",
    *,
    version: str = "1",
    namespace: str | None = "here",
    api_version: str = "app.example.com/v1",
    kind: str = "App",
    controller: bool | None = True,
    generation: int = 1,
) -> apps_v1.Deployment:
    owners = () if owner is None else (reference(owner, api_version, kind, controller),)
    return apps_v1.Deployment(
        metadata=meta_v1.ObjectMeta(
            name="child",
            namespace=namespace,
            resource_version=version,
            generation=generation,
            owner_references=owners,
        )
    )


def reference(
    name: str, api_version: str, kind: str, controller: bool | None
) -> meta_v1.OwnerReference:
    return meta_v1.OwnerReference(
        api_version=api_version, kind=kind, name=name, uid=f"uid-{name}", controller=controller
    )


def owning(**rest: Any) -> HandlersFixture:
    return HandlersFixture(owns=(Owns(apps_v1.Deployment, **rest),))


def test_every_change_of_a_child_enqueues_its_controlling_owner() -> None:
    fixture = owning()

    for delta in (
        added(deployment(), is_initial=True),
        added(deployment()),
        updated(deployment(), deployment(version="2")),
        sync(deployment()),
        deleted(deployment()),
    ):
        fixture.owned(delta)

    assert fixture.enqueued == [
        (WEB, LOW_PRIORITY),
        (WEB, 0),
        (WEB, 0),
        (WEB, LOW_PRIORITY),
        (WEB, 0),
    ]
    assert [why.event for why in fixture.reasons] == [
        "initial",
        "added",
        "updated",
        "resync",
        "deleted",
    ]
    assert {str(why.about) for why in fixture.reasons} == {"Deployment here/child"}


@pytest.mark.parametrize(
    "child",
    [
        deployment(None),
        deployment(controller=None),
        deployment(controller=False),
        deployment(kind="Application"),
        deployment(api_version="other.example.com/v1"),
        deployment(api_version="v1"),
        deployment(namespace=None),
    ],
)
def test_a_child_of_another_owner_enqueues_nothing(child: apps_v1.Deployment) -> None:
    fixture = owning()

    fixture.owned(added(child))

    assert fixture.enqueued == []


def test_an_owner_is_found_whatever_version_the_reference_names() -> None:
    fixture = owning()

    fixture.owned(added(deployment(api_version="app.example.com/v1alpha1")))

    assert fixture.taken() == [(WEB, 0)]


def test_a_cluster_scoped_owner_is_found() -> None:
    fixture = HandlersFixture(Fleet, owns=(apps_v1.Deployment,))

    fixture.owned(added(deployment(kind="Fleet")))

    assert fixture.taken() == [(ObjectKey(None, "web"), 0)]


def test_an_owner_in_the_core_group_is_found() -> None:
    fixture = HandlersFixture(ConfigMap, owns=(apps_v1.Deployment,))

    fixture.owned(added(deployment(api_version="v1", kind="ConfigMap")))

    assert fixture.taken() == [(WEB, 0)]


def test_an_unstructured_child_enqueues_its_owner_too() -> None:
    fixture = HandlersFixture(owns=(Unstructured.of("example.com/v1", "Widget"),))
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"},
        {
            "apiVersion": "app.example.com/v1",
            "kind": "App",
            "name": "web",
            "uid": "2",
            "controller": True,
        },
    ]

    fixture.owned(added(widget(ownerReferences=owners)))
    fixture.owned(added(widget(ownerReferences=owners[:1])))
    fixture.owned(added(widget()))

    assert fixture.taken() == [(WEB, 0)]


def test_a_child_with_a_new_owner_enqueues_both_owners_whatever_the_predicate_returns() -> None:
    fixture = owning(when=never)

    fixture.owned(updated(deployment("web"), deployment("api")))
    both = fixture.taken()
    fixture.owned(updated(deployment("web"), deployment(None)))
    fixture.owned(updated(deployment(None), deployment("api")))
    fixture.owned(updated(deployment("web"), deployment("web", version="2")))

    assert sorted(both) == [(API, 0), (WEB, 0)]
    assert fixture.taken() == [(WEB, 0), (API, 0)]


def test_a_predicate_decides_which_changes_of_a_child_enqueue_its_owner() -> None:
    fixture = owning(when=changed.generation)

    fixture.owned(updated(deployment(), deployment(version="2")))
    fixture.owned(updated(deployment(), deployment(version="3", generation=2)))
    fixture.owned(deleted(deployment(version="4")))

    assert [why.version for why in fixture.reasons] == ["3", "4"]


# Watched kinds


def config(*apps: str, version: str = "1", name: str = "config") -> core_v1.ConfigMap:
    metadata = meta_v1.ObjectMeta(name=name, namespace="here", resource_version=version)
    return ConfigMap(metadata=metadata, data=dict.fromkeys(apps, ""))


def apps_using(obj: core_v1.ConfigMap, cached: CacheReader) -> Iterable[ObjectKey]:
    return [ObjectKey("here", name) for name in obj.data or {}]


def watching(to: Any = apps_using, **rest: Any) -> HandlersFixture:
    return HandlersFixture(watches=(Watch(ConfigMap, to=to, **rest),))


def test_a_change_enqueues_the_keys_of_the_old_and_the_new_object_each_once() -> None:
    fixture = watching()

    fixture.watched(updated(config("web", "api"), config("api", "db", version="2")))

    assert fixture.taken() == [(WEB, 0), (API, 0), (ObjectKey("here", "db"), 0)]
    assert {why.changed_fields for why in fixture.reasons} == {("data.web", "data.db")}


def test_an_initial_a_new_and_a_deleted_object_enqueue_their_keys() -> None:
    fixture = watching()

    for delta in (
        added(config("web"), is_initial=True),
        added(config("web")),
        sync(config("web")),
        deleted(config("web")),
    ):
        fixture.watched(delta)

    assert fixture.taken() == [(WEB, LOW_PRIORITY), (WEB, 0), (WEB, LOW_PRIORITY), (WEB, 0)]


def test_a_mapping_may_return_objects_of_the_controllers_kind() -> None:
    fixture = watching(lambda obj, cached: (each for each in [app("web"), API, app("web")]))

    fixture.watched(added(config()))

    assert fixture.taken() == [(WEB, 0), (API, 0)]


def test_a_kind_that_is_only_read_enqueues_nothing() -> None:
    fixture = watching(None)

    fixture.watched(added(config("web")))

    assert fixture.enqueued == []


def test_a_predicate_decides_which_changes_are_mapped() -> None:
    fixture = watching(when=changed.fields(("data", "web")))

    fixture.watched(updated(config("api"), config("api", "db", version="2")))
    assert fixture.taken() == []

    fixture.watched(updated(config(), config("web", version="3")))
    fixture.watched(deleted(config("web")))
    assert fixture.taken() == [(WEB, 0), (WEB, 0)]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "it returned None"),
        ([None], "it returned None"),
        ("web", "return an iterable of keys"),
        (WEB, "return an iterable of keys"),
        ([config()], "it returned an object of ConfigMap; return ObjectKey(namespace, name)"),
        ([ObjectKey(None, "web")], "App needs a namespace and a name"),
    ],
)
def test_a_mapping_that_returns_something_else_fails_with_what_to_return(
    returned: Any, said: str
) -> None:
    def mapping(obj: Any, cached: CacheReader) -> Any:
        return returned

    fixture = watching(mapping)

    fixture.watched(added(config()))

    (failed,) = fixture.failed
    assert isinstance(failed.error, TypeError)
    assert said in str(failed.error)
    assert failed.role == "mapping"
    assert failed.function.endswith("mapping")
    assert failed.ref == ObjectRef("ConfigMap", "here", "config")
    assert fixture.events[0][:2] == ("ConfigMap here/config", "Warning MappingFailed")


class Mapping:
    """A mapping that fails while ``is_broken`` is set."""

    def __init__(self) -> None:
        self.is_broken = True
        self.mapped: list[str] = []

    def __call__(self, obj: Any, cached: CacheReader) -> Iterable[ObjectKey]:
        self.mapped.append(obj.resource_version)
        if self.is_broken:
            raise LookupError("hunter2")
        return apps_using(obj, cached)


async def test_a_mapping_that_fails_is_retried_until_it_succeeds() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    async with fixture.retry_mappings():
        fixture.watched(added(config("web")))
        for _ in range(3):
            await fixture.wait(60)
        failed = list(fixture.failed)
        mapping.is_broken = False
        await fixture.wait(60)
        await fixture.wait(6000)

    assert fixture.enqueued == [(WEB, 0)]
    assert [why.event for why in fixture.reasons] == ["mapped"]
    assert str(fixture.reasons[0].about) == "ConfigMap here/config"
    waits = [each.wait_seconds or 0 for each in failed]
    assert len(waits) == 4
    assert waits == sorted(waits)
    assert mapping.mapped == ["1"] * 5
    assert fixture.triggers.num_failing == 0


async def test_no_wait_is_longer_than_five_minutes() -> None:
    fixture = watching(Mapping())

    async with fixture.retry_mappings():
        fixture.watched(added(config("web")))
        for _ in range(30):
            await fixture.wait(300)

    waits = [each.wait_seconds or 0 for each in fixture.failed]
    assert len(waits) > 20
    assert 270 <= max(waits) <= 300


async def test_a_mapping_is_retried_with_the_last_state_and_the_last_mapped_one() -> None:
    mapping = Mapping()
    fixture = watching(mapping)
    first, second, third = config("web"), config("db", version="2"), config("api", version="3")

    async with fixture.retry_mappings():
        fixture.watched(updated(first, second))
        fixture.watched(updated(second, third))
        mapping.mapped.clear()
        mapping.is_broken = False
        await fixture.wait(10)

    assert mapping.mapped == ["1", "3"]
    assert fixture.taken() == [(WEB, 0), (API, 0)]


async def test_a_successful_mapping_replaces_an_earlier_failed_one() -> None:
    mapping = Mapping()
    fixture = watching(mapping, when=changed.fields("data"))
    first, second = config("web"), config("api", version="2")

    async with fixture.retry_mappings():
        fixture.watched(updated(first, second))
        mapping.is_broken = False
        # Neither change matters by itself.
        fixture.watched(updated(second, config("api", version="3")))
        enqueued = fixture.taken()
        await fixture.wait(600)

    assert enqueued == [(WEB, 0), (API, 0)]
    assert fixture.triggers.num_failing == 0
    assert fixture.enqueued == []


async def test_the_keys_of_a_deleted_object_are_enqueued_as_well() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    async with fixture.retry_mappings():
        fixture.watched(deleted(config("web")))
        await fixture.wait(10)
        mapping.is_broken = False
        await fixture.wait(10)

    assert fixture.taken() == [(WEB, 0)]
    # An object that no longer exists gets no events.
    assert fixture.events == []


async def test_a_mapping_of_a_deleted_object_is_attempted_ten_times() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    async with fixture.retry_mappings():
        fixture.watched(added(config("web")))
        for _ in range(20):
            await fixture.wait(300)
        mapping.mapped.clear()
        fixture.watched(deleted(config("web", version="2")))
        for _ in range(10):
            await fixture.wait(60)

    assert mapping.mapped == ["2"] * TRIES_WHEN_GONE
    assert fixture.failed[-1].wait_seconds is None
    assert fixture.triggers.num_failing == 0


async def test_a_recreated_object_does_not_hide_the_deleted_one() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    async with fixture.retry_mappings():
        fixture.watched(deleted(config("web")))
        fixture.watched(added(config("api", version="5")))
        mapping.is_broken = False
        await fixture.wait(10)

    assert fixture.taken() == [(WEB, 0), (API, 0)]


async def test_a_mapping_that_succeeded_starts_with_a_short_wait_when_it_fails_again() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    async with fixture.retry_mappings():
        fixture.watched(added(config("web")))
        for _ in range(20):
            await fixture.wait(300)
        mapping.is_broken = False
        await fixture.wait(300)
        mapping.is_broken = True
        fixture.watched(updated(config("web"), config("web", version="2")))

    before, after = (each.wait_seconds or 0 for each in fixture.failed[-2:])
    assert before > 100
    assert after <= 0.1


async def test_a_change_of_an_initial_object_has_the_usual_priority() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    async with fixture.retry_mappings():
        fixture.watched(added(config("web"), is_initial=True))
        fixture.watched(added(config("api", name="other"), is_initial=True))
        fixture.watched(updated(config("web"), config("web", version="2")))
        mapping.is_broken = False
        await fixture.wait(10)

    assert sorted(fixture.taken()) == [(API, LOW_PRIORITY), (WEB, 0)]


async def test_an_object_that_is_recreated_many_times_takes_little_memory() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    for number in range(50):
        fixture.watched(added(config("web", version=f"{number}")))
        fixture.watched(deleted(config("web", version=f"{number}.5")))
    mapping.mapped.clear()
    fixture.watched(added(config("web", version="last")))

    assert mapping.mapped == ["46.5", "47.5", "48.5", "49.5", "last"]


async def test_an_object_that_cannot_be_mapped_delays_no_other() -> None:
    def mapping(obj: core_v1.ConfigMap, cached: CacheReader) -> Iterable[ObjectKey]:
        if obj.name == "bad":
            raise LookupError
        return apps_using(obj, cached)

    fixture = watching(mapping)

    async with fixture.retry_mappings():
        fixture.watched(added(config("web", name="bad")))
        fixture.watched(added(config("api", name="good")))

    assert fixture.taken() == [(API, 0)]


async def test_a_mapping_that_fails_midway_enqueues_the_keys_it_yielded() -> None:
    def mapping(obj: core_v1.ConfigMap, cached: CacheReader) -> Iterable[ObjectKey]:
        if obj.resource_version == "1":
            raise LookupError
        return apps_using(obj, cached)

    fixture = watching(mapping)

    fixture.watched(updated(config("web"), config("api", version="2")))

    assert fixture.taken() == [(API, 0)]
    assert fixture.triggers.num_failing == 1


async def test_a_thousand_failing_objects_leave_nothing_behind_once_they_are_mapped() -> None:
    mapping = Mapping()
    fixture = watching(mapping)

    async with fixture.retry_mappings():
        for number in range(1000):
            fixture.watched(added(config("web", name=f"config-{number}")))
        failing = fixture.triggers.num_failing
        mapping.is_broken = False
        for _ in range(30):
            await fixture.wait(1)

    assert failing == 1000
    assert fixture.triggers.num_failing == 0
    assert len(fixture.enqueued) == 1000


def test_an_event_does_not_contain_the_values_of_an_error() -> None:
    fixture = watching(Mapping())

    fixture.watched(added(config()))

    assert fixture.events[0][2] == ("Mapping raised LookupError; see the operator's log")


def test_its_repr_has_the_number_of_failing_objects() -> None:
    fixture = watching(Mapping())
    fixture.watched(added(config()))

    assert repr(fixture.triggers) == "<EventHandlers of app, 1 mappings failing>"
