from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import User
from tests.unit.apiserver.builtin.kind_handler import KindHandler

VOLUME = {
    "accessModes": ["ReadWriteOnce"],
    "capacity": {"storage": "1Gi"},
    "hostPath": {"path": "/x"},
}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def created(plural: str, api_version: str = "v1", **parts: Any) -> Object:
    body = {"metadata": {"name": "it"}, **parts}
    return KindHandler(api_version, plural).create(body, namespace="")


def test_a_new_node_is_tainted_as_not_ready_and_keeps_its_status() -> None:
    node = created("nodes", status={"capacity": {"cpu": "4"}})

    assert node["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    ]
    assert node["status"]["allocatable"] == {"cpu": "4"}


def test_a_node_with_the_not_ready_taint_does_not_get_a_second_one() -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}

    assert created("nodes", spec={"taints": [taint]})["spec"]["taints"] == [taint]


def test_a_limit_range_defaults_limits_from_max_and_requests_from_limits() -> None:
    item = {
        "type": "Container",
        "max": {"cpu": "2"},
        "min": {"cpu": "1", "memory": "1Mi"},
        "default": {"ephemeral-storage": "1Gi"},
    }

    (filled,) = created("limitranges", spec={"limits": [item]})["spec"]["limits"]

    assert filled["default"] == {"cpu": "2", "ephemeral-storage": "1Gi"}
    asked = {"cpu": "2", "memory": "1Mi", "ephemeral-storage": "1Gi"}
    assert filled["defaultRequest"] == asked


def test_users_and_groups_of_a_binding_get_the_rbac_api_group() -> None:
    subjects = [{"kind": kind, "name": "x"} for kind in ("User", "Group", "ServiceAccount")]

    binding = created(
        "rolebindings",
        "rbac.authorization.k8s.io/v1",
        roleRef={"kind": "Role", "name": "x"},
        subjects=subjects,
    )

    group = "rbac.authorization.k8s.io"
    assert binding["roleRef"]["apiGroup"] == group
    assert [each.get("apiGroup") for each in binding["subjects"]] == [group, group, None]


def test_a_new_volume_is_pending_and_has_the_protection_finalizer() -> None:
    volume = created("persistentvolumes", spec=VOLUME)

    assert volume["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    assert volume["status"] == {
        "phase": "Pending",
        "lastPhaseTransitionTime": "2026-01-01T00:00:00Z",
    }


def test_the_transition_time_of_a_volume_changes_only_with_its_phase() -> None:
    handler = KindHandler("v1", "persistentvolumes")
    old = created("persistentvolumes", spec=VOLUME)
    old["status"]["lastPhaseTransitionTime"] = "2025-01-01T00:00:00Z"

    def reported(**status: str) -> Object:
        new = {**old, "status": status}
        return handler.update(new, old, namespace="", subresource="status")["status"]  # type: ignore[no-any-return]

    assert reported(phase="Pending")["lastPhaseTransitionTime"] == "2025-01-01T00:00:00Z"
    assert reported(phase="Bound")["lastPhaseTransitionTime"] == "2026-01-01T00:00:00Z"


def test_the_data_source_of_a_claim_is_copied_to_its_data_source_ref() -> None:
    source = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}

    spec = created("persistentvolumeclaims", spec={**CLAIM, "dataSource": source})["spec"]

    assert spec["dataSourceRef"] == spec["dataSource"] == source


def test_a_csi_driver_gets_its_first_generation_with_its_first_change() -> None:
    handler = KindHandler("storage.k8s.io/v1", "csidrivers")
    old = created("csidrivers", "storage.k8s.io/v1")
    new = {**old, "spec": {**old["spec"], "requiresRepublish": True}}

    assert "generation" not in old["metadata"]
    assert handler.update(new, old, namespace="", subresource="")["metadata"]["generation"] == 1


def test_a_label_change_increments_the_generation_of_an_endpoint_slice() -> None:
    handler = KindHandler("discovery.k8s.io/v1", "endpointslices")
    old = created("endpointslices", "discovery.k8s.io/v1", addressType="IPv4", endpoints=[])
    new = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}

    assert handler.update(new, old, namespace="", subresource="")["metadata"]["generation"] == 2


@pytest.mark.parametrize("data", [None, "text", [1]])
def test_a_controller_revision_without_an_object_is_rejected(data: object) -> None:
    with pytest.raises(StatusError, match="422"):
        created("controllerrevisions", "apps/v1", revision=1, data=data)


def test_a_local_api_service_is_always_available() -> None:
    spec = {
        "group": "example.com",
        "version": "v1",
        "groupPriorityMinimum": 1,
        "versionPriority": 1,
    }

    made = KindHandler("apiregistration.k8s.io/v1", "apiservices").create(
        {"metadata": {"name": "v1.example.com"}, "spec": spec}, namespace=""
    )

    (condition,) = made["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "Available",
        "True",
        "Local",
    )


def test_a_limit_range_without_a_name_gets_a_generated_name() -> None:
    handler = KindHandler("v1", "limitranges")

    assert handler.create({"spec": {"limits": []}}, namespace="")["metadata"]["name"]


def test_a_certificate_signing_request_names_its_authenticated_user() -> None:
    handler = KindHandler("certificates.k8s.io/v1", "certificatesigningrequests")
    request = {"metadata": {"name": "it"}, "spec": {"username": "root", "uid": "0"}}

    handler.strategy.set_requester(
        request, User(name="ann", groups=("people",), extra={"from": ("here",)})
    )

    assert request["spec"] == {"username": "ann", "groups": ["people"], "extra": {"from": ["here"]}}


def test_a_bound_claim_can_be_expanded_and_a_pending_one_cannot() -> None:
    handler = KindHandler("v1", "persistentvolumeclaims")
    old = created("persistentvolumeclaims", spec=CLAIM)
    more = {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}}
    bound = {**old, "status": {"phase": "Bound"}}

    grown = handler.update({**bound, "spec": more}, bound, namespace="", subresource="")

    assert grown["spec"]["resources"]["requests"] == {"storage": "2Gi"}
    with pytest.raises(StatusError, match="422"):
        handler.update({**old, "spec": more}, old, namespace="", subresource="")


def test_a_csi_driver_with_token_requests_gets_a_warning() -> None:
    handler = KindHandler("storage.k8s.io/v1", "csidrivers")
    spec = {"tokenRequests": [{"audience": "x"}]}

    handler.create({"metadata": {"name": "it"}, "spec": spec}, namespace="")

    assert len(handler.warnings) == 1


def test_a_lease_drops_the_fields_of_disabled_features() -> None:
    lease = created(
        "leases",
        "coordination.k8s.io/v1",
        spec={"holderIdentity": "me", "strategy": "OldestEmulationVersion", "preferredHolder": "x"},
    )

    assert lease["spec"] == {"holderIdentity": "me"}
