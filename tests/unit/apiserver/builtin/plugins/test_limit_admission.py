"""LimitRanges, and what they make of pods and claims."""

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
from tests.unit.apiserver.builtin.here import Around


class Limited(Around):
    """A world with limits."""

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


def why_not(pod: Object) -> str:
    with pytest.raises(StatusError) as refusal:
        validate_pod_limits(pod, Limited())
    return refusal.value.message


def test_a_pod_without_requests_gets_the_defaults_and_an_annotation_that_names_them() -> None:
    plain = pod({})

    limit_pod(plain, Limited())

    (container,) = plain["spec"]["containers"]
    assert container["resources"] == {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}}
    assert plain["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": (
            "LimitRanger plugin set: cpu request for container main; cpu limit for container main"
        )
    }


def test_explicit_requests_and_limits_stay() -> None:
    asking = pod({"requests": {"cpu": "200m"}, "limits": {"cpu": "300m"}})

    limit_pod(asking, Limited())

    assert asking == pod({"requests": {"cpu": "200m"}, "limits": {"cpu": "300m"}})
    validate_pod_limits(asking, Limited())


def test_more_than_the_most_is_refused() -> None:
    assert why_not(pod({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})) == (
        'pods "web" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    )


def test_a_limit_too_far_above_its_request_is_refused() -> None:
    assert why_not(pod({"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}})) == (
        'pods "web" is forbidden: cpu max limit to request ratio per Container is 4,'
        " but provided ratio is 10.000000"
    )


def test_a_claim_for_too_little_is_refused() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"resources": {"requests": {"storage": "1Mi"}}},
    }

    with pytest.raises(StatusError) as refusal:
        validate_claim_limits(claim, Limited())

    assert refusal.value.message == (
        'persistentvolumeclaims "data" is forbidden: minimum storage usage per'
        " PersistentVolumeClaim is 1Gi, but request is 1Mi"
    )
