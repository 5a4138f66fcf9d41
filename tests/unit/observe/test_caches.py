"""Log lines and metrics of caches and their handlers."""

import logging

import pytest
from prometheus_client import CollectorRegistry

from steersman.clock import SystemClock
from steersman.observe import CacheStale, MetricsObserver, Observation
from tests.unit.observe.cache_samples import (
    CHECKED,
    ENDED,
    HANDLER_FAILED,
    HANDLER_STUCK,
    INDEX_FAILED,
    NOT_DECODED,
    STALE,
    SYNCED,
)
from tests.unit.observe.samples import describe, level_of

LOUD, NORMAL, QUIET = logging.WARNING, logging.INFO, logging.DEBUG


@pytest.mark.parametrize(
    ("observation", "level", "text"),
    [
        (SYNCED, NORMAL, "cache of pods, in default: synced, with 3 objects"),
        (CHECKED, QUIET, "cache of pods, in default: 4 objects, 2 pending notifications"),
        (
            STALE,
            LOUD,
            "cache of pods, in default: stale, unable to watch for 61.0 s:"
            " GET /api/v1/pods on https://kube: cannot reach the server. Wait.",
        ),
        (ENDED, NORMAL, "cache of pods, in default: stopped"),
        (
            NOT_DECODED,
            LOUD,
            "Pod default/web: kept out of the cache: Pod default/web does not fit Pod: spec is"
            " missing. Correct the object, or read it as Unstructured and widen the class.",
        ),
        (INDEX_FAILED, LOUD, "Pod default/web: kept out of the index node: KeyError: 'nodeName'"),
        (
            HANDLER_FAILED,
            LOUD,
            "Pod default/web: the handler enqueue failed: ValueError: no such queue",
        ),
        (
            HANDLER_STUCK,
            LOUD,
            "Pod default/web: the handler enqueue has been busy with this for 31.0 s,"
            " and 7 changes wait for it",
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_line_names_the_cache_or_object_and_the_observation(
    observation: Observation, level: int, text: str
) -> None:
    assert (level_of(observation), describe(observation)[0]) == (level, text)


def test_a_cache_may_go_stale_without_an_error() -> None:
    stale = CacheStale(resource="pods", scope="everywhere", failing_seconds=61.0, error=None)

    assert describe(stale)[0] == "cache of pods, everywhere: stale, unable to watch for 61.0 s"


@pytest.mark.parametrize(
    ("observation", "series", "value"),
    [
        (SYNCED, ("steersman_cache_objects", {"scope": "in default"}), 3.0),
        (CHECKED, ("steersman_cache_objects", {"scope": "in default"}), 4.0),
        (CHECKED, ("steersman_cache_undecodable_objects", {"scope": "in default"}), 1.0),
        (CHECKED, ("steersman_cache_pending_notifications", {"scope": "in default"}), 2.0),
        (CHECKED, ("steersman_cache_failing_seconds", {"scope": "in default"}), 5.0),
        (STALE, ("steersman_cache_stale_total", {}), 1.0),
        (NOT_DECODED, ("steersman_cache_decode_failures_total", {}), 1.0),
        (INDEX_FAILED, ("steersman_cache_index_failures_total", {}), 1.0),
        (HANDLER_FAILED, ("steersman_cache_handler_failures_total", {"outcome": "failed"}), 1.0),
        (HANDLER_STUCK, ("steersman_cache_handler_failures_total", {"outcome": "stuck"}), 1.0),
    ],
)
def test_each_observation_is_a_metric_of_its_resource(
    observation: Observation, series: tuple[str, dict[str, str]], value: float
) -> None:
    registry = CollectorRegistry()

    MetricsObserver(registry, clock=SystemClock())(observation)

    name, labels = series
    assert registry.get_sample_value(name, {"resource": "pods", **labels}) == value


@pytest.mark.parametrize(
    "name", ["objects", "undecodable_objects", "pending_notifications", "failing_seconds"]
)
def test_a_stopped_cache_has_no_objects_and_is_not_failing(name: str) -> None:
    registry = CollectorRegistry()
    observe = MetricsObserver(registry, clock=SystemClock())

    observe(CHECKED)
    observe(ENDED)

    labels = {"resource": "pods", "scope": "in default"}
    assert registry.get_sample_value(f"steersman_cache_{name}", labels) == 0.0
