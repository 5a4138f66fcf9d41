"""The allocation of cluster IPs and node ports.

The allocator is an index of the stored Services and has no other state. Picking an address or port
does not allocate it. An address or port is allocated when a Service that contains it is stored. A
request that fails, or that is a dry run, therefore allocates nothing.
"""

from collections.abc import Collection, Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, ip_address
from random import Random

from steersman_cluster.apiserver.meta.strategy import Object

ADDRESSES = IPv4Network("10.0.0.0/16")
PORTS = range(30000, 32768)

# Addresses and ports are allocated from the upper part of the range first, so that they seldom
# conflict with values that users choose from the lower part.
MAX_LOWER_ADDRESSES = 256
MAX_LOWER_PORTS = 128
MIN_LOWER = 16


class ServiceNetwork:
    """The allocator of the cluster IPs and node ports of all Services."""

    def __init__(
        self, *, rng: Random, addresses: IPv4Network = ADDRESSES, ports: range = PORTS
    ) -> None:
        self.addresses = addresses
        self.ports = ports
        self._rng = rng
        self._taken_addresses: set[str] = set()
        self._taken_ports: set[int] = set()
        self._moved: dict[str, Object | None] = {}
        first = int(addresses.network_address)
        # Without the network address and the broadcast address.
        hosts = range(first + 1, first + addresses.num_addresses - 1)
        self._hosts = _parts(hosts, _lower(addresses.num_addresses // 16, MAX_LOWER_ADDRESSES))
        self._ports = _parts(ports, _lower(len(ports) // 32, MAX_LOWER_PORTS))

    def __repr__(self) -> str:
        return (
            f"<ServiceNetwork {len(self._taken_addresses)} addresses of {self.addresses},"
            f" {len(self._taken_ports)} ports taken>"
        )

    def rebuild(self, services: Iterable[Object]) -> None:
        """Rebuild the index of allocated addresses and ports from the stored ``services``."""
        self._taken_addresses.clear()
        self._taken_ports.clear()
        for service in services:
            self.stored(None, service)

    def stored(self, old: Object | None, new: Object | None) -> None:
        """Update the index after a write of a Service, of which ``new`` has replaced ``old``.

        Releases the addresses and ports of ``old``, and allocates those of ``new``.
        """
        if old is not None:
            self._taken_addresses.difference_update(addresses_of(old))
            self._moved.update(dict.fromkeys(addresses_of(old)))
            self._taken_ports.difference_update(ports_of(old))
        if new is not None:
            self._taken_addresses.update(addresses_of(new))
            self._moved.update(dict.fromkeys(addresses_of(new), new))
            self._taken_ports.update(ports_of(new))

    def moved(self) -> Iterable[tuple[str, Object | None]]:
        """Return the addresses that writes of Services have affected since the last call.

        Each address is returned with its Service, or with None if it was released.
        """
        if not self._moved:
            return ()
        moved, self._moved = self._moved, {}
        return moved.items()

    def pick_address(self) -> str | None:
        """Return a free address; None if there is none."""
        for part in self._hosts:
            for number in _from_anywhere(part, self._rng):
                if (address := str(IPv4Address(number))) not in self._taken_addresses:
                    return address
        return None

    def pick_port(self, *, besides: Collection[int] = ()) -> int | None:
        """Return a free port that is not in ``besides``; None if there is no such port."""
        for part in self._ports:
            for port in _from_anywhere(part, self._rng):
                if port not in self._taken_ports and port not in besides:
                    return port
        return None

    def address_problem(self, address: str) -> str | None:
        """Return why a Service cannot have the cluster IP ``address``, or None."""
        found = ip_address(address)
        ends = (self.addresses.network_address, self.addresses.broadcast_address)
        if found not in self.addresses or found in ends:
            return "the provided network does not match the current range"
        return "provided IP is already allocated" if address in self._taken_addresses else None

    def port_problem(self, port: int, *, besides: Collection[int] = ()) -> str | None:
        """Return why a Service cannot have the node port ``port``, or None.

        Ports in ``besides`` count as allocated.
        """
        if port not in self.ports:
            return (
                "provided port is not in the valid range."
                f" The range of valid ports is {self.ports[0]}-{self.ports[-1]}"
            )
        taken = port in self._taken_ports or port in besides
        return "provided port is already allocated" if taken else None


def addresses_of(service: Object) -> Iterator[str]:
    """Return the cluster IPs of ``service``; a headless Service has none."""
    return (each for each in service["spec"].get("clusterIPs", ()) if each != "None")


def ports_of(service: Object) -> Iterator[int]:
    """Yield the node ports of ``service``, including the health check node port."""
    spec = service["spec"]
    yield from (each["nodePort"] for each in spec.get("ports", ()) if each.get("nodePort"))
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]


def _lower(wanted: int, largest: int) -> int:
    return min(max(MIN_LOWER, wanted), largest)


def _parts(whole: range, lower: int) -> tuple[range, ...]:
    """Return the part of ``whole`` from ``lower`` on, and then the part below it.

    A range that is not longer than ``lower`` stays one part.
    """
    return (whole[lower:], whole[:lower]) if len(whole) > lower else (whole,)


def _from_anywhere(numbers: range, rng: Random) -> Iterator[int]:
    """Yield all numbers in order, with wrap-around, from a random start."""
    start = rng.randrange(len(numbers))
    yield from numbers[start:]
    yield from numbers[:start]
