"""JSON patch: RFC 6902, as lenient as the Go library of kube-apiserver."""

from typing import Any

import pytest

from steersman_cluster.apiserver.apply.patches import apply_json_patch, json_patch_mistakes
from steersman_cluster.apiserver.meta.status_errors import StatusError


def op(op: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": op, "path": path, **more}


def origin(path: str) -> dict[str, str]:
    return {"from": path}


@pytest.mark.parametrize(
    ("obj", "patch", "expected"),
    [
        ({"a": 1}, None, {"a": 1}),
        ({"a": 1}, [], {"a": 1}),
        ({}, [op("add", "/a", value=1)], {"a": 1}),
        ({}, [op("add", "/a")], {"a": None}),
        ({"a": [1, 2]}, [op("add", "/a/1", value=9)], {"a": [1, 9, 2]}),
        ({"a": [1, 2]}, [op("add", "/a/2", value=9)], {"a": [1, 2, 9]}),
        ({"a": [1, 2]}, [op("add", "/a/-", value=9)], {"a": [1, 2, 9]}),
        ({"a": [1, 2]}, [op("add", "/a/-1", value=9)], {"a": [1, 2, 9]}),
        ({"a": [{"b": 1}]}, [op("add", "/a/0/c", value=2)], {"a": [{"b": 1, "c": 2}]}),
        ({"a/b": 1, "c~d": 2}, [op("remove", "/a~1b"), op("remove", "/c~0d")], {}),
        ({"a": [1, 2]}, [op("remove", "/a/-1")], {"a": [1]}),
        ({"a": 1}, [op("replace", "/b", value=2)], {"a": 1, "b": 2}),
        ({"a": [1, 2]}, [op("replace", "/a/0", value=9)], {"a": [9, 2]}),
        ({"a": 1}, [op("replace", "", value={"b": 2})], {"b": 2}),
        ({"a": 1}, [op("move", "/b", **origin("/a"))], {"b": 1}),
        ({"a": 1}, [op("copy", "/b", **origin("/a"))], {"a": 1, "b": 1}),
        ({"a": 1}, [op("copy", "/b", **origin("/x"))], {"a": 1, "b": None}),
        ({"a": {"b": [1]}}, [op("test", "", value={"a": {"b": [1]}})], {"a": {"b": [1]}}),
        ({"a": 1}, [op("test", "/x", value=None)], {"a": 1}),
        ({"a": 1}, [op("remove", "ignored/a")], {}),
    ],
)
def test_each_operation_has_its_effect(obj: Any, patch: Any, expected: Any) -> None:
    assert apply_json_patch(obj, patch) == expected


@pytest.mark.parametrize(
    "operation",
    [
        op("add", "/x/y", value=1),
        op("add", "/text/y", value=1),
        op("add", "/list/3", value=1),
        op("add", "/list/x", value=1),
        op("add", "/list/1_0", value=1),
        op("add", f"/list/{'1' * 5000}", value=1),
        op("add", "", value={}),
        op("add", "a", value=1),
        op("remove", "/x"),
        op("remove", "/list/2"),
        op("remove", "/list/-3"),
        op("remove", "/list/-"),
        op("replace", "/list/2", value=1),
        op("replace", ""),
        op("replace", "", value="x"),
        op("move", "/y", **origin("/x")),
        op("move", "/text/y", **origin("/text")),
        op("move", "/y"),
        op("copy", "/x/y", **origin("/text")),
        op("test", "/text", value="other"),
        op("test", "/number", value=True),
        op("test", "/number", value=1.0),
        op("test", "/x/y", value=None),
        op("explode", "/text"),
        {"op": None, "path": None},
        {},
        None,
    ],
    ids=str,
)
def test_an_operation_that_does_not_apply_is_rejected_without_a_reason(operation: Any) -> None:
    obj = {"text": "t", "number": 1, "list": [1, 2]}

    with pytest.raises(StatusError) as raised:
        apply_json_patch(obj, [operation])

    assert raised.value.code == 422
    assert raised.value.status()["details"] == {}
    assert "error in our request" in raised.value.message


@pytest.mark.parametrize(
    ("patch", "lenient", "message"),
    [
        ({}, False, "error decoding patch: … object into Go value of type []handlers.jsonPatchOp"),
        ({}, True, "… object into Go value of type jsonpatch.Patch"),
        ([1], False, "error decoding patch: … number into Go value of type handlers.jsonPatchOp"),
        ([1], True, "… number into Go value of type jsonpatch.Operation"),
        (
            [{"op": "add"}, {"op": True}],
            False,
            "error decoding patch: … bool into Go struct field jsonPatchOp.op of type string",
        ),
    ],
)
def test_a_document_that_is_not_a_patch_is_rejected(
    patch: Any, lenient: bool, message: str
) -> None:
    with pytest.raises(StatusError) as raised:
        apply_json_patch({}, patch, lenient=lenient)

    assert raised.value.code == 400
    assert raised.value.message == message.replace("…", "json: cannot unmarshal")


def test_a_patch_with_too_many_operations_is_rejected() -> None:
    patch = [op("add", "/a", value=1)] * 10_001

    with pytest.raises(StatusError) as raised:
        apply_json_patch({}, patch)

    assert raised.value.code == 413
    assert "is 10000, got 10001" in raised.value.message


def test_repeated_copies_in_a_patch_cannot_grow_without_limit() -> None:
    patch = [op("copy", "/a/b", **origin("/a")), op("copy", "/a/c", **origin("/a"))] * 100

    with pytest.raises(StatusError) as raised:
        apply_json_patch({"a": {"text": "x"}}, patch)

    assert raised.value.code == 422


def test_a_copy_does_not_share_its_value_with_the_source() -> None:
    patch = [
        op("add", "/a/first", value=1),
        op("copy", "/b", **origin("/a")),
        op("add", "/a/second", value=2),
        op("add", "/b/third", value=3),
    ]

    patched = apply_json_patch({"a": {}}, patch)

    assert patched == {"a": {"first": 1, "second": 2}, "b": {"first": 1, "third": 3}}


def test_a_patch_with_ten_thousand_additions_copies_the_list_once() -> None:
    items: list[int] = []
    patch = [op("add", "/items/-", value=number) for number in range(10_000)]

    patched = apply_json_patch({"items": items}, patch)

    assert patched["items"] == list(range(10_000))
    assert items == []


def test_a_patch_that_replaces_the_document_with_a_list_is_rejected() -> None:
    with pytest.raises(StatusError) as raised:
        apply_json_patch({"a": 1}, [op("replace", "", value=[1])])

    assert raised.value.code == 422
    assert raised.value.message.startswith(' "" is invalid: patch: Invalid value: "[1]": couldn\'t')


def test_unknown_fields_of_operations_are_reported() -> None:
    patch = [None, {**op("add", "/a", value=1), "foo": 1, "bar": 2}, op("remove", "/a")]

    assert json_patch_mistakes(patch) == [
        'json patch unknown field "[1].foo"',
        'json patch unknown field "[1].bar"',
    ]
    assert json_patch_mistakes(None) == []
