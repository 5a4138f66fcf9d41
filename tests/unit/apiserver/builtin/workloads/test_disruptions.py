"""Disruption budgets in evictions. tests/real compares them with kube-apiserver."""

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
    current = {"observedGeneration": 1, "disruptionsAllowed": allowed, **status}
    about = {"name": "budget", "generation": 1}
    return {"metadata": about, "spec": {"selector": chosen}, "status": current}


def test_charging_a_budget_does_not_modify_the_stored_budget() -> None:
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
def test_using_the_last_disruption_sets_the_condition_to_false(before: str, since: str) -> None:
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
def test_a_budget_that_does_not_match_the_pod_is_not_charged(selector: dict[str, Any]) -> None:
    assert charged_budget(pod(), [budget(0, selector=selector)], now=NOW) is None


def test_an_empty_selector_matches_every_pod() -> None:
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
    with pytest.raises(StatusError) as raised:
        charged_budget(pod(), [budget(0)], now=NOW)

    assert (raised.value.code, raised.value.retry_after_seconds) == (429, 0)


def test_the_disruption_condition_is_added_once() -> None:
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
