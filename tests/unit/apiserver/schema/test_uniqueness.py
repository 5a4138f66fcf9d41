"""Sets and maps have nothing twice."""

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
def test_what_is_there_twice_is_reported_where_it_is_for_the_second_time(
    schema: dict[str, Any], value: Any, found: list[str]
) -> None:
    assert sentences(schema, value) == found


def test_atomic_lists_may_have_anything_twice() -> None:
    assert sentences(items(STRING), ["a", "a"]) == []
