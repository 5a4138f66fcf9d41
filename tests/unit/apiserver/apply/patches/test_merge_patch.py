"""JSON merge patch: RFC 7386, with the server's own notion of nulls."""

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
def test_what_is_named_is_replaced_and_null_removes(obj: Any, patch: Any, expected: Any) -> None:
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
def test_what_is_no_object_is_refused(patch: Any, lenient: bool, message: str) -> None:
    with pytest.raises(StatusError) as refused:
        apply_merge_patch({}, patch, lenient=lenient)

    assert (refused.value.code, refused.value.message) == (400, message)


def test_a_list_would_be_the_whole_object_where_validation_is_ignored() -> None:
    with pytest.raises(StatusError) as refused:
        apply_merge_patch({}, [], lenient=True)

    assert refused.value.code == 422
    assert 'Invalid value: "[]"' in refused.value.message
