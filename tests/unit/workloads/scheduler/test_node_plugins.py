"""The scheduler's node plugins; many examples are from the Kubernetes documentation."""

from typing import Any

import pytest

from steersman.kinds import core_v1
from steersman_cluster.workloads.scheduler.plugins.node_affinity import (
    NOT_SELECTED,
    matches_node,
    preferred_score,
)
from steersman_cluster.workloads.scheduler.plugins.node_ports import (
    HostPort,
    host_ports,
    ports_conflict,
)
from steersman_cluster.workloads.scheduler.plugins.node_resources_fit import (
    allocatable,
    insufficient_resources,
    resource_requests,
)
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import (
    NO_EXECUTE,
    TAINTED,
    count_prefer_no_schedule,
    tolerates,
    untolerated_taint,
)
from steersman_cluster.workloads.scheduler.schedule_one import CORDONED, OTHER_NAME, static_reason
from tests.unit.workloads.nodes.samples import amounts, container, node, pod

ZONE = "topology.kubernetes.io/zone"


def spec(**given: Any) -> core_v1.PodSpec:
    return core_v1.PodSpec(containers=(container(),), **given)


def requirement(key: str, operator: str, *values: str) -> core_v1.NodeSelectorRequirement:
    return core_v1.NodeSelectorRequirement(key=key, operator=operator, values=values or None)


def term(*expressions: core_v1.NodeSelectorRequirement) -> core_v1.NodeSelectorTerm:
    return core_v1.NodeSelectorTerm(match_expressions=expressions)


def requiring(*terms: core_v1.NodeSelectorTerm) -> core_v1.PodSpec:
    required = core_v1.NodeSelector(node_selector_terms=terms)
    affinity = core_v1.NodeAffinity(required_during_scheduling_ignored_during_execution=required)
    return spec(affinity=core_v1.Affinity(node_affinity=affinity))


# Selectors and node affinity


@pytest.mark.parametrize(
    ("selector", "labels", "is_match"),
    [
        (None, {}, True),
        ({"disktype": "ssd"}, {"disktype": "ssd"}, True),
        ({"disktype": "ssd"}, {"disktype": "hdd"}, False),
        ({"disktype": "ssd"}, {}, False),
        ({"disktype": "ssd", "gpu": "yes"}, {"disktype": "ssd"}, False),
    ],
)
def test_a_node_selector_requires_all_its_labels(
    selector: dict[str, str] | None, labels: dict[str, str], is_match: bool
) -> None:
    assert matches_node(spec(node_selector=selector), node(labels=labels)) is is_match


@pytest.mark.parametrize(
    ("operator", "values", "value", "is_match"),
    [
        ("In", ("a", "b"), "a", True),
        ("In", ("a", "b"), "c", False),
        ("In", ("a",), None, False),
        ("NotIn", ("a",), "b", True),
        ("NotIn", ("a",), "a", False),
        ("NotIn", ("a",), None, True),
        ("Exists", (), "", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), None, True),
        ("DoesNotExist", (), "a", False),
        ("Gt", ("3",), "4", True),
        ("Gt", ("3",), "3", False),
        ("Gt", ("3",), "many", False),
        ("Lt", ("3",), "-2", True),
        ("Lt", ("3",), None, False),
        ("Like", ("a",), "a", False),
    ],
)
def test_each_node_affinity_operator_matches_as_documented(
    operator: str, values: tuple[str, ...], value: str | None, is_match: bool
) -> None:
    labels = {} if value is None else {"key": value}
    wanted = requiring(term(requirement("key", operator, *values)))

    assert matches_node(wanted, node(labels=labels)) is is_match


def test_node_affinity_terms_are_ored_and_their_expressions_anded() -> None:
    wanted = requiring(
        term(requirement(ZONE, "In", "antarctica-east1"), requirement("ssd", "Exists")),
        term(requirement(ZONE, "In", "antarctica-west1")),
    )

    assert matches_node(wanted, node(labels={ZONE: "antarctica-west1"}))
    assert matches_node(wanted, node(labels={ZONE: "antarctica-east1", "ssd": ""}))
    assert not matches_node(wanted, node(labels={ZONE: "antarctica-east1"}))


def test_an_empty_term_matches_no_node() -> None:
    assert not matches_node(requiring(core_v1.NodeSelectorTerm()), node())
    assert not matches_node(requiring(), node())


def test_node_affinity_can_name_a_node() -> None:
    named = core_v1.NodeSelectorTerm(match_fields=(requirement("metadata.name", "In", "node-2"),))

    assert matches_node(requiring(named), node("node-2"))
    assert not matches_node(requiring(named), node("node-1"))


def test_the_weights_of_matching_preferred_terms_are_summed() -> None:
    preferring = tuple(
        core_v1.PreferredSchedulingTerm(weight=weight, preference=term(requirement(key, "Exists")))
        for weight, key in ((1, "label-1"), (50, "label-2"), (7, "label-3"))
    )
    affinity = core_v1.NodeAffinity(preferred_during_scheduling_ignored_during_execution=preferring)
    wanted = spec(affinity=core_v1.Affinity(node_affinity=affinity))

    assert preferred_score(wanted, node(labels={"label-1": "", "label-2": ""})) == 51
    assert preferred_score(wanted, node()) == 0
    assert preferred_score(spec(), node()) == 0


# Taints


def taint(key: str, value: str | None = None, effect: str = "NoSchedule") -> core_v1.Taint:
    return core_v1.Taint(key=key, value=value, effect=effect)


@pytest.mark.parametrize(
    ("toleration", "is_tolerated"),
    [
        (core_v1.Toleration(key="key1", operator="Equal", value="value1"), True),
        (core_v1.Toleration(key="key1", value="value1", effect="NoSchedule"), True),
        (core_v1.Toleration(key="key1", operator="Exists"), True),
        (core_v1.Toleration(operator="Exists"), True),
        (core_v1.Toleration(operator="Exists", effect="NoExecute"), False),
        (core_v1.Toleration(key="key1", operator="Equal", value="other"), False),
        (core_v1.Toleration(key="key2", operator="Exists"), False),
        (core_v1.Toleration(key="key1", operator="Gt", value="1"), False),
        (core_v1.Toleration(key="key1", operator="Like", value="value1"), False),
    ],
)
def test_a_toleration_matches_a_taint_by_key_value_and_effect(
    toleration: core_v1.Toleration, is_tolerated: bool
) -> None:
    assert tolerates(toleration, taint("key1", "value1")) is is_tolerated


@pytest.mark.parametrize(("operator", "is_tolerated"), [("Gt", True), ("Lt", False)])
def test_a_toleration_can_compare_numbers(operator: str, is_tolerated: bool) -> None:
    toleration = core_v1.Toleration(key="sla", operator=operator, value="900")

    assert tolerates(toleration, taint("sla", "950")) is is_tolerated


def test_one_untolerated_taint_excludes_a_node() -> None:
    tainted = node(
        taints=(
            taint("key1", "value1"),
            taint("key1", "value1", "NoExecute"),
            taint("key2", "value2"),
        )
    )
    tolerations = tuple(
        core_v1.Toleration(key="key1", operator="Equal", value="value1", effect=effect)
        for effect in ("NoSchedule", "NoExecute")
    )

    assert untolerated_taint(tainted, tolerations) == taint("key2", "value2")
    assert untolerated_taint(tainted, tolerations, effects=NO_EXECUTE) is None
    assert untolerated_taint(node(), None) is None


def test_a_prefernoschedule_taint_lowers_the_score_and_excludes_no_node() -> None:
    shy = node(taints=(taint("key1", effect="PreferNoSchedule"),))

    assert untolerated_taint(shy, None) is None
    assert count_prefer_no_schedule(shy, None) == 1
    assert count_prefer_no_schedule(shy, (core_v1.Toleration(operator="Exists"),)) == 0


# Resources


def test_the_requests_of_containers_are_summed() -> None:
    wanted = resource_requests(
        core_v1.PodSpec(
            containers=(
                container("app", requests={"cpu": "250m", "memory": "64Mi"}),
                container("log", requests={"cpu": "250m", "memory": "64Mi"}, limits={"cpu": "1"}),
                container("all", limits={"example.com/foo": "1"}),
            ),
            overhead=amounts({"cpu": "10m"}),
        )
    )

    assert wanted == {"cpu": 510, "memory": 128 * 1024 * 1024, "example.com/foo": 1}


def test_the_peak_of_the_init_containers_counts_if_it_is_more() -> None:
    greedy = core_v1.PodSpec(
        init_containers=(
            container("first", requests={"cpu": "1"}),
            container("side", requests={"cpu": "200m"}, restart_policy="Always"),
            container("second", requests={"cpu": "900m", "memory": "1Gi"}),
        ),
        containers=(container(requests={"cpu": "500m"}),),
    )

    # With the sidecar, the second requested 1100m; while it runs, the Pod requested 700m.
    assert resource_requests(greedy) == {"cpu": 1100, "memory": 1024**3}


def test_pod_level_requests_win_over_container_requests() -> None:
    whole = core_v1.ResourceRequirements(requests=amounts({"cpu": "2"}))
    wanted = core_v1.PodSpec(
        containers=(container(requests={"cpu": "500m", "memory": "1"}),), resources=whole
    )

    assert resource_requests(wanted) == {"cpu": 2000, "memory": 1}


def test_the_reason_names_each_insufficient_resource() -> None:
    size = allocatable(node(has={"cpu": "2", "pods": "3", "example.com/foo": "4"}))

    def short(pods: int = 0, **wanted: int) -> list[str]:
        named = {name.replace("_", "/"): amount for name, amount in wanted.items()}
        return insufficient_resources(named, requested={"cpu": 1500}, allocatable=size, pods=pods)

    assert short(cpu=500) == []
    assert short(cpu=501) == ["Insufficient cpu"]
    assert short(cpu=501, gpu=1) == ["Insufficient cpu", "Insufficient gpu"]
    assert short(cpu=0, gpu=0) == []
    assert short(pods=2) == []
    assert short(pods=3, cpu=501) == ["Too many pods", "Insufficient cpu"]


# Ports


def port(number: int, address: str | None = None, protocol: str | None = None) -> HostPort:
    return HostPort(address or "", protocol or "TCP", number)


@pytest.mark.parametrize(
    ("wanted", "taken", "is_clash"),
    [
        (port(80), port(80), True),
        (port(80), port(81), False),
        (port(80), port(80, protocol="UDP"), False),
        (port(80, "127.0.0.1"), port(80, "127.0.0.2"), False),
        (port(80, "127.0.0.1"), port(80), True),
        (port(80, "0.0.0.0"), port(80, "127.0.0.1"), True),  # noqa: S104 - no server listens
    ],
)
def test_two_pods_cannot_use_the_same_host_port(
    wanted: HostPort, taken: HostPort, is_clash: bool
) -> None:
    assert ports_conflict(wanted, taken) is is_clash
    assert ports_conflict(taken, wanted) is is_clash


def test_a_pod_uses_its_host_ports() -> None:
    ports = (
        core_v1.ContainerPort(container_port=8080),
        core_v1.ContainerPort(container_port=8081, host_port=81, protocol="UDP"),
    )
    mine = container(ports=ports)

    assert host_ports(core_v1.PodSpec(containers=(mine,))) == (port(81, protocol="UDP"),)
    assert host_ports(core_v1.PodSpec(containers=(mine,), host_network=True)) == (
        port(8080),
        port(81, protocol="UDP"),
    )


# All plugins


def test_the_reported_reason_is_the_first_in_plugin_order() -> None:
    bad = node("bad", unschedulable=True, taints=(taint("key1"),))
    picky = pod(node_selector={"disktype": "ssd"}, node_name="other")
    bearing = core_v1.Toleration(key="node.kubernetes.io/unschedulable", operator="Exists")

    assert static_reason(picky, bad) == CORDONED
    assert static_reason(pod(node_name="other"), node("bad")) == OTHER_NAME
    assert static_reason(pod(tolerations=(bearing,)), bad) == TAINTED
    assert static_reason(pod(node_selector={"disktype": "ssd"}), node()) == NOT_SELECTED
    assert static_reason(pod(), node()) is None
