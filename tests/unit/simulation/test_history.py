"""Requests that a history counts as writes."""

import pytest

from steersman_cluster.simulation import RecordedRequest


def patch(target: str) -> RecordedRequest:
    """Return a recorded write to ``target``."""
    return RecordedRequest(0.0, "operator", "PATCH", target, 0, 200, True)


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/namespaces/default/events/web.1",
        "/apis/events.k8s.io/v1/namespaces/default/events?fieldManager=web",
        "/apis/coordination.k8s.io/v1/namespaces/default/leases/web",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "/apis/authentication.k8s.io/v1/tokenreviews",
    ],
)
def test_events_leases_and_reviews_are_not_writes(target: str) -> None:
    assert not patch(target).is_write


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/namespaces/default/configmaps/events",
        "/api/v1/namespaces/events/configmaps/web",
        "/apis/pages.example.com/v1/namespaces/default/previews/web",
        "/apis/argoproj.io/v1alpha1/namespaces/default/eventsources/web",
        "/apis/cars.example.com/v1/namespaces/default/leases/web/status",
    ],
)
def test_a_write_of_another_resource_with_such_a_name_counts(target: str) -> None:
    assert patch(target).is_write
