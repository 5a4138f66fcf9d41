"""The Available condition of an APIService, derived from its Service and endpoints."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.cluster.availability import (
    LOCAL,
    SERVICES,
    availability,
    with_condition,
)
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import FakeStrategyContext

BEFORE, NOW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@dataclass(frozen=True, kw_only=True)
class Cluster(FakeStrategyContext):
    """A cluster with at most one Service, and its endpoint slices."""

    service: Object | None = None
    slices: tuple[Object, ...] = field(default=())

    def find(self, resource: GroupResource, namespace: str, name: str) -> Object | None:
        return self.service if (resource, namespace, name) == (SERVICES, "ns", "zoo") else None

    def every(self, resource: GroupResource, *, namespace: str = "") -> Iterable[Object]:
        return self.slices


def api_service(**spec: Any) -> Object:
    return {"metadata": {"name": "v1.zoo"}, "spec": {"group": "zoo", "version": "v1", **spec}}


REMOTE = api_service(service={"namespace": "ns", "name": "zoo", "port": 443})
SERVICE = {"spec": {"type": "ClusterIP", "ports": [{"name": "https", "port": 443}]}}


def endpoints(*, ready: bool | None = None, port: str = "https", of: str = "zoo") -> Object:
    return {
        "metadata": {"labels": {"kubernetes.io/service-name": of}},
        "endpoints": [{"conditions": {} if ready is None else {"ready": ready}}],
        "ports": [{"name": port, "port": 1}],
    }


def test_an_api_service_without_a_service_is_available() -> None:
    assert availability(api_service(), Cluster()) == LOCAL


@pytest.mark.parametrize(
    ("cluster", "reason"),
    [
        (Cluster(), "ServiceNotFound"),
        (
            Cluster(service={"spec": {"type": "ClusterIP", "ports": [{"port": 80}]}}),
            "ServicePortError",
        ),
        (Cluster(service=SERVICE), "EndpointsNotFound"),
        (Cluster(service=SERVICE, slices=(endpoints(of="farm"),)), "EndpointsNotFound"),
        (Cluster(service=SERVICE, slices=(endpoints(ready=False),)), "MissingEndpoints"),
        (Cluster(service=SERVICE, slices=(endpoints(port="http"),)), "MissingEndpoints"),
        (Cluster(service=SERVICE, slices=(endpoints(),)), "FailedDiscoveryCheck"),
        (Cluster(service={"spec": {"type": "ExternalName"}}), "FailedDiscoveryCheck"),
    ],
)
def test_an_api_service_without_ready_endpoints_is_unavailable(
    cluster: Cluster, reason: str
) -> None:
    found = availability(REMOTE, cluster)

    assert (found.status, found.reason) == ("False", reason)


def test_a_condition_keeps_its_transition_time_until_its_status_changes() -> None:
    missing = availability(REMOTE, Cluster())
    portless = availability(
        REMOTE, replace(Cluster(), service={"spec": {"type": "ClusterIP", "ports": []}})
    )

    first = with_condition(REMOTE, missing, now=BEFORE)
    second = with_condition(first, portless, now=NOW)
    third = with_condition(second, LOCAL, now=NOW)

    times = [
        each["status"]["conditions"][0]["lastTransitionTime"] for each in (first, second, third)
    ]
    assert times == [BEFORE, BEFORE, NOW]
    assert with_condition(first, missing, now=NOW) is first
