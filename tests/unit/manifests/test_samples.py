"""Samples are small, plausible, and valid by their schema."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from steersman.errors import BadDefinition, NoSample
from steersman.manifests import sample_of
from steersman.manifests.definition.text_examples import FORMATS, texts_like
from steersman_cluster.apiserver.schema.formats import text_format
from steersman_cluster.apiserver.schema.validator import Validator
from tests.unit.manifests.crds import definition, fields, of_versions, rich, version
from tests.unit.manifests.drawn_schemas import schemas, values
from tests.unit.manifests.test_breaking_changes import Server

TEXT = {"type": "string"}


def spec_of(schema: dict[str, Any]) -> Any:
    return sample_of(definition(schema))["spec"]


def value_of(schema: dict[str, Any]) -> Any:
    """The generated value for a required field with that schema."""
    return spec_of(fields("it", it=schema))["it"]


def test_a_sample_has_required_fields_defaults_and_examples() -> None:
    schema = fields(
        "image",
        image=TEXT,
        size={"type": "integer", "default": 3},
        zone={"type": "string", "example": "eu-1"},
        extra=TEXT,
    )

    assert sample_of(definition(schema)) == {
        "apiVersion": "shop.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "widget-sample"},
        "spec": {"image": "image", "size": 3, "zone": "eu-1"},
    }


def test_a_sample_of_a_schema_with_every_feature_is_valid() -> None:
    sample = sample_of(rich())

    schema = rich()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert Validator(schema).errors(sample) == []
    assert sample["spec"]["inline"] == "inline"  # the first of two alternatives
    assert [each["name"] for each in sample["spec"]["ports"]] == ["name", "name2"]


def test_a_sample_is_of_the_stored_version_unless_another_is_named() -> None:
    crd = of_versions(version("v1beta1"), version("v1", storage=True))

    assert sample_of(crd)["apiVersion"] == "shop.example.com/v1"
    assert sample_of(crd, "v1beta1")["apiVersion"] == "shop.example.com/v1beta1"
    with pytest.raises(BadDefinition, match="no version v2; its versions are: v1beta1, v1"):
        sample_of(crd, "v2")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "enum": ["red", "green"]}, "red"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 10}, 10),
        ({"type": "integer", "minimum": 10, "exclusiveMinimum": True, "multipleOf": 4}, 12),
        ({"type": "integer", "maximum": -5}, -5),
        ({"type": "number", "minimum": 0, "maximum": 0.5, "exclusiveMinimum": True}, 0.5),
        ({"type": "boolean"}, False),
        ({"type": "string", "minLength": 6}, "itxxxx"),
        ({"type": "string", "maxLength": 1}, "t"),
        ({"type": "string", "format": "date-time"}, "2026-01-01T00:00:00Z"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "it"),
        ({"type": "string", "pattern": r"^v\d+(\.\d+){2}(-(alpha|beta))?$"}, "v1.1.1"),
        ({"type": "string", "pattern": "^[^a-z]{3}$"}, "111"),
        ({"type": "string", "pattern": "^(http|https)://.+$"}, "http://a"),
        ({"type": "string", "pattern": "^[a-z]+$", "minLength": 12}, "itxxxxxxxxxx"),
        ({"type": "string", "pattern": r"^\d+Gi$", "minLength": 5}, "111Gi"),
        ({"x-kubernetes-int-or-string": True}, 1),
        ({"x-kubernetes-preserve-unknown-fields": True}, {}),
        ({"type": "array", "items": TEXT}, ["it"]),
        ({"type": "array", "items": TEXT, "maxItems": 0}, []),
        ({"type": "array", "items": TEXT, "minItems": 2}, ["it", "it2"]),
        ({"type": "object", "additionalProperties": TEXT}, {}),
        ({"type": "object", "additionalProperties": TEXT, "minProperties": 1}, {"key": "key"}),
        (fields("a", a={"type": "string", "default": "x"}), {"a": "x"}),
        (
            fields(a=TEXT, b=TEXT) | {"oneOf": [{"required": ["b"]}, {"required": ["a"]}]},
            {"b": "b"},
        ),
        (
            {"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": -10}]},
            10,
        ),
        (
            {"type": "string", "pattern": r"^\pL$", "nullable": True},
            None,
        ),
        (
            fields() | {"x-kubernetes-embedded-resource": True},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "example"}},
        ),
    ],
)
def test_a_generated_value_is_valid_by_its_schema(schema: dict[str, Any], value: Any) -> None:
    assert value_of(schema) == value


def test_the_name_of_a_sample_respects_the_length_limit() -> None:
    crd = definition()
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["metadata"] = fields(name={"type": "string", "maxLength": 4})

    assert sample_of(crd)["metadata"]["name"] == "mple"


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({"type": "string", "pattern": r"^\p{Greek}+$", "maxLength": 0, "minLength": 1}, "spec.it"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "spec.it"),
        ({"type": "string", "pattern": "^a$", "minLength": 2}, "spec.it"),
        (
            {
                "type": "array",
                "minItems": 1,
                "items": {"type": "integer", "enum": []} | {"not": {}},
            },
            "spec.it[0]",
        ),
        (fields(a=TEXT) | {"minProperties": 3}, "spec.it"),
        ({"type": "array", "items": TEXT, "minItems": 10**9}, "spec.it"),
        ({"type": "string", "minLength": 10**9}, "spec.it"),
        ({"type": "object", "additionalProperties": TEXT, "minProperties": 10**9}, "spec.it"),
    ],
)
def test_the_error_for_a_field_without_a_sample_says_what_to_do(
    schema: dict[str, Any], field: str
) -> None:
    with pytest.raises(NoSample, match="Give the field an example") as refused:
        value_of(schema)

    assert refused.value.field == field


def test_an_example_is_used_where_no_value_can_be_generated() -> None:
    schema = {"type": "string", "pattern": r"^\p{Greek}+$", "example": "αβγ"}

    assert value_of(schema) == "αβγ"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_generated_text_has_its_format(name: str) -> None:
    fits = text_format(name)

    assert fits is not None
    assert fits(FORMATS[name])


@given(schema=schemas)
def test_a_sample_satisfies_its_schema(schema: dict[str, Any]) -> None:
    try:
        value = value_of(schema)
    except NoSample:
        assume(False)
        raise

    assert Server(schema).accepts(value)


@given(data=st.data())
def test_a_sample_is_found_if_a_value_exists(data: st.DataObject) -> None:
    schema = data.draw(schemas.filter(lambda each: "oneOf" not in str(each)))
    assume(Server(schema).accepts(data.draw(values(schema))))
    assume("pattern" not in str(schema) and "'set'" not in str(schema))

    assert Server(schema).accepts(value_of(deepcopy(schema)))


@pytest.mark.parametrize(
    "pattern", ["(", "[", "a{2", "(?i)a", "[[:alpha:]]", r"\x41", "*", "(" * 500]
)
def test_an_unsupported_pattern_has_no_sample(pattern: str) -> None:
    assert list(texts_like(pattern, fewest=0, most=None)) == []


def test_a_pattern_never_generates_an_endless_text() -> None:
    assert list(texts_like("^((a{1000}){1000}){1000}$", fewest=0, most=None)) == []


def test_a_pattern_with_catastrophic_backtracking_ends_in_time() -> None:
    schema = {"type": "string", "pattern": "^(x+x+)+!$", "minLength": 200}

    with pytest.raises(NoSample):
        value_of(schema)
