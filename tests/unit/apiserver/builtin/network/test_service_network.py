from collections.abc import Iterator
from ipaddress import IPv4Network, ip_address
from random import Random

import pytest

from steersman_cluster.apiserver.builtin.network.service_network import (
    ADDRESSES,
    PORTS,
    ServiceNetwork,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from tests.unit.apiserver.builtin.kind_handler import KindHandler


def a_service(*addresses: str, ports: tuple[int, ...] = (), health: int = 0) -> Object:
    written = [{"port": number, "nodePort": number} for number in ports]
    return {
        "spec": {"clusterIPs": list(addresses), "ports": written, "healthCheckNodePort": health}
    }


def until_full(network: ServiceNetwork) -> Iterator[str]:
    while (address := network.pick_address()) is not None:
        network.stored(None, a_service(address))
        yield address


def test_an_allocation_takes_effect_only_when_the_service_is_stored() -> None:
    handler = KindHandler("v1", "services")
    body = {
        "metadata": {"name": "web"},
        "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30001}]},
    }

    handler.create(body, namespace="default")
    again = handler.create(body, namespace="default")
    handler.strategy.after_write(None, again)

    with pytest.raises(StatusError, match="422 Invalid") as raised:
        handler.create(body, namespace="default")
    assert "provided port is already allocated" in raised.value.message


def test_a_deleted_service_releases_its_address_and_ports() -> None:
    network = ServiceNetwork(rng=Random(1))
    service = a_service("10.0.3.4", ports=(30001, 30002), health=30003)
    network.stored(None, service)

    network.stored(service, None)

    assert network.address_problem("10.0.3.4") is None
    assert [network.port_problem(port) for port in (30001, 30002, 30003)] == [None, None, None]


def test_an_update_releases_removed_ports_and_allocates_added_ones() -> None:
    network = ServiceNetwork(rng=Random(1))
    old, new = (
        a_service("10.0.3.4", ports=(30001, 30002)),
        a_service("10.0.3.4", ports=(30002, 30003)),
    )
    network.stored(None, old)

    network.stored(old, new)

    assert network.port_problem(30001) is None
    assert network.port_problem(30002) == network.port_problem(30003)
    assert network.port_problem(30003) == "provided port is already allocated"
    assert network.address_problem("10.0.3.4") == "provided IP is already allocated"


def test_rebuilding_a_network_keeps_only_the_allocations_of_stored_services() -> None:
    network = ServiceNetwork(rng=Random(1))
    network.stored(None, a_service("10.0.3.4", ports=(30001,)))

    network.rebuild([a_service("10.0.3.5"), a_service("None")])

    assert network.address_problem("10.0.3.4") is None
    assert network.address_problem("10.0.3.5") == "provided IP is already allocated"
    assert network.port_problem(30001) is None


def test_addresses_and_ports_are_allocated_from_the_upper_part_of_the_range() -> None:
    network = ServiceNetwork(rng=Random(1))

    addresses = {network.pick_address() for _ in range(200)}
    ports = {network.pick_port() for _ in range(200)}

    first, last = int(ADDRESSES.network_address), int(ADDRESSES.broadcast_address)
    assert all(first + 256 < int(ip_address(each or "")) < last for each in addresses)
    assert all(PORTS[86] <= (each or 0) <= PORTS[-1] for each in ports)


def test_the_same_seed_allocates_the_same_address_and_port() -> None:
    one, other = ServiceNetwork(rng=Random(7)), ServiceNetwork(rng=Random(7))

    assert (one.pick_address(), one.pick_port()) == (other.pick_address(), other.pick_port())


def test_every_host_address_is_allocated_before_the_range_is_full() -> None:
    small = IPv4Network("10.9.0.0/26")
    network = ServiceNetwork(rng=Random(1), addresses=small)

    assert sorted(until_full(network), key=ip_address) == [str(each) for each in small.hosts()]


def test_a_port_reserved_by_the_same_request_is_not_allocated() -> None:
    network = ServiceNetwork(rng=Random(1), ports=range(30000, 30003))

    assert network.pick_port(besides={30000, 30002}) == 30001
    assert network.pick_port(besides={30000, 30001, 30002}) is None


@pytest.mark.parametrize("address", ["10.0.0.0", "10.0.255.255", "11.0.0.1"])
def test_an_address_outside_the_range_is_rejected(address: str) -> None:
    problem = ServiceNetwork(rng=Random(1)).address_problem(address)

    assert problem == "the provided network does not match the current range"


def test_the_repr_of_a_network_contains_the_number_of_allocations() -> None:
    network = ServiceNetwork(rng=Random(1))
    network.stored(None, a_service("10.0.3.4", ports=(30001, 30002)))

    assert repr(network) == "<ServiceNetwork 1 addresses of 10.0.0.0/16, 2 ports taken>"
