"""A patched object, with the field order of Go."""

from steersman_cluster.apiserver.registry.patched_objects import (
    in_go_order,
    shown_after_merge,
    shown_after_operations,
)
from steersman_cluster.apiserver.schema.node import Schema

TEXT = Schema(type="string")
PART = Schema(type="object", properties={"name": TEXT, "args": Schema(type="array", items=TEXT)})
SCHEMA = Schema(
    type="object",
    properties={
        "spec": PART,
        "labels": Schema(type="object", additional=TEXT),
        "parts": Schema(type="array", items=PART),
        "any": Schema(type="object", preserve_unknown=True),
    },
)


def test_fields_have_the_order_of_their_type_and_maps_are_sorted() -> None:
    value = {"labels": {"b": "2", "a": "1"}, "odd": 1, "spec": {"args": ["x"], "name": "n"}}

    ordered = in_go_order(value, SCHEMA)

    assert list(ordered) == ["spec", "labels", "odd"]
    assert list(ordered["spec"]) == ["name", "args"]
    assert list(ordered["labels"]) == ["a", "b"]
    assert ordered == value


def test_list_items_are_ordered_and_untyped_values_are_unchanged() -> None:
    ordered = in_go_order({"parts": [{"args": [], "name": "n"}], "any": {"b": 1, "a": 2}}, SCHEMA)

    assert list(ordered["parts"][0]) == ["name", "args"]
    assert list(ordered["any"]) == ["b", "a"]


def test_a_merge_patch_sorts_the_maps_on_its_path_only() -> None:
    made = {"spec": {"name": "n", "args": ["x"]}, "labels": {"a": "1"}, "surprise": 1}

    untouched = shown_after_merge(made, {"surprise": 1}, SCHEMA)
    touched = shown_after_merge(made, {"spec": {"name": "n"}}, SCHEMA)

    assert untouched == '{"labels":{"a":"1"},"spec":{"name":"n","args":["x"]},"surprise":1}'
    assert touched == '{"labels":{"a":"1"},"spec":{"args":["x"],"name":"n"},"surprise":1}'


def test_json_patch_operations_sort_the_maps_on_their_path_only() -> None:
    made = {"spec": {"name": "n", "args": ["x"]}, "any": {"b": 1, "a": 2}, "parts": [{"name": "p"}]}
    patch = [
        {"op": "add", "path": "/any", "value": {"b": 1, "a": 2}},
        {"op": "test", "path": "/spec/name", "value": "n"},
        {"op": "add", "path": "/parts/0/name", "value": "p"},
    ]

    shown = shown_after_operations(made, patch, SCHEMA)

    assert shown == (
        '{"any":{"b":1,"a":2},"parts":[{"name":"p"}],"spec":{"args":["x"],"name":"n"}}'
    )


def test_every_map_of_a_custom_resource_is_sorted() -> None:
    made = {"spec": {"b": {"d": 1, "c": 2}, "a": [{"f": 1, "e": 2}]}}

    assert shown_after_merge(made, {}, None) == '{"spec":{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}}'
    assert shown_after_operations(made, None, None) == shown_after_merge(made, {}, None)
