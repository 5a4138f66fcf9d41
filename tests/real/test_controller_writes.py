"""A controller does not write to objects of other owners or to recreated objects."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from steersman.client import Client, JsonPatch, Labels, MergePatch, StrategicMergePatch
from steersman.controller.ownership.owner_references import controller_of, owner_reference
from steersman.errors import Conflict, Invalid, NotFound, NotOurs
from steersman.kinds import (
    Condition,
    Unstructured,
    apps_v1,
    core_v1,
    meta_v1,
    networking_v1,
    replace,
)
from steersman.names import ObjectKey
from steersman.observe import FieldConflictFound
from tests.real.definitions import AnyWidget, Widget, WidgetStatus, any_widget, widget
from tests.real.objects import AnyConfigMap, config_map, deployment
from tests.real.recording_observer import RecordingObserver
from tests.real.writers import ControllerWriter, an_owner, running_writer

ConfigMap = core_v1.ConfigMap
Deployment = apps_v1.Deployment
KINDS = (ConfigMap, AnyConfigMap, Widget, AnyWidget, Deployment)


@pytest.fixture
async def controller(
    client: Client, namespace: str, seen: RecordingObserver, widgets: None
) -> AsyncIterator[ControllerWriter]:
    """A running writer of a few kinds."""
    async with running_writer(client, *KINDS, namespace=namespace, observe=seen) as controller:
        yield controller


@pytest.fixture
async def uncached(
    client: Client, namespace: str, seen: RecordingObserver
) -> AsyncIterator[ControllerWriter]:
    """A writer whose cache selects a label that no ConfigMap has."""
    labels = Labels.equal({"shown": "yes"})
    async with running_writer(
        client, ConfigMap, namespace=namespace, labels=labels, observe=seen
    ) as controller:
        yield controller


def settings(namespace: str, **data: str) -> core_v1.ConfigMap:
    """A typed child."""
    return config_map(namespace, "settings", labels=None, **data)


def any_settings(namespace: str, **data: str) -> Unstructured:
    """The same child as an unstructured object without labels."""
    metadata = {"name": "settings", "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return AnyConfigMap(body)


CHILDREN = (settings, any_settings)


async def stored(client: Client, namespace: str, name: str = "settings") -> core_v1.ConfigMap:
    return await client.get(ConfigMap, name, namespace=namespace)


# Children


@pytest.mark.parametrize("child_of_kind", CHILDREN)
async def test_a_child_is_created_with_its_owner_and_the_cache_has_it_immediately(
    controller: ControllerWriter, namespace: str, child_of_kind: Any
) -> None:
    owner = await an_owner(controller.client, namespace)

    child = await controller.apply_owned(child_of_kind(namespace, color="blue"), owner)

    made = await stored(controller.client, namespace)
    assert made.metadata.owner_references == (owner_reference(owner),)
    seen = controller.seen(child)
    assert seen is not None
    assert seen.resource_version == child.resource_version


@pytest.mark.parametrize("child_of_kind", CHILDREN)
async def test_a_modified_read_object_can_be_applied(
    controller: ControllerWriter, namespace: str, child_of_kind: Any
) -> None:
    owner = await an_owner(controller.client, namespace)
    read = await controller.apply_owned(child_of_kind(namespace, color="blue"), owner)

    if isinstance(read, Unstructured):
        changed = await controller.apply_owned(read.changed("data", "color", to="red"), owner)
    else:
        changed = await controller.apply_owned(replace(read, data={"color": "red"}), owner)

    assert (await stored(controller.client, namespace)).data == {"color": "red"}
    assert changed.uid == read.uid


@pytest.mark.parametrize("child_of_kind", CHILDREN)
async def test_an_apply_of_a_read_object_does_not_recreate_it(
    controller: ControllerWriter, namespace: str, child_of_kind: Any
) -> None:
    owner = await an_owner(controller.client, namespace)
    read = await controller.apply_owned(child_of_kind(namespace, color="blue"), owner)
    await controller.client.delete(ConfigMap, "settings", namespace=namespace)
    await controller.catch_up(read)

    with pytest.raises(Conflict):
        await controller.apply_owned(read, owner)

    with pytest.raises(NotFound):
        await stored(controller.client, namespace)


async def test_a_child_deleted_by_another_client_is_a_conflict_and_then_recreated(
    controller: ControllerWriter, namespace: str
) -> None:
    owner = await an_owner(controller.client, namespace)
    first = await controller.apply_owned(settings(namespace, color="blue"), owner)
    await controller.client.delete(ConfigMap, "settings", namespace=namespace)

    try:
        await controller.apply_owned(settings(namespace, color="red"), owner)
    except Conflict:
        await controller.catch_up(first)
    second = await controller.apply_owned(settings(namespace, color="red"), owner)

    assert second.uid != first.uid


async def test_a_child_replaced_by_another_client_is_a_conflict_and_then_not_ours(
    controller: ControllerWriter, namespace: str
) -> None:
    owner = await an_owner(controller.client, namespace)
    first = await controller.apply_owned(settings(namespace, color="blue"), owner)
    await controller.client.delete(ConfigMap, "settings", namespace=namespace)
    await controller.client.create(settings(namespace, color="other"))

    with pytest.raises((Conflict, NotOurs)):
        await controller.apply_owned(settings(namespace, color="red"), owner)
    await controller.catch_up(first)
    with pytest.raises(NotOurs):
        await controller.apply_owned(settings(namespace, color="red"), owner)

    assert (await stored(controller.client, namespace)).data == {"color": "other"}


@pytest.mark.parametrize("child_of_kind", CHILDREN)
async def test_an_object_of_another_controller_raises_not_ours(
    controller: ControllerWriter, namespace: str, child_of_kind: Any
) -> None:
    owner, other_owner = [
        await an_owner(controller.client, namespace, name) for name in ("owner", "other")
    ]
    await controller.apply_owned(child_of_kind(namespace, color="blue"), other_owner)

    with pytest.raises(NotOurs) as error:
        await controller.apply_owned(child_of_kind(namespace, color="red"), owner, adopt=True)

    assert error.value.actual_controller == f"ConfigMap {namespace}/other"
    assert (await stored(controller.client, namespace)).data == {"color": "blue"}


async def test_an_object_without_a_controller_raises_not_ours_unless_adopted(
    controller: ControllerWriter, namespace: str
) -> None:
    owner = await an_owner(controller.client, namespace)
    await controller.client.create(settings(namespace, color="blue"))
    await controller.catch_up(settings(namespace))

    with pytest.raises(NotOurs) as error:
        await controller.apply_owned(settings(namespace, age="7"), owner)
    assert error.value.actual_controller is None
    assert (await stored(controller.client, namespace)).data == {"color": "blue"}

    adopted = await controller.apply_owned(settings(namespace, age="7"), owner, adopt=True)
    assert adopted.data == {"color": "blue", "age": "7"}
    assert controller_of(adopted) == owner_reference(owner)


async def test_adoption_does_not_take_fields_of_other_managers(
    controller: ControllerWriter, namespace: str
) -> None:
    owner = await an_owner(controller.client, namespace)
    await controller.client.create(settings(namespace, color="blue"))
    await controller.catch_up(settings(namespace))

    with pytest.raises(NotOurs) as error:
        await controller.apply_owned(settings(namespace, color="red"), owner, adopt=True)

    assert error.value.fields == ("data.color",)
    left = await stored(controller.client, namespace)
    assert (left.data, left.metadata.owner_references) == ({"color": "blue"}, None)


@pytest.mark.parametrize("data", [{"color": "red"}, {"age": "7"}])
async def test_an_object_that_is_not_in_the_cache_is_not_taken_over(
    uncached: ControllerWriter, namespace: str, data: dict[str, str]
) -> None:
    # Not even without a conflict: an owner reference would let the garbage collector delete it.
    owner = await an_owner(uncached.client, namespace)
    await uncached.client.create(settings(namespace, color="blue"))

    with pytest.raises(NotOurs) as error:
        await uncached.apply_owned(settings(namespace, **data), owner)

    left = await stored(uncached.client, namespace)
    assert (left.data, left.metadata.owner_references) == ({"color": "blue"}, None)
    assert error.value.fields == (("data.color",) if "color" in data else ())


async def test_an_owned_child_that_is_not_in_the_cache_is_applied(
    uncached: ControllerWriter, namespace: str
) -> None:
    owner = await an_owner(uncached.client, namespace)
    await uncached.apply_owned(settings(namespace, color="blue"), owner)
    await uncached.client.patch(
        ConfigMap, "settings", MergePatch({"data": {"color": "red"}}), namespace=namespace
    )

    again = await uncached.apply_owned(settings(namespace, color="blue"), owner)

    assert again.data == {"color": "blue"}


async def test_not_ours_names_a_controller_that_was_set_by_another_client(
    controller: ControllerWriter, namespace: str
) -> None:
    owner, other_owner = [
        await an_owner(controller.client, namespace, name) for name in ("owner", "other")
    ]
    await controller.apply_owned(settings(namespace, color="blue"), owner)
    body = {"metadata": {"ownerReferences": [_reference(other_owner)]}}
    await controller.client.patch(ConfigMap, "settings", MergePatch(body), namespace=namespace)

    with pytest.raises(NotOurs) as error:
        await controller.apply_owned(settings(namespace, color="red"), owner)

    assert error.value.actual_controller == f"ConfigMap {namespace}/other"


def _reference(owner: core_v1.ConfigMap) -> dict[str, Any]:
    names = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner.name, "uid": owner.uid}
    return {**names, "controller": True}


# The status


async def test_two_controllers_own_different_fields_of_a_status(
    client: Client, namespace: str, seen: RecordingObserver, widgets: None
) -> None:
    await client.create(widget(namespace, "one"))
    one = await client.get(Widget, "one", namespace=namespace)
    async with (
        running_writer(client, Widget, namespace=namespace, observe=seen, manager="first") as first,
        running_writer(
            client, Widget, namespace=namespace, observe=seen, manager="second"
        ) as second,
    ):
        ready = Condition.when(True, "Ready", yes="Yes", no="No")
        painted = Condition.when(False, "Painted", yes="Yes", no="No")
        for _ in range(3):
            await first.apply_status(one, WidgetStatus(ready=1, conditions=(ready,)))
            await second.apply_status(one, WidgetStatus(conditions=(painted,)))
            await first.catch_up(one)
            await second.catch_up(one)

        assert first.verbs + second.verbs == ["apply status", "apply status"]
    both = await client.get(Widget, "one", namespace=namespace)
    assert both.status is not None
    assert both.status.ready == 1
    assert {each.type: each.status for each in both.status.conditions or ()} == {
        "Ready": "True",
        "Painted": "False",
    }


async def test_a_condition_keeps_its_transition_time_until_its_status_changes(
    controller: ControllerWriter, namespace: str
) -> None:
    await controller.client.create(widget(namespace, "one"))
    one = await controller.catch_up(widget(namespace, "one"))
    assert one is not None

    def status(holds: bool, message: str) -> WidgetStatus:
        return WidgetStatus(
            conditions=(Condition.when(holds, "Ready", yes="Yes", no="No", message=message),)
        )

    async def since(holds: bool, message: str) -> Any:
        response = await controller.apply_status(one, status(holds, message))
        assert response.status is not None
        assert response.status.conditions is not None
        return response.status.conditions[0].last_transition_time

    first = await since(False, "a")
    await controller.client.clock.sleep(1.1)

    assert await since(False, "b") == first
    assert await since(True, "b") > first


async def test_the_status_of_an_object_that_was_recreated_is_not_reported(
    controller: ControllerWriter, namespace: str
) -> None:
    old = await controller.client.create(any_widget(namespace, "one", size=1))
    await controller.client.delete(AnyWidget, "one", namespace=namespace)
    await controller.client.create(any_widget(namespace, "one", size=2))
    await controller.catch_up(old)

    with pytest.raises(Conflict):
        await controller.apply_status(old, {"ready": 1})

    now = await controller.client.get(AnyWidget, "one", namespace=namespace)
    assert now.get("status") is None


async def test_a_status_is_rejected_by_the_schema_with_the_field(
    controller: ControllerWriter, namespace: str
) -> None:
    one = await controller.client.create(any_widget(namespace, "one", size=1))

    with pytest.raises(Invalid, match="ready"):
        await controller.apply_status(one, {"ready": "soon"})


# Patches and deletions


PATCHES = (
    MergePatch({"data": {"color": "red"}}),
    StrategicMergePatch({"data": {"color": "red"}, "metadata": {"labels": {"a": "b"}}}),
    JsonPatch(JsonPatch.replace("/data/color", "red")),
)


@pytest.mark.parametrize("patch", PATCHES)
async def test_a_patch_changes_only_the_object_that_was_read(
    controller: ControllerWriter, namespace: str, patch: Any
) -> None:
    old = await controller.client.create(settings(namespace, color="blue"))
    await controller.client.delete(ConfigMap, "settings", namespace=namespace)
    new = await controller.client.create(settings(namespace, color="blue"))

    with pytest.raises(Conflict, match="deleted and created again"):
        await controller.writer.patch(old, patch, report=controller.report)
    assert (await stored(controller.client, namespace)).data == {"color": "blue"}

    changed = await controller.writer.patch(new, patch, report=controller.report)
    assert changed.data == {"color": "red"}
    assert [(write.verb, write.is_change) for write in controller.sent] == [("patch", True)]


async def test_an_invalid_patch_is_reported_as_invalid(
    controller: ControllerWriter, namespace: str
) -> None:
    new = await controller.client.create(settings(namespace, color="blue"))

    with pytest.raises(Invalid):
        await controller.writer.patch(
            new, JsonPatch(JsonPatch.test("/data/color", "red")), report=controller.report
        )


async def test_a_patch_of_the_scale_changes_only_the_object_that_was_read(
    controller: ControllerWriter, namespace: str
) -> None:
    web = await controller.client.create(deployment(namespace, "web"))
    patch = MergePatch({"spec": {"replicas": 3}})

    assert (
        await controller.writer.patch(web, patch, subresource="scale", report=controller.report)
        is web
    )

    now = await controller.client.get(Deployment, "web", namespace=namespace)
    assert now.spec is not None
    assert now.spec.replicas == 3


async def test_only_the_object_that_was_read_is_deleted(
    controller: ControllerWriter, namespace: str
) -> None:
    old = await controller.client.create(settings(namespace, color="old"))
    await controller.client.delete(ConfigMap, "settings", namespace=namespace)
    new = await controller.client.create(settings(namespace, color="new"))

    await controller.writer.delete(old, report=controller.report)
    assert controller.sent == []
    assert (await stored(controller.client, namespace)).uid == new.uid

    await controller.writer.delete(new, report=controller.report)
    await controller.writer.delete(new, report=controller.report)
    assert controller.verbs == ["delete"]
    assert controller.seen(new) is None


async def test_only_unwanted_children_of_the_owner_are_deleted(
    controller: ControllerWriter, namespace: str
) -> None:
    owner, other_owner = [
        await an_owner(controller.client, namespace, name) for name in ("owner", "other")
    ]
    for name, child_owner in (("a", owner), ("b", owner), ("c", other_owner)):
        await controller.apply_owned(config_map(namespace, name), child_owner)
    await controller.apply_owned(widget(namespace, "w"), owner)
    held = config_map(namespace, "going")
    held = replace(held, metadata=replace(held.metadata, finalizers=("example.com/held",)))
    going = await controller.apply_owned(held, owner)
    await controller.writer.delete(going, report=controller.report)
    controller.sent.clear()
    keep = {(ConfigMap, ObjectKey(namespace, "a"))}

    await controller.writer.prune(owner, (ConfigMap, Widget), keep=keep, report=controller.report)
    await controller.writer.prune(owner, (ConfigMap, Widget), keep=keep, report=controller.report)

    assert controller.verbs == ["delete", "delete"]
    left = await controller.client.list(ConfigMap, namespace=namespace)
    names = {each.name for each in left.items} - {"kube-root-ca.crt"}
    assert names == {"a", "c", "going", "owner", "other"}
    patch = MergePatch({"metadata": {"finalizers": None}})
    await controller.client.patch(ConfigMap, "going", patch, namespace=namespace)


# Finalizers


FINALIZER = "example.com/us"


@pytest.mark.parametrize("kind", [Widget, AnyWidget])
async def test_a_finalizer_is_added_and_removed_without_changing_others(
    controller: ControllerWriter, namespace: str, kind: Any
) -> None:
    made = widget(namespace, "one")
    await controller.client.create(
        replace(made, metadata=replace(made.metadata, finalizers=("a.b/c",)))
    )
    one = await controller.client.get(kind, "one", namespace=namespace)

    with_finalizer = await controller.writer.add_finalizer(one, report=controller.report)
    assert await controller.writer.add_finalizer(one, report=controller.report) is not None
    assert controller.verbs == ["patch"]
    assert _finalizers(with_finalizer) == ["a.b/c", FINALIZER]

    # Another write in between does not matter.
    await controller.client.patch(
        kind, "one", MergePatch({"metadata": {"labels": {"a": "b"}}}), namespace=namespace
    )
    without_finalizer = await controller.writer.remove_finalizer(
        with_finalizer, report=controller.report
    )
    assert without_finalizer is not None
    assert _finalizers(without_finalizer) == ["a.b/c"]
    await controller.client.patch(
        kind, "one", MergePatch({"metadata": {"finalizers": None}}), namespace=namespace
    )


async def test_an_object_that_is_being_deleted_gets_no_finalizer(
    controller: ControllerWriter, namespace: str
) -> None:
    one = await controller.client.create(widget(namespace, "one"))
    one = await controller.writer.add_finalizer(one, report=controller.report)
    await controller.client.delete(Widget, "one", namespace=namespace)
    ending = await controller.catch_up(one)
    assert ending is not None
    assert await controller.writer.add_finalizer(ending, report=controller.report) is ending

    await controller.writer.remove_finalizer(ending, report=controller.report)
    assert controller.seen(one) is None
    with pytest.raises(NotFound):
        await controller.client.get(Widget, "one", namespace=namespace)
    assert await controller.writer.remove_finalizer(ending, report=controller.report) is None


async def test_a_recreated_object_does_not_get_the_finalizer_of_the_deleted_one(
    controller: ControllerWriter, namespace: str
) -> None:
    old = await controller.client.create(widget(namespace, "one"))
    await controller.client.delete(Widget, "one", namespace=namespace)
    await controller.client.create(widget(namespace, "one"))

    with pytest.raises(Conflict):
        await controller.writer.add_finalizer(old, report=controller.report)

    now = await controller.client.get(Widget, "one", namespace=namespace)
    assert _finalizers(now) == []


async def test_apply_never_contains_the_controllers_finalizer(
    controller: ControllerWriter, namespace: str
) -> None:
    one = await controller.client.create(widget(namespace, "one"))
    one = await controller.writer.add_finalizer(one, report=controller.report)

    await controller.apply(one, force=True)
    await controller.writer.remove_finalizer(one, report=controller.report)
    await controller.apply(one, force=True)

    now = await controller.client.get(Widget, "one", namespace=namespace)
    assert _finalizers(now) == []


def _finalizers(obj: Any) -> list[str]:
    if isinstance(obj, Unstructured):
        return list(obj.metadata.get("finalizers") or ())
    return list(obj.metadata.finalizers or ())


# Hot loops


async def test_a_hot_loop_report_names_the_other_client_and_the_fields(
    controller: ControllerWriter, namespace: str, seen: RecordingObserver
) -> None:
    owner = await an_owner(controller.client, namespace)
    web = deployment(namespace, "web", replicas=2)
    for round in range(7):
        await controller.apply_owned(web, owner)
        await controller.client.patch(
            Deployment,
            "web",
            StrategicMergePatch(_competing_patch(round)),
            namespace=namespace,
            field_manager="scaler",
        )
        await controller.catch_up(web)

    (conflict,) = seen.of(FieldConflictFound)
    assert conflict.managers == ("scaler",)
    assert conflict.fields == (
        "spec.replicas",
        "spec.template.spec.containers[name=main].image",
    )
    assert (str(conflict.ref), conflict.count) == (f"Deployment {namespace}/web", 5)


def _competing_patch(round: int) -> dict[str, Any]:
    containers = [{"name": "main", "image": f"example.com/other:{round}"}]
    return {"spec": {"replicas": 7, "template": {"spec": {"containers": containers}}}}


async def test_a_hot_loop_report_names_a_client_with_the_same_field_manager(
    controller: ControllerWriter, namespace: str, seen: RecordingObserver
) -> None:
    for _ in range(7):
        await controller.apply(settings(namespace, color="blue"))
        await controller.client.apply(settings(namespace, color="red"), field_manager="us")
        await controller.catch_up(settings(namespace))

    (conflict,) = seen.of(FieldConflictFound)
    assert (conflict.fields, conflict.managers) == (("data.color",), ("us",))


async def test_a_hot_loop_report_names_controllers_that_share_an_atomic_list(
    client: Client, namespace: str, seen: RecordingObserver
) -> None:
    backend = networking_v1.IngressBackend(
        service=networking_v1.IngressServiceBackend(
            name="web", port=networking_v1.ServiceBackendPort(number=80)
        )
    )
    door = await client.create(
        networking_v1.Ingress(
            metadata=meta_v1.ObjectMeta(name="door", namespace=namespace),
            spec=networking_v1.IngressSpec(default_backend=backend),
        )
    )
    kind = networking_v1.Ingress
    async with (
        running_writer(client, kind, namespace=namespace, observe=seen, manager="first") as first,
        running_writer(client, kind, namespace=namespace, observe=seen, manager="second") as second,
    ):
        for _ in range(6):
            for controller, ip in ((first, "10.0.0.1"), (second, "10.0.0.2")):
                await controller.catch_up(door)
                await controller.apply_status(door, _reachable_at(ip))

    one, other = seen.of(FieldConflictFound)
    assert (one.controller, one.managers) == ("first", ("second",))
    assert (other.controller, other.managers) == ("second", ("first",))
    assert one.fields == other.fields == ("status.loadBalancer.ingress",)


def _reachable_at(ip: str) -> networking_v1.IngressStatus:
    return networking_v1.IngressStatus(
        load_balancer=networking_v1.IngressLoadBalancerStatus(
            ingress=(networking_v1.IngressLoadBalancerIngress(ip=ip),)
        )
    )
