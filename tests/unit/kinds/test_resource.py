"""The identity of a resource: kind, scope, plural and printed form."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import new_class

import msgspec
import pytest

from steersman.errors import BadName, NotAKind
from steersman.kinds import Codec, CustomResource, Part, Resource, Unstructured
from steersman.kinds.apps_v1 import Deployment
from steersman.kinds.core_v1 import Endpoints, Namespace
from steersman.kinds.meta_v1 import ObjectMeta
from steersman.names import GroupVersionKind, ObjectRef


class Spec(Part):
    size: int = 1


class Status(Part):
    ready: int | None = None


class Widget(CustomResource[Spec, Status], group="app.example.com", version="v1"):
    """A kind with the default for every keyword."""


class Mouse(
    Resource,
    group="zoo.example.com",
    version="v1beta2",
    kind="HouseMouse",
    plural="housemice",
    namespaced=False,
):
    """A kind with every keyword."""

    tail: int | None = None


def declare(
    name: str, *, fields: Mapping[str, type] | None = None, **keywords: str
) -> type[Resource]:
    """Run a class statement with the given keywords."""
    body = {"__annotations__": dict(fields or {}), "__module__": __name__}
    made: type[Resource] = new_class(name, (Resource,), keywords, lambda ns: ns.update(body))
    return made


def test_a_class_statement_sets_group_version_and_kind() -> None:
    widget, mouse = Widget.resource_type, Mouse.resource_type

    assert widget.gvk == GroupVersionKind("app.example.com", "v1", "Widget")
    assert (widget.plural, widget.namespaced) == ("widgets", True)
    assert mouse.gvk == GroupVersionKind("zoo.example.com", "v1beta2", "HouseMouse")
    assert (mouse.plural, mouse.namespaced) == ("housemice", False)


def test_built_in_kinds_have_irregular_plurals_and_scopes() -> None:
    assert Deployment.resource_type.plural == "deployments"
    assert Endpoints.resource_type.plural == "endpoints"
    assert Namespace.resource_type.namespaced is False
    assert Namespace.resource_type.gvk == GroupVersionKind("", "v1", "Namespace")


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Policy", "policies"), ("Gateway", "gateways"), ("Bus", "buses"), ("Box", "boxes")],
)
def test_a_default_plural_follows_english_spelling(kind: str, plural: str) -> None:
    made = declare(kind, group="app.example.com", version="v1")

    assert made.resource_type.plural == plural


def test_an_encoded_object_always_has_kind_and_api_version() -> None:
    widget = Widget(metadata=ObjectMeta(name="one"), spec=Spec())

    assert msgspec.json.decode(Codec().encode(widget)) == {
        "apiVersion": "app.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one"},
        "spec": {"size": 1},
    }
    assert (widget.api_version, widget.kind) == ("app.example.com/v1", "Widget")


def test_the_parts_of_a_custom_resource_have_their_own_types() -> None:
    encoded = b'{"metadata":{"name":"one"},"spec":{"size":3},"status":{"ready":2}}'

    widget = Codec().decode(Widget, encoded, wanted="read")

    assert widget.spec == Spec(size=3)
    assert widget.status == Status(ready=2)


def test_a_resource_has_name_namespace_and_uid() -> None:
    asked = datetime(2026, 1, 2, tzinfo=UTC)
    widget = Widget(
        metadata=ObjectMeta(
            name="one",
            namespace="default",
            uid="u-1",
            resource_version="17",
            generation=3,
            labels={"tier": "front"},
            annotations={"note": "x"},
            deletion_timestamp=asked,
        ),
        spec=Spec(),
    )

    assert (widget.name, widget.namespace, widget.uid) == ("one", "default", "u-1")
    assert (widget.resource_version, widget.generation) == ("17", 3)
    assert (widget.labels, widget.annotations) == ({"tier": "front"}, {"note": "x"})
    assert widget.deletion_time == asked
    assert widget.ref == ObjectRef("Widget", "default", "one")


def test_a_resource_without_metadata_has_empty_properties() -> None:
    mouse = Mouse()

    assert (mouse.name, mouse.namespace, mouse.uid) == ("", None, "")
    assert (mouse.resource_version, mouse.generation) == ("", 0)
    assert (mouse.labels, mouse.annotations, mouse.deletion_time) == ({}, {}, None)


def test_an_object_with_a_generate_name_is_printed_with_a_star() -> None:
    mouse = Mouse(metadata=ObjectMeta(generate_name="grey-"))

    assert str(mouse.ref) == "HouseMouse grey-*"


@pytest.mark.parametrize("group", ["apps", "", "UPPER.example.com", "-a.example.com", "a..b"])
def test_a_group_that_is_not_a_dns_domain_is_rejected(group: str) -> None:
    with pytest.raises(BadName, match="is not an API group"):
        declare("Wrong", group=group, version="v1")


@pytest.mark.parametrize("kind", ["my widget", "-widget", "1st", "Größe", "W" * 64])
def test_a_kind_that_the_server_rejects_is_rejected(kind: str) -> None:
    with pytest.raises(BadName, match="is not a kind"):
        declare("Wrong", group="app.example.com", version="v1", kind=kind)


@pytest.mark.parametrize("kind", ["widget", "My-Widget"])
def test_a_kind_can_have_a_name_that_is_unusual_for_a_class(kind: str) -> None:
    declared = declare("Right", group="app.example.com", version="v1", kind=kind)

    assert declared.resource_type.gvk.kind == kind


def test_a_class_that_names_its_kind_must_begin_with_a_capital_letter() -> None:
    with pytest.raises(BadName, match="begin with a capital letter"):
        declare("widget", group="app.example.com", version="v1")


@pytest.mark.parametrize("version", ["V1", "1", "v1.2", ""])
def test_a_version_that_is_not_a_dns_label_is_rejected(version: str) -> None:
    with pytest.raises(BadName, match="is not an API version"):
        declare("Wrong", group="app.example.com", version=version)


def test_a_plural_that_is_not_a_dns_label_is_rejected() -> None:
    with pytest.raises(BadName, match="is not a plural"):
        declare("Wrong", group="app.example.com", version="v1", plural="Wrongs")


def test_a_kind_without_a_version_is_rejected() -> None:
    with pytest.raises(TypeError, match="Wrong: group is set, but version is missing"):
        declare("Wrong", group="app.example.com")


def test_a_field_cannot_hide_a_property_of_resources() -> None:
    with pytest.raises(TypeError, match="Wrong: labels is already a property or method"):
        declare("Wrong", fields={"labels": str}, group="app.example.com", version="v1")

    right = declare("Right", fields={"labels_": str}, group="app.example.com", version="v1")
    assert "labels" in right.__struct_encode_fields__  # type: ignore[attr-defined]


def test_a_part_that_is_not_a_resource_is_not_a_kind() -> None:
    with pytest.raises(
        TypeError,
        match=r"^Wrong: only a subclass of Resource can have the class keywords group, version$",
    ):
        new_class("Wrong", (Part,), {"group": "app.example.com", "version": "v1"})


@pytest.mark.parametrize("base", [Resource, CustomResource, Unstructured])
def test_a_class_that_is_not_a_kind_has_no_resource_type(
    base: type[Resource] | type[Unstructured],
) -> None:
    with pytest.raises(NotAKind, match="has no group and version"):
        _ = base.resource_type

    assert not hasattr(base, "resource_type")


def test_a_kind_cannot_redefine_kind_and_api_version() -> None:
    with pytest.raises(BadName, match="every kind already has it"):
        declare("Wrong", fields={"kind": str}, group="app.example.com", version="v1")
