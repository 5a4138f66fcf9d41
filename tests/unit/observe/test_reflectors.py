"""Log lines and metrics of reflectors."""

import logging

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from steersman.names import ObjectRef
from steersman.observe import MetricsObserver, Observation
from tests.clocks import FakeClock
from tests.unit.observe.samples import describe, level_of
from tests.unit.observe.watch_samples import (
    ENDED,
    EVENTS,
    EXPIRED,
    FAILED,
    KIND_MISSING,
    LISTED,
    OUT_OF_ORDER,
    REWOUND,
    SILENT,
    STARTED,
    STREAMING_REFUSED,
    WATCHED,
)

PODS = {"resource": "pods"}


def counted(*observations: Observation) -> CollectorRegistry:
    registry = CollectorRegistry()
    observe = MetricsObserver(registry, clock=FakeClock())
    for observation in observations:
        observe(observation)
    return registry


@pytest.mark.parametrize(
    ("observation", "level"),
    [
        (LISTED, logging.INFO),
        (STARTED, logging.DEBUG),
        (replace(STARTED, failures=2), logging.INFO),
        (EVENTS, logging.DEBUG),
        (ENDED, logging.DEBUG),
        (FAILED, logging.WARNING),
        (replace(FAILED, is_news=False), logging.DEBUG),
        (replace(FAILED, error=EXPIRED), logging.INFO),
        (SILENT, logging.WARNING),
        (OUT_OF_ORDER, logging.WARNING),
        (REWOUND, logging.WARNING),
        (KIND_MISSING, logging.WARNING),
        (STREAMING_REFUSED, logging.INFO),
    ],
)
def test_observations_that_need_an_administrator_are_logged_at_a_high_level(
    observation: Observation, level: int
) -> None:
    assert level_of(observation) == level


@pytest.mark.parametrize("observation", WATCHED, ids=lambda each: type(each).__name__)
def test_a_line_names_its_objects(observation: Observation) -> None:
    text, fields = describe(observation)

    assert "Pod default/*" in text
    assert (fields["resource"], fields["kind"], fields["namespace"]) == ("pods", "Pod", "default")


def test_a_forbidden_list_names_the_missing_permission() -> None:
    text, fields = describe(FAILED)

    assert text.startswith("watch Pod default/*: failed and will be tried again in 1.2 s:")
    assert 'cannot list resource "pods"' in text
    assert fields["error"] == "Forbidden"


def test_the_line_of_repeated_failures_has_their_number() -> None:
    text, fields = describe(replace(FAILED, failures=16))

    assert "failed 16 times in a row" in text
    assert fields["failures"] == 16


def test_the_line_of_a_list_has_its_counts_and_its_reason() -> None:
    assert describe(LISTED)[0] == "list Pod default/*: 3 objects in 250 ms (start)"
    assert (
        "3 objects and 2 that cannot be decoded" in describe(replace(LISTED, decode_failures=2))[0]
    )


def test_a_resumed_watch_is_logged() -> None:
    assert describe(STARTED)[0] == "watch Pod default/*: open"
    assert "again, after 3 failures" in describe(replace(STARTED, failures=3))[0]


def test_a_rewound_history_is_logged_with_both_versions() -> None:
    assert "from 900 to 12" in describe(REWOUND)[0]


@pytest.mark.parametrize(
    ("observation", "name", "labels", "value"),
    [
        (LISTED, "steersman_watch_lists_total", {**PODS, "reason": "start"}, 1),
        (EVENTS, "steersman_watch_events_total", PODS, 17),
        (FAILED, "steersman_watch_failures_total", {**PODS, "error": "Forbidden"}, 1),
        (SILENT, "steersman_watch_silences_total", PODS, 1),
        (OUT_OF_ORDER, "steersman_watch_out_of_order_total", PODS, 1),
        (REWOUND, "steersman_watch_rewinds_total", PODS, 1),
    ],
)
def test_each_observation_is_counted_by_resource(
    observation: Observation, name: str, labels: dict[str, str], value: int
) -> None:
    assert counted(observation).get_sample_value(name, labels) == value


def test_unreported_failures_are_counted() -> None:
    registry = counted(FAILED, *[replace(FAILED, is_news=False)] * 4)

    labels = {**PODS, "error": "Forbidden"}
    assert registry.get_sample_value("steersman_watch_failures_total", labels) == 5


def test_open_watches_are_those_that_have_started_and_not_ended() -> None:
    registry = counted(STARTED, STARTED, STARTED, ENDED)

    assert registry.get_sample_value("steersman_watch_connected", PODS) == 2


def test_namespaces_do_not_change_the_number_of_series() -> None:
    def series(registry: CollectorRegistry) -> int:
        return sum(len(metric.samples) for metric in registry.collect())

    churned = [replace(STARTED, ref=ObjectRef("Pod", f"ns-{n}", "*")) for n in range(300)]

    assert series(counted(*churned)) == series(counted(STARTED))
