"""The schema of a field, from its type, its default and its rules."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from enum import Enum, IntEnum, StrEnum
from types import new_class
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar
from uuid import UUID

import pytest

from steersman.kinds import (
    Cel,
    Codec,
    Condition,
    CustomResource,
    Part,
    Rule,
    apps_v1,
    core_v1,
    meta_v1,
)
from steersman.units import IntOrString, MicroTime, Quantity
from tests.unit.manifests.kinds_of_one_field import field_of, kind_with, schema_in, spec_of

INT = {"type": "integer", "format": "int64"}
TEXT = {"type": "string"}
INT_OR_STRING = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
HOST = NewType("HOST", str)
T = TypeVar("T")


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


class Fruit(StrEnum):
    APPLE = "apple"


class Point(Part):
    x: int
    y: int = 0


class Box(Part, Generic[T]):
    inner: T


POINT = {
    "type": "object",
    "properties": {"x": INT, "y": {**INT, "default": 0}},
    "required": ["x"],
}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, TEXT),
        (HOST, TEXT),
        (bool, {"type": "boolean"}),
        (int, INT),
        (float, {"type": "number"}),
        (bytes, {"type": "string", "format": "byte"}),
        (datetime, {"type": "string", "format": "date-time"}),
        (MicroTime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (IntOrString, INT_OR_STRING),
        (Any, ANYTHING),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Color, {"type": "string", "enum": ["red", "blue"]}),
        (Size, {"type": "integer", "enum": [1, 2]}),
        (Fruit, {"type": "string", "enum": ["apple"]}),
        (tuple[str, ...], {"type": "array", "items": TEXT}),
        (list[str], {"type": "array", "items": TEXT}),
        (Sequence[tuple[str, ...]], {"type": "array", "items": {"type": "array", "items": TEXT}}),
        (Mapping[str, int], {"type": "object", "additionalProperties": INT}),
        (dict[str, int], {"type": "object", "additionalProperties": INT}),
        (Mapping[str, Any], {"type": "object", **ANYTHING}),
        (Point, POINT),
        (Box[Point], {"type": "object", "properties": {"inner": POINT}, "required": ["inner"]}),
        (tuple[Point, ...], {"type": "array", "items": POINT}),
        (Mapping[str, Point], {"type": "object", "additionalProperties": POINT}),
        (tuple[int | None, ...], {"type": "array", "items": {**INT, "nullable": True}}),
    ],
)
def test_a_type_becomes_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert field_of(annotation) == schema
    assert spec_of(annotation)["required"] == ["it"]


@pytest.mark.parametrize("amount", ["1", "-1.5Gi", "+.5", "12e3", "5E", "1.", "100m", "1Ki"])
def test_a_quantity_is_an_integer_or_a_quantity_string(amount: str) -> None:
    schema = field_of(Quantity)

    pattern = schema.pop("pattern")
    assert schema == INT_OR_STRING
    assert re.search(pattern, amount)
    assert Quantity(amount)
    assert not re.search(pattern, f"{amount}x")


@pytest.mark.parametrize(
    "annotation",
    [int | None, Annotated[int | None, Rule()], Annotated[int, Rule()]],
)
def test_a_field_that_defaults_to_none_is_neither_required_nor_nullable(annotation: Any) -> None:
    schema = spec_of(annotation, None)

    assert schema == {"type": "object", "properties": {"it": INT}}


def test_an_optional_field_with_another_default_is_nullable() -> None:
    schema = spec_of(int | None, 3)

    # None is sent; without ``nullable``, a server would replace it with the default.
    assert schema["properties"]["it"] == {**INT, "nullable": True, "default": 3}


def test_an_optional_field_without_a_default_is_required_and_nullable() -> None:
    schema = spec_of(int | None)

    assert schema["properties"]["it"] == {**INT, "nullable": True}
    assert schema["required"] == ["it"]


@pytest.mark.parametrize(
    ("annotation", "default", "written"),
    [
        (int, 3, 3),
        (bool, False, False),
        (str, "", ""),
        (tuple[str, ...], (), []),
        (Color, Color.RED, "red"),
        (Literal["a", "b"], "b", "b"),
        (Quantity, Quantity("1Gi"), "1Gi"),
        (datetime, datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        (Point, Point(x=1), {"x": 1, "y": 0}),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (int | None, 3, 3),
    ],
)
def test_a_default_is_written_as_it_is_sent(annotation: Any, default: Any, written: Any) -> None:
    schema = spec_of(annotation, default)

    assert schema["properties"]["it"]["default"] == written
    assert "required" not in schema


@pytest.mark.parametrize(
    ("annotation", "added"),
    [
        (Annotated[int, Rule(ge=1)], {"minimum": 1}),
        (Annotated[int, Rule(gt=1)], {"minimum": 1, "exclusiveMinimum": True}),
        (Annotated[int, Rule(le=1)], {"maximum": 1}),
        (Annotated[float, Rule(lt=1.5)], {"maximum": 1.5, "exclusiveMaximum": True}),
        (Annotated[int, Rule(multiple_of=2)], {"multipleOf": 2}),
        (Annotated[int, Rule(format="int32")], {"format": "int32"}),
        (Annotated[str, Rule(pattern="^a")], {"pattern": "^a"}),
        (Annotated[str, Rule(format="ipv4")], {"format": "ipv4"}),
        (Annotated[str, Rule(min_length=1, max_length=2)], {"minLength": 1, "maxLength": 2}),
        (Annotated[tuple[str, ...], Rule(max_length=2)], {"maxItems": 2}),
        (Annotated[Mapping[str, str], Rule(min_length=2)], {"minProperties": 2}),
        (
            Annotated[Mapping[str, str], Rule(map_type="atomic")],
            {"x-kubernetes-map-type": "atomic"},
        ),
        (Annotated[Point, Rule(preserve_unknown_fields=True)], ANYTHING),
        (Annotated[str, Rule(title="T", example="e")], {"title": "T", "example": "e"}),
        (Annotated[tuple[int, ...], Rule(example=(1, 2))], {"example": [1, 2]}),
        (Annotated[int, Rule(ge=1), Rule(le=2)], {"minimum": 1, "maximum": 2}),
        (Annotated[Annotated[int, Rule(ge=1)], Rule(le=2)], {"minimum": 1, "maximum": 2}),
    ],
)
def test_a_rule_becomes_its_keywords(annotation: Any, added: dict[str, Any]) -> None:
    bare = annotation.__origin__

    assert field_of(annotation) == {**field_of(bare), **added}


def test_a_rule_can_make_a_field_nullable() -> None:
    schema = spec_of(Annotated[str | None, Rule(nullable=True)], None)

    assert schema == {"type": "object", "properties": {"it": {**TEXT, "nullable": True}}}


def test_a_list_is_merged_by_the_keys_of_its_rule() -> None:
    class Port(Part):
        port_number: int
        protocol: str = "TCP"

    rule = Rule(list_type="map", list_map_keys=("port_number", "protocol"))

    schema = field_of(Annotated[tuple[Port, ...], rule])

    assert schema["x-kubernetes-list-type"] == "map"
    assert schema["x-kubernetes-list-map-keys"] == ["portNumber", "protocol"]


def test_conditions_are_merged_by_type_unless_a_rule_says_otherwise() -> None:
    usual = field_of(tuple[Condition, ...])
    whole = field_of(Annotated[tuple[Condition, ...], Rule(list_type="atomic")])

    assert usual["x-kubernetes-list-map-keys"] == ["type"]
    assert usual["items"]["required"] == ["type", "status"]
    assert usual["items"]["properties"]["status"]["enum"] == ["True", "False", "Unknown"]
    assert whole["x-kubernetes-list-type"] == "atomic"
    assert "x-kubernetes-list-map-keys" not in whole


def test_cel_rules_are_placed_at_their_field() -> None:
    class Range(Part, validations=(Cel("self.low <= self.high", message="wrong way round"),)):
        low: Annotated[int, Cel("self >= 0")]
        high: int

    old = Cel("oldSelf.hasValue()", optional_old_self=True, field_path=".low")

    schema = field_of(Annotated[Range, old])

    assert schema["properties"]["low"]["x-kubernetes-validations"] == [{"rule": "self >= 0"}]
    assert schema["x-kubernetes-validations"] == [
        {"rule": "self.low <= self.high", "message": "wrong way round"},
        {"rule": "oldSelf.hasValue()", "optionalOldSelf": True, "fieldPath": ".low"},
    ]


def test_cel_rules_of_the_kind_are_placed_at_the_root() -> None:
    schema = schema_in(kind_with(int, validations=(Cel("self.metadata.name != 'x'"),)))

    assert schema["x-kubernetes-validations"] == [{"rule": "self.metadata.name != 'x'"}]


def test_an_embedded_part_has_the_formats_defaults_and_list_keys_of_the_api() -> None:
    port = field_of(core_v1.ContainerPort)
    container = field_of(core_v1.Container)

    assert port["required"] == ["containerPort"]
    assert port["properties"]["containerPort"] == {"type": "integer", "format": "int32"}
    assert port["properties"]["protocol"] == {"type": "string", "default": "TCP"}
    assert container["properties"]["ports"]["x-kubernetes-list-map-keys"] == [
        "containerPort",
        "protocol",
    ]
    assert field_of(meta_v1.LabelSelector)["x-kubernetes-map-type"] == "atomic"


def test_the_metadata_of_a_template_is_kept() -> None:
    template = field_of(core_v1.PodTemplateSpec)

    assert {"labels", "annotations"} <= template["properties"]["metadata"]["properties"].keys()


def test_a_status_that_derives_from_a_built_in_one_inherits_its_schema() -> None:
    class Status(apps_v1.DeploymentStatus):
        replicas: int = 0
        url: str | None = None

    schema = field_of(Status)

    assert schema["properties"]["readyReplicas"] == {"type": "integer", "format": "int32"}
    assert schema["properties"]["replicas"] == {**INT, "default": 0}
    assert schema["properties"]["url"] == TEXT


@pytest.mark.parametrize("annotation", [core_v1.PodTemplateSpec, Point, Mapping[str, int]])
def test_an_opaque_field_preserves_unknown_fields(annotation: Any) -> None:
    assert field_of(Annotated[annotation, Rule(opaque=True)]) == {"type": "object", **ANYTHING}


def test_an_embedded_resource_is_marked_as_one() -> None:
    embedded = field_of(core_v1.ConfigMap)
    opaque = field_of(Annotated[core_v1.Secret, Rule(opaque=True)])
    any_kind = field_of(Annotated[Mapping[str, Any], Rule(embedded_resource=True)])

    assert embedded["x-kubernetes-embedded-resource"] is True
    assert embedded["properties"]["kind"] == {"type": "string", "enum": ["ConfigMap"]}
    assert embedded["properties"]["metadata"] == {"type": "object"}
    assert "data" in embedded["properties"]
    unknown = {"type": "object", **ANYTHING, "x-kubernetes-embedded-resource": True}
    assert opaque == any_kind == unknown


def test_enum_values_are_decoded_and_encoded_as_in_the_schema() -> None:
    body = {"__annotations__": {"color": Color, "size": Literal[1, 2]}, "__module__": __name__}
    spec: Any = new_class("Spec", (Part,), {}, lambda namespace: namespace.update(body))

    read = Codec().decode(spec, b'{"color":"red","size":2}', wanted="read")

    assert read == spec(color=Color.RED, size=2)
    assert Codec().encode(read) == b'{"color":"red","size":2}'


def test_every_kind_has_metadata_and_requires_a_spec() -> None:
    class Empty(CustomResource[Part, Part], group="one.example.com", version="v1"):
        pass

    assert schema_in(Empty) == {
        "type": "object",
        "properties": {
            "apiVersion": TEXT,
            "kind": TEXT,
            "metadata": {"type": "object"},
            "spec": {"type": "object"},
            "status": {"type": "object"},
        },
        "required": ["spec"],
    }
