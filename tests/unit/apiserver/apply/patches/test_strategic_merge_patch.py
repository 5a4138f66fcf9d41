"""Strategic merge patch. tests/real compares the results with kube-apiserver."""

from typing import Any

import pytest

from steersman_cluster.apiserver.apply.patches import apply_strategic_merge_patch
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.schema.node import Schema

ANY = Schema()
ITEM = Schema(
    type="object",
    name="io.example.v1.Item",
    properties={
        "name": Schema(type="string"),
        "tags": Schema(type="array", items=ANY, patch_strategies=("merge",)),
        "deep": Schema(type="object", properties={"x": ANY, "y": ANY}),
        "whole": Schema(type="object", properties={"x": ANY}, patch_strategies=("replace",)),
    },
)
THING = Schema(
    type="object",
    name="io.example.v1.Thing",
    properties={
        "items": Schema(
            type="array", items=ITEM, patch_strategies=("merge",), patch_merge_key="name"
        ),
        "plain": Schema(type="array", items=ITEM),
        "keyless": Schema(type="array", items=ITEM, patch_strategies=("merge",)),
        "nested": Schema(type="array", items=Schema(type="array")),
        "tags": Schema(type="array", items=ANY, patch_strategies=("merge",)),
        "one": ITEM,
        "other": ITEM,
        "map": Schema(type="object", additional=ITEM),
    },
)


def named(*names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


@pytest.mark.parametrize(
    ("obj", "patch", "expected"),
    [
        ({"one": {"name": "a"}}, None, {"one": {"name": "a"}}),
        (
            {"one": {"name": "a"}},
            {"one": {"deep": {"x": 1}}},
            {"one": {"name": "a", "deep": {"x": 1}}},
        ),
        (
            {"one": {"deep": {"x": 1, "y": 2}}},
            {"one": {"deep": {"x": None}}},
            {"one": {"deep": {"y": 2}}},
        ),
        ({"one": {"whole": {"y": 1}}}, {"one": {"whole": {"x": 2}}}, {"one": {"whole": {"x": 2}}}),
        ({}, {"one": {"name": "a", "deep": None}}, {"one": {"name": "a"}}),
        ({}, {"one": {"deep": {"$patch": "delete"}, "name": "a"}}, {"one": {"name": "a"}}),
        ({}, {"one": {"$patch": "replace", "name": "a"}}, {}),
        ({"one": "text"}, {"one": {"$patch": "delete"}}, {}),
        ({"one": {"name": "a"}}, {"one": {"$patch": "delete"}}, {"one": {}}),
        ({"one": {"name": "a"}}, {"one": {"$patch": "replace", "deep": {}}}, {"one": {"deep": {}}}),
        (
            {"one": {"name": "a", "deep": {}}},
            {"one": {"$retainKeys": ["name"]}},
            {"one": {"name": "a"}},
        ),
        ({"plain": named("a", "b")}, {"plain": named("c")}, {"plain": named("c")}),
        ({"items": named("a", "b")}, {"items": named("c")}, {"items": named("c", "a", "b")}),
        (
            {"items": named("a", "b", "c")},
            {"items": named("c", "x", "a")},
            {"items": named("b", "c", "x", "a")},
        ),
        (
            {"items": [{"name": "a", "deep": {"x": 1}}, {"name": "b"}]},
            {"items": [{"name": "a", "deep": {"y": 2}}]},
            {"items": [{"name": "a", "deep": {"x": 1, "y": 2}}, {"name": "b"}]},
        ),
        (
            {"items": named("a", "b")},
            {"items": [{"name": "a", "$patch": "delete"}]},
            {"items": named("b")},
        ),
        (
            {"items": named("a", "b")},
            {"items": [{"$patch": "replace"}, *named("c")]},
            {"items": named("c")},
        ),
        ({}, {"items": [{"name": "a", "$patch": "delete"}, *named("b")]}, {"items": named("b")}),
        ({"items": []}, {"items": []}, {"items": []}),
        (
            {"items": named("a", "b", "c")},
            {"$setElementOrder/items": named("c", "a")},
            {"items": named("b", "c", "a")},
        ),
        (
            {"items": named("a", "b")},
            {"$setElementOrder/items": named("b", "x", "a"), "items": named("x")},
            {"items": named("b", "x", "a")},
        ),
        (
            {},
            {"$setElementOrder/items": named("b", "a"), "items": named("b")},
            {"items": named("b")},
        ),
        ({}, {"$setElementOrder/items": named("b")}, {}),
        ({"tags": ["a", "b"]}, {"tags": ["c", "a"]}, {"tags": ["c", "a", "b"]}),
        ({"tags": ["a", "b"]}, {"$deleteFromPrimitiveList/tags": ["a"]}, {"tags": ["b"]}),
        ({"tags": ["a"]}, {"$deleteFromPrimitiveList/tags": None}, {}),
        ({"tags": ["a"]}, {"$deleteFromPrimitiveList/tags": "a"}, {"tags": ["a"]}),
        ({}, {"$deleteFromPrimitiveList/tags": ["a"]}, {}),
        (
            {"tags": ["a", "b", "c"]},
            {"$setElementOrder/tags": ["c", "a"], "$deleteFromPrimitiveList/tags": ["b"]},
            {"tags": ["c", "a"]},
        ),
    ],
)
def test_a_patch_is_merged_according_to_the_schema(obj: Any, patch: Any, expected: Any) -> None:
    assert apply_strategic_merge_patch(obj, patch, THING) == expected


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ([], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ({"$patch": "merge"}, 500, "unknown patch type: merge in map: map[$patch:merge]"),
        ({"$retainKeys": "x"}, 400, "invalid patch format of retainKeys"),
        ({"$retainKeys": [], "tags": []}, 400, "invalid patch format of retainKeys"),
        ({"$setElementOrder": []}, 400, "invalid patch format of setElementOrder list"),
        ({"$setElementOrder/tags": "x"}, 500, "expected a []interface {}, but received a string"),
        (
            {"$setElementOrder/tags": ["a"], "tags": None},
            500,
            "expected a []interface {}, but received a %!s(<nil>)",
        ),
        ({"$setElementOrder/other": []}, 500, "expected slice or array type, but got: struct"),
        (
            {"$setElementOrder/empty": []},
            500,
            'unable to find api field in struct Thing for the json field "empty"',
        ),
        (
            {"$setElementOrder/tags": ["a"], "tags": ["b"]},
            500,
            "The order in patch list:\n[b]\n doesn't match $setElementOrder list:\n[a]\n",
        ),
        ({"$deleteFromPrimitiveListX/tags": []}, 400, "invalid patch format of primitive list"),
        (
            {"items": [{"$patch": "merge"}]},
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        ({"items": [{"$patch": "x"}]}, 500, "unknown patch type: x in map: map[$patch:x]"),
        (
            {"items": [{"deep": 1.5}]},
            500,
            "map: map[deep:1.5] does not contain declared merge key: name",
        ),
        ({"items": ["a"]}, 500, "list element types are not identical: [[map[name:a]] [a]]"),
        (
            {"items": [{"name": {}}]},
            500,
            "runtime error: comparing uncomparable type map[string]interface {}",
        ),
        ({"tags": [1]}, 500, "list element types are not identical: [[a b] [1]]"),
        ({"keyless": [{"name": "a"}]}, 500, "cannot merge lists without merge key for struct"),
        ({"nested": [[1]]}, 500, "unexpected slice of slice"),
        (
            {"map": {"x": {}}},
            500,
            "merging an object in json but data type is not struct, instead is: map",
        ),
    ],
)
def test_a_patch_that_cannot_be_merged_is_rejected(patch: Any, code: int, message: str) -> None:
    obj = {
        "items": named("a"),
        "one": {},
        "tags": ["a", "b"],
        "keyless": named("a"),
        "nested": [[0]],
        "map": {"x": {"name": "a"}},
    }

    with pytest.raises(StatusError) as raised:
        apply_strategic_merge_patch(obj, patch, THING)

    assert (raised.value.code, raised.value.message) == (code, message)


def test_a_patch_of_a_list_of_lists_is_rejected() -> None:
    with pytest.raises(StatusError) as raised:
        apply_strategic_merge_patch({"tags": [["a"]]}, {"tags": ["b"]}, THING)

    assert raised.value.code == 422


def test_the_order_of_an_empty_list_cannot_be_patched() -> None:
    with pytest.raises(StatusError, match="500") as raised:
        apply_strategic_merge_patch({"tags": []}, {"$setElementOrder/tags": ["a"]}, THING)

    assert raised.value.message == "no elements in any of the given slices"
