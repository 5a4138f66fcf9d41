"""JSON merge patch: RFC 7386, with the null handling of kube-apiserver."""

from typing import Any

import pytest

from steersman_cluster.apiserver.apply.patches import apply_merge_patch
from steersman_cluster.apiserver.meta.status_errors import StatusError


@pytest.mark.parametrize(
    ("obj", "patch", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 9}, {"a": 9, "b": 2}),
        ({"a": 1, "b": 2}, {"a": None, "x": None}, {"b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
        ({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}),
        ({}, {"a": [None, {"b": None, "c": 1}]}, {"a": [None, {"c": 1}]}),
        ({"a": {}}, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
        ({"a": None}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_a_merge_patch_replaces_fields_and_null_removes_them(
    obj: Any, patch: Any, expected: Any
) -> None:
    assert apply_merge_patch(obj, patch) == expected


@pytest.mark.parametrize(
    ("patch", "lenient", "message"),
    [
        (None, False, "Invalid JSON Patch"),
        (None, True, "Invalid JSON Patch"),
        ("x", True, "Invalid JSON Patch"),
        (
            [],
            False,
            "error decoding patch: json: cannot unmarshal array into Go value"
            " of type map[string]interface {}",
        ),
    ],
)
def test_a_merge_patch_that_is_not_an_object_is_rejected(
    patch: Any, lenient: bool, message: str
) -> None:
    with pytest.raises(StatusError) as raised:
        apply_merge_patch({}, patch, lenient=lenient)

    assert (raised.value.code, raised.value.message) == (400, message)


def test_a_list_is_rejected_as_the_new_object_if_validation_is_ignored() -> None:
    with pytest.raises(StatusError) as raised:
        apply_merge_patch({}, [], lenient=True)

    assert raised.value.code == 422
    assert 'Invalid value: "[]"' in raised.value.message
