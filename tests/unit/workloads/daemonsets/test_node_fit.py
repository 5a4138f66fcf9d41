"""Nodes that fit the Pods of a DaemonSet."""

from typing import Any

import pytest

from steersman.kinds import core_v1
from steersman_cluster.workloads.daemonsets.node_fit import (
    Fit,
    daemon_spec,
    fit,
    on_node,
    target_of,
)
from tests.unit.workloads.daemonsets.samples import NO, STAY, YES, node, spec

NOT_READY = "node.kubernetes.io/not-ready"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
NETWORK = "node.kubernetes.io/network-unavailable"


def template(**rest: Any) -> core_v1.PodTemplateSpec:
    return core_v1.PodTemplateSpec(spec=spec(**rest))


def bearing(*tolerations: core_v1.Toleration, **rest: Any) -> list[tuple[Any, ...]]:
    made = daemon_spec(template(tolerations=tolerations or None, **rest))
    return [(each.key, each.operator, each.effect) for each in made.tolerations or ()]


def test_a_daemon_tolerates_the_problems_of_its_node() -> None:
    assert bearing() == [
        (NOT_READY, "Exists", "NoExecute"),
        ("node.kubernetes.io/unreachable", "Exists", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "Exists", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "Exists", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "Exists", "NoSchedule"),
        (UNSCHEDULABLE, "Exists", "NoSchedule"),
    ]


def test_a_daemon_with_host_network_tolerates_an_unavailable_network() -> None:
    assert (NETWORK, "Exists", "NoSchedule") in bearing(host_network=True)
    assert (NETWORK, "Exists", "NoSchedule") not in bearing()


def test_the_templates_tolerations_come_first_and_without_duplicates() -> None:
    for_a_while = core_v1.Toleration(
        key=NOT_READY, operator="Exists", effect="NoExecute", toleration_seconds=30
    )
    own = core_v1.Toleration(key="own", operator="Exists")

    made = daemon_spec(template(tolerations=(own, for_a_while)))

    tolerations = made.tolerations or ()
    assert len(tolerations) == 7
    assert tolerations[0] == own
    assert (tolerations[1].key, tolerations[1].toleration_seconds) == (NOT_READY, None)


FITS: list[tuple[core_v1.Node, dict[str, Any], Fit]] = [
    (node(), {}, YES),
    (node(labels={"disk": "ssd"}), {"node_selector": {"disk": "ssd"}}, YES),
    (node(labels={"disk": "hdd"}), {"node_selector": {"disk": "ssd"}}, NO),
    (node("a"), {"node_name": "a"}, YES),
    (node("a"), {"node_name": "b"}, NO),
    (node(taints=[("own", "NoSchedule")]), {}, STAY),
    (node(taints=[("own", "NoExecute")]), {}, NO),
    (node(taints=[("own", "PreferNoSchedule")]), {}, YES),
    (node(taints=[(NOT_READY, "NoExecute"), (UNSCHEDULABLE, "NoSchedule")]), {}, YES),
    (
        node(taints=[("own", "NoExecute")]),
        {"tolerations": (core_v1.Toleration(operator="Exists"),)},
        YES,
    ),
]


@pytest.mark.parametrize(("candidate", "spec", "expected"), FITS)
def test_a_pod_stays_on_a_node_that_no_longer_fits_unless_a_taint_evicts_it(
    candidate: core_v1.Node, spec: dict[str, Any], expected: Fit
) -> None:
    assert fit(daemon_spec(template(**spec)), candidate) == expected


def test_a_daemon_pod_can_only_be_bound_to_its_node() -> None:
    preferred = core_v1.PreferredSchedulingTerm(
        weight=1, preference=core_v1.NodeSelectorTerm(match_expressions=())
    )
    required = core_v1.NodeSelector(node_selector_terms=(core_v1.NodeSelectorTerm(),))
    anti = core_v1.PodAntiAffinity()
    affinity = core_v1.Affinity(
        node_affinity=core_v1.NodeAffinity(
            preferred_during_scheduling_ignored_during_execution=(preferred,),
            required_during_scheduling_ignored_during_execution=required,
        ),
        pod_anti_affinity=anti,
    )

    made = on_node(spec(affinity=affinity), "node-7")

    assert made.affinity is not None
    of_node = made.affinity.node_affinity
    assert of_node is not None
    assert made.node_name is None
    assert made.affinity.pod_anti_affinity == anti
    assert of_node.preferred_during_scheduling_ignored_during_execution == (preferred,)
    assert fit(made, node("node-7")).should_run
    assert not fit(made, node("node-8")).should_run


def test_the_target_of_an_unbound_pod_is_the_node_in_its_affinity() -> None:
    waiting = core_v1.Pod(spec=on_node(spec(), "node-7"))
    bound = core_v1.Pod(spec=on_node(spec(node_name="node-8"), "node-7"))
    by_hand = core_v1.Pod(spec=spec())

    assert [target_of(each) for each in (waiting, bound, by_hand)] == ["node-7", "node-8", None]
