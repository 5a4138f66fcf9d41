"""The order of ports in kube-controller-manager: by a hash of the printed Go struct. No I/O.

``kubectl get endpointslices`` shows the ports in this order.
"""

from typing import Final, TypeVar

from steersman.kinds import core_v1, discovery_v1

P = TypeVar("P", core_v1.EndpointPort, discovery_v1.EndpointPort)

_OFFSET: Final = 0x6C62272E07BB014262B821756295C58D
_PRIME: Final = 0x0000000001000000000000000000013B
_MASK: Final = (1 << 128) - 1


def in_order(ports: tuple[P, ...]) -> tuple[P, ...]:
    """Return ``ports``, the ports of a slice or subset, as kube-controller-manager sorts them."""
    if len(ports) < 2:
        return ports
    return tuple(sorted(ports, key=lambda port: fnv_128a(_printed(port))))


def fnv_128a(text: str) -> int:
    """Return the 128-bit FNV-1a hash of ``text``."""
    number = _OFFSET
    for byte in text.encode():
        number = (number ^ byte) * _PRIME & _MASK
    return number


def _printed(port: core_v1.EndpointPort | discovery_v1.EndpointPort) -> str:
    app = "<nil>" if port.app_protocol is None else port.app_protocol
    name, number, protocol = port.name or "", port.port, port.protocol or "TCP"
    if isinstance(port, core_v1.EndpointPort):
        return (
            f"(v1.EndpointPort){{Name:(string){name} Port:(int32){number}"
            f" Protocol:(v1.Protocol){protocol} AppProtocol:(*string){app}}}"
        )
    return (
        f"(v1.EndpointPort){{Name:(*string){name} Protocol:(*v1.Protocol){protocol}"
        f" Port:(*int32){number} AppProtocol:(*string){app}}}"
    )
