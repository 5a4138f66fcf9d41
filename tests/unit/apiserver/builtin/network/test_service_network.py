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
from tests.unit.apiserver.builtin.here import Here


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
    here = Here("v1", "services")
    body = {
        "metadata": {"name": "web"},
        "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30001}]},
    }

    here.create(body, namespace="default")
    again = here.create(body, namespace="default")
    here.strategy.after_write(None, again)

    with pytest.raises(StatusError, match="422 Invalid") as refused:
        here.create(body, namespace="default")
    assert "provided port is already allocated" in refused.value.message


def test_a_service_that_is_gone_gives_everything_back() -> None:
    network = ServiceNetwork(rng=Random(1))
    service = a_service("10.0.3.4", ports=(30001, 30002), health=30003)
    network.stored(None, service)

    network.stored(service, None)

    assert network.address_problem("10.0.3.4") is None
    assert [network.port_problem(port) for port in (30001, 30002, 30003)] == [None, None, None]


def test_an_update_frees_what_it_dropped_and_takes_what_it_added() -> None:
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


def test_a_rebuilt_network_knows_what_is_stored_and_nothing_else() -> None:
    network = ServiceNetwork(rng=Random(1))
    network.stored(None, a_service("10.0.3.4", ports=(30001,)))

    network.rebuild([a_service("10.0.3.5"), a_service("None")])

    assert network.address_problem("10.0.3.4") is None
    assert network.address_problem("10.0.3.5") == "provided IP is already allocated"
    assert network.port_problem(30001) is None


def test_what_is_picked_is_in_the_upper_part_of_the_range() -> None:
    network = ServiceNetwork(rng=Random(1))

    addresses = {network.pick_address() for _ in range(200)}
    ports = {network.pick_port() for _ in range(200)}

    first, last = int(ADDRESSES.network_address), int(ADDRESSES.broadcast_address)
    assert all(first + 256 < int(ip_address(each or "")) < last for each in addresses)
    assert all(PORTS[86] <= (each or 0) <= PORTS[-1] for each in ports)


def test_the_same_chance_picks_the_same() -> None:
    one, other = ServiceNetwork(rng=Random(7)), ServiceNetwork(rng=Random(7))

    assert (one.pick_address(), one.pick_port()) == (other.pick_address(), other.pick_port())


def test_every_address_but_the_first_and_the_last_is_picked_before_there_is_none() -> None:
    small = IPv4Network("10.9.0.0/26")
    network = ServiceNetwork(rng=Random(1), addresses=small)

    assert sorted(until_full(network), key=ip_address) == [str(each) for each in small.hosts()]


def test_a_port_that_is_about_to_be_taken_is_not_picked() -> None:
    network = ServiceNetwork(rng=Random(1), ports=range(30000, 30003))

    assert network.pick_port(besides={30000, 30002}) == 30001
    assert network.pick_port(besides={30000, 30001, 30002}) is None


@pytest.mark.parametrize("address", ["10.0.0.0", "10.0.255.255", "11.0.0.1"])
def test_an_address_that_is_not_for_services_is_refused(address: str) -> None:
    problem = ServiceNetwork(rng=Random(1)).address_problem(address)

    assert problem == "the provided network does not match the current range"


def test_its_repr_says_how_much_is_taken() -> None:
    network = ServiceNetwork(rng=Random(1))
    network.stored(None, a_service("10.0.3.4", ports=(30001, 30002)))

    assert repr(network) == "<ServiceNetwork 1 addresses of 10.0.0.0/16, 2 ports taken>"
