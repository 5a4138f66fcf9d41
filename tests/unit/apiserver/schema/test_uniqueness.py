"""Uniqueness of the items of sets and keyed lists."""

from typing import Any

import pytest

from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.structural import compile_schema
from steersman_cluster.apiserver.schema.uniqueness import Uniqueness
from tests.unit.apiserver.custom.value_samples import (
    MAP_LIST,
    SET,
    STRING,
    TWO_KEYS,
    fields,
    items,
    values,
)


def sentences(schema: dict[str, Any], value: Any) -> list[str]:
    compiled = compile_schema(fields(x=schema), object_meta=Schema(type="object"))
    return [str(error) for error in Uniqueness(compiled).errors({"x": value})]


@pytest.mark.parametrize(
    ("schema", "value", "found"),
    [
        (SET, ["a", "b", "a", "a"], ['x[2]: Duplicate value: "a"']),
        (
            MAP_LIST,
            [{"name": "a"}, {"name": "a", "port": 1}],
            ['x[1]: Duplicate value: {"name":"a"}'],
        ),
        (MAP_LIST, [{}, {}], ["x[1]: Duplicate value: {}"]),
        (
            TWO_KEYS,
            [{"name": "a", "port": 1}, {"name": "a", "port": 2}, {"name": "a", "port": 1}],
            ['x[2]: Duplicate value: {"name":"a","port":1}'],
        ),
        (items(SET), [["a", "a"]], ['x[0][1]: Duplicate value: "a"']),
        (values(SET), {"k": ["a", "a"]}, ['x[k][1]: Duplicate value: "a"']),
        (
            MAP_LIST,
            [5],
            ["x[0]: Invalid value: 5: must be an object for an array of list-type map"],
        ),
    ],
)
def test_a_duplicate_item_is_reported_at_its_second_position(
    schema: dict[str, Any], value: Any, found: list[str]
) -> None:
    assert sentences(schema, value) == found


def test_an_atomic_list_may_contain_duplicates() -> None:
    assert sentences(items(STRING), ["a", "a"]) == []
