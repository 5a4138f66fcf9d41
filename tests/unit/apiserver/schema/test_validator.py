"""Validation of values by a schema."""

from typing import Any

import pytest

from steersman_cluster.apiserver.schema.validator import Validator
from tests.unit.apiserver.custom.value_samples import (
    ANY_OF,
    INTEGER,
    NUMBER,
    ONE_OF,
    STRING,
    fields,
    items,
    values,
)


def sentences(schema: dict[str, Any], value: Any, **how: Any) -> list[str]:
    return [str(error) for error in Validator(fields(x=schema)).errors({"x": value}, **how)]


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        (STRING, 5, 'x: Invalid value: "integer": x in body must be of type string: "integer"'),
        (STRING, None, 'x: Invalid value: "null": x in body must be of type string: "null"'),
        (
            {**STRING, "format": "date"},
            5,
            'x: Invalid value: "int64": x in body must be of type date: "int64"',
        ),
        (
            {**STRING, "format": "date"},
            "y",
            'x: Invalid value: "y": x in body must be of type date: "y"',
        ),
        ({**STRING, "maxLength": 1}, "ab", "x: Too long: may not be more than 1 byte"),
        (
            {**STRING, "minLength": 3},
            "äö",
            'x: Invalid value: "äö": x in body should be at least 3 chars long',
        ),
        ({**STRING, "pattern": "^a"}, "b", "x: Invalid value: \"b\": x in body should match '^a'"),
        (
            {**STRING, "enum": ["a", "b"]},
            "c",
            'x: Unsupported value: "c": supported values: "a", "b"',
        ),
        (
            {**INTEGER, "minimum": 0},
            -1,
            "x: Invalid value: -1: x in body should be greater than or equal to 0",
        ),
        (
            {**INTEGER, "maximum": 5, "exclusiveMaximum": True},
            5,
            "x: Invalid value: 5: x in body should be less than 5",
        ),
        (
            {**INTEGER, "format": "int32"},
            1 << 31,
            '<nil>: Invalid value: "": Checked value must be of type integer with format int32'
            " in x",
        ),
        (
            {**NUMBER, "maximum": 1000000},
            1000000.5,
            "x: Invalid value: 1.0000005e+06: x in body should be less than or equal to 1e+06",
        ),
        (
            {**INTEGER, "multipleOf": 3},
            10,
            "x: Invalid value: 10: x in body should be a multiple of 3",
        ),
        (
            items(STRING, minItems=1),
            [],
            "x: Invalid value: 0: x in body should have at least 1 items",
        ),
        (items(STRING, maxItems=1), ["a", "b"], "x: Too many: 2: must have at most 1 item"),
        (
            items(INTEGER),
            [1, "a"],
            'x[1]: Invalid value: "string": x[1] in body must be of type integer: "string"',
        ),
        (
            values(INTEGER),
            {"a": "b"},
            'x.a: Invalid value: "string": x.a in body must be of type integer: "string"',
        ),
        (values(False), {"a": 1}, 'x: Invalid value: "a": x.a in body is a forbidden property'),
        (
            values(STRING, minProperties=1),
            {},
            "x: Invalid value: 0: x in body should have at least 1 properties",
        ),
        (values(STRING, maxProperties=0), {"a": "b"}, "x: Too many: 1: must have at most 0 items"),
        ({**fields(), "required": ["a"]}, {}, "x.a: Required value"),
        (
            {**STRING, "not": {"enum": ["a"]}},
            "a",
            '<nil>: Invalid value: "": "x" must not validate the schema (not)',
        ),
        (
            {"x-kubernetes-int-or-string": True},
            1.5,
            'x: Invalid value: "number": x in body must be of type integer,string: "number"',
        ),
    ],
)
def test_a_violated_rule_is_reported_with_kube_apiservers_message(
    schema: dict[str, Any], value: Any, sentence: str
) -> None:
    assert sentences(schema, value) == [sentence]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INTEGER, 1.0),
        (NUMBER, 1),
        ({**STRING, "nullable": True}, None),
        ({**STRING, "maxLength": 3}, "äöü"),
        ({**STRING, "format": "date"}, [1]),
        ({**STRING, "format": "no-such-format"}, "anything"),
        ({**NUMBER, "enum": [1]}, 1.5),
        ({**NUMBER, "multipleOf": 0.1}, 0.3),
        ({"x-kubernetes-int-or-string": True}, "80%"),
        (ONE_OF, {"a": "x"}),
        (ANY_OF, {"a": "x", "c": 5}),
    ],
)
def test_a_value_that_kube_apiserver_accepts_has_no_errors(
    schema: dict[str, Any], value: Any
) -> None:
    assert sentences(schema, value) == []


def test_the_errors_of_the_closest_alternative_are_reported() -> None:
    found = sentences(ANY_OF, {"b": "y", "c": 4})

    assert found == [
        '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
        'x.b: Invalid value: "y": x.b in body should be at least 3 chars long',
        "x.c: Invalid value: 4: x.c in body should be less than or equal to 3",
    ]


def test_one_of_rejects_several_matching_alternatives() -> None:
    found = sentences(ONE_OF, {"a": "x", "b": "y"})

    assert found == [
        '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf).'
        " Found 2 valid alternatives"
    ]


def test_an_error_contains_the_path_of_the_value() -> None:
    schema = fields(count=INTEGER)

    (error,) = Validator(schema).errors({"count": "x"}, at="status")

    assert error.field == "status.count"
    assert error.detail == 'count in body must be of type integer: "string"'


def test_the_same_error_is_reported_once() -> None:
    schema = {**STRING, "allOf": [{"minLength": 3}, {"minLength": 3}]}

    found = sentences(schema, "a")

    assert len([each for each in found if "at least 3" in each]) == 1


STRICT = {**STRING, "maxLength": 1}


def test_an_unchanged_invalid_value_is_accepted() -> None:
    old = {"x": {"a": "long", "b": "x"}}

    found = sentences(fields(a=STRICT, b=STRING), {"a": "long", "b": "y"}, old=old)

    assert found == []


def test_a_value_that_becomes_invalid_is_rejected() -> None:
    old = {"x": {"a": "x"}}

    found = sentences(fields(a=STRICT), {"a": "long"}, old=old)

    assert found == ["x.a: Too long: may not be more than 1 byte"]


def test_items_with_keys_are_correlated_by_key() -> None:
    item = fields(name=STRING, a=STRICT)
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    old = {"x": [{"name": "n", "a": "long"}]}
    new = [{"name": "m"}, {"name": "n", "a": "long"}]

    assert sentences(items(item, **keyed), new, old=old) == []
    assert sentences(items(item), new, old=old) != []
