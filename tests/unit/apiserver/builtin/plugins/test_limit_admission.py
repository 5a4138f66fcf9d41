"""LimitRange admission of pods and claims."""

from collections.abc import Iterable

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.plugins.limit_admission import (
    limit_pod,
    validate_claim_limits,
    validate_pod_limits,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import FakeStrategyContext


class LimitedNamespace(FakeStrategyContext):
    """A strategy context with a LimitRange."""

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        items = [
            {"type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"}},
            {"type": "Container", "max": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "4"}},
            {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}},
        ]
        return [{"metadata": {"name": "limits"}, "spec": {"limits": items}}]


def pod(resources: Object) -> Object:
    containers = [{"name": "main", "resources": resources}]
    return {"metadata": {"name": "web", "namespace": "x"}, "spec": {"containers": containers}}


def rejection(pod: Object) -> str:
    with pytest.raises(StatusError) as raised:
        validate_pod_limits(pod, LimitedNamespace())
    return raised.value.message


def test_a_pod_without_requests_gets_the_defaults_and_an_annotation() -> None:
    plain = pod({})

    limit_pod(plain, LimitedNamespace())

    (container,) = plain["spec"]["containers"]
    assert container["resources"] == {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}}
    assert plain["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": (
            "LimitRanger plugin set: cpu request for container main; cpu limit for container main"
        )
    }


def test_explicit_requests_and_limits_are_kept() -> None:
    request_info = pod({"requests": {"cpu": "200m"}, "limits": {"cpu": "300m"}})

    limit_pod(request_info, LimitedNamespace())

    assert request_info == pod({"requests": {"cpu": "200m"}, "limits": {"cpu": "300m"}})
    validate_pod_limits(request_info, LimitedNamespace())


def test_a_limit_above_the_maximum_is_rejected() -> None:
    assert rejection(pod({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})) == (
        'pods "web" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    )


def test_a_limit_above_the_maximum_ratio_is_rejected() -> None:
    assert rejection(pod({"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}})) == (
        'pods "web" is forbidden: cpu max limit to request ratio per Container is 4,'
        " but provided ratio is 10.000000"
    )


def test_a_claim_below_the_minimum_is_rejected() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"resources": {"requests": {"storage": "1Mi"}}},
    }

    with pytest.raises(StatusError) as raised:
        validate_claim_limits(claim, LimitedNamespace())

    assert raised.value.message == (
        'persistentvolumeclaims "data" is forbidden: minimum storage usage per'
        " PersistentVolumeClaim is 1Gi, but request is 1Mi"
    )
