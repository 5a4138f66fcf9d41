"""The taints of a node, and the times for which Pods tolerate them."""

from datetime import timedelta

import pytest

from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.nodes.node_taints import node_taints
from steersman_cluster.workloads.nodes.taint_eviction import tolerated_seconds
from tests.unit.workloads.nodes.samples import NOW, node

BROKEN = core_v1.Taint(key="broken", effect="NoExecute")


def test_taints_for_the_state_of_a_node_are_set_and_others_are_kept() -> None:
    other = core_v1.Taint(key="other", effect="NoSchedule")
    new = core_v1.Taint(key="node.kubernetes.io/not-ready", effect="NoSchedule")
    cordoned = node(taints=(new, other), unschedulable=True)

    kept = node_taints(cordoned, now=NOW, is_responsive=True)
    silent = node_taints(node(taints=(other,)), now=NOW, is_responsive=False)

    assert [each.key for each in kept] == ["other", "node.kubernetes.io/unschedulable"]
    assert [(each.key, each.effect) for each in silent] == [
        ("other", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    ]
    again = node_taints(node(taints=silent), now=NOW + timedelta(hours=1), is_responsive=False)
    assert again == silent


@pytest.mark.parametrize(
    ("seconds", "since", "left"),
    [
        ((), 0, 0.0),
        ((None,), 0, None),
        ((100,), 0, 100.0),
        ((100, 30), 10, 20.0),
        ((100, None), 0, 100.0),
        ((5,), 10, 0.0),
    ],
)
def test_a_pod_stays_for_its_shortest_toleration(
    seconds: tuple[int | None, ...], since: int, left: float | None
) -> None:
    tolerations = [
        core_v1.Toleration(key="broken", operator="Exists", toleration_seconds=each)
        for each in seconds
    ]
    taint = replace(BROKEN, time_added=NOW - timedelta(seconds=since))

    assert tolerated_seconds(tolerations, (taint,), now=NOW) == left
    assert tolerated_seconds(tolerations, (), now=NOW) is None
