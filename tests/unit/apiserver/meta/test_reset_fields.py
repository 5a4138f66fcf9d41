"""Fields that a write resets, so that it never owns them."""

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.apply import FieldSet
from steersman_cluster.apiserver.meta.reset_fields import reset_fields

SPEC: FieldSet = {"f:spec": {}}
STATUS: FieldSet = {"f:status": {}}
ALL_BUT_STATUS: FieldSet = {"f:metadata": {}, "f:spec": {}}


@pytest.mark.parametrize(
    ("group", "plural", "subresource", "fields"),
    [
        ("apps", "statefulsets", "", STATUS),
        ("apps", "statefulsets", "status", SPEC),
        ("apps", "deployments", "status", {"f:spec": {}, "f:metadata": {"f:labels": {}}}),
        ("storage.k8s.io", "volumeattachments", "status", ALL_BUT_STATUS),
        ("", "namespaces", "finalize", STATUS),
        ("apps", "deployments", "scale", {}),
        ("certificates.k8s.io", "certificatesigningrequests", "", {**SPEC, **STATUS}),
        (
            "certificates.k8s.io",
            "certificatesigningrequests",
            "approval",
            {"f:spec": {}, "f:status": {"f:certificate": {}}},
        ),
    ],
)
def test_a_built_in_resource_resets_the_fields_of_other_subresources(
    group: str, plural: str, subresource: str, fields: FieldSet
) -> None:
    resource = GroupResource(group, plural)

    assert reset_fields(resource, subresource, has_status=True, custom=False) == fields


@pytest.mark.parametrize(
    ("subresource", "has_status", "fields"),
    [("", True, STATUS), ("", False, {}), ("status", True, ALL_BUT_STATUS), ("scale", True, {})],
)
def test_all_custom_resources_reset_the_same_fields(
    subresource: str, has_status: bool, fields: FieldSet
) -> None:
    resource = GroupResource("example.com", "zoos")

    assert reset_fields(resource, subresource, has_status=has_status, custom=True) == fields
