"""What a controller writes does no harm: not to strangers, not to what was made anew."""

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
from steersman.observe import FieldFight
from tests.real.definitions import AnyWidget, Widget, WidgetStatus, any_widget, widget
from tests.real.objects import AnyConfigMap, config_map, deployment
from tests.real.seeing import Seen
from tests.real.writers import Desk, an_owner, at_work

ConfigMap = core_v1.ConfigMap
Deployment = apps_v1.Deployment
KINDS = (ConfigMap, AnyConfigMap, Widget, AnyWidget, Deployment)


@pytest.fixture
async def desk(client: Client, namespace: str, seen: Seen, widgets: None) -> AsyncIterator[Desk]:
    """We, at work on a few kinds."""
    async with at_work(client, *KINDS, namespace=namespace, observe=seen) as desk:
        yield desk


@pytest.fixture
async def blind(client: Client, namespace: str, seen: Seen) -> AsyncIterator[Desk]:
    """We, with a cache that shows no ConfigMaps although there are some: they lack the label."""
    labels = Labels.equal({"shown": "yes"})
    async with at_work(client, ConfigMap, namespace=namespace, labels=labels, observe=seen) as desk:
        yield desk


def settings(namespace: str, **data: str) -> core_v1.ConfigMap:
    """A child."""
    return config_map(namespace, "settings", labels=None, **data)


def any_settings(namespace: str, **data: str) -> Unstructured:
    """The same child as a dictionary, of which nothing but its name is said."""
    metadata = {"name": "settings", "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return AnyConfigMap(body)


FORMS = (settings, any_settings)


async def stored(client: Client, namespace: str, name: str = "settings") -> core_v1.ConfigMap:
    return await client.get(ConfigMap, name, namespace=namespace)


# Children


@pytest.mark.parametrize("form", FORMS)
async def test_a_child_is_made_with_its_owner_and_shown_at_once(
    desk: Desk, namespace: str, form: Any
) -> None:
    owner = await an_owner(desk.client, namespace)

    child = await desk.apply_owned(form(namespace, color="blue"), owner)

    made = await stored(desk.client, namespace)
    assert made.metadata.owner_references == (owner_reference(owner),)
    seen = desk.seen(child)
    assert seen is not None
    assert seen.resource_version == child.resource_version


@pytest.mark.parametrize("form", FORMS)
async def test_what_was_read_and_changed_can_be_applied(
    desk: Desk, namespace: str, form: Any
) -> None:
    owner = await an_owner(desk.client, namespace)
    read = await desk.apply_owned(form(namespace, color="blue"), owner)

    if isinstance(read, Unstructured):
        changed = await desk.apply_owned(read.changed("data", "color", to="red"), owner)
    else:
        changed = await desk.apply_owned(replace(read, data={"color": "red"}), owner)

    assert (await stored(desk.client, namespace)).data == {"color": "red"}
    assert changed.uid == read.uid


@pytest.mark.parametrize("form", FORMS)
async def test_what_was_read_is_not_made_anew(desk: Desk, namespace: str, form: Any) -> None:
    owner = await an_owner(desk.client, namespace)
    read = await desk.apply_owned(form(namespace, color="blue"), owner)
    await desk.client.delete(ConfigMap, "settings", namespace=namespace)
    await desk.catch_up(read)

    with pytest.raises(Conflict):
        await desk.apply_owned(read, owner)

    with pytest.raises(NotFound):
        await stored(desk.client, namespace)


async def test_a_child_deleted_behind_our_back_is_a_conflict_and_then_made_anew(
    desk: Desk, namespace: str
) -> None:
    owner = await an_owner(desk.client, namespace)
    first = await desk.apply_owned(settings(namespace, color="blue"), owner)
    await desk.client.delete(ConfigMap, "settings", namespace=namespace)

    try:
        await desk.apply_owned(settings(namespace, color="red"), owner)
    except Conflict:
        await desk.catch_up(first)
    second = await desk.apply_owned(settings(namespace, color="red"), owner)

    assert second.uid != first.uid


async def test_a_child_replaced_behind_our_back_is_a_conflict_and_then_a_strangers(
    desk: Desk, namespace: str
) -> None:
    owner = await an_owner(desk.client, namespace)
    first = await desk.apply_owned(settings(namespace, color="blue"), owner)
    await desk.client.delete(ConfigMap, "settings", namespace=namespace)
    await desk.client.create(settings(namespace, color="theirs"))

    with pytest.raises((Conflict, NotOurs)):
        await desk.apply_owned(settings(namespace, color="red"), owner)
    await desk.catch_up(first)
    with pytest.raises(NotOurs):
        await desk.apply_owned(settings(namespace, color="red"), owner)

    assert (await stored(desk.client, namespace)).data == {"color": "theirs"}


@pytest.mark.parametrize("form", FORMS)
async def test_an_object_that_another_controls_is_not_ours(
    desk: Desk, namespace: str, form: Any
) -> None:
    ours, theirs = [await an_owner(desk.client, namespace, name) for name in ("ours", "theirs")]
    await desk.apply_owned(form(namespace, color="blue"), theirs)

    with pytest.raises(NotOurs) as refusal:
        await desk.apply_owned(form(namespace, color="red"), ours, adopt=True)

    assert refusal.value.actual_controller == f"ConfigMap {namespace}/theirs"
    assert (await stored(desk.client, namespace)).data == {"color": "blue"}


async def test_an_object_that_nobody_controls_is_not_ours_unless_we_adopt_it(
    desk: Desk, namespace: str
) -> None:
    owner = await an_owner(desk.client, namespace)
    await desk.client.create(settings(namespace, color="blue"))
    await desk.catch_up(settings(namespace))

    with pytest.raises(NotOurs) as refusal:
        await desk.apply_owned(settings(namespace, age="7"), owner)
    assert refusal.value.actual_controller is None
    assert (await stored(desk.client, namespace)).data == {"color": "blue"}

    adopted = await desk.apply_owned(settings(namespace, age="7"), owner, adopt=True)
    assert adopted.data == {"color": "blue", "age": "7"}
    assert controller_of(adopted) == owner_reference(owner)


async def test_to_adopt_does_not_mean_to_take_fields_that_others_hold(
    desk: Desk, namespace: str
) -> None:
    owner = await an_owner(desk.client, namespace)
    await desk.client.create(settings(namespace, color="blue"))
    await desk.catch_up(settings(namespace))

    with pytest.raises(NotOurs) as refusal:
        await desk.apply_owned(settings(namespace, color="red"), owner, adopt=True)

    assert refusal.value.fields == ("data.color",)
    left = await stored(desk.client, namespace)
    assert (left.data, left.metadata.owner_references) == ({"color": "blue"}, None)


@pytest.mark.parametrize("data", [{"color": "red"}, {"age": "7"}])
async def test_an_object_that_our_cache_does_not_show_is_not_taken_over(
    blind: Desk, namespace: str, data: dict[str, str]
) -> None:
    # Not even where no field is in dispute: who adds a reference to its owner may delete it.
    owner = await an_owner(blind.client, namespace)
    await blind.client.create(settings(namespace, color="blue"))

    with pytest.raises(NotOurs) as refusal:
        await blind.apply_owned(settings(namespace, **data), owner)

    left = await stored(blind.client, namespace)
    assert (left.data, left.metadata.owner_references) == ({"color": "blue"}, None)
    assert refusal.value.fields == (("data.color",) if "color" in data else ())


async def test_a_child_of_ours_that_our_cache_does_not_show_is_put_right(
    blind: Desk, namespace: str
) -> None:
    owner = await an_owner(blind.client, namespace)
    await blind.apply_owned(settings(namespace, color="blue"), owner)
    await blind.client.patch(
        ConfigMap, "settings", MergePatch({"data": {"color": "red"}}), namespace=namespace
    )

    again = await blind.apply_owned(settings(namespace, color="blue"), owner)

    assert again.data == {"color": "blue"}


async def test_a_controller_that_came_behind_our_back_is_named(desk: Desk, namespace: str) -> None:
    ours, theirs = [await an_owner(desk.client, namespace, name) for name in ("ours", "theirs")]
    await desk.apply_owned(settings(namespace, color="blue"), ours)
    body = {"metadata": {"ownerReferences": [_reference(theirs)]}}
    await desk.client.patch(ConfigMap, "settings", MergePatch(body), namespace=namespace)

    with pytest.raises(NotOurs) as refusal:
        await desk.apply_owned(settings(namespace, color="red"), ours)

    assert refusal.value.actual_controller == f"ConfigMap {namespace}/theirs"


def _reference(owner: core_v1.ConfigMap) -> dict[str, Any]:
    names = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner.name, "uid": owner.uid}
    return {**names, "controller": True}


# The status


async def test_two_controllers_each_have_their_part_of_a_status(
    client: Client, namespace: str, seen: Seen, widgets: None
) -> None:
    await client.create(widget(namespace, "one"))
    one = await client.get(Widget, "one", namespace=namespace)
    async with (
        at_work(client, Widget, namespace=namespace, observe=seen, manager="first") as first,
        at_work(client, Widget, namespace=namespace, observe=seen, manager="second") as second,
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


async def test_a_condition_keeps_its_time_until_it_flips(desk: Desk, namespace: str) -> None:
    await desk.client.create(widget(namespace, "one"))
    one = await desk.catch_up(widget(namespace, "one"))
    assert one is not None

    def status(holds: bool, message: str) -> WidgetStatus:
        return WidgetStatus(
            conditions=(Condition.when(holds, "Ready", yes="Yes", no="No", message=message),)
        )

    async def since(holds: bool, message: str) -> Any:
        answer = await desk.apply_status(one, status(holds, message))
        assert answer.status is not None
        assert answer.status.conditions is not None
        return answer.status.conditions[0].last_transition_time

    first = await since(False, "a")
    await desk.client.clock.sleep(1.1)

    assert await since(False, "b") == first
    assert await since(True, "b") > first


async def test_the_status_of_an_object_that_was_made_anew_is_not_told(
    desk: Desk, namespace: str
) -> None:
    old = await desk.client.create(any_widget(namespace, "one", size=1))
    await desk.client.delete(AnyWidget, "one", namespace=namespace)
    await desk.client.create(any_widget(namespace, "one", size=2))
    await desk.catch_up(old)

    with pytest.raises(Conflict):
        await desk.apply_status(old, {"ready": 1})

    now = await desk.client.get(AnyWidget, "one", namespace=namespace)
    assert now.get("status") is None


async def test_a_status_is_refused_by_the_schema_with_the_field(desk: Desk, namespace: str) -> None:
    one = await desk.client.create(any_widget(namespace, "one", size=1))

    with pytest.raises(Invalid, match="ready"):
        await desk.apply_status(one, {"ready": "soon"})


# Patches and deletions


PATCHES = (
    MergePatch({"data": {"color": "red"}}),
    StrategicMergePatch({"data": {"color": "red"}, "metadata": {"labels": {"a": "b"}}}),
    JsonPatch(JsonPatch.replace("/data/color", "red")),
)


@pytest.mark.parametrize("patch", PATCHES)
async def test_a_patch_is_for_the_object_that_was_read_only(
    desk: Desk, namespace: str, patch: Any
) -> None:
    old = await desk.client.create(settings(namespace, color="blue"))
    await desk.client.delete(ConfigMap, "settings", namespace=namespace)
    new = await desk.client.create(settings(namespace, color="blue"))

    with pytest.raises(Conflict, match="made anew"):
        await desk.writer.patch(old, patch, report=desk.report)
    assert (await stored(desk.client, namespace)).data == {"color": "blue"}

    changed = await desk.writer.patch(new, patch, report=desk.report)
    assert changed.data == {"color": "red"}
    assert [(write.verb, write.is_change) for write in desk.sent] == [("patch", True)]


async def test_a_patch_that_is_wrong_itself_says_so(desk: Desk, namespace: str) -> None:
    new = await desk.client.create(settings(namespace, color="blue"))

    with pytest.raises(Invalid):
        await desk.writer.patch(
            new, JsonPatch(JsonPatch.test("/data/color", "red")), report=desk.report
        )


async def test_a_scale_is_patched_for_the_object_that_was_read(desk: Desk, namespace: str) -> None:
    web = await desk.client.create(deployment(namespace, "web"))
    patch = MergePatch({"spec": {"replicas": 3}})

    assert await desk.writer.patch(web, patch, subresource="scale", report=desk.report) is web

    now = await desk.client.get(Deployment, "web", namespace=namespace)
    assert now.spec is not None
    assert now.spec.replicas == 3


async def test_only_the_object_that_was_read_is_deleted(desk: Desk, namespace: str) -> None:
    old = await desk.client.create(settings(namespace, color="old"))
    await desk.client.delete(ConfigMap, "settings", namespace=namespace)
    new = await desk.client.create(settings(namespace, color="new"))

    await desk.writer.delete(old, report=desk.report)
    assert desk.sent == []
    assert (await stored(desk.client, namespace)).uid == new.uid

    await desk.writer.delete(new, report=desk.report)
    await desk.writer.delete(new, report=desk.report)
    assert desk.verbs == ["delete"]
    assert desk.seen(new) is None


async def test_what_an_owner_no_longer_wants_is_deleted_and_nothing_else(
    desk: Desk, namespace: str
) -> None:
    ours, theirs = [await an_owner(desk.client, namespace, name) for name in ("ours", "theirs")]
    for name, owner in (("a", ours), ("b", ours), ("c", theirs)):
        await desk.apply_owned(config_map(namespace, name), owner)
    await desk.apply_owned(widget(namespace, "w"), ours)
    held = config_map(namespace, "going")
    held = replace(held, metadata=replace(held.metadata, finalizers=("example.com/held",)))
    going = await desk.apply_owned(held, ours)
    await desk.writer.delete(going, report=desk.report)
    desk.sent.clear()
    keep = {(ConfigMap, ObjectKey(namespace, "a"))}

    await desk.writer.prune(ours, (ConfigMap, Widget), keep=keep, report=desk.report)
    await desk.writer.prune(ours, (ConfigMap, Widget), keep=keep, report=desk.report)

    assert desk.verbs == ["delete", "delete"]
    left = await desk.client.list(ConfigMap, namespace=namespace)
    names = {each.name for each in left.items} - {"kube-root-ca.crt"}
    assert names == {"a", "c", "going", "ours", "theirs"}
    patch = MergePatch({"metadata": {"finalizers": None}})
    await desk.client.patch(ConfigMap, "going", patch, namespace=namespace)


# Finalizers


OURS = "example.com/us"


@pytest.mark.parametrize("kind", [Widget, AnyWidget])
async def test_a_finalizer_is_put_beside_others_and_taken_off_alone(
    desk: Desk, namespace: str, kind: Any
) -> None:
    made = widget(namespace, "one")
    await desk.client.create(replace(made, metadata=replace(made.metadata, finalizers=("a.b/c",))))
    one = await desk.client.get(kind, "one", namespace=namespace)

    with_ours = await desk.writer.add_finalizer(one, report=desk.report)
    assert await desk.writer.add_finalizer(one, report=desk.report) is not None
    assert desk.verbs == ["patch"]
    assert _finalizers(with_ours) == ["a.b/c", OURS]

    # Nobody minds what happened to the object meanwhile.
    await desk.client.patch(
        kind, "one", MergePatch({"metadata": {"labels": {"a": "b"}}}), namespace=namespace
    )
    without = await desk.writer.remove_finalizer(with_ours, report=desk.report)
    assert without is not None
    assert _finalizers(without) == ["a.b/c"]
    await desk.client.patch(
        kind, "one", MergePatch({"metadata": {"finalizers": None}}), namespace=namespace
    )


async def test_an_object_that_is_being_deleted_gets_no_finalizer_and_goes_with_its_last(
    desk: Desk, namespace: str
) -> None:
    one = await desk.client.create(widget(namespace, "one"))
    one = await desk.writer.add_finalizer(one, report=desk.report)
    await desk.client.delete(Widget, "one", namespace=namespace)
    ending = await desk.catch_up(one)
    assert ending is not None
    assert await desk.writer.add_finalizer(ending, report=desk.report) is ending

    await desk.writer.remove_finalizer(ending, report=desk.report)
    assert desk.seen(one) is None
    with pytest.raises(NotFound):
        await desk.client.get(Widget, "one", namespace=namespace)
    assert await desk.writer.remove_finalizer(ending, report=desk.report) is None


async def test_an_object_of_the_same_name_gets_no_finalizer_in_its_place(
    desk: Desk, namespace: str
) -> None:
    old = await desk.client.create(widget(namespace, "one"))
    await desk.client.delete(Widget, "one", namespace=namespace)
    await desk.client.create(widget(namespace, "one"))

    with pytest.raises(Conflict):
        await desk.writer.add_finalizer(old, report=desk.report)

    now = await desk.client.get(Widget, "one", namespace=namespace)
    assert _finalizers(now) == []


async def test_our_finalizer_is_never_applied(desk: Desk, namespace: str) -> None:
    one = await desk.client.create(widget(namespace, "one"))
    one = await desk.writer.add_finalizer(one, report=desk.report)

    await desk.apply(one, force=True)
    await desk.writer.remove_finalizer(one, report=desk.report)
    await desk.apply(one, force=True)

    now = await desk.client.get(Widget, "one", namespace=namespace)
    assert _finalizers(now) == []


def _finalizers(obj: Any) -> list[str]:
    if isinstance(obj, Unstructured):
        return list(obj.metadata.get("finalizers") or ())
    return list(obj.metadata.finalizers or ())


# Fights


async def test_whoever_keeps_taking_our_fields_is_named_with_the_fields(
    desk: Desk, namespace: str, seen: Seen
) -> None:
    owner = await an_owner(desk.client, namespace)
    web = deployment(namespace, "web", replicas=2)
    for round in range(7):
        await desk.apply_owned(web, owner)
        await desk.client.patch(
            Deployment,
            "web",
            StrategicMergePatch(_grab(round)),
            namespace=namespace,
            field_manager="scaler",
        )
        await desk.catch_up(web)

    (fight,) = seen.of(FieldFight)
    assert fight.managers == ("scaler",)
    assert fight.fields == (
        "spec.replicas",
        "spec.template.spec.containers[name=main].image",
    )
    assert (str(fight.ref), fight.count) == (f"Deployment {namespace}/web", 5)


def _grab(round: int) -> dict[str, Any]:
    containers = [{"name": "main", "image": f"example.com/theirs:{round}"}]
    return {"spec": {"replicas": 7, "template": {"spec": {"containers": containers}}}}


async def test_whoever_fights_us_under_our_own_name_is_named_too(
    desk: Desk, namespace: str, seen: Seen
) -> None:
    for _ in range(7):
        await desk.apply(settings(namespace, color="blue"))
        await desk.client.apply(settings(namespace, color="red"), field_manager="us")
        await desk.catch_up(settings(namespace))

    (fight,) = seen.of(FieldFight)
    assert (fight.fields, fight.managers) == (("data.color",), ("us",))


async def test_controllers_that_share_an_atomic_list_in_a_status_are_named_with_it(
    client: Client, namespace: str, seen: Seen
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
        at_work(client, kind, namespace=namespace, observe=seen, manager="first") as first,
        at_work(client, kind, namespace=namespace, observe=seen, manager="second") as second,
    ):
        for _ in range(6):
            for desk, ip in ((first, "10.0.0.1"), (second, "10.0.0.2")):
                await desk.catch_up(door)
                await desk.apply_status(door, _reachable_at(ip))

    one, other = seen.of(FieldFight)
    assert (one.controller, one.managers) == ("first", ("second",))
    assert (other.controller, other.managers) == ("second", ("first",))
    assert one.fields == other.fields == ("status.loadBalancer.ingress",)


def _reachable_at(ip: str) -> networking_v1.IngressStatus:
    return networking_v1.IngressStatus(
        load_balancer=networking_v1.IngressLoadBalancerStatus(
            ingress=(networking_v1.IngressLoadBalancerIngress(ip=ip),)
        )
    )
