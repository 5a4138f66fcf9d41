"""managedFields of the scale subresource."""

from typing import Any

from steersman_cluster.apiserver.apply import FieldSet, entries_after_scale, scale_entries
from tests.unit.apiserver.apply.kinds import LATER, NOW

PATHS = {"apps/v1": ("spec", "replicas"), "apps/v2": ("spec", "size", "wanted")}
REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}


def entry(manager: str, fields: FieldSet, **more: Any) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **more,
    }


def scaled(manager: str, **more: Any) -> dict[str, Any]:
    return entry(manager, REPLICAS, apiVersion="autoscaling/v1", **more)


def test_a_scale_contains_the_managers_of_the_replicas() -> None:
    entries = [
        entry("a", {"f:spec": {"f:replicas": {}, "f:paused": {}}}, time=NOW),
        entry("b", {"f:spec": {"f:size": {"f:wanted": {}}}}, apiVersion="apps/v2"),
        entry("c", {"f:spec": {"f:paused": {}}}),
        entry("d", REPLICAS, apiVersion="apps/v0"),
    ]

    assert scale_entries(entries, PATHS) == [scaled("b"), scaled("a", time=NOW)]


def test_a_write_of_the_scale_takes_ownership_of_the_replicas() -> None:
    entries = [entry("a", {"f:spec": {"f:replicas": {}, "f:paused": {}}}, time=NOW)]
    after = [scaled("b", time=LATER, subresource="scale")]

    assert entries_after_scale(entries, after, PATHS, api_version="apps/v1") == [
        entry("b", REPLICAS, subresource="scale"),
        entry("a", {"f:spec": {"f:paused": {}}}, time=NOW),
    ]


def test_an_entry_with_no_other_fields_is_removed() -> None:
    entries = [entry("a", REPLICAS, time=NOW), entry("z", REPLICAS, apiVersion="apps/v0")]
    after = [scaled("b", subresource="scale"), entry("c", {}, apiVersion="autoscaling/v1")]

    assert entries_after_scale(entries, after, PATHS, api_version="apps/v2") == [
        entry(
            "b",
            {"f:spec": {"f:size": {"f:wanted": {}}}},
            apiVersion="apps/v2",
            subresource="scale",
        )
    ]


def test_a_manager_that_keeps_the_replicas_keeps_its_other_fields() -> None:
    fields: FieldSet = {"f:spec": {"f:replicas": {}, "f:paused": {}}}
    entries = [entry("a", fields, operation="Apply", time=NOW)]
    after = [scaled("a", operation="Apply")]

    assert entries_after_scale(entries, after, PATHS, api_version="apps/v1") == entries
