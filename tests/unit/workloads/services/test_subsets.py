"""The subsets of the deprecated Endpoints of a Service."""

from steersman.kinds import core_v1, meta_v1, replace
from steersman_cluster.workloads.services.subsets import (
    MAX_ADDRESSES,
    is_up_to_date,
    labels_of,
    subsets_of,
    truncated,
)
from tests.unit.workloads.services.samples import HTTP, many, pod, service


def endpoints(
    of: core_v1.Service, subsets: tuple[core_v1.EndpointSubset, ...]
) -> core_v1.Endpoints:
    return core_v1.Endpoints(
        metadata=meta_v1.ObjectMeta(name="web", namespace="here", labels=labels_of(of)),
        subsets=subsets,
    )


def test_subsets_separate_ready_and_not_ready_addresses() -> None:
    pods = [pod("b", ips=("10.0.0.2",)), pod("a", ips=("10.0.0.1",), ready=False)]

    (subset,) = subsets_of(service(), pods)

    assert [each.ip for each in subset.addresses or ()] == ["10.0.0.2"]
    assert [each.ip for each in subset.not_ready_addresses or ()] == ["10.0.0.1"]
    assert [(each.name, each.port) for each in subset.ports or ()] == [("http", 8080)]


def test_a_terminating_pod_is_in_no_subset() -> None:
    assert subsets_of(service(), [pod(ending=True)]) == ()


def test_pods_with_different_ports_are_in_different_subsets() -> None:
    pods = [pod("old"), pod("new", ips=("10.0.0.2",), port=9090)]

    found = subsets_of(service(), pods)

    assert [[port.port for port in each.ports or ()] for each in found] == [[8080], [9090]]


def test_pods_with_the_same_ports_share_a_subset() -> None:
    admin = replace(HTTP, name="admin", target_port=9000)

    (subset,) = subsets_of(service(ports=(HTTP, admin)), many(3))

    assert len(subset.addresses or ()) == 3
    assert sorted(each.name or "" for each in subset.ports or ()) == ["admin", "http"]


def test_a_headless_service_may_have_no_ports() -> None:
    (subset,) = subsets_of(service(ports=(), cluster_ip="None"), [pod()])

    assert subset.ports is None
    assert [each.ip for each in subset.addresses or ()] == ["10.0.0.1"]


def test_equal_endpoints_are_up_to_date() -> None:
    found = subsets_of(service(), many(3))

    assert is_up_to_date(endpoints(service(), found), found, service())
    assert not is_up_to_date(endpoints(service(), ()), found, service())


def test_endpoints_with_other_labels_are_not_up_to_date() -> None:
    found = subsets_of(service(), many(3))
    there = endpoints(service(), found)
    there = replace(there, metadata=replace(there.metadata, labels={"team": "blue"}))

    assert not is_up_to_date(there, found, service())


def test_excess_addresses_are_dropped_starting_with_those_not_ready() -> None:
    ready = many(MAX_ADDRESSES - 10)
    others = [pod(f"late-{n}", ips=(f"10.9.0.{n}",), ready=False) for n in range(20)]

    (subset,), is_cut = truncated(subsets_of(service(), [*ready, *others]))

    assert is_cut
    assert len(subset.addresses or ()) == MAX_ADDRESSES - 10
    assert len(subset.not_ready_addresses or ()) == 10
