"""The node for a Pod, or the message of an unschedulable Pod."""

from typing import Any

from steersman.kinds import core_v1, meta_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.scheduler.cache import SchedulerCache
from steersman_cluster.workloads.scheduler.schedule_one import (
    FitError,
    ScheduleResult,
    queued_pod_info,
    schedule_pod,
)
from tests.unit.workloads.nodes.samples import cache, container, node, pod

HOST = "kubernetes.io/hostname"


def place(queued: core_v1.Pod, on: SchedulerCache, **namespaces: dict[str, str]) -> str:
    """Return the node for the Pod, or the message."""
    outcome = schedule_pod(
        queued_pod_info(queued), on, labels_of=lambda name: namespaces.get(name, {})
    )
    return outcome.node if isinstance(outcome, ScheduleResult) else outcome.message


def requesting_pod(name: str = "one", cpu: str = "1", **rest: Any) -> core_v1.Pod:
    return pod(name, container(requests={"cpu": cpu}), **rest)


def term(
    key: str = HOST, *, namespaces: tuple[str, ...] | None = None, **labels: str
) -> core_v1.PodAffinityTerm:
    return core_v1.PodAffinityTerm(
        topology_key=key,
        label_selector=meta_v1.LabelSelector(match_labels=labels),
        namespaces=namespaces,
    )


def with_affinity(each: core_v1.Pod, *terms: core_v1.PodAffinityTerm) -> core_v1.Pod:
    return _with(
        each,
        pod_affinity=core_v1.PodAffinity(required_during_scheduling_ignored_during_execution=terms),
    )


def with_anti_affinity(each: core_v1.Pod, *terms: core_v1.PodAffinityTerm) -> core_v1.Pod:
    return _with(
        each,
        pod_anti_affinity=core_v1.PodAntiAffinity(
            required_during_scheduling_ignored_during_execution=terms
        ),
    )


def _with(each: core_v1.Pod, **affinity: Any) -> core_v1.Pod:
    assert each.spec is not None
    return replace(each, spec=replace(each.spec, affinity=core_v1.Affinity(**affinity)))


def spread(*, key: str = HOST, skew: int = 1, must: bool = True, **rest: Any) -> Any:
    return (
        core_v1.TopologySpreadConstraint(
            max_skew=skew,
            topology_key=key,
            when_unsatisfiable="DoNotSchedule" if must else "ScheduleAnyway",
            label_selector=meta_v1.LabelSelector(match_labels={"app": "web"}),
            **rest,
        ),
    )


TWO = (node("node-1"), node("node-2"))


def test_the_node_with_the_most_free_resources_wins() -> None:
    on = cache(*TWO, node_1=(requesting_pod("old", "2"),))

    assert place(requesting_pod(), on) == "node-2"


def test_of_equal_nodes_the_first_by_name_is_selected() -> None:
    nodes = [node(f"node-{number}") for number in (10, 2, 1)]

    assert place(pod(), cache(*nodes)) == "node-1"
    assert place(pod("two"), cache(*nodes, node_1=(pod("one"),))) == "node-2"


def test_the_pods_of_one_owner_are_spread_by_default() -> None:
    on = cache(*TWO, node_1=(pod("a", owner="set"),), node_2=(pod("b"), pod("c"), pod("d")))

    assert place(pod("e", owner="set"), on) == "node-2"
    assert place(pod("e", owner="another"), on) == "node-1"


def test_a_node_with_a_prefernoschedule_taint_is_selected_last() -> None:
    shy = node("node-1", taints=(core_v1.Taint(key="shy", effect="PreferNoSchedule"),))

    assert place(pod(), cache(shy, TWO[1], node_2=(requesting_pod("old", "2"),))) == "node-2"
    assert place(pod(), cache(shy)) == "node-1"


def test_a_pod_that_names_its_node_is_checked_on_that_node_only() -> None:
    named = core_v1.NodeSelectorTerm(
        match_fields=(
            core_v1.NodeSelectorRequirement(key="metadata.name", operator="In", values=("node-2",)),
        )
    )
    affinity = core_v1.NodeAffinity(
        required_during_scheduling_ignored_during_execution=core_v1.NodeSelector(
            node_selector_terms=(named,)
        )
    )
    daemon = _with(requesting_pod(cpu="3"), node_affinity=affinity)
    full = cache(*TWO, node_2=(requesting_pod("old", "2"),))

    assert place(daemon, cache(*TWO)) == "node-2"
    assert place(daemon, full) == (
        "0/2 nodes are available: 1 Insufficient cpu,"
        " 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
        " preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod,"
        " 1 Preemption is not helpful for scheduling."
    )


def test_the_message_for_a_pod_without_preemption_mentions_it() -> None:
    polite = requesting_pod(cpu="9", preemption_policy="Never")

    assert place(polite, cache(*TWO)) == (
        "0/2 nodes are available: 2 Insufficient cpu."
        " preemption: not eligible due to preemptionPolicy=Never."
    )


def test_the_message_without_nodes_has_no_counts() -> None:
    assert place(pod(), SchedulerCache()) == "no nodes available to schedule pods"


def test_affinity_applies_within_its_topology_key() -> None:
    zones = [node(f"node-{n}", labels={"zone": zone}) for n, zone in ((1, "a"), (2, "b"), (3, "b"))]
    on = cache(*zones, node_2=(requesting_pod("friend", "3", labels={"app": "friend"}),))

    assert place(with_affinity(pod(), term("zone", app="friend")), on) == "node-3"
    assert place(with_affinity(pod(), term(app="friend")), on) == "node-2"
    assert place(with_anti_affinity(pod(), term("zone", app="friend")), on) == "node-1"


def test_an_affinity_term_applies_to_its_own_namespace_unless_it_names_others() -> None:
    there = pod("friend", namespace="there", labels={"app": "friend"})
    on = cache(*TWO, node_2=(there,))
    anywhere = replace(term(app="friend"), namespace_selector=meta_v1.LabelSelector())
    chosen = replace(
        term(app="friend"),
        namespace_selector=meta_v1.LabelSelector(match_labels={"team": "red"}),
    )

    assert isinstance(
        schedule_pod(
            queued_pod_info(with_affinity(pod(), term(app="friend"))), on, labels_of=lambda _: {}
        ),
        FitError,
    )
    assert place(with_affinity(pod(), term(app="friend", namespaces=("there",))), on) == "node-2"
    assert place(with_affinity(pod(), anywhere), on) == "node-2"
    assert place(with_affinity(pod(), chosen), on, there={"team": "red"}) == "node-2"
    assert place(with_affinity(pod(), chosen), on, there={"team": "blue"}).startswith("0/2")


def test_the_first_pod_with_affinity_to_itself_fits_on_any_node() -> None:
    first = with_affinity(pod(labels={"app": "web"}), term(app="web"))

    assert place(first, cache(*TWO)) == "node-1"
    assert place(with_affinity(pod(), term(app="web")), cache(*TWO)).startswith("0/2")


def test_the_anti_affinity_of_existing_pods_excludes_nodes() -> None:
    existing = with_anti_affinity(pod("existing"), term(app="web"))
    on = cache(*TWO, node_1=(existing,))

    assert place(requesting_pod(labels={"app": "web"}), on) == "node-2"
    assert place(pod(labels={"app": "web"}, namespace="there"), on) == "node-2"
    assert place(
        pod(labels={"app": "web"}, namespace="there"),
        cache(*TWO, node_1=(existing,), node_2=(requesting_pod("old", "2"),)),
    ) == ("node-1")


def test_preferred_affinity_decides_between_otherwise_equal_nodes() -> None:
    score = core_v1.WeightedPodAffinityTerm(weight=10, pod_affinity_term=term(app="friend"))
    on = cache(*TWO, node_2=(pod("friend", labels={"app": "friend"}),))
    drawn = _with(
        pod(),
        pod_affinity=core_v1.PodAffinity(
            preferred_during_scheduling_ignored_during_execution=(score,)
        ),
    )
    repelled = _with(
        pod(),
        pod_anti_affinity=core_v1.PodAntiAffinity(
            preferred_during_scheduling_ignored_during_execution=(score,)
        ),
    )

    assert place(drawn, on) == "node-2"
    assert place(repelled, cache(*TWO, node_1=(pod("f", labels={"app": "friend"}),))) == "node-2"


def test_a_skew_above_maxskew_excludes_a_node() -> None:
    web = [pod(f"web-{number}", labels={"app": "web"}) for number in range(3)]
    on = cache(*TWO, node_1=(web[0],), node_2=(requesting_pod("old", "3"),))
    new = pod("new", labels={"app": "web"}, topology_spread_constraints=spread())

    assert place(new, on) == "node-2"
    assert place(
        pod("new", labels={"app": "web"}, topology_spread_constraints=spread(skew=2)), on
    ) == ("node-1")


def test_a_node_without_the_topology_label_does_not_fit() -> None:
    zones = (node("node-1", labels={"zone": "a"}), node("node-2"))
    new = pod("new", labels={"app": "web"}, topology_spread_constraints=spread(key="zone"))
    full = cache(zones[0], zones[1], node_1=(requesting_pod("old", "4"),))

    assert place(new, cache(*zones)) == "node-1"
    assert "1 node(s) didn't match pod topology spread constraints (missing required label)" in (
        place(requesting_pod("new", topology_spread_constraints=spread(key="zone")), full)
    )


def test_with_fewer_than_mindomains_the_global_minimum_is_zero() -> None:
    on = cache(*TWO, node_1=(pod("a", labels={"app": "web"}),))
    narrow = spread(min_domains=3)
    filled = cache(
        *TWO,
        node_1=(pod("a", labels={"app": "web"}),),
        node_2=(pod("b", labels={"app": "web"}),),
    )

    new = pod("new", labels={"app": "web"}, topology_spread_constraints=narrow)
    assert place(new, on) == "node-2"
    assert place(new, filled).startswith("0/2")


def test_a_soft_spread_constraint_only_affects_scores() -> None:
    on = cache(
        *TWO, node_1=(pod("a", labels={"app": "web"}),), node_2=(requesting_pod("old", "1"),)
    )
    anyway = spread(must=False)

    assert place(pod("new", labels={"app": "web"}, topology_spread_constraints=anyway), on) == (
        "node-2"
    )


def test_pods_that_fit_alike_have_the_same_signature() -> None:
    def signature(**given: Any) -> bytes:
        return queued_pod_info(pod(**given)).signature

    assert signature(name="a", labels={"x": "1"}) == signature(name="b", labels={"x": "2"})
    assert signature() != signature(node_selector={"a": "b"})
    assert (
        queued_pod_info(requesting_pod(cpu="1")).signature
        == queued_pod_info(requesting_pod(cpu="1000m")).signature
    )
    assert (
        queued_pod_info(requesting_pod(cpu="1")).signature
        != queued_pod_info(requesting_pod(cpu="2")).signature
    )
    constraints = spread()
    assert signature(labels={"x": "1"}, topology_spread_constraints=constraints) != signature(
        labels={"x": "2"}, topology_spread_constraints=constraints
    )
