"""Defaulting by structural schemas."""

from typing import Any

import pytest

from steersman_cluster.apiserver.schema.defaults import Defaults
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.structural import compile_schema
from tests.unit.apiserver.custom.value_samples import NESTED, STRING, fields

META = Schema(type="object")


def filled(value: dict[str, Any], schema: dict[str, Any] = NESTED) -> Any:
    Defaults(compile_schema(schema, object_meta=META)).fill(value)
    return value


FULL = {"a": "x", "e": {"f": "y"}, "g": "z", "h": [{"i": 7}]}


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, FULL),
        ({"b": {}}, {**FULL, "b": {"c": 1}}),
        ({"a": None}, FULL),
        ({"g": None}, {**FULL, "g": None}),
        ({"h": [None, {}]}, {**FULL, "h": [{"i": 3}, {"i": 7}]}),
        ({"j": {"a": {}, "b": None}}, {**FULL, "j": {"a": {"k": "w"}, "b": {"k": "v"}}}),
        ({"b": "no object"}, {**FULL, "b": "no object"}),
    ],
)
def test_an_absent_field_gets_its_default(given: dict[str, Any], left: dict[str, Any]) -> None:
    assert filled(given) == left


def test_a_default_is_not_shared_between_objects() -> None:
    first, second = filled({}), filled({})

    first["h"].append(1)

    assert second == FULL


def test_a_schema_without_defaults_does_not_need_defaulting() -> None:
    assert not Defaults(compile_schema(fields(a=STRING), object_meta=META)).is_needed
