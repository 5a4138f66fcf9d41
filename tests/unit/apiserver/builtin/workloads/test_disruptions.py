"""Disruption budgets; what the real server says is in tests/real."""

from datetime import UTC, datetime
from typing import Any

import pytest

from steersman_cluster.apiserver.builtin.workloads.disruptions import (
    charged_budget,
    marked_disrupted,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = {"type": "Ready", "status": "True"}


def pod(phase: str = "Running", *, ready: bool = True, **metadata: Any) -> dict[str, Any]:
    conditions = [{**READY, "status": str(ready)}]
    about = {"name": "web", "labels": {"app": "web"}, **metadata}
    return {"metadata": about, "status": {"phase": phase, "conditions": conditions}}


def budget(allowed: int, *, selector: Any = None, **status: Any) -> dict[str, Any]:
    chosen = {"matchLabels": {"app": "web"}} if selector is None else selector
    said = {"observedGeneration": 1, "disruptionsAllowed": allowed, **status}
    about = {"name": "budget", "generation": 1}
    return {"metadata": about, "spec": {"selector": chosen}, "status": said}


def test_a_budget_is_charged_and_the_one_that_is_kept_is_left_alone() -> None:
    kept = budget(2, disruptedPods={"old": "2025-01-01T00:00:00Z"})

    charged = charged_budget(pod(), [kept], now=NOW)

    assert charged is not None
    assert charged["status"]["disruptionsAllowed"] == 1
    assert charged["status"]["disruptedPods"] == {
        "old": "2025-01-01T00:00:00Z",
        "web": "2026-01-01T00:00:00Z",
    }
    assert "conditions" not in charged["status"]
    assert kept == budget(2, disruptedPods={"old": "2025-01-01T00:00:00Z"})


@pytest.mark.parametrize(
    ("before", "since"), [("True", "2026-01-01T00:00:00Z"), ("False", "2025-01-01T00:00:00Z")]
)
def test_the_last_of_a_budget_closes_it(before: str, since: str) -> None:
    old = {
        "type": "DisruptionAllowed",
        "status": before,
        "lastTransitionTime": "2025-01-01T00:00:00Z",
    }
    other = {"type": "Other", "status": "True"}

    charged = charged_budget(pod(), [budget(1, conditions=[old, other])], now=NOW)

    assert charged is not None
    assert charged["status"]["conditions"] == [
        {
            "type": "DisruptionAllowed",
            "status": "False",
            "observedGeneration": 1,
            "lastTransitionTime": since,
            "reason": "InsufficientPods",
            "message": "",
        },
        other,
    ]


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "db"}},
        {"matchExpressions": [{"key": "app", "operator": "Odd"}]},
    ],
)
def test_a_budget_for_others_costs_nothing(selector: dict[str, Any]) -> None:
    assert charged_budget(pod(), [budget(0, selector=selector)], now=NOW) is None


def test_a_budget_for_all_is_for_this_pod_too() -> None:
    with pytest.raises(StatusError):
        charged_budget(pod(), [budget(0, selector={})], now=NOW)


@pytest.mark.parametrize(
    "free",
    [
        pod("Pending"),
        pod("Succeeded"),
        pod("Failed"),
        pod(deletionTimestamp="2026-01-01T00:00:00Z"),
    ],
)
def test_the_eviction_of_a_pod_that_does_not_run_is_not_charged(free: dict[str, Any]) -> None:
    assert charged_budget(free, [budget(0), budget(0)], now=NOW) is None


def test_a_rejection_by_an_exhausted_budget_has_no_retry_after() -> None:
    with pytest.raises(StatusError) as refusal:
        charged_budget(pod(), [budget(0)], now=NOW)

    assert (refusal.value.code, refusal.value.retry_after_seconds) == (429, 0)


def test_a_pod_is_marked_once() -> None:
    marked = marked_disrupted(pod(), now=NOW)

    assert marked["status"]["conditions"][1] == {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    assert marked_disrupted(marked, now=NOW.replace(year=2027)) == marked
