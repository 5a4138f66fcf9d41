"""The order of ports, which is that of a hash."""

from steersman.kinds import core_v1, discovery_v1
from steersman_cluster.workloads.services.port_order import fnv_128a, in_order


def test_the_hash_is_the_one_that_its_authors_publish() -> None:
    assert fnv_128a("") == 0x6C62272E07BB014262B821756295C58D
    assert fnv_128a("a") == 0xD228CB696F1A8CAF78912B704E4A8964


def test_the_order_does_not_depend_on_the_order_they_come_in() -> None:
    ports = tuple(
        discovery_v1.EndpointPort(name=name, port=port, protocol="TCP")
        for name, port in (("http", 80), ("admin", 9000), ("grpc", 50051))
    )

    assert in_order(ports) == in_order(ports[::-1])


def test_ports_of_slices_and_of_subsets_have_orders_of_their_own() -> None:
    names = ("http", "admin", "grpc", "metrics")
    sliced = in_order(
        tuple(discovery_v1.EndpointPort(name=n, port=80, protocol="TCP") for n in names)
    )
    subset = in_order(tuple(core_v1.EndpointPort(name=n, port=80, protocol="TCP") for n in names))

    assert {each.name for each in sliced} == {each.name for each in subset} == set(names)
