import json
from typing import Any

import pytest

from steersman_cluster.apiserver.admission.webhook_patches import (
    PatchDecodeError,
    PatchFailed,
    operations_of,
    patched,
)

OBJECT = {"metadata": {"name": "a"}, "list": [1, 2]}


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        (b"hello", "invalid character 'h' looking for beginning of value"),
        (b"{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (b"[1]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
    ],
)
def test_an_invalid_patch_is_rejected_with_the_message_of_the_go_library(
    patch: bytes, why: str
) -> None:
    with pytest.raises(PatchDecodeError) as raised:
        operations_of(patch)

    assert str(raised.value) == why


def test_a_null_patch_has_no_operations() -> None:
    assert operations_of(b"null") == operations_of(b"[]") == []


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            {"op": "remove", "path": "/metadata/x"},
            "error in remove for path: '/metadata/x': Unable to remove nonexistent key: x:"
            " missing value",
        ),
        (
            {"op": "remove", "path": "/list/7"},
            "error in remove for path: '/list/7': Unable to access invalid index: 7:"
            " invalid index referenced",
        ),
        (
            {"op": "add", "path": "/list/x", "value": 1},
            "error in add for path: '/list/x': value was not a proper array index: 'x':"
            ' strconv.Atoi: parsing "x": invalid syntax',
        ),
        (
            {"op": "add", "path": "/a/b/c", "value": 1},
            'add operation does not apply: doc is missing path: "/a/b/c": missing value',
        ),
        (
            {"op": "replace", "path": "/a/b/c", "value": 1},
            "replace operation does not apply: doc is missing path: /a/b/c: missing value",
        ),
        (
            {"op": "replace", "path": "/list/9", "value": 1},
            "replace operation does not apply: doc is missing key: /list/9: missing value",
        ),
        (
            {"op": "replace", "path": "", "value": 7},
            "replace operation value must be object or array: %!w(<nil>)",
        ),
        (
            {"op": "test", "path": "/metadata/name", "value": "b"},
            "testing value /metadata/name failed: test failed",
        ),
        (
            {"op": "test", "path": "/a/b", "value": "b"},
            "test operation does not apply: is missing path: /a/b: missing value",
        ),
        (
            {"op": "test", "path": "/list/9", "value": 1},
            "error in test for path: '/list/9': Unable to access invalid index: 9:"
            " invalid index referenced",
        ),
        (
            {"op": "move", "from": "/metadata/x", "path": "/metadata/y"},
            "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
        ),
        (
            {"op": "move", "from": "/a/b", "path": "/metadata/y"},
            "move operation does not apply: doc is missing from path: /a/b: missing value",
        ),
        (
            {"op": "copy", "from": "/metadata/name", "path": "/a/b"},
            "copy operation does not apply: doc is missing destination path: /a/b: missing value",
        ),
        (
            {"op": "copy", "from": "/list/9", "path": "/metadata/y"},
            "error in copy for from: '/list/9': Unable to access invalid index: 9:"
            " invalid index referenced",
        ),
        (
            {"op": "move", "path": "/metadata/y"},
            "move operation failed to decode from: operation, missing from field: missing value",
        ),
        ({"op": "remove"}, "remove operation failed to decode path: missing value"),
        (
            {"op": "test"},
            "test operation failed to decode path: operation missing path field: missing value",
        ),
        ({"op": "conjure", "path": "/metadata"}, "Unexpected kind: conjure"),
        ({"path": "/metadata"}, "Unexpected kind: unknown"),
    ],
    ids=json.dumps,
)
def test_a_patch_that_does_not_apply_is_rejected_with_the_message_of_the_go_library(
    operation: Any, why: str
) -> None:
    with pytest.raises(PatchFailed) as raised:
        patched(OBJECT, [{"op": "add", "path": "/added", "value": {}}, operation])

    assert str(raised.value) == why


def test_a_patch_does_not_modify_the_original_object() -> None:
    before = json.dumps(OBJECT)

    made = patched(OBJECT, [{"op": "add", "path": "/list/-", "value": 3}])

    assert (made["list"], json.dumps(OBJECT)) == ([1, 2, 3], before)
