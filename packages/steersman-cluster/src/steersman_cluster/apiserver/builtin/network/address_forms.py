"""Addresses and networks that are fine, and could be written shorter."""

from ipaddress import IPv6Address, ip_network

from steersman_cluster.apiserver.meta.name_validation import sloppy_cidr, sloppy_ip


def is_address(text: str) -> bool:
    """Whether a lenient parser, as older Kubernetes versions have it, reads an IP address."""
    return sloppy_ip(text) is not None


def address_warnings(path: str, text: str) -> list[str]:
    """What could be better about a valid address."""
    address = sloppy_ip(text)
    if not isinstance(address, IPv6Address) or str(address) == text:
        return []
    return [f'{path}: IPv6 address "{text}" should be in RFC 5952 canonical format ("{address}")']


def network_warnings(path: str, text: str) -> list[str]:
    """What could be better about a valid network."""
    found = sloppy_cidr(text)
    if found is None or not isinstance(found[0], IPv6Address):
        return []
    shortest = str(ip_network(found, strict=False))
    if shortest == text:
        return []
    return [
        f'{path}: IPv6 CIDR value "{text}" should be in RFC 5952 canonical format ("{shortest}")'
    ]
