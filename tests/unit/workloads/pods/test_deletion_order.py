"""The order in which surplus Pods are deleted."""

from typing import Any

import pytest

from steersman_cluster.workloads.pods import deletion_cost, deletion_order
from tests.unit.workloads.pods.samples import NOW, ago, pod

COST = "controller.kubernetes.io/pod-deletion-cost"

# In each pair the first is deleted first, and the two are equal in all earlier criteria.
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "without a node": ({"node": None, "phase": "Running", "ready": ago(900)}, {"phase": "Pending"}),
    "not running": ({"phase": "Pending", "ready": ago(900)}, {"phase": "Running"}),
    "not known to run": ({"phase": "Unknown", "ready": ago(900)}, {"phase": "Running"}),
    "not ready": ({"annotations": {COST: "100"}}, {"ready": ago(900)}),
    "cheaper": (
        {"ready": ago(90000), "annotations": {COST: "-5"}},
        {"ready": ago(1), "annotations": {COST: "5"}},
    ),
    "ready for less long": ({"ready": ago(10)}, {"ready": ago(1000), "restarts": 9}),
    "restarted more often": ({"restarts": 2, "created": ago(9000)}, {"restarts": 1}),
    "younger": ({"created": ago(10)}, {"created": ago(1000)}),
}


@pytest.mark.parametrize("worse", PAIRS.values(), ids=PAIRS)
def test_the_pods_that_do_the_least_work_are_deleted_first(
    worse: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    first, second = pod("first", **worse[0]), pod("second", **worse[1])

    assert deletion_order([second, first], NOW, related=()) == [first, second]
    assert deletion_order([first, second], NOW, related=()) == [first, second]


def test_a_pod_that_shares_its_node_is_deleted_first() -> None:
    alone = pod("alone", node="node-1", ready=ago(10))
    shared = pod("shared", node="node-2", ready=ago(1000))
    beside = pod("beside", node="node-2", ready=ago(1000))

    assert deletion_order([alone, shared], NOW, related=[alone, shared, beside])[0] is shared


def test_an_ended_or_terminating_pod_does_not_share_its_node() -> None:
    alone = pod("alone", node="node-1", ready=ago(10))
    beside = pod("beside", node="node-2", ready=ago(1000))
    going = pod("going", node="node-2", ending=True)
    ended = pod("ended", node="node-2", phase="Failed")

    assert deletion_order([beside, alone], NOW, related=[alone, beside, going, ended])[0] is alone


def test_of_pods_of_about_the_same_age_the_lower_uid_is_deleted_first() -> None:
    older = pod("older", ready=ago(1000), uid="a")
    younger = pod("younger", ready=ago(900), uid="b")

    assert deletion_order([younger, older], NOW, related=()) == [older, younger]


@pytest.mark.parametrize(
    ("annotation", "cost"),
    [("10", 10), ("-10", -10), ("0", 0), ("+1", 0), ("007", 0), ("1e3", 0), ("99999999999", 0)],
)
def test_an_invalid_deletion_cost_counts_as_zero(annotation: str, cost: int) -> None:
    assert deletion_cost(pod(annotations={COST: annotation})) == cost
