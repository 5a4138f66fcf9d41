"""The metrics of the client, and their labels."""

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from steersman.names import ObjectRef
from steersman.observe import (
    ClusterFound,
    KindMissing,
    Listening,
    LivenessChanged,
    MetricsObserver,
    Observation,
    PermissionsUnknown,
    ReflectorStopped,
    ResponseFailed,
    RiskAccepted,
    StopRequested,
    StreamingRefused,
)
from steersman.observe.labels import MAX_VALUES
from tests.clocks import FakeClock
from tests.unit.observe.samples import ALL, FINISHED, RETRIED, RETRIES_SPENT, WARNED, failed

LEFT_OUT = (
    ResponseFailed
    | ClusterFound
    | ReflectorStopped
    | KindMissing
    | Listening
    | LivenessChanged
    | PermissionsUnknown
    | RiskAccepted
    | StopRequested
    | StreamingRefused
)
PATCH = {"verb": "patch", "resource": "deployments"}


def counted(*observations: Observation) -> CollectorRegistry:
    registry = CollectorRegistry()
    observe = MetricsObserver(registry, clock=FakeClock())
    for observation in observations:
        observe(observation)
    return registry


def series(registry: CollectorRegistry) -> int:
    return sum(len(metric.samples) for metric in registry.collect())


def values(registry: CollectorRegistry) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if not sample.name.endswith("_created")
    }


@pytest.mark.parametrize("observation", ALL, ids=lambda o: type(o).__name__)
def test_every_observation_is_counted_in_a_metric_or_left_out_on_purpose(
    observation: Observation,
) -> None:
    left_out = isinstance(observation, LEFT_OUT)

    assert (values(counted(observation)) == values(counted())) is left_out


@pytest.mark.parametrize(
    ("observation", "label"),
    [(FINISHED, "2xx"), (failed(409), "4xx"), (failed(503), "5xx"), (failed(None), "none")],
)
def test_requests_are_counted_by_the_class_of_their_status_code(
    observation: Observation, label: str
) -> None:
    registry = counted(observation, observation)

    name = "steersman_client_requests_total"
    assert registry.get_sample_value(name, {**PATCH, "code": label}) == 2


def test_the_time_of_a_request_is_counted_once_for_all_attempts() -> None:
    registry = counted(FINISHED, failed(409))

    assert registry.get_sample_value("steersman_client_request_seconds_count", PATCH) == 2
    assert registry.get_sample_value("steersman_client_request_seconds_sum", PATCH) == 2.5123


@pytest.mark.parametrize(
    ("observation", "name"),
    [
        (RETRIED, "steersman_client_retries_total"),
        (RETRIES_SPENT, "steersman_client_retries_spent_total"),
        (WARNED, "steersman_client_warnings_total"),
    ],
)
def test_requests_are_counted_by_verb_and_resource(observation: Observation, name: str) -> None:
    assert counted(observation).get_sample_value(name, PATCH) == 1


@pytest.mark.parametrize("outcome", ["renewed", "failed"])
def test_renewals_are_counted_by_outcome(outcome: str) -> None:
    name = "steersman_client_credential_renewals_total"

    assert counted(*ALL).get_sample_value(name, {"outcome": outcome}) == 1


def test_labels_of_metrics_come_from_a_bounded_set() -> None:
    churn = (
        replace(FINISHED, resource=f"things{n}", ref=ObjectRef("Thing", f"ns-{n}", f"thing-{n}"))
        for n in range(3000)
    )

    registry = counted(*churn)

    requests = [
        sample
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name == "steersman_client_requests_total"
    ]
    assert len(requests) == MAX_VALUES + 1
    assert max(requests, key=lambda sample: sample.value).labels["resource"] == "other"


def test_names_of_objects_do_not_change_the_number_of_series() -> None:
    some = counted(FINISHED)
    churned = counted(
        *(replace(FINISHED, ref=ObjectRef("Deployment", f"n{n}", f"d{n}")) for n in range(3000))
    )

    assert series(churned) == series(some)
