"""Slices that mirror the Endpoints that a user wrote."""

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads.services.endpointslice_mirror import mirrors

PORTS = (core_v1.EndpointPort(name="db", port=5432, protocol="TCP"),)


def endpoints(*subsets: core_v1.EndpointSubset) -> core_v1.Endpoints:
    return core_v1.Endpoints(metadata=meta_v1.ObjectMeta(name="db"), subsets=subsets)


def addresses(*ips: str) -> tuple[core_v1.EndpointAddress, ...]:
    return tuple(core_v1.EndpointAddress(ip=each) for each in ips)


def test_ready_and_not_ready_addresses_share_a_slice() -> None:
    subset = core_v1.EndpointSubset(
        addresses=addresses("1.2.3.4"), not_ready_addresses=addresses("1.2.3.5"), ports=PORTS
    )

    (mirror,) = mirrors(endpoints(subset))

    found = [
        (each.addresses, each.conditions and each.conditions.ready) for each in mirror.endpoints
    ]
    assert found == [(("1.2.3.4",), True), (("1.2.3.5",), False)]
    assert [(each.name, each.port) for each in mirror.ports] == [("db", 5432)]


def test_each_address_family_has_its_own_slice() -> None:
    subset = core_v1.EndpointSubset(addresses=addresses("1.2.3.4", "fd00::1"), ports=PORTS)

    assert [each.address_type for each in mirrors(endpoints(subset))] == ["IPv4", "IPv6"]


def test_endpoints_without_addresses_have_no_slice() -> None:
    assert mirrors(endpoints()) == ()
