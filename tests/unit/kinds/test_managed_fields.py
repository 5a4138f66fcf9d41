"""Objects without their managedFields."""

from typing import Any

import pytest

from steersman.kinds import (
    Codec,
    Resource,
    Unstructured,
    core_v1,
    metadata_only,
    without_managed_fields,
)

ENTRY = {
    "manager": "tests",
    "operation": "Apply",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:data": {".": {}, "f:color": {}}},
}
HEADS = {
    core_v1.ConfigMap: {"apiVersion": "v1", "kind": "ConfigMap"},
    Unstructured.of("v1", "ConfigMap"): {"apiVersion": "v1", "kind": "ConfigMap"},
    metadata_only(core_v1.ConfigMap): {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "PartialObjectMetadata",
    },
}


def fresh(kind: type[Any], **metadata: Any) -> Any:
    codec = Codec()
    body = {**HEADS[kind], "metadata": {"name": "a", "labels": {"x": "y"}, **metadata}}
    return codec.decode(kind, codec.encode(body), wanted="a test")


@pytest.mark.parametrize("kind", HEADS)
def test_all_other_fields_of_an_object_are_kept(kind: type[Resource] | type[Unstructured]) -> None:
    lean = without_managed_fields(fresh(kind, managedFields=[ENTRY]))

    assert lean == fresh(kind)
    assert lean.labels == {"x": "y"}


@pytest.mark.parametrize("kind", HEADS)
def test_an_object_without_managed_fields_is_unchanged(
    kind: type[Resource] | type[Unstructured],
) -> None:
    assert without_managed_fields(fresh(kind)) == fresh(kind)


@pytest.mark.parametrize("kind", HEADS)
def test_entries_of_given_managers_can_be_kept(
    kind: type[Resource] | type[Unstructured],
) -> None:
    updated, theirs = {**ENTRY, "operation": "Update"}, {**ENTRY, "manager": "them"}
    status = {**ENTRY, "subresource": "status"}
    whole = [updated, ENTRY, theirs, status]

    lean = without_managed_fields(fresh(kind, managedFields=whole), but=frozenset(("tests",)))

    assert lean == fresh(kind, managedFields=[ENTRY, status])
    bare = without_managed_fields(fresh(kind, managedFields=whole), but=frozenset(("us",)))
    assert bare == fresh(kind)


@pytest.mark.parametrize("kind", HEADS)
def test_the_object_is_not_copied(kind: type[Resource] | type[Unstructured]) -> None:
    obj = fresh(kind, managedFields=[ENTRY])

    assert without_managed_fields(obj) is obj


def test_an_object_without_metadata_is_unchanged() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap"}

    assert without_managed_fields(Unstructured(body)).body == body


def test_objects_without_metadata_share_no_mutable_state() -> None:
    written = fresh(core_v1.ConfigMap, managedFields=[ENTRY])
    before = core_v1.ConfigMap()

    without_managed_fields(written)

    assert core_v1.ConfigMap() == before
