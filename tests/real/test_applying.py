"""apply: the applied fields belong to the manager, and the request has only them."""

import pytest

from steersman.client import Client, MergePatch
from steersman.errors import BadRequest, Conflict, Invalid, NotFound
from steersman.kinds import apps_v1, core_v1, meta_v1, replace
from tests.real.definitions import AnyWidget, Widget, any_widget, widget
from tests.real.objects import AnyConfigMap, config_map, deployment


def with_uid(obj: core_v1.ConfigMap, uid: str) -> core_v1.ConfigMap:
    return replace(obj, metadata=replace(obj.metadata, uid=uid))


async def test_apply_creates_an_object(client: Client, namespace: str) -> None:
    applied = await client.apply(
        config_map(namespace, "settings", color="blue"), field_manager="operator"
    )

    assert applied.data == {"color": "blue"}
    assert applied == await client.get(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_an_unstructured_object_is_applied(client: Client, namespace: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": namespace},
        "data": {"color": "blue"},
    }

    applied = await client.apply(AnyConfigMap(body), field_manager="operator")

    (entry,) = applied.metadata["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("operator", "Apply")


async def test_applying_an_unchanged_object_changes_nothing(client: Client, namespace: str) -> None:
    settings = config_map(namespace, "settings", color="blue")

    first = await client.apply(settings, field_manager="operator")
    second = await client.apply(settings, field_manager="operator")

    assert second == first


async def test_two_managers_own_different_fields_of_one_object(
    client: Client, namespace: str
) -> None:
    await client.apply(config_map(namespace, "settings", color="blue"), field_manager="operator")

    both = await client.apply(config_map(namespace, "settings", age="7"), field_manager="other")

    assert both.data == {"color": "blue", "age": "7"}


async def test_a_conflict_names_the_field_and_the_other_manager(
    client: Client, namespace: str
) -> None:
    await client.apply(config_map(namespace, "settings", color="blue"), field_manager="other")

    with pytest.raises(Conflict) as error:
        await client.apply(config_map(namespace, "settings", color="red"), field_manager="operator")

    (cause,) = error.value.causes
    assert (cause.reason, cause.field) == ("FieldManagerConflict", ".data.color")
    assert '"other"' in cause.message
    kept = await client.get(core_v1.ConfigMap, "settings", namespace=namespace)
    assert kept.data == {"color": "blue"}


async def test_force_takes_a_field_over(client: Client, namespace: str) -> None:
    await client.apply(config_map(namespace, "settings", color="blue"), field_manager="other")

    taken = await client.apply(
        config_map(namespace, "settings", color="red"), field_manager="operator", force=True
    )
    with pytest.raises(Conflict, match='"operator"'):
        await client.apply(config_map(namespace, "settings", color="blue"), field_manager="other")

    assert taken.data == {"color": "red"}


async def test_a_field_that_an_apply_omits_is_removed_unless_another_manager_owns_it(
    client: Client, namespace: str
) -> None:
    full = config_map(namespace, "settings", color="blue", age="7", shape="round")
    await client.apply(full, field_manager="operator")
    await client.apply(config_map(namespace, "settings", age="7"), field_manager="other")

    left = await client.apply(
        config_map(namespace, "settings", shape="round"), field_manager="operator"
    )

    assert left.data == {"age": "7", "shape": "round"}


async def test_an_authors_default_is_sent_and_conflicts_with_another_value(
    client: Client, namespace: str, widgets: None
) -> None:
    await client.apply(any_widget(namespace, "one", size=3), field_manager="other")

    with pytest.raises(Conflict) as error:
        await client.apply(widget(namespace, "one"), field_manager="operator")
    assert [cause.field for cause in error.value.causes] == [".spec.size"]

    taken = await client.apply(widget(namespace, "one"), field_manager="operator", force=True)
    assert taken.spec.size == 1


async def test_false_zero_and_empty_are_sent_and_none_is_not(
    client: Client, namespace: str, widgets: None
) -> None:
    existing = any_widget(namespace, "one", size=3, shiny=True, tags=["a"], color="blue")
    await client.apply(existing, field_manager="other")

    await client.apply(
        widget(namespace, "one", size=0, shiny=False, tags=(), color=None),
        field_manager="operator",
        force=True,
    )

    stored = await client.get(AnyWidget, "one", namespace=namespace)
    assert stored.body["spec"] == {"size": 0, "shiny": False, "tags": [], "color": "blue"}


async def test_a_zero_in_a_built_in_kind_is_sent_and_an_unset_field_is_left_to_the_server(
    client: Client, namespace: str
) -> None:
    none = await client.apply(deployment(namespace, "none", replicas=0), field_manager="operator")
    unset = await client.apply(deployment(namespace, "unset"), field_manager="operator")

    assert none.spec is not None
    assert unset.spec is not None
    assert (none.spec.replicas, unset.spec.replicas) == (0, 1)


async def test_an_unset_field_has_no_owner_and_can_be_set_by_another(
    client: Client, namespace: str
) -> None:
    await client.apply(deployment(namespace, "web"), field_manager="operator")
    await client.patch(
        apps_v1.Deployment, "web", MergePatch({"spec": {"replicas": 5}}), namespace=namespace
    )

    again = await client.apply(deployment(namespace, "web"), field_manager="operator")

    assert again.spec is not None
    assert again.spec.replicas == 5


async def test_apply_does_not_recreate_an_object_that_was_deleted_after_the_read(
    client: Client, namespace: str
) -> None:
    settings = config_map(namespace, "settings", color="blue")
    seen = await client.apply(settings, field_manager="operator")
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)

    with pytest.raises(Conflict, match="uid"):
        await client.apply(with_uid(settings, seen.uid), field_manager="operator")

    with pytest.raises(NotFound):
        await client.get(core_v1.ConfigMap, "settings", namespace=namespace)


async def test_apply_with_a_stale_uid_is_rejected(client: Client, namespace: str) -> None:
    settings = config_map(namespace, "settings", color="blue")
    first = await client.apply(settings, field_manager="operator")
    await client.delete(core_v1.ConfigMap, "settings", namespace=namespace)
    second = await client.apply(settings, field_manager="operator")

    # Not a conflict: the server takes the uid for a change of the existing object.
    with pytest.raises(Invalid) as error:
        await client.apply(with_uid(settings, first.uid), field_manager="operator")

    assert {cause.field for cause in error.value.causes} == {"metadata.uid"}
    assert await client.apply(with_uid(settings, second.uid), field_manager="operator") == second


async def test_an_invalid_object_is_not_applied(
    client: Client, namespace: str, widgets: None
) -> None:
    with pytest.raises(Invalid) as error:
        await client.apply(widget(namespace, "one", size=-1), field_manager="operator")

    assert "spec.size" in [cause.field for cause in error.value.causes]
    with pytest.raises(NotFound):
        await client.get(Widget, "one", namespace=namespace)


async def test_an_object_with_managed_fields_cannot_be_applied(
    client: Client, namespace: str
) -> None:
    read = await client.apply(config_map(namespace, "settings", a="b"), field_manager="operator")

    with pytest.raises(BadRequest, match="managedFields"):
        await client.apply(read, field_manager="operator")


async def test_a_cluster_scoped_object_is_applied(client: Client) -> None:
    namespace = core_v1.Namespace(
        metadata=meta_v1.ObjectMeta(name="default", labels={"tests.example.com/seen": "yes"})
    )

    applied = await client.apply(namespace, field_manager="tests")

    assert applied.labels["tests.example.com/seen"] == "yes"
