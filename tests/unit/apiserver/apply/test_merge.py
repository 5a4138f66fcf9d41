"""Merging a configuration into an object, and removing fields."""

from typing import Any

import pytest

from steersman_cluster.apiserver.apply.merge import merged, pruned, remove_fields
from steersman_cluster.apiserver.meta.reset_fields import FieldSet
from tests.unit.apiserver.apply.kinds import SPEC, Object


@pytest.mark.parametrize(
    ("live", "applied", "result"),
    [
        ({"part": {"a": 1, "b": 2}}, {"part": {"b": 3}}, {"part": {"a": 1, "b": 3}}),
        ({"block": {"a": 1}}, {"block": {}}, {"block": {}}),
        ({"queue": ["a"]}, {"queue": ["b"]}, {"queue": ["b"]}),
        ({"part": {"a": 1}}, {"part": None}, {"part": {"a": 1}}),
        ({"part": {}}, {"part": None}, {"part": None}),
        ({"colors": ["a"]}, {"colors": None}, {"colors": ["a"]}),
        ({"colors": ["a"]}, {"colors": []}, {"colors": ["a"]}),
        ({"free": {"a": {"b": 1}}}, {"free": {"a": {"c": 2}}}, {"free": {"a": {"b": 1, "c": 2}}}),
        ({"free": {"a": {"b": 1}}}, {"free": {"a": 7}}, {"free": {"a": 7}}),
        ({"free": {"a": [1]}}, {"free": {"a": None}}, {"free": {"a": None}}),
        (
            {"animals": [{"name": "tom", "legs": 4}]},
            {"animals": [{"name": "tom", "kind": "cat"}, {"name": "tom", "kind": "dog"}]},
            {
                "animals": [
                    {"name": "tom", "legs": 4, "kind": "cat"},
                    {"name": "tom", "kind": "dog"},
                ]
            },
        ),
        (
            {"animals": [{"name": "tom", "legs": 4}, {"name": "tom", "legs": 3}]},
            {"animals": [{"name": "tom", "legs": 2}]},
            {"animals": [{"name": "tom", "legs": 2}]},
        ),
    ],
)
def test_a_configuration_is_merged_into_an_object(
    live: Object, applied: Object, result: Object
) -> None:
    assert merged(live, applied, SPEC) == result


def test_a_list_with_thousands_of_items_is_merged_in_linear_time() -> None:
    items = [{"name": str(each)} for each in range(20_000)]

    result = merged({"animals": items}, {"animals": items[::-1]}, SPEC)

    assert result == {"animals": items[::-1]}


@pytest.mark.parametrize(
    ("live", "applied", "result"),
    [
        ("abc", "bd", "abcd"),
        ("abc", "cb", "acb"),
        ("abc", "dca", "bdca"),
        ("abcd", "db", "acdb"),
        ("ab", "cd", "abcd"),
        ("abc", "xay", "xabcy"),
        ("", "ba", "ba"),
    ],
)
def test_applied_items_keep_their_order_and_live_items_their_place(
    live: str, applied: str, result: str
) -> None:
    both: Any = merged({"colors": list(live)}, {"colors": list(applied)}, SPEC)

    assert "".join(both["colors"]) == result


@pytest.mark.parametrize(
    ("removed", "left"),
    [
        ({"f:part": {}}, {"colors": ["a", "b"], "queue": ["x"]}),
        ({"f:part": {"f:a": {}}}, {"part": {"b": 2}, "colors": ["a", "b"], "queue": ["x"]}),
        ({"f:part": {"f:a": {}, "f:b": {}}}, {"part": None, "colors": ["a", "b"], "queue": ["x"]}),
        ({"f:colors": {'v:"a"': {}}}, {"part": {"a": 1, "b": 2}, "colors": ["b"], "queue": ["x"]}),
        ({"f:queue": {"i:0": {}}}, {"part": {"a": 1, "b": 2}, "colors": ["a", "b"], "queue": None}),
    ],
)
def test_fields_can_be_removed(removed: FieldSet, left: Object) -> None:
    value = {"part": {"a": 1, "b": 2}, "colors": ["a", "b"], "queue": ["x"]}

    assert remove_fields(value, removed, SPEC) == left


def test_an_item_is_removed_with_all_its_unmanaged_fields() -> None:
    value = {"animals": [{"name": "tom", "legs": 4}, {"name": "bob", "legs": 2}]}
    last: FieldSet = {"f:animals": {'k:{"kind":"cat","name":"tom"}': {".": {}, "f:name": {}}}}

    bobs: FieldSet = {"f:animals": {'k:{"kind":"cat","name":"bob"}': {".": {}}}}

    assert pruned(value, SPEC, last=last, owned=[bobs]) == {"animals": [{"name": "bob", "legs": 2}]}


def test_an_item_keeps_the_fields_of_other_managers() -> None:
    tom = 'k:{"kind":"cat","name":"tom"}'
    value = {"animals": [{"name": "tom", "legs": 4, "toys": {"a": "b"}}]}
    last: FieldSet = {"f:animals": {tom: {".": {}, "f:legs": {}, "f:name": {}}}}
    other: FieldSet = {"f:animals": {tom: {".": {}, "f:name": {}, "f:toys": {"f:a": {}}}}}

    assert pruned(value, SPEC, last=last, owned=[other]) == {
        "animals": [{"name": "tom", "toys": {"a": "b"}}]
    }
