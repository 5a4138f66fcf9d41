"""A controller's writes: which requests it sends or skips, and what it caches."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from steersman.cache import CacheOptions
from steersman.client import Labels, MergePatch
from steersman.controller.ownership.owner_references import owned_by
from steersman.errors import BadName, Conflict, Invalid, NotOurs, Unreachable
from steersman.kinds import Unstructured, apps_v1, core_v1, replace
from steersman.names import ObjectKey
from steersman.observe import FieldConflictFound
from tests.cluster.informer_setup import HERE, THERE, Scene, two_namespaces
from tests.real.definitions import Widget, WidgetStatus
from tests.real.objects import config_map, container, deployment
from tests.real.writers import ControllerWriter, an_owner, running_writer

ConfigMap = core_v1.ConfigMap
Deployment = apps_v1.Deployment
KINDS = (ConfigMap, Widget, Deployment)


@pytest.fixture
async def scene() -> Scene:
    """A server with two namespaces."""
    return await two_namespaces()


@pytest.fixture
async def controller(scene: Scene) -> AsyncIterator[ControllerWriter]:
    """A controller, running in one of them."""
    async with working(scene) as controller:
        yield controller


def working(scene: Scene, *kinds: type[Any], **rest: Any) -> Any:
    return running_writer(
        scene.client,
        *(kinds or KINDS),
        namespace=HERE,
        observe=scene.observed.append,
        **rest,
    )


def sent_since(scene: Scene, start: int) -> list[Any]:
    """The decoded bodies of the writes."""
    writes = [each for each in scene.transport.requests[start:] if each.method != "GET"]
    return [msgspec.json.decode(each.body or b"null") for each in writes]


def child(color: str = "blue", name: str = "settings") -> core_v1.ConfigMap:
    return config_map(HERE, name, labels=None, color=color)


# Sent requests


async def test_a_new_object_is_created_only_if_none_exists_and_then_applied_by_uid(
    scene: Scene, controller: ControllerWriter
) -> None:
    owner = await an_owner(scene.server, HERE)
    start = len(scene.transport.requests)

    first = await controller.apply_owned(child("blue"), owner)
    await controller.apply_owned(child("red"), owner)

    new, changed = (each["metadata"] for each in sent_since(scene, start))
    assert ("uid" in new, new["resourceVersion"]) == (False, "1")
    assert (changed["uid"], "resourceVersion" in changed) == (first.uid, False)


async def test_an_apply_without_a_change_sends_no_request(
    scene: Scene, controller: ControllerWriter
) -> None:
    owner = await an_owner(scene.server, HERE)
    one = await scene.server.get(Widget, "one", namespace=HERE)
    await scene.settle()
    await controller.apply_owned(child(), owner)
    await controller.apply_status(one, WidgetStatus(ready=1))
    assert controller.verbs == ["apply", "apply status"]
    start = len(scene.transport.requests)

    await controller.apply_owned(child(), owner)
    await controller.apply_status(one, WidgetStatus(ready=1))

    assert controller.verbs == []
    assert scene.transport.requests[start:] == []


async def test_a_repeated_apply_is_skipped_based_on_the_controllers_own_write(
    scene: Scene, controller: ControllerWriter
) -> None:
    owner = await an_owner(scene.server, HERE)
    scene.transport.pause()

    first = await controller.apply_owned(child(), owner)
    second = await controller.apply_owned(child(), owner)

    assert controller.verbs == ["apply"]
    assert second.resource_version == first.resource_version
    scene.transport.resume()


async def test_a_write_without_a_response_counts_as_applied_until_the_object_is_observed(
    scene: Scene, controller: ControllerWriter
) -> None:
    one = await scene.server.get(Widget, "one", namespace=HERE)
    await scene.settle()
    await controller.apply_status(one, WidgetStatus(ready=1))
    scene.transport.pause()  # so that the cache does not receive the event, either

    scene.transport.fixed_response = Unreachable("the answer was lost")
    with pytest.raises(Unreachable):
        await controller.apply_status(one, WidgetStatus(ready=2))
    scene.transport.fixed_response = None
    target = scene.server.status(Widget, "one", namespace=HERE)
    await target.patch(MergePatch({"status": {"ready": 2}}), field_manager="us")
    await controller.apply_status(one, WidgetStatus(ready=1))

    now = await scene.server.get(Widget, "one", namespace=HERE)
    assert now.status is not None
    assert now.status.ready == 1
    scene.transport.resume()


async def test_an_unobserved_object_with_the_controllers_field_manager_is_owned(
    scene: Scene, controller: ControllerWriter
) -> None:
    # This occurs after a lost response, and after a change of leader.
    owner = await an_owner(scene.server, HERE)
    scene.transport.pause()
    made = await scene.server.apply(owned_by(child("red"), owner), field_manager="us")

    mended = await controller.apply_owned(child("blue"), owner)

    assert (mended.uid, mended.data) == (made.uid, {"color": "blue"})
    scene.transport.resume()


async def test_an_unobserved_object_of_another_field_manager_is_not_owned(
    scene: Scene, controller: ControllerWriter
) -> None:
    owner = await an_owner(scene.server, HERE)
    scene.transport.pause()
    await scene.server.create(config_map(HERE, "settings", labels=None, age="7"))

    with pytest.raises(NotOurs):
        await controller.apply_owned(child(), owner)

    left = await scene.server.get(ConfigMap, "settings", namespace=HERE)
    assert left.data == {"age": "7"}
    scene.transport.resume()


async def test_a_child_of_an_earlier_owner_with_the_same_name_is_not_a_conflict(
    scene: Scene, controller: ControllerWriter
) -> None:
    # The garbage collector will delete it; then the child can be created.
    await controller.apply_owned(child(), await an_owner(scene.server, HERE))
    await scene.server.delete(ConfigMap, "owner", namespace=HERE)

    again = await an_owner(scene.server, HERE)
    with pytest.raises(Conflict, match="belongs to another ConfigMap here/owner"):
        await controller.apply_owned(child("red"), again)

    left = await scene.server.get(ConfigMap, "settings", namespace=HERE)
    assert left.data == {"color": "blue"}


async def test_after_a_restart_an_earlier_apply_is_not_repeated(
    scene: Scene,
) -> None:
    owner = await an_owner(scene.server, HERE)
    async with working(scene) as before:
        await before.apply_owned(child(), owner)

    async with working(scene) as after:
        for _ in range(3):
            await after.apply_owned(child(), owner)

    assert not after.sent


async def test_the_reported_body_is_the_request_body_without_the_uid(
    scene: Scene, controller: ControllerWriter
) -> None:
    owner = await an_owner(scene.server, HERE)
    for color in ("blue", "red"):
        await controller.apply_owned(child(color), owner)

    one, other = (msgspec.json.decode(body or b"") for body in controller.bodies)
    assert (one["data"], other["data"]) == ({"color": "blue"}, {"color": "red"})
    assert one["metadata"] == other["metadata"]
    seen = controller.seen(child())
    assert seen is not None
    assert controller.sent[1].version == seen.resource_version


async def test_a_malformed_status_is_invalid_and_not_a_server_failure(
    scene: Scene, controller: ControllerWriter
) -> None:
    one = await scene.server.get(Widget, "one", namespace=HERE)

    with pytest.raises(Invalid, match="ready"):
        await controller.apply_status(one, {"ready": "soon"})


async def test_an_object_without_a_name_is_rejected_without_a_request(
    scene: Scene, controller: ControllerWriter
) -> None:
    start = len(scene.transport.requests)

    with pytest.raises(BadName):
        await controller.apply(core_v1.ConfigMap(data={"a": "b"}))

    assert scene.transport.requests[start:] == []


# Uncached objects


async def test_every_apply_of_an_uncached_kind_is_sent(scene: Scene) -> None:
    async with working(scene, Widget) as controller:
        for _ in range(2):
            await controller.apply(child())

        assert controller.verbs == ["apply", "apply"]


async def test_every_apply_in_an_uncached_namespace_is_sent(
    scene: Scene, controller: ControllerWriter
) -> None:
    for _ in range(2):
        await controller.apply(config_map(THERE, "settings", labels=None, color="blue"))

    assert controller.verbs == ["apply", "apply"]


def _without_managers(obj: Any) -> Any:
    return replace(obj, metadata=replace(obj.metadata, managed_fields=None))


def _without_data(obj: Any) -> Any:
    return replace(obj, data=None)


@pytest.mark.parametrize(("transform", "sent"), [(_without_managers, 2), (_without_data, 1)])
async def test_a_cache_with_fewer_fields_is_compared_only_in_those(
    scene: Scene, transform: Any, sent: int
) -> None:
    async with working(
        scene, options=(CacheOptions(ConfigMap, transform=transform),)
    ) as controller:
        for _ in range(2):
            await controller.apply(child())
            await controller.catch_up(child())

        assert controller.verbs == ["apply"] * sent


async def test_a_value_that_the_server_normalizes_is_sent_once(
    scene: Scene, controller: ControllerWriter
) -> None:
    amounts = core_v1.ResourceRequirements(requests={"cpu": "0.5"})  # type: ignore[dict-item]
    web = deployment(HERE, "web", replace(container(), resources=amounts))
    await controller.apply(web)
    for ready in range(3):
        status = scene.server.status(Deployment, "web", namespace=HERE)
        await status.patch(MergePatch({"status": {"replicas": ready}}))
        await controller.catch_up(web)
        await controller.apply(web)

    assert controller.verbs == ["apply"]


# Entries of the writer


async def test_deleted_objects_leave_no_entry_in_the_writer(
    scene: Scene, controller: ControllerWriter
) -> None:
    for number in range(20):
        made = await controller.apply(child(name=f"c{number}"))
        await controller.writer.delete(made, report=controller.report)
        controller.writer.forget(ConfigMap, ObjectKey(HERE, made.name))

    assert repr(controller.writer) == "<Writer us, 0 applied>"


async def test_uncached_objects_leave_no_entry_in_the_writer(scene: Scene) -> None:
    owner = await an_owner(scene.server, HERE)
    async with working(scene, ConfigMap, labels=Labels.equal({"kept": "yes"})) as controller:
        await controller.apply_owned(child("blue"), owner)
        await controller.apply_owned(child("red"), owner)

        assert controller.seen(child()) is None
        assert repr(controller.writer) == "<Writer us, 0 applied>"


async def test_a_cache_keeps_only_the_managed_fields_of_the_controller(
    scene: Scene, controller: ControllerWriter
) -> None:
    await scene.server.apply(child(), field_manager="them")
    await scene.server.patch(
        ConfigMap,
        "settings",
        MergePatch({"data": {"age": "7"}}),
        namespace=HERE,
        field_manager="us",
    )
    await controller.apply(child())

    for seen in (controller.seen(child()), await controller.catch_up(child())):
        assert seen is not None
        kept = seen.metadata.managed_fields or ()
        assert [(each.manager, each.operation) for each in kept] == [("us", "Apply")]


# Hot loops


async def fighting(
    scene: Scene, controller: ControllerWriter, rounds: int, *, seconds: float = 1.0
) -> None:
    for _ in range(rounds):
        await controller.apply(child(), force=True)
        patch = MergePatch({"data": {"color": "red"}})
        await scene.server.patch(ConfigMap, "settings", patch, namespace=HERE)
        await scene.settle()
        scene.clock.advance(seconds)


async def test_a_hot_loop_is_reported_after_five_rounds_and_then_after_twice_as_many(
    scene: Scene, controller: ControllerWriter
) -> None:
    await fighting(scene, controller, 12)

    first, second = scene.seen(FieldConflictFound)
    assert (first.count, second.count) == (5, 10)
    assert first.fields == ("data.color",)
    assert first.controller == "us"
    assert first.managers != ()


async def test_an_occasional_correction_is_not_a_field_conflict(
    scene: Scene, controller: ControllerWriter
) -> None:
    await fighting(scene, controller, 8, seconds=61.0)

    assert scene.seen(FieldConflictFound) == []


async def test_changes_of_other_fields_are_not_a_field_conflict(
    scene: Scene, controller: ControllerWriter
) -> None:
    amounts = core_v1.ResourceRequirements(requests={"cpu": "0.5"})  # type: ignore[dict-item]
    web = deployment(HERE, "web", replace(container(), resources=amounts))
    for history in range(1, 9):
        await controller.apply(web)
        patch = MergePatch({"spec": {"revisionHistoryLimit": history}})
        await scene.server.patch(Deployment, "web", patch, namespace=HERE)
        await scene.settle()

    assert scene.seen(FieldConflictFound) == []
    # The server writes the value in another form, so the apply was sent.
    assert {each.is_change for each in controller.sent[1:]} == {False}


async def test_a_removed_field_is_a_conflict_without_a_manager(
    scene: Scene, controller: ControllerWriter
) -> None:
    for _ in range(6):
        await controller.apply(child())
        await scene.server.patch(ConfigMap, "settings", MergePatch({"data": None}), namespace=HERE)
        await scene.settle()

    (fight,) = scene.seen(FieldConflictFound)
    assert (fight.fields, fight.managers) == (("data.color",), ())


async def test_field_conflicts_of_unstructured_children_are_reported(scene: Scene) -> None:
    kind = Unstructured.of("v1", "ConfigMap")
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": HERE},
        "data": {"color": "blue"},
    }
    async with working(scene, kind) as controller:
        for _ in range(6):
            await controller.apply(kind(body), force=True)
            patch = MergePatch({"data": {"color": "red"}})
            await scene.server.patch(
                ConfigMap, "settings", patch, namespace=HERE, field_manager="them"
            )
            await scene.settle()

    (fight,) = scene.seen(FieldConflictFound)
    assert (fight.fields, fight.managers) == (("data.color",), ("them",))
