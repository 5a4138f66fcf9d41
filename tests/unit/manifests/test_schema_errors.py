"""A type that no schema can describe is rejected, with its field and the reason."""

from __future__ import annotations

import decimal
import sys
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from steersman.errors import CannotBeACrd
from steersman.kinds import Cel, CustomResource, Part, Resource, Rule, Unstructured, core_v1
from steersman.manifests import crd_of
from tests.unit.manifests.kinds_of_one_field import NOTHING, field_of, kind_with


class Mixed(Enum):
    ONE = 1
    TWO = "two"


class Empty(Enum):
    pass


class Keyless(Part):
    name: str | None = None
    size: tuple[int, ...] = ()


class Keyed(Part):
    own_name: str


class PerhapsKeyed(Part):
    own_name: str | None


class Tree(Part):
    name: str
    branches: tuple[Tree, ...] = ()


class Inner(Part):
    some_thing: set[str]


class Outer(Part):
    more_inside: tuple[Inner, ...]


def keyed_by(*keys: str, items: Any = Keyless) -> Any:
    return Annotated[tuple[items, ...], Rule(list_type="map", list_map_keys=keys)]


@pytest.mark.parametrize(
    ("annotation", "default", "problem"),
    [
        (int | bool, NOTHING, "its type is one of int or bool"),
        (str | Keyless | None, None, "its type is one of str or Keyless"),
        (set[str], NOTHING, "a set has no order"),
        (frozenset[str], NOTHING, "a set has no order"),
        (object, NOTHING, "object does not describe any fields"),
        (timedelta, NOTHING, "not a Kubernetes duration"),
        (time, NOTHING, "no type for a time of day"),
        (decimal.Decimal, NOTHING, "is not exact"),
        (dict, NOTHING, "the type of its values is missing"),
        (tuple, NOTHING, "the type of its items is missing"),
        (tuple[int, str], NOTHING, "has a different type for each item"),
        (Mapping[int, str], NOTHING, "its keys are int"),
        (Mapping[float, str], NOTHING, "its keys are float"),
        (Mapping[Literal["a"], str], NOTHING, "its keys are Literal"),
        (Mapping[Annotated[str, Rule(pattern="^a")], str], NOTHING, "its keys have rules"),
        (Mapping[Annotated[str, Cel("self == 'a'")], str], NOTHING, "its keys have rules"),
        (Unstructured, NOTHING, "an Unstructured cannot be a field"),
        (Resource, NOTHING, "Resource is not the class of a kind"),
        (type, NOTHING, "a schema cannot describe type"),
        (Mixed, NOTHING, "the values of Mixed are 1, 'two'"),
        (Empty, NOTHING, "the values of Empty are none"),
        (Literal["a", 1], NOTHING, "the values of its Literal are 'a', 1"),
        (Tree, NOTHING, "Tree contains itself"),
        (Annotated[str, Rule(ge=1)], NOTHING, "its rule sets ge"),
        (Annotated[int, Rule(pattern="a")], NOTHING, "its rule sets pattern"),
        (Annotated[bool, Rule(max_length=1)], NOTHING, "its rule sets max_length"),
        (Annotated[int, Rule(list_type="set")], NOTHING, "its rule sets list_type"),
        (Annotated[str, Rule(opaque=True)], NOTHING, "it is opaque, but str is not an object"),
        (Annotated[int, Rule(nullable=True)], NOTHING, "it is nullable, but"),
        (tuple[Annotated[int, Rule(nullable=True)], ...], NOTHING, "it is nullable, but"),
        (Literal["a", "b"] | None, NOTHING, "accepts no null in the values"),
        (Literal["a", "b", None], NOTHING, "accepts no null in the values"),
        (Literal["a", "b"] | None, "a", "accepts no null in the values"),
        (tuple[Literal["a"] | None, ...], NOTHING, "accepts no null in the values"),
        (Annotated[Literal[1] | None, Rule(nullable=True)], None, "accepts no null in the values"),
        (Annotated[Any, Cel("self != null")], NOTHING, "a Cel rule needs a type"),
        (Annotated[int, Rule(example="a")], NOTHING, "its example does not match"),
        (Annotated[int, Rule(example=object())], NOTHING, "its example cannot be written as JSON"),
        (
            Annotated[Mapping[str, str], Rule(embedded_resource=True)],
            NOTHING,
            "it is an embedded resource, but its type is a map of values of one type",
        ),
        (Annotated[int, Rule(ge=1), Rule(ge=2)], NOTHING, "two rules set its ge, 1 and 2"),
        (Annotated[int, Rule(ge=3), Rule(le=2)], NOTHING, "no value can satisfy"),
        (keyed_by("wrong"), NOTHING, "contain wrong, which is not a field"),
        (keyed_by("name"), NOTHING, "contain name, which is optional"),
        (keyed_by("size"), NOTHING, "contain size, which is not a string"),
        (keyed_by("own_name", items=PerhapsKeyed), NOTHING, "ownName, which may be null"),
        (keyed_by("own_name", items=Keyed | None), NOTHING, "its items may be null"),
        (keyed_by("own_name", "own_name", items=Keyed), NOTHING, "contain ownName twice"),
        (Annotated[tuple[str | None, ...], Rule(list_type="set")], NOTHING, "may be null"),
        (Annotated[tuple[Keyless, ...], Rule(list_type="set")], NOTHING, "its items are objects"),
        (Annotated[int, Rule(ge=1)], 0, "its default does not match"),
        (Annotated[tuple[str, ...], Rule(min_length=1)], (), "its default does not match"),
        (Annotated[str, Rule(pattern="^a")], "b", "its default does not match"),
        (Literal["a", "b"], "c", "its default does not match"),
        (int, "text", "its default does not match"),
        (datetime, datetime(2026, 1, 2), "has no time zone"),  # noqa: DTZ001 - that is the point
        (Any, object(), "its default cannot be written as JSON"),
    ],
)
def test_a_type_without_a_schema_is_rejected_with_its_field_and_the_reason(
    annotation: Any, default: Any, problem: str
) -> None:
    kind = kind_with(annotation, default)

    with pytest.raises(CannotBeACrd) as refused:
        crd_of(kind)

    assert problem in refused.value.problem
    assert (refused.value.kind, refused.value.field.partition("[")[0]) in {
        ("One", "spec.it"),
        ("One", "spec.it.branches"),
    }
    assert str(refused.value).startswith("One: spec.it")


def test_a_nested_field_is_named_as_in_python() -> None:
    kind = kind_with(Mapping[str, Outer])

    with pytest.raises(CannotBeACrd) as refused:
        crd_of(kind)

    assert refused.value.field == "spec.it[].more_inside[].some_thing"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement `type` is new in Python 3.12")
@pytest.mark.parametrize("inside", ["tuple[Deep, ...]", "Mapping[str, tuple[Deep, ...]]"])
def test_an_alias_that_contains_itself_is_rejected(inside: str) -> None:
    module: dict[str, Any] = {"Mapping": Mapping}
    exec(f"type Deep = {inside}", module)  # noqa: S102

    with pytest.raises(CannotBeACrd, match="contains itself"):
        crd_of(kind_with(module["Deep"]))


def test_a_recursive_part_can_be_opaque() -> None:
    schema = field_of(Annotated[Tree, Rule(opaque=True)])

    assert schema == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def test_a_kind_without_a_type_for_its_spec_is_rejected() -> None:
    class Bare(CustomResource, group="one.example.com", version="v1"):  # type: ignore[type-arg]
        pass

    with pytest.raises(
        CannotBeACrd, match=r"Bare: spec cannot be described by a CRD: .* is a type variable"
    ):
        crd_of(Bare)


def test_an_undefined_name_in_an_annotation_is_rejected() -> None:
    kind = kind_with("Missing")

    with pytest.raises(CannotBeACrd, match="an annotation names Missing"):
        crd_of(kind)


SOMETHING: Any = Unstructured.of("one.example.com/v1", "Something")


@pytest.mark.parametrize("kind", [core_v1.Pod, kind_with(int, crd=None), SOMETHING])
def test_an_external_kind_has_no_definition(kind: type[Resource]) -> None:
    with pytest.raises(CannotBeACrd, match="another project defines it"):
        crd_of(kind)


def test_a_class_that_is_not_a_kind_has_no_definition() -> None:
    with pytest.raises(
        CannotBeACrd, match=r"CustomResource cannot be .* it is not the class of a kind"
    ):
        crd_of(CustomResource)
