"""The order of ports, which follows a hash."""

from steersman.kinds import core_v1, discovery_v1
from steersman_cluster.workloads.services.port_order import fnv_128a, in_order


def test_the_hash_equals_the_published_test_vectors() -> None:
    assert fnv_128a("") == 0x6C62272E07BB014262B821756295C58D
    assert fnv_128a("a") == 0xD228CB696F1A8CAF78912B704E4A8964


def test_the_order_of_ports_does_not_depend_on_the_input_order() -> None:
    ports = tuple(
        discovery_v1.EndpointPort(name=name, port=port, protocol="TCP")
        for name, port in (("http", 80), ("admin", 9000), ("grpc", 50051))
    )

    assert in_order(ports) == in_order(ports[::-1])


def test_slices_and_subsets_order_ports_differently() -> None:
    names = ("http", "admin", "grpc", "metrics")
    sliced = in_order(
        tuple(discovery_v1.EndpointPort(name=n, port=80, protocol="TCP") for n in names)
    )
    subset = in_order(tuple(core_v1.EndpointPort(name=n, port=80, protocol="TCP") for n in names))

    assert {each.name for each in sliced} == {each.name for each in subset} == set(names)
