"""Patches are values with a content type and a repr that shows no values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.client import JsonPatch, MergePatch, StrategicMergePatch
from steersman.errors import BadValue


@pytest.mark.parametrize(
    ("patch", "content_type"),
    [
        (MergePatch({}), "application/merge-patch+json"),
        (StrategicMergePatch({}), "application/strategic-merge-patch+json"),
        (JsonPatch(JsonPatch.remove("/a")), "application/json-patch+json"),
    ],
)
def test_each_kind_of_patch_has_its_content_type(
    patch: MergePatch | StrategicMergePatch | JsonPatch, content_type: str
) -> None:
    assert patch.content_type == content_type


def test_a_json_patch_has_its_operations_in_order() -> None:
    patch = JsonPatch(
        JsonPatch.test("/metadata/resourceVersion", "7"),
        JsonPatch.add("/spec/ports/-", {"port": 80}),
        JsonPatch.replace("/spec/size", None),
        JsonPatch.remove("/spec/colour"),
    )

    assert list(patch.body) == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/spec/ports/-", "value": {"port": 80}},
        {"op": "replace", "path": "/spec/size", "value": None},
        {"op": "remove", "path": "/spec/colour"},
    ]


def test_a_json_patch_without_operations_is_rejected() -> None:
    with pytest.raises(BadValue, match="at least one step"):
        JsonPatch()


def test_a_path_that_is_not_a_json_pointer_is_rejected() -> None:
    with pytest.raises(BadValue, match="must begin with /"):
        JsonPatch.remove("spec/size")


def test_the_empty_pointer_is_the_whole_object() -> None:
    assert JsonPatch.test("", {})["path"] == ""


def test_a_json_pointer_escapes_separators() -> None:
    assert JsonPatch.pointer("metadata", "labels", "a/b~1", 0) == "/metadata/labels/a~1b~01/0"


@given(st.lists(st.text(max_size=5) | st.integers(0, 9), max_size=4))
def test_a_json_pointer_has_one_token_for_each_segment(steps: list[str | int]) -> None:
    _, *found = JsonPatch.pointer(*steps).split("/")

    assert [step.replace("~1", "/").replace("~0", "~") for step in found] == list(map(str, steps))


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        (MergePatch({"data": {"password": "canary"}}), "<MergePatch of data>"),
        (StrategicMergePatch({"data": "canary"}), "<StrategicMergePatch of data>"),
        (JsonPatch(JsonPatch.add("/data/password", "canary")), "<JsonPatch add /data/password>"),
    ],
)
def test_the_repr_of_a_patch_has_paths_but_no_values(patch: object, shown: str) -> None:
    assert repr(patch) == shown


def test_patches_of_one_type_with_the_same_changes_are_equal() -> None:
    strategic: object = StrategicMergePatch({"a": 1})

    assert MergePatch({"a": 1}) == MergePatch({"a": 1})
    assert MergePatch({"a": 1}) != strategic
