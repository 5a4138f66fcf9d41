"""Custom kinds: with a class and without, with a status, an odd plural, or no namespace."""

import pytest

from steersman.client import Client, DecodeFailure, Fields, MergePatch, ObjectDeleted, ObjectWritten
from steersman.errors import Invalid, InvalidObject
from steersman.kinds import (
    Condition,
    CustomResource,
    Part,
    Resource,
    Unstructured,
    meta_v1,
    replace,
)
from tests.real.definitions import (
    ANYTHING,
    GROUP,
    Octopus,
    OctopusSpec,
    Widget,
    WidgetSpec,
    WidgetStatus,
    definition,
    install,
    version,
    widget,
)


class BoxSpec(Part):
    size: int


class Box(CustomResource[BoxSpec, Part], group=GROUP, version="v1", plural="boxes"):
    """A kind whose class is stricter than its schema on the server."""


AnyBox = Unstructured.of(f"{GROUP}/v1", "Box")
BOXES = definition("Box", "boxes", version(spec=ANYTHING))


def box(namespace: str, name: str, size: object) -> Unstructured:
    return AnyBox(
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Box",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"size": size},
        }
    )


async def test_a_custom_resource_round_trips_through_the_server(
    client: Client, namespace: str, widgets: None
) -> None:
    created = await client.create(
        widget(namespace, "one", size=0, shiny=True, tags=("a", "b"), color="")
    )

    found = await client.get(Widget, "one", namespace=namespace)
    (listed,) = (await client.list(Widget, namespace=namespace)).items

    assert created.spec == WidgetSpec(size=0, shiny=True, tags=("a", "b"), color="")
    assert found == listed == created
    assert isinstance(found, Resource)
    assert found.ref == created.ref


async def test_a_status_is_written_by_its_subresource_and_read_with_the_spec(
    client: Client, namespace: str, widgets: None
) -> None:
    created = await client.create(
        replace(widget(namespace, "one", size=3), status=WidgetStatus(ready=9))
    )
    assert created.status is None
    ready = Condition.when(True, "Ready", yes="AllThere", no="SomeMissing")

    await client.status(Widget, "one", namespace=namespace).patch(
        MergePatch({"status": WidgetStatus(ready=3, conditions=(ready,))})
    )

    found = await client.get(Widget, "one", namespace=namespace)
    assert found.status == WidgetStatus(ready=3, conditions=(ready,))
    assert found.spec == created.spec
    assert found.generation == created.generation


async def test_a_rule_of_the_definition_is_enforced(
    client: Client, namespace: str, widgets: None
) -> None:
    with pytest.raises(Invalid, match="greater than or equal to 0"):
        await client.create(widget(namespace, "one", size=-1))


async def test_a_custom_resource_is_selected_by_a_selectable_field(
    client: Client, namespace: str, widgets: None
) -> None:
    for name, color in (("one", "red"), ("two", "blue"), ("three", "red")):
        await client.create(widget(namespace, name, color=color))

    red = await client.list(Widget, namespace=namespace, fields=Fields.equal({"spec.color": "red"}))

    assert [each.name for each in red.items] == ["one", "three"]


async def test_a_custom_resource_is_watched(client: Client, namespace: str, widgets: None) -> None:
    start = (await client.list(Widget, namespace=namespace)).resource_version
    created = await client.create(widget(namespace, "one"))
    await client.delete(Widget, "one", namespace=namespace)

    async with client.watch(Widget, namespace=namespace, resource_version=start) as events:
        first, second = await anext(events), await anext(events)

    assert first == ObjectWritten(created, is_new=True)
    assert isinstance(second, ObjectDeleted)
    assert second.obj.spec == created.spec


async def test_a_kind_with_an_odd_plural_and_no_namespace_has_every_verb(
    client: Client, octopodes: None
) -> None:
    inky = Octopus(metadata=meta_v1.ObjectMeta(generate_name="inky-"), spec=OctopusSpec())

    created = await client.create(inky)
    patched = await client.patch(Octopus, created.name, MergePatch({"spec": {"arms": 7}}))
    listed = await client.list(Octopus)
    applied = await client.apply(
        Octopus(metadata=meta_v1.ObjectMeta(name=created.name), spec=OctopusSpec(arms=6)),
        field_manager="us",
        force=True,
    )
    await client.delete(Octopus, created.name)

    assert created.spec.arms == 8
    assert patched in listed.items
    assert applied.spec.arms == 6
    assert created.name not in [each.name for each in (await client.list(Octopus)).items]


async def test_an_object_that_cannot_be_decoded_does_not_fail_the_list(
    client: Client, namespace: str
) -> None:
    await install(client, BOXES)
    for name, size in (("a", 1), ("b", "huge"), ("c", 3)):
        await client.create(box(namespace, name, size))

    (page,) = [page async for page in client.pages(Box, namespace=namespace)]
    with pytest.raises(InvalidObject, match=f"Box {namespace}/b does not fit Box"):
        await client.list(Box, namespace=namespace)

    assert [each.name for each in page.items] == ["a", "c"]
    assert [each.ref for each in page.invalid] == [f"Box {namespace}/b"]


async def test_an_object_that_cannot_be_decoded_does_not_end_the_watch(
    client: Client, namespace: str
) -> None:
    await install(client, BOXES)
    start = (await client.list(AnyBox, namespace=namespace)).resource_version
    huge = await client.create(box(namespace, "a", "huge"))
    await client.create(box(namespace, "b", 3))

    async with client.watch(Box, namespace=namespace, resource_version=start) as events:
        first, second = await anext(events), await anext(events)

    assert isinstance(first, DecodeFailure)
    assert first.error.ref == f"Box {namespace}/a"
    assert first.resource_version == huge.resource_version
    assert not first.is_gone
    assert isinstance(second, ObjectWritten)
    assert second.obj.spec.size == 3


class Postgresql(CustomResource[BoxSpec, Part], group=GROUP, version="v1", kind="postgresql"):
    """A kind with a lowercase name, like that of the Zalando Postgres operator."""


async def test_a_kind_that_begins_in_lower_case_is_written_and_read(
    client: Client, namespace: str
) -> None:
    untyped = Unstructured.of(f"{GROUP}/v1", "postgresql")
    await install(client, definition("postgresql", "postgresqls", version(spec=ANYTHING)))
    metadata = meta_v1.ObjectMeta(name="one", namespace=namespace)

    made = await client.create(Postgresql(metadata=metadata, spec=BoxSpec(size=1)))
    found = await client.get(untyped, "one", namespace=namespace)

    assert made.spec.size == 1
    assert (found.body["kind"], found.body["spec"]) == ("postgresql", {"size": 1})
    assert [each.name for each in (await client.list(Postgresql, namespace=namespace)).items] == [
        "one"
    ]
