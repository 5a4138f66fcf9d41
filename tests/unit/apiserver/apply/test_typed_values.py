"""The fields of a value, and of a change between two values."""

import pytest

from steersman_cluster.apiserver.apply.path_elements import NoElement, element_of
from steersman_cluster.apiserver.apply.typed_values import applied_fields, compared
from steersman_cluster.apiserver.meta.reset_fields import FieldSet
from steersman_cluster.apiserver.schema.node import Schema
from tests.unit.apiserver.apply.kinds import SPEC, Object

TOM = 'k:{"kind":"cat","name":"tom"}'


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({"part": {"a": 1}}, {"f:part": {"f:a": {}}}),
        ({"part": {}}, {"f:part": {}}),
        ({"part": None}, {"f:part": {}}),
        ({"part": {"a": None}}, {"f:part": {"f:a": {}}}),
        ({"labels": {"x": "y"}}, {"f:labels": {"f:x": {}}}),
        ({"block": {"a": 1}}, {"f:block": {}}),
        ({"queue": ["x"]}, {"f:queue": {}}),
        ({"queue": []}, {"f:queue": {}}),
        ({"animals": []}, {}),
        ({"animals": None}, {"f:animals": {}}),
        ({"animals": [{"name": "tom"}]}, {"f:animals": {TOM: {".": {}, "f:name": {}}}}),
        ({"animals": [{"name": "tom"}, {"name": "tom", "legs": 3}]}, {"f:animals": {TOM: {}}}),
        ({"colors": ["a", 1]}, {"f:colors": {'v:"a"': {}, "v:1": {}}}),
        ({"free": {"a": {"b": [1]}}}, {"f:free": {"f:a": {".": {}, "f:b": {}}}}),
        ({"free": {"a": {}, "b": None}}, {"f:free": {"f:a": {}, "f:b": {}}}),
    ],
)
def test_applied_fields_returns_the_fields_of_a_value(value: Object, fields: FieldSet) -> None:
    assert applied_fields(value, SPEC) == fields


@pytest.mark.parametrize(
    ("old", "new", "changed", "removed"),
    [
        ({"part": {"a": 1}}, {"part": {"a": 2}}, {"f:part": {"f:a": {}}}, {}),
        ({}, {"part": {"a": 2}}, {"f:part": {".": {}, "f:a": {}}}, {}),
        ({"part": {"a": 1}}, {}, {}, {"f:part": {".": {}, "f:a": {}}}),
        ({"part": None}, {"part": {"a": 1}}, {"f:part": {"f:a": {}}}, {}),
        ({"part": {"a": 1}}, {"part": None}, {}, {"f:part": {"f:a": {}}}),
        ({"part": None}, {"part": {}}, {"f:part": {}}, {}),
        ({"part": {}}, {"part": None}, {"f:part": {}}, {}),
        ({"block": {"a": 1}}, {"block": {"a": 2}}, {"f:block": {}}, {}),
        ({"queue": ["x"]}, {"queue": []}, {"f:queue": {}}, {}),
        (
            {"colors": ["a"]},
            {"colors": ["b"]},
            {"f:colors": {'v:"b"': {}}},
            {"f:colors": {'v:"a"': {}}},
        ),
        ({"colors": ["a", "b"]}, {"colors": ["b", "a"]}, {}, {}),
        ({"colors": None}, {"colors": []}, {"f:colors": {}}, {}),
        ({"colors": []}, {"colors": None}, {"f:colors": {}}, {}),
        ({"colors": None}, {"colors": ["a"]}, {"f:colors": {'v:"a"': {}}}, {}),
        (
            {"animals": [{"name": "tom"}]},
            {"animals": [{"name": "tom", "kind": "cat", "legs": 4}]},
            {"f:animals": {TOM: {"f:kind": {}, "f:legs": {}}}},
            {},
        ),
        (
            {"animals": [{"name": "tom"}]},
            {"animals": [{"name": "tom"}, {"name": "tom"}]},
            {"f:animals": {TOM: {}}},
            {"f:animals": {TOM: {".": {}, "f:name": {}}}},
        ),
        (
            {"animals": [{"name": "tom"}, {"name": "tom"}]},
            {"animals": [{"name": "tom"}]},
            {"f:animals": {TOM: {".": {}, "f:name": {}}}},
            {"f:animals": {TOM: {}}},
        ),
        (
            {"animals": [{"name": "tom"}, {"name": "tom"}]},
            {"animals": [{"name": "tom"}, {"name": "tom", "legs": 3}]},
            {"f:animals": {TOM: {}}},
            {},
        ),
        (
            {"free": {"a": 1}},
            {"free": {"a": {"b": 1}}},
            {"f:free": {"f:a": {".": {}, "f:b": {}}}},
            {},
        ),
        (
            {"free": {"a": {"b": 1}}},
            {"free": {"a": 1}},
            {"f:free": {"f:a": {}}},
            {"f:free": {"f:a": {"f:b": {}}}},
        ),
        ({"free": {"a": {"b": 1}}}, {"free": {"a": None}}, {}, {"f:free": {"f:a": {"f:b": {}}}}),
        ({"free": {"a": [1]}}, {"free": {"a": [2]}}, {"f:free": {"f:a": {}}}, {}),
        ({"free": {"a": 5}}, {"free": {"a": {}}}, {"f:free": {"f:a": {}}}, {}),
    ],
)
def test_compared_returns_the_changed_and_removed_fields(
    old: Object, new: Object, changed: FieldSet, removed: FieldSet
) -> None:
    assert compared(old, new, SPEC) == (changed, removed)


def test_an_item_without_key_fields_is_rejected() -> None:
    keyed = Schema(type="array", list_type="map", list_map_keys=("id", "to"), items=Schema())

    with pytest.raises(NoElement, match=r'omits all key fields \["id" "to"\]'):
        element_of({"x": 1}, keyed)


def test_a_scalar_in_place_of_a_list_changes_the_whole_field() -> None:
    schema = Schema(type="array", list_type="set", items=Schema(type="string"))

    assert compared({"a": ["x"]}, {"a": 8080}, Schema(properties={"a": schema})) == (
        {"f:a": {}},
        {},
    )
