"""The content of a Service's Endpoints: subsets of addresses and ports. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final, TypeAlias

from steersman.kinds import core_v1
from steersman_cluster.workloads.pods import is_ready
from steersman_cluster.workloads.services.endpoints import (
    HEADLESS,
    address_types,
    addresses_of_type,
    hostname,
    is_headless,
    is_reachable,
    port_number,
    publishes_all,
)
from steersman_cluster.workloads.services.port_order import in_order

Address = core_v1.EndpointAddress
Subset = core_v1.EndpointSubset

MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
MANAGER: Final = "endpoint-controller"
OVER_CAPACITY: Final = "endpoints.kubernetes.io/over-capacity"

#: The maximum of addresses; readers that need all of them use slices.
MAX_ADDRESSES: Final = 1000

_Key: TypeAlias = tuple[str, str]


def subsets_of(service: core_v1.Service, pods: Iterable[core_v1.Pod]) -> tuple[Subset, ...]:
    """Return the subsets of the Endpoints of ``service``, computed from ``pods``."""
    by_port: dict[core_v1.EndpointPort | None, dict[_Key, bool]] = {}
    by_number: dict[tuple[int, int], dict[_Key, bool]] = {}
    all_addresses: dict[_Key, Address] = {}
    ports = (service.spec.ports if service.spec else None) or ()
    address_type, publishes = address_types(service)[0], publishes_all(service)
    for pod in pods:
        if pod.metadata.deletion_timestamp is not None and not publishes:
            continue
        address = _address(service, pod, address_type)
        if address is None:
            continue
        key = (address.ip, pod.uid)
        all_addresses[key] = address
        ready = publishes or is_ready(pod)
        if not ports:
            by_port.setdefault(None, {})[key] = ready
        for place, port in enumerate(ports):
            number = port_number(pod, port)
            if number is not None:
                reached = by_number.get((place, number))
                if reached is None:
                    reached = by_port.setdefault(_port(port, number), {})
                    by_number[place, number] = reached
                reached[key] = ready
    together: dict[tuple[tuple[_Key, bool], ...], list[core_v1.EndpointPort]] = {}
    for each, reached in by_port.items():
        shared = together.setdefault(tuple(sorted(reached.items())), [])
        if each is not None:
            shared.append(each)
    return tuple(
        Subset(
            addresses=_chosen(reached, all_addresses, ready=True),
            not_ready_addresses=_chosen(reached, all_addresses, ready=False),
            ports=in_order(tuple(shared)) or None,
        )
        for reached, shared in together.items()
    )


def truncated(subsets: Sequence[Subset]) -> tuple[tuple[Subset, ...], bool]:
    """Return ``subsets`` cut to ``MAX_ADDRESSES`` addresses, and whether any was left out.

    Addresses that are not ready are left out first.
    """
    ready = sum(len(each.addresses or ()) for each in subsets)
    others = sum(len(each.not_ready_addresses or ()) for each in subsets)
    if ready + others <= MAX_ADDRESSES:
        return tuple(subsets), False
    cuts_ready = ready > MAX_ADDRESSES
    most = MAX_ADDRESSES if cuts_ready else MAX_ADDRESSES - ready
    total, left = (ready if cuts_ready else others), most
    cut: list[Subset] = []
    for each in subsets:
        shown = (each.addresses if cuts_ready else each.not_ready_addresses) or ()
        shown = shown[: min(ceil(len(shown) / total * most), left)]
        left -= len(shown)
        cut.append(
            Subset(
                addresses=(shown or None) if cuts_ready else each.addresses,
                not_ready_addresses=None if cuts_ready else (shown or None),
                ports=each.ports,
            )
        )
    return tuple(cut), True


def labels_of(service: core_v1.Service) -> dict[str, str]:
    """Return the labels of the Endpoints of ``service``."""
    labels = {key: value for key, value in service.labels.items() if key != HEADLESS}
    if is_headless(service):
        labels[HEADLESS] = ""
    return {**labels, MANAGED_BY: MANAGER}


def is_up_to_date(
    endpoints: core_v1.Endpoints, subsets: Sequence[Subset], service: core_v1.Service
) -> bool:
    """Return whether ``endpoints`` already have these ``subsets`` and the labels of ``service``."""
    return (
        _comparable(endpoints.subsets or ()) == _comparable(subsets)
        and _own_labels(endpoints.labels) == dict(service.labels)
        and endpoints.labels.get(MANAGED_BY) == MANAGER
        and OVER_CAPACITY not in endpoints.annotations
    )


def _own_labels(labels: Mapping[str, str]) -> dict[str, str]:
    return {key: each for key, each in labels.items() if key not in (HEADLESS, MANAGED_BY)}


def _port(port: core_v1.ServicePort, number: int) -> core_v1.EndpointPort:
    return core_v1.EndpointPort(
        name=port.name or None,
        port=number,
        protocol=port.protocol or "TCP",
        app_protocol=port.app_protocol,
    )


def _address(service: core_v1.Service, pod: core_v1.Pod, address_type: str) -> Address | None:
    if not is_reachable(pod):
        return None
    reached = addresses_of_type(pod, address_type)
    if not reached:
        return None
    return Address(
        ip=reached[0],
        hostname=hostname(pod, service),
        node_name=pod.spec.node_name if pod.spec else None,
        target_ref=core_v1.ObjectReference(
            kind="Pod", namespace=pod.namespace, name=pod.name, uid=pod.uid
        ),
    )


def _chosen(
    reached: Iterable[tuple[_Key, bool]], addresses: Mapping[_Key, Address], *, ready: bool
) -> tuple[Address, ...] | None:
    return tuple(addresses[key] for key, is_ready in reached if is_ready == ready) or None


def _comparable(subsets: Sequence[Subset]) -> list[object]:
    shown: list[object] = [
        (
            _addresses(each.addresses),
            _addresses(each.not_ready_addresses),
            in_order(each.ports or ()),
        )
        for each in subsets
    ]
    return sorted(shown, key=repr) if len(shown) > 1 else shown


def _addresses(addresses: Iterable[Address] | None) -> list[object]:
    return [
        (each.ip, each.hostname, each.node_name, each.target_ref and each.target_ref.uid)
        for each in addresses or ()
    ]
