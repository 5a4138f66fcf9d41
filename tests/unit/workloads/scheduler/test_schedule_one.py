"""Which node a Pod is sent to, and how it is told that there is none."""

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
    """The node, or the message."""
    outcome = schedule_pod(
        queued_pod_info(queued), on, labels_of=lambda name: namespaces.get(name, {})
    )
    return outcome.node if isinstance(outcome, ScheduleResult) else outcome.message


def hungry(name: str = "one", cpu: str = "1", **rest: Any) -> core_v1.Pod:
    return pod(name, container(requests={"cpu": cpu}), **rest)


def term(
    key: str = HOST, *, namespaces: tuple[str, ...] | None = None, **labels: str
) -> core_v1.PodAffinityTerm:
    return core_v1.PodAffinityTerm(
        topology_key=key,
        label_selector=meta_v1.LabelSelector(match_labels=labels),
        namespaces=namespaces,
    )


def near(each: core_v1.Pod, *terms: core_v1.PodAffinityTerm) -> core_v1.Pod:
    return _with(
        each,
        pod_affinity=core_v1.PodAffinity(required_during_scheduling_ignored_during_execution=terms),
    )


def far(each: core_v1.Pod, *terms: core_v1.PodAffinityTerm) -> core_v1.Pod:
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


def test_the_emptier_node_is_the_better_one() -> None:
    on = cache(*TWO, node_1=(hungry("old", "2"),))

    assert place(hungry(), on) == "node-2"


def test_of_nodes_that_are_alike_the_first_by_name_is_taken() -> None:
    nodes = [node(f"node-{number}") for number in (10, 2, 1)]

    assert place(pod(), cache(*nodes)) == "node-1"
    assert place(pod("two"), cache(*nodes, node_1=(pod("one"),))) == "node-2"


def test_the_pods_of_one_owner_are_kept_apart_if_nothing_speaks_against_it() -> None:
    on = cache(*TWO, node_1=(pod("a", owner="set"),), node_2=(pod("b"), pod("c"), pod("d")))

    assert place(pod("e", owner="set"), on) == "node-2"
    assert place(pod("e", owner="another"), on) == "node-1"


def test_a_node_that_would_rather_not_is_taken_last() -> None:
    shy = node("node-1", taints=(core_v1.Taint(key="shy", effect="PreferNoSchedule"),))

    assert place(pod(), cache(shy, TWO[1], node_2=(hungry("old", "2"),))) == "node-2"
    assert place(pod(), cache(shy)) == "node-1"


def test_a_pod_that_names_its_node_is_told_of_no_other() -> None:
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
    daemon = _with(hungry(cpu="3"), node_affinity=affinity)
    full = cache(*TWO, node_2=(hungry("old", "2"),))

    assert place(daemon, cache(*TWO)) == "node-2"
    assert place(daemon, full) == (
        "0/2 nodes are available: 1 Insufficient cpu,"
        " 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
        " preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod,"
        " 1 Preemption is not helpful for scheduling."
    )


def test_a_pod_that_never_drives_others_away_is_told_so() -> None:
    polite = hungry(cpu="9", preemption_policy="Never")

    assert place(polite, cache(*TWO)) == (
        "0/2 nodes are available: 2 Insufficient cpu."
        " preemption: not eligible due to preemptionPolicy=Never."
    )


def test_without_nodes_there_is_nothing_to_count() -> None:
    assert place(pod(), SchedulerCache()) == "no nodes available to schedule pods"


def test_pods_are_near_in_the_same_place_of_the_kind_that_they_mean() -> None:
    zones = [node(f"node-{n}", labels={"zone": zone}) for n, zone in ((1, "a"), (2, "b"), (3, "b"))]
    on = cache(*zones, node_2=(hungry("friend", "3", labels={"app": "friend"}),))

    assert place(near(pod(), term("zone", app="friend")), on) == "node-3"
    assert place(near(pod(), term(app="friend")), on) == "node-2"
    assert place(far(pod(), term("zone", app="friend")), on) == "node-1"


def test_a_term_is_about_its_own_namespace_unless_it_names_others() -> None:
    there = pod("friend", namespace="there", labels={"app": "friend"})
    on = cache(*TWO, node_2=(there,))
    anywhere = replace(term(app="friend"), namespace_selector=meta_v1.LabelSelector())
    chosen = replace(
        term(app="friend"),
        namespace_selector=meta_v1.LabelSelector(match_labels={"team": "red"}),
    )

    assert isinstance(
        schedule_pod(queued_pod_info(near(pod(), term(app="friend"))), on, labels_of=lambda _: {}),
        FitError,
    )
    assert place(near(pod(), term(app="friend", namespaces=("there",))), on) == "node-2"
    assert place(near(pod(), anywhere), on) == "node-2"
    assert place(near(pod(), chosen), on, there={"team": "red"}) == "node-2"
    assert place(near(pod(), chosen), on, there={"team": "blue"}).startswith("0/2")


def test_the_first_of_those_who_want_to_be_together_may_go_anywhere() -> None:
    first = near(pod(labels={"app": "web"}), term(app="web"))

    assert place(first, cache(*TWO)) == "node-1"
    assert place(near(pod(), term(app="web")), cache(*TWO)).startswith("0/2")


def test_those_who_are_there_can_keep_others_away() -> None:
    existing = far(pod("existing"), term(app="web"))
    on = cache(*TWO, node_1=(existing,))

    assert place(hungry(labels={"app": "web"}), on) == "node-2"
    assert place(pod(labels={"app": "web"}, namespace="there"), on) == "node-2"
    assert place(
        pod(labels={"app": "web"}, namespace="there"),
        cache(*TWO, node_1=(existing,), node_2=(hungry("old", "2"),)),
    ) == ("node-1")


def test_whom_it_likes_and_dislikes_makes_a_difference_where_nothing_else_does() -> None:
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


def test_a_skew_that_would_be_too_great_rules_a_node_out() -> None:
    web = [pod(f"web-{number}", labels={"app": "web"}) for number in range(3)]
    on = cache(*TWO, node_1=(web[0],), node_2=(hungry("old", "3"),))
    new = pod("new", labels={"app": "web"}, topology_spread_constraints=spread())

    assert place(new, on) == "node-2"
    assert place(
        pod("new", labels={"app": "web"}, topology_spread_constraints=spread(skew=2)), on
    ) == ("node-1")


def test_a_node_without_the_label_is_no_place_to_be_spread_over() -> None:
    zones = (node("node-1", labels={"zone": "a"}), node("node-2"))
    new = pod("new", labels={"app": "web"}, topology_spread_constraints=spread(key="zone"))
    full = cache(zones[0], zones[1], node_1=(hungry("old", "4"),))

    assert place(new, cache(*zones)) == "node-1"
    assert "1 node(s) didn't match pod topology spread constraints (missing required label)" in (
        place(hungry("new", topology_spread_constraints=spread(key="zone")), full)
    )


def test_fewer_places_than_are_needed_count_as_an_empty_one() -> None:
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


def test_where_it_would_only_rather_be_spread_it_is_if_it_can() -> None:
    on = cache(*TWO, node_1=(pod("a", labels={"app": "web"}),), node_2=(hungry("old", "1"),))
    anyway = spread(must=False)

    assert place(pod("new", labels={"app": "web"}, topology_spread_constraints=anyway), on) == (
        "node-2"
    )


def test_pods_of_one_sort_have_one_shape_and_others_do_not() -> None:
    def signature(**given: Any) -> bytes:
        return queued_pod_info(pod(**given)).signature

    assert signature(name="a", labels={"x": "1"}) == signature(name="b", labels={"x": "2"})
    assert signature() != signature(node_selector={"a": "b"})
    assert (
        queued_pod_info(hungry(cpu="1")).signature == queued_pod_info(hungry(cpu="1000m")).signature
    )
    assert queued_pod_info(hungry(cpu="1")).signature != queued_pod_info(hungry(cpu="2")).signature
    constraints = spread()
    assert signature(labels={"x": "1"}, topology_spread_constraints=constraints) != signature(
        labels={"x": "2"}, topology_spread_constraints=constraints
    )
