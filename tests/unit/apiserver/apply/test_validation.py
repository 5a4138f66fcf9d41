"""Values that do not match their schema."""

from typing import Any

import pytest

from steersman_cluster.apiserver.apply.validation import mismatches
from steersman_cluster.apiserver.schema.node import Schema
from tests.unit.apiserver.apply.kinds import DEPLOYMENT, SCHEMAS, SPEC, Object


@pytest.mark.parametrize(
    ("value", "mismatch"),
    [
        ({"fence": 1}, ".fence: field not declared in schema"),
        ({"part": {"a": "1"}}, ".part.a: expected numeric (int or float), got string"),
        (
            {"part": {"a": {}}},
            ".part.a: expected numeric (int or float), got map[string]interface {}",
        ),
        ({"part": {"a": []}}, ".part.a: expected numeric (int or float), got []interface {}"),
        ({"part": [1.5, None, True, "x"]}, ".part: expected map, got &{[1.5 <nil> true x]}"),
        ({"queue": {"b": {"d": 1}, "a": 2}}, ".queue: expected list, got &{map[a:2 b:map[d:1]]}"),
        ({"queue": ["a", 7]}, ".queue[1]: expected string, got &value.valueUnstructured{Value:7}"),
        (
            {"labels": {"a": {"b": ["c", None]}}},
            ".labels.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}"
            '{"b":[]interface {}{"c", interface {}(nil)}}}',
        ),
        ({"colors": ["a", "a"]}, '.colors: duplicate entries for key [="a"]'),
        (
            {"animals": [{"name": "tom", "legs": "x"}]},
            '.animals[kind="cat",name="tom"].legs: expected numeric (int or float), got string',
        ),
        (
            {"animals": [{"name": "tom"}, {"name": "tom", "kind": "cat"}]},
            '.animals: duplicate entries for key [kind="cat",name="tom"]',
        ),
        (
            {"animals": [None]},
            ".animals: element 0: associative list with keys may not have a null element",
        ),
        (
            {"animals": ["x"]},
            ".animals: element 0: associative list with keys may not have non-map elements",
        ),
        (
            {"colors": ["x", {}]},
            ".colors: element 1: associative list without keys has an element that's a map type",
        ),
        (
            {"colors": [[]]},
            ".colors: element 0: not supported: associative list with lists as elements",
        ),
    ],
)
def test_a_mismatch_is_reported_with_its_path(value: Object, mismatch: str) -> None:
    assert mismatches(value, SPEC) == [mismatch]


@pytest.mark.parametrize(
    "value",
    [
        {"part": None, "queue": None, "colors": None, "block": {"a": None}},
        {"free": {"anything": {"goes": [1, {"x": None}]}}},
        {"part": {"a": 1.5}},
        {"colors": [1, "1", True]},
    ],
)
def test_a_value_that_matches_its_schema_has_no_mismatch(value: Object) -> None:
    assert mismatches(value, SPEC) == []


def test_unknown_fields_are_preserved_below_a_preserving_schema() -> None:
    inner = Schema(type="object", properties={"a": Schema(type="integer")})
    outer = Schema(type="object", preserve_unknown=True, properties={"inner": inner})

    assert mismatches({"x": 1, "inner": {"y": 1}}, outer) == []
    assert mismatches({"y": 1}, inner) == [".y: field not declared in schema"]


@pytest.mark.parametrize(
    ("spec", "mismatch"),
    [
        ({"paused": 1}, ".spec.paused: expected boolean, got &{1}"),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": {"a": 1}}}},
            ".spec.strategy.rollingUpdate.maxSurge: expected any scalar, got &{map[a:1]}",
        ),
    ],
)
def test_a_type_with_several_scalar_forms_is_not_a_map(spec: Any, mismatch: str) -> None:
    assert mismatches({"spec": spec}, SCHEMAS.of(DEPLOYMENT)) == [mismatch]
