"""ResourceQuota admission."""

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.plugins.quota_admission import charged_quotas
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object

PODS = GroupResource("", "pods")
SERVICES = GroupResource("", "services")
LEASES = GroupResource("coordination.k8s.io", "leases")


def quota(hard: Object, used: Object, **spec: object) -> Object:
    return {
        "metadata": {"name": "quota"},
        "spec": {"hard": hard, **spec},
        "status": {"hard": hard, "used": used},
    }


def pod(**requests: str) -> Object:
    container = {"name": "main", "resources": {"requests": requests}}
    return {"metadata": {"name": "web"}, "spec": {"containers": [container]}}


def service(kind: str) -> Object:
    return {"metadata": {"name": "web"}, "spec": {"type": kind, "ports": [{"port": 80}]}}


def rejection(quotas: list[Object], resource: GroupResource, obj: Object) -> str:
    with pytest.raises(StatusError) as raised:
        charged_quotas(quotas, resource, obj, None)
    return raised.value.message


def test_a_new_object_is_charged_to_its_quota() -> None:
    hard = {"pods": "2", "requests.cpu": "1", "secrets": "1"}

    (charged,) = charged_quotas(
        [quota(hard, {**dict.fromkeys(hard, "0"), "requests.cpu": "200m"})],
        PODS,
        pod(cpu="300m"),
        None,
    )

    assert charged["status"]["used"] == {"pods": "1", "requests.cpu": "500m", "secrets": "0"}


def test_a_write_that_exceeds_a_quota_is_rejected() -> None:
    full = quota({"pods": "1"}, {"pods": "1"})

    assert rejection([full], PODS, pod()) == (
        'pods "web" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=1,'
        " limited: pods=1"
    )


def test_a_pod_without_a_counted_request_is_rejected() -> None:
    counted = quota({"requests.cpu": "1"}, {"requests.cpu": "0"})

    assert rejection([counted], PODS, pod()) == (
        'pods "web" is forbidden: failed quota: quota: must specify requests.cpu for: main'
    )


def test_a_quota_without_a_reported_usage_rejects_writes() -> None:
    assert rejection([quota({"pods": "1"}, {})], PODS, pod()) == (
        'pods "web" is forbidden: status unknown for quota: quota, resources: pods'
    )


def test_a_quota_that_does_not_match_is_not_charged() -> None:
    full = {"pods": "0"}
    terminating = quota(full, full, scopes=["Terminating"])

    assert charged_quotas([terminating], PODS, pod(), None) == []
    assert charged_quotas([quota({"secrets": "0"}, {"secrets": "0"})], PODS, pod(), None) == []


def test_a_quota_can_count_objects_of_any_kind() -> None:
    counted = quota(
        {"count/leases.coordination.k8s.io": "1"}, {"count/leases.coordination.k8s.io": "1"}
    )

    message = rejection([counted], LEASES, {"metadata": {"name": "lock"}})

    assert "exceeded quota: quota, requested: count/leases.coordination.k8s.io=1" in message


def test_an_update_is_charged_only_for_the_increase() -> None:
    ports = {"services": "1", "services.nodeports": "1"}
    used = {"services": "1", "services.nodeports": "0"}

    (charged,) = charged_quotas(
        [quota(ports, used)], SERVICES, service("NodePort"), service("ClusterIP")
    )

    assert charged["status"]["used"] == {"services": "1", "services.nodeports": "1"}
