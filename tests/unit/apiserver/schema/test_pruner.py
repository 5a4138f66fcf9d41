"""Pruning of unknown fields."""

from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.schema.builtin_schemas import OBJECT_META, BuiltinSchemas
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.pruner import accept, prune
from steersman_cluster.apiserver.schema.structural import compile_schema
from tests.unit.apiserver.custom.value_samples import (
    ANYTHING,
    EMBEDDED,
    INTEGER,
    STRING,
    fields,
    items,
    values,
)


@pytest.fixture(scope="module")
def object_meta() -> Schema:
    return BuiltinSchemas.read().named(OBJECT_META)


def pruned(schema: dict[str, Any], value: Any) -> tuple[Any, list[str]]:
    obj = {"x": value}
    unknown = prune(obj, compile_schema(fields(x=schema), object_meta=Schema(type="object")))
    return obj.get("x"), unknown


@pytest.mark.parametrize(
    ("schema", "given", "kept", "unknown"),
    [
        (fields(a=STRING), {"a": "y", "b": 1}, {"a": "y"}, ["x.b"]),
        (STRING, {"a": 1}, {}, ["x.a"]),
        (items(fields(a=STRING)), [{"b": 1}], [{}], ["x[0].b"]),
        (values(STRING), {"a": "y"}, {"a": "y"}, []),
        (values(True), {"a": {"b": 1}, "c": 1}, {"a": {}, "c": 1}, ["x.a.b"]),
        (ANYTHING, {"a": {"b": None}}, {"a": {"b": None}}, []),
        ({**fields(a=fields()), **ANYTHING}, {"a": {"c": 1}, "d": 1}, {"a": {}, "d": 1}, ["x.a.c"]),
        ({**items(fields(a=STRING)), **ANYTHING}, [{"b": 1}], [{"b": 1}], []),
        (fields(a=STRING), {"a": None}, {}, []),
        (fields(a={**STRING, "nullable": True}), {"a": None}, {"a": None}, []),
        (fields(a={**STRING, "default": "y"}), {"a": None}, {"a": None}, []),
        (items(STRING), [None], [None], []),
    ],
)
def test_unknown_fields_and_stray_nulls_are_removed(
    schema: dict[str, Any], given: Any, kept: Any, unknown: list[str]
) -> None:
    assert pruned(schema, given) == (kept, unknown)


@pytest.mark.parametrize("schema", [INTEGER, ANYTHING], ids=["known", "unknown"])
def test_whole_floats_become_integers_as_in_go(schema: dict[str, Any]) -> None:
    kept, _ = pruned(values(schema), {"a": 1.0, "b": 1.5, "c": 10**20})

    assert [type(kept[key]) for key in "abc"] == [int, float, float]


def test_unknown_paths_are_sorted() -> None:
    _, unknown = pruned(fields(), {"c": 1, "a": 1, "b": 1})

    assert unknown == ["x.a", "x.b", "x.c"]


def test_metadata_of_the_resource_itself_is_not_pruned(object_meta: Schema) -> None:
    obj = {"apiVersion": "g/v1", "kind": "K", "metadata": {"anything": 1}, "spec": {}}

    unknown = accept(obj, compile_schema({"type": "object"}, object_meta=object_meta))

    assert obj == {"apiVersion": "g/v1", "kind": "K", "metadata": {"anything": 1}}
    assert unknown == ["spec"]


def test_metadata_of_an_embedded_resource_is_pruned(object_meta: Schema) -> None:
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {}, "b": 1}}
    obj = {"apiVersion": "g/v1", "kind": "K", "metadata": {}, "x": inner, "y": 1}

    unknown = accept(obj, compile_schema(fields(x=EMBEDDED), object_meta=object_meta))

    assert inner["metadata"] == {"name": "a"}
    assert unknown == ["y", "x.metadata.b"]


def test_a_null_in_the_type_or_object_metadata_is_removed(
    object_meta: Schema,
) -> None:
    described = {**EMBEDDED, **fields(kind=STRING, metadata={"type": "object"})}
    inner = {"apiVersion": "v1", "kind": None, "metadata": None}
    obj = {"apiVersion": "g/v1", "kind": "K", "metadata": {}, "x": inner}

    accept(obj, compile_schema(fields(x=described), object_meta=object_meta))

    assert inner == {"apiVersion": "v1"}


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ({"apiVersion": 5}, "x.apiVersion: Invalid value: 5: must be a string"),
        (
            {"metadata": {"labels": 5}},
            'x.metadata: Invalid value: {"labels":5}: json: cannot unmarshal number into Go struct'
            " field ObjectMeta.labels of type map[string]string",
        ),
    ],
)
def test_a_malformed_embedded_resource_is_rejected(
    object_meta: Schema, inner: Any, why: str
) -> None:
    obj = {"apiVersion": "g/v1", "kind": "K", "metadata": {}, "x": inner}

    with pytest.raises(StatusError) as caught:
        accept(obj, compile_schema(fields(x=EMBEDDED), object_meta=object_meta))

    assert caught.value.code == 400
    assert caught.value.message == f'K in version "v1" cannot be handled as a K: {why}'
