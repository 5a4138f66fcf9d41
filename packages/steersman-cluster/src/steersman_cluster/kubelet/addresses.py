"""Which address a Pod gets, and which a node has. Pure."""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Network, ip_network
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads import fnv_1a

PODS: Final = IPv4Network("10.128.0.0/9")
MACHINES: Final = IPv4Network("172.20.0.0/16")

# A node has at least so many addresses, so that two Pods that look for one at once hardly ever
# find the same.
_FEWEST: Final = 4096


def pod_range(number: int, *, pods: int = 0) -> str:
    """Of which addresses the Pods of the node with this number get theirs."""
    size = _FEWEST
    while size < 2 * pods:
        size *= 2
    ranges = max(1, PODS.num_addresses // size)
    first = int(PODS.network_address) + (number % ranges) * size
    return f"{_dotted(first)}/{32 - (size - 1).bit_length()}"


def machine_address(number: int) -> str:
    """The address of the node with this number."""
    return str(MACHINES.network_address + 1 + number % (MACHINES.num_addresses - 2))


def address_of(node: core_v1.Node) -> str:
    """The node's own address, as it says itself."""
    addresses = node.status.addresses if node.status is not None else None
    for each in addresses or ():
        if each.type == "InternalIP":
            return each.address
    return machine_address(fnv_1a(node.name.encode()))


def pod_address(uid: str, node: core_v1.Node, *, is_taken: Callable[[str], bool]) -> str:
    """An address of the node's range that is free.

    Where to look first is in the uid: two that are looked for at once are hardly ever the same.
    """
    written = node.spec.pod_cidr if node.spec is not None else None
    first, size = _bounds(written or pod_range(fnv_1a(node.name.encode())))
    start = fnv_1a(uid.encode())
    for step in range(size):
        address = _dotted(first + (start + step) % size)
        if not is_taken(address):
            return address
    return _dotted(first + start % size)


@lru_cache(maxsize=1024)
def _bounds(cidr: str) -> tuple[int, int]:
    """The first address that a Pod may have, and how many there are."""
    network = ip_network(cidr, strict=False)
    if not isinstance(network, IPv4Network) or network.num_addresses < 4:
        network = PODS
    # Not the network's own, nor the last, nor the first, which is the node's end of the bridge.
    return int(network.network_address) + 2, network.num_addresses - 3


def _dotted(number: int) -> str:
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
