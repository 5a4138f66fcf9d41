"""The IP addresses of Pods and nodes. No I/O."""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Network, ip_network
from typing import Final

from steersman.kinds import core_v1
from steersman_cluster.workloads import fnv_1a

PODS: Final = IPv4Network("10.128.0.0/9")
MACHINES: Final = IPv4Network("172.20.0.0/16")

# A node has at least this many addresses, so that two Pods rarely try the same at once.
_FEWEST: Final = 4096


def pod_range(number: int, *, pods: int = 0) -> str:
    """Return the Pod CIDR of the node with the number ``number``.

    The CIDR contains at least twice as many addresses as ``pods``, the Pod capacity of the node.
    """
    size = _FEWEST
    while size < 2 * pods:
        size *= 2
    ranges = max(1, PODS.num_addresses // size)
    first = int(PODS.network_address) + (number % ranges) * size
    return f"{_dotted(first)}/{32 - (size - 1).bit_length()}"


def node_address(number: int) -> str:
    """Return the IP address of the node with the number ``number``."""
    return str(MACHINES.network_address + 1 + number % (MACHINES.num_addresses - 2))


def address_of(node: core_v1.Node) -> str:
    """Return the internal IP address of ``node``.

    Without such an address in the node's status, the address is derived from a hash of the node's
    name.
    """
    addresses = node.status.addresses if node.status is not None else None
    for each in addresses or ():
        if each.type == "InternalIP":
            return each.address
    return node_address(fnv_1a(node.name.encode()))


def pod_address(uid: str, node: core_v1.Node, *, is_taken: Callable[[str], bool]) -> str:
    """Return an address in the Pod CIDR of ``node`` for the Pod with the uid ``uid``.

    ``is_taken`` returns whether an address is already in use. The search for a free address starts
    at a hash of ``uid``, so two concurrent searches rarely find the same address.
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
    """Return the first address for Pods, and the number of addresses."""
    network = ip_network(cidr, strict=False)
    if not isinstance(network, IPv4Network) or network.num_addresses < 4:
        network = PODS
    # Without the network address, the broadcast address, and the first one, which is the node's
    # bridge.
    return int(network.network_address) + 2, network.num_addresses - 3


def _dotted(number: int) -> str:
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
