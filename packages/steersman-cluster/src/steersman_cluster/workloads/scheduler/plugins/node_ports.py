"""NodePorts: the host ports that Pods use. No I/O."""

from typing import Final, NamedTuple

from steersman.kinds import core_v1

PORTS_TAKEN: Final = "node(s) didn't have free ports for the requested pod ports"

_ANY_ADDRESS: Final = ("", "0.0.0.0")  # noqa: S104 - no socket is opened here


class HostPort(NamedTuple):
    """A port of a node that a container of a Pod uses directly."""

    address: str
    protocol: str
    port: int


def host_ports(spec: core_v1.PodSpec) -> tuple[HostPort, ...]:
    """Return the host ports that a Pod with ``spec`` uses."""
    beside = [each for each in spec.init_containers or () if each.restart_policy == "Always"]
    found: list[HostPort] = []
    for container in (*beside, *spec.containers):
        for port in container.ports or ():
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                found.append(HostPort(port.host_ip or "", port.protocol or "TCP", number))
    return tuple(found)


def ports_conflict(wanted: HostPort, taken: HostPort) -> bool:
    """Return whether the host ports ``wanted`` and ``taken`` conflict on the same node."""
    return (
        wanted.port == taken.port
        and wanted.protocol == taken.protocol
        and (
            wanted.address == taken.address
            or wanted.address in _ANY_ADDRESS
            or taken.address in _ANY_ADDRESS
        )
    )
