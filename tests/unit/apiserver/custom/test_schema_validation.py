"""Validation of the schemas of a definition."""

from typing import Any

import pytest

from steersman_cluster.apiserver.custom.schema_validation import schema_errors
from tests.unit.apiserver.custom.value_samples import (
    EMBEDDED,
    INTEGER,
    STRING,
    fields,
    items,
    values,
)


def sentences(schema: dict[str, Any]) -> list[str]:
    return [str(error) for error in schema_errors(fields(x=schema), "s", shown_rule=dict)]


KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
AT = "s.properties[x]"


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({**STRING, "$ref": "y"}, f"{AT}.$ref: Forbidden: $ref is not supported"),
        (
            {**items(STRING), "uniqueItems": True},
            f"{AT}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime"
            " complexity becomes quadratic",
        ),
        (
            {"type": "text"},
            f'{AT}.type: Unsupported value: "text": supported values: "array", "boolean",'
            ' "integer", "number", "object", "string"',
        ),
        (
            {**fields(a=STRING), "additionalProperties": STRING},
            f"{AT}.additionalProperties: Forbidden: additionalProperties and properties are mutual"
            " exclusive",
        ),
        (
            {**STRING, "x-kubernetes-preserve-unknown-fields": False},
            f"{AT}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or"
            " undefined",
        ),
        (
            items(fields(name=STRING), **KEYED),
            f"{AT}.items.properties[name].default: Required value: this property is in"
            " x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
        (
            {**STRING, "default": 5},
            f'{AT}.default: Invalid value: "integer":  in body must be of type string: "integer"',
        ),
        (
            {**fields(a=STRING), "default": {"b": 1}},
            f'{AT}.default: Invalid value: {{"b":1}}: must not have unknown fields',
        ),
        ({**EMBEDDED, "default": {"kind": "A"}}, f"{AT}.default.apiVersion: Required value"),
        (
            {**STRING, "$schema": "y"},
            "s: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
        ),
    ],
)
def test_an_invalid_schema_is_reported_with_its_path(schema: dict[str, Any], sentence: str) -> None:
    assert sentences(schema) == [sentence]


@pytest.mark.parametrize(
    "schema",
    [
        {**STRING, "default": "y"},
        items({**fields(name=STRING), "required": ["name"]}, **KEYED),
        values({**INTEGER, "default": "never looked at"}),
        {"x-kubernetes-int-or-string": True, "default": 1.5},
    ],
)
def test_a_schema_that_kube_apiserver_accepts_has_no_errors(schema: dict[str, Any]) -> None:
    assert sentences(schema) == []


def test_a_default_in_the_metadata_of_the_resource_is_rejected() -> None:
    written = fields(metadata=fields(name={**STRING, "default": "y"}))

    (error,) = schema_errors(written, "s", shown_rule=dict)

    assert str(error) == (
        "s.properties[metadata].properties[name].default: Forbidden: must not be set in top-level"
        " metadata"
    )


def test_cel_rules_in_a_schema_are_validated() -> None:
    rule = {"rule": "self.b == 1"}

    (sentence,) = sentences({**fields(a=STRING), "x-kubernetes-validations": [rule]})

    assert "undefined field 'b'" in sentence
