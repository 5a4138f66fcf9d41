"""The patches that add and remove the controller's finalizer."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from steersman.controller.finalizers import has_finalizer, patch_to_add, patch_to_remove
from steersman.kinds import Codec, Unstructured, core_v1, meta_v1

OURS, THEIRS = "example.com/us", "example.com/them"
AnyConfigMap = Unstructured.of("v1", "ConfigMap")


def typed(*finalizers: str, **metadata: Any) -> Any:
    return core_v1.ConfigMap(
        metadata=meta_v1.ObjectMeta(
            name="a", uid="1", resource_version="2", finalizers=finalizers or None, **metadata
        )
    )


def untyped(*finalizers: str, **metadata: Any) -> Any:
    return AnyConfigMap(msgspec.json.decode(Codec().encode(typed(*finalizers, **metadata))))


FORMS = pytest.mark.parametrize("form", [typed, untyped])


def patched(patch: Any) -> Any:
    return patch.body["metadata"]


@FORMS
def test_the_finalizer_is_added_beside_others(form: Any) -> None:
    assert patched(patch_to_add(form(THEIRS), OURS)) == {
        "uid": "1",
        "resourceVersion": "2",
        "finalizers": [THEIRS, OURS],
    }


@FORMS
def test_only_the_own_finalizer_is_removed(form: Any) -> None:
    assert patched(patch_to_remove(form(OURS, THEIRS), OURS)) == {
        "uid": "1",
        "resourceVersion": "2",
        "finalizers": [THEIRS],
    }
    assert patched(patch_to_remove(form(OURS), OURS))["finalizers"] is None


@FORMS
def test_no_patch_is_made_without_a_change(form: Any) -> None:
    assert patch_to_add(form(OURS), OURS) is None
    assert patch_to_remove(form(THEIRS), OURS) is None
    assert (has_finalizer(form(OURS), OURS), has_finalizer(form(), OURS)) == (True, False)


@FORMS
def test_no_finalizer_is_added_to_an_object_that_is_being_deleted(form: Any) -> None:
    ending = {"deletion_timestamp": datetime(2026, 1, 1, tzinfo=UTC)}

    assert patch_to_add(form(THEIRS, **ending), OURS) is None
    assert patch_to_remove(form(OURS, **ending), OURS) is not None
