"""The lifecycle of a kind that is defined while the server runs."""

from typing import Any

import pytest

from steersman.client import Client, MergePatch, has_condition
from steersman.errors import Forbidden, Invalid, NotFound
from steersman.kinds import Unstructured
from steersman.kinds.apiextensions_v1 import CustomResourceDefinition
from tests.embedded import EmbeddedServer, name_of
from tests.real.definitions import (
    DEPRECATION,
    WIDGETS,
    AnyWidget,
    OldWidget,
    Widget,
    any_widget,
    install,
    widget,
)
from tests.real.definitions import GROUP as TOYS

AnyDefinition = Unstructured.of(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", namespaced=False
)

HELD = MergePatch({"metadata": {"finalizers": ["example.com/held"]}})
LET_GO = MergePatch({"metadata": {"finalizers": None}})


@pytest.fixture
def api() -> EmbeddedServer:
    """A server with only built-in kinds."""
    return EmbeddedServer()


@pytest.fixture
async def widgets(client: Client) -> None:
    """The server, with the definition of Widgets."""
    await install(client, WIDGETS)


def definition(plural: str, kind: str, *, group: str = TOYS, **names: Any) -> dict[str, Any]:
    """A small definition, as JSON."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, **names},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def test_a_kind_is_served_as_soon_as_it_is_defined(client: Client) -> None:
    namespace = "default"
    with pytest.raises(NotFound):
        await client.create(widget(namespace, "web"))

    defined = await client.create(WIDGETS)
    created = await client.create(widget(namespace, "web", size=3))

    found = await client.get(CustomResourceDefinition, defined.name)
    assert has_condition("NamesAccepted")(found)
    assert has_condition("Established")(found)
    assert await client.get(Widget, "web", namespace=namespace) == created
    assert created.metadata.generation == 1


@pytest.mark.usefixtures("widgets")
async def test_a_defined_kind_is_discovered_with_its_names_and_subresources(
    api: EmbeddedServer,
) -> None:
    listed = await api.asked("GET", f"/apis/{TOYS}/v1")

    found = {each["name"]: each for each in listed["resources"]}
    assert set(found) == {"widgets", "widgets/status", "widgets/scale"}
    assert found["widgets"]["shortNames"] == ["wd"]
    assert found["widgets"]["singularName"] == "widget"


@pytest.mark.usefixtures("widgets")
async def test_unknown_fields_are_pruned_and_invalid_values_rejected(
    api: EmbeddedServer, client: Client
) -> None:
    lenient = api.client().with_settings(field_validation="Ignore")

    created = await lenient.create(any_widget("default", "web", size=1, weight="unknown"))
    with pytest.raises(Invalid) as refused:
        await client.create(any_widget("default", "odd", color=7))

    assert created.body["spec"] == {"size": 1}
    assert [cause.field for cause in refused.value.causes] == ["spec.color"]


@pytest.mark.usefixtures("widgets")
async def test_an_object_is_the_same_in_every_version(client: Client, api: EmbeddedServer) -> None:
    created = await client.create(any_widget("default", "web", size=3))

    old = await client.get(OldWidget, "web", namespace="default")
    response = await api.ask("GET", f"/apis/{TOYS}/v1beta1/namespaces/default/widgets/web")

    assert old.body["apiVersion"] == f"{TOYS}/v1beta1"
    assert old.body["spec"] == created.body["spec"]
    assert old.resource_version == created.resource_version
    assert response.warnings == [DEPRECATION]


@pytest.mark.usefixtures("widgets")
async def test_a_watch_of_one_version_has_events_of_writes_in_another(client: Client) -> None:
    async with client.watch(OldWidget, namespace="default", initial_events=True) as events:
        await anext(events)
        await client.create(any_widget("default", "web", size=3))
        event = await anext(events)

    assert event.obj.body["apiVersion"] == f"{TOYS}/v1beta1"  # type: ignore[union-attr]


@pytest.mark.usefixtures("widgets")
async def test_an_unserved_version_is_not_found_and_its_objects_still_exist(
    client: Client,
) -> None:
    await client.create(any_widget("default", "web", size=3))
    versions = (await client.get(AnyDefinition, WIDGETS.name)).body["spec"]["versions"]
    only_v1 = [{**each, "served": each["name"] == "v1"} for each in versions]

    await client.patch(AnyDefinition, WIDGETS.name, MergePatch({"spec": {"versions": only_v1}}))

    with pytest.raises(NotFound):
        await client.get(OldWidget, "web", namespace="default")
    assert (await client.get(AnyWidget, "web", namespace="default")).body["spec"] == {"size": 3}


@pytest.mark.usefixtures("widgets")
async def test_the_status_and_scale_of_a_custom_kind_are_separate_subresources(
    client: Client,
) -> None:
    await client.create(any_widget("default", "web", size=3))

    await client.status(AnyWidget, "web", namespace="default").patch(
        MergePatch({"spec": {"size": 9}, "status": {"ready": 2}})
    )
    scale = client.scale(AnyWidget, "web", namespace="default")
    read = await scale.get()
    await scale.patch(MergePatch({"spec": {"replicas": 5}}))

    assert (read.spec.replicas, read.status.replicas) == (3, 2)  # type: ignore[union-attr]
    found = await client.get(AnyWidget, "web", namespace="default")
    assert found.body["spec"]["size"] == 5
    assert found.body["metadata"]["generation"] == 2


@pytest.mark.usefixtures("widgets")
async def test_deleting_a_kind_deletes_its_objects(client: Client) -> None:
    await client.create(any_widget("default", "web"))

    await client.delete(CustomResourceDefinition, WIDGETS.name)

    with pytest.raises(NotFound):
        await client.get(CustomResourceDefinition, WIDGETS.name)
    with pytest.raises(NotFound):
        await client.list(AnyWidget, namespace="default")
    await install(client, WIDGETS)
    assert (await client.list(AnyWidget, namespace="default")).items == ()


@pytest.mark.usefixtures("widgets")
async def test_a_watch_has_a_delete_event_for_every_object_of_a_deleted_kind(
    client: Client, api: EmbeddedServer
) -> None:
    await client.create(any_widget("default", "a"))
    await client.create(any_widget("default", "b"))

    async with api.watch(f"/apis/{TOYS}/v1/widgets") as lines:
        await lines.first(2)
        await client.delete(CustomResourceDefinition, WIDGETS.name)
        events = [(each["type"], name_of(each["object"])) async for each in lines]

    assert events == [("DELETED", "a"), ("DELETED", "b")]


@pytest.mark.usefixtures("widgets")
async def test_a_watch_ends_when_its_kind_is_redefined(client: Client, api: EmbeddedServer) -> None:
    async with api.watch(f"/apis/{TOYS}/v1/widgets?resourceVersion=1") as lines:
        labelled = MergePatch({"metadata": {"labels": {"a": "b"}}})
        await client.patch(CustomResourceDefinition, WIDGETS.name, labelled)
        await client.create(any_widget("default", "a"))
        events = await lines.seen(1)
        renamed = MergePatch({"spec": {"names": {"shortNames": ["w"]}}})
        await client.patch(CustomResourceDefinition, WIDGETS.name, renamed)
        events += [(each["type"], name_of(each["object"])) async for each in lines]

    assert events == [("ADDED", "a")]


@pytest.mark.usefixtures("widgets")
async def test_a_finalizer_of_an_object_blocks_the_deletion_of_its_kind(client: Client) -> None:
    await client.create(any_widget("default", "held"))
    await client.create(any_widget("default", "free"))
    await client.patch(AnyWidget, "held", HELD, namespace="default")

    await client.delete(CustomResourceDefinition, WIDGETS.name)
    ending = await client.get(CustomResourceDefinition, WIDGETS.name)
    left = await client.list(AnyWidget, namespace="default")
    with pytest.raises(Forbidden, match="custom resource definition is terminating"):
        await client.create(any_widget("default", "new"))
    await client.patch(AnyWidget, "held", LET_GO, namespace="default")

    assert has_condition("Terminating")(ending)
    assert [each.name for each in left.items] == ["held"]
    with pytest.raises(NotFound):
        await client.get(CustomResourceDefinition, WIDGETS.name)


async def test_the_first_of_two_kinds_with_the_same_name_is_served(api: EmbeddedServer) -> None:
    await api.asked("POST", DEFINITIONS, definition("apples", "Fruit"))
    await api.asked("POST", DEFINITIONS, definition("pears", "Fruit"))

    second = await api.asked("GET", f"{DEFINITIONS}/pears.{TOYS}")
    conditions = {each["type"]: each for each in second["status"]["conditions"]}
    unserved = await api.ask("GET", f"/apis/{TOYS}/v1/pears")

    assert conditions["NamesAccepted"]["status"] == "False"
    assert conditions["NamesAccepted"]["reason"] == "ListKindConflict"
    assert conditions["Established"]["status"] == "False"
    assert unserved.status == 404


async def test_the_second_kind_with_a_name_is_served_after_the_first_is_deleted(
    api: EmbeddedServer,
) -> None:
    await api.asked("POST", DEFINITIONS, definition("apples", "Fruit"))
    await api.asked("POST", DEFINITIONS, definition("pears", "Fruit"))

    await api.asked("DELETE", f"{DEFINITIONS}/apples.{TOYS}")

    assert (await api.ask("GET", f"/apis/{TOYS}/v1/pears")).status == 200


async def test_a_kubernetes_group_needs_an_approval_annotation(api: EmbeddedServer) -> None:
    unapproved = definition("apples", "Apple", group="fruit.k8s.io")
    approved = definition("pears", "Pear", group="fruit.k8s.io")
    approved["metadata"]["annotations"] = {
        "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"
    }

    refused = await api.ask("POST", DEFINITIONS, unapproved)
    created = await api.ask("POST", DEFINITIONS, approved)

    assert (refused.status, created.status) == (422, 201)
    assert "api-approved.kubernetes.io" in refused.json["message"]


async def test_a_schema_that_is_not_structural_is_rejected(api: EmbeddedServer) -> None:
    crd = definition("apples", "Apple")
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {"spec": {}}

    response = await api.ask("POST", DEFINITIONS, crd)

    assert response.status == 422
    assert response.json["details"]["causes"][0]["field"] == (
        "spec.validation.openAPIV3Schema.properties[spec].type"
    )


async def test_a_custom_kind_is_served_after_a_restart(api: EmbeddedServer) -> None:
    await api.asked("POST", DEFINITIONS, definition("apples", "Apple"))
    path = f"/apis/{TOYS}/v1/namespaces/default/apples"
    apple = {"apiVersion": f"{TOYS}/v1", "kind": "Apple", "metadata": {"name": "red"}}
    await api.asked("POST", path, apple)

    again = EmbeddedServer(log=api.log)

    assert (await again.ask("GET", path)).names == ["red"]
