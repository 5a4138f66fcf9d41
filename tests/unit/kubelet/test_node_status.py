"""The addresses of nodes and Pods, and the status of a new node."""

from datetime import timedelta
from ipaddress import ip_address, ip_network
from itertools import pairwise

from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.kubelet.addresses import node_address, pod_address, pod_range
from steersman_cluster.kubelet.annotations import invalid_annotations
from steersman_cluster.kubelet.node_status import new_node, status
from steersman_cluster.workloads import WorkloadSettings, node_taints
from tests.unit.workloads.nodes.samples import NOW, node, pod


def test_the_pod_cidrs_of_nodes_do_not_overlap() -> None:
    ranges = [ip_network(pod_range(number)) for number in range(100)]

    assert not any(a.overlaps(b) for a, b in pairwise(ranges))
    assert len({node_address(number) for number in range(1000)}) == 1000


def test_a_node_with_many_pods_has_a_large_enough_pod_cidr() -> None:
    large = [ip_network(pod_range(number, pods=10_000)) for number in range(3)]

    assert pod_range(1) == "10.128.16.0/20"
    assert all(each.num_addresses > 20_000 for each in large)
    assert not any(a.overlaps(b) for a, b in pairwise(large))


def test_an_address_is_shared_when_none_is_free() -> None:
    small = node(pod_cidr="10.1.2.0/30")

    first, second = (pod_address("uid", small, is_taken=lambda _: True) for _ in range(2))

    assert first == second == "10.1.2.2"


def test_a_pod_gets_a_free_address_of_its_nodes_pod_cidr() -> None:
    small = node(pod_cidr="10.1.2.0/28")
    taken: dict[str, None] = {}
    for number in range(13):
        taken[pod_address(f"uid-{number}", small, is_taken=taken.__contains__)] = None

    assert len(taken) == 13
    assert all(ip_address(each) in ip_network("10.1.2.0/28") for each in taken)
    assert "10.1.2.0" not in taken
    assert "10.1.2.15" not in taken


def test_a_node_without_a_pod_cidr_has_addresses_too() -> None:
    first, second = (pod_address("uid", node(name), is_taken=lambda _: False) for name in "ab")

    assert first != second


def test_the_status_of_a_healthy_node_does_not_change() -> None:
    settings = WorkloadSettings()
    made = new_node(1, settings, now=NOW)
    later = NOW + timedelta(hours=1)

    assert status(made, settings, address="other", now=later) == made.status
    assert node_taints(made, now=later, is_responsive=True) == ()


def test_unhealthy_conditions_are_corrected_and_foreign_conditions_kept() -> None:
    made = new_node(1, WorkloadSettings(), now=NOW)
    assert made.status is not None
    foreign = core_v1.NodeCondition(type="example.com/other", status="Unknown")
    lost = tuple(replace(each, status="Unknown") for each in made.status.conditions or ())
    hurt = replace(made, status=replace(made.status, conditions=(*lost, foreign)))

    wanted = status(hurt, WorkloadSettings(), address="other", now=NOW)

    assert wanted.conditions == (*(made.status.conditions or ()), foreign)


def test_invalid_annotations_are_reported() -> None:
    prefix = "nodes.steersman.dev/"
    good = {
        f"{prefix}start-seconds": "1.5",
        f"{prefix}exit-code.app": "255",
        f"{prefix}never-ready": "true",
        f"{prefix}image": "missing",
        "example.com/exit-code": "many",
    }
    bad = {
        f"{prefix}start-seconds": "-1",
        f"{prefix}run-seconds": "inf",
        f"{prefix}exit-code.app": "256",
        f"{prefix}never-ready": "yes",
        f"{prefix}image": "gone",
    }

    assert invalid_annotations(pod(annotations=good)) == ()
    assert len(invalid_annotations(pod(annotations=bad))) == 5
