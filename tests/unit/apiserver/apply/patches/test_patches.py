"""Properties of patches of every type."""

from copy import deepcopy
from typing import Any

import pytest

from steersman_cluster.apiserver.apply.patches import (
    apply_json_patch,
    apply_merge_patch,
    apply_strategic_merge_patch,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from tests.unit.apiserver.apply.patches.cases import (
    CASES,
    DEPLOYMENT,
    KINDS,
    OBJECTS,
    SCHEMAS,
    Case,
    patched,
)


def attempt(case: Case, obj: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return patched(case, obj)
    except StatusError:
        return None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_applying_a_patch_mutates_neither_the_object_nor_the_patch(case: Case) -> None:
    obj = deepcopy(OBJECTS[case.target])
    patch = deepcopy(case.patch)

    attempt(case, obj)

    assert obj == OBJECTS[case.target]
    assert case.patch == patch


def test_a_patch_is_applied_completely_or_not_at_all() -> None:
    obj = {"data": {"a": "1"}}
    patch = [
        {"op": "add", "path": "/data/b", "value": "2"},
        {"op": "test", "path": "/data/a", "value": "no"},
    ]

    with pytest.raises(StatusError):
        apply_json_patch(obj, patch)

    assert obj == {"data": {"a": "1"}}


@pytest.mark.parametrize("kind", ["json", "merge", "strategic"])
def test_parts_that_a_patch_does_not_change_are_shared_not_copied(kind: str) -> None:
    obj = OBJECTS[DEPLOYMENT]
    changed = {"metadata": {"labels": {"a": "b"}}}

    match kind:
        case "json":
            step = {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}
            result = apply_json_patch(obj, [step])
        case "merge":
            result = apply_merge_patch(obj, changed)
        case _:
            result = apply_strategic_merge_patch(obj, changed, SCHEMAS.of(KINDS[DEPLOYMENT]))

    assert result["metadata"] == {"name": "it", "labels": {"a": "b"}}
    assert result["spec"] is obj["spec"]
