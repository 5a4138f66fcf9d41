"""Warnings about addresses and networks that are valid but not in canonical form."""

from ipaddress import IPv6Address, ip_network

from steersman_cluster.apiserver.meta.name_validation import sloppy_cidr, sloppy_ip


def is_address(text: str) -> bool:
    """Return whether ``text`` is an IP address.

    The parser is the lenient one of older Kubernetes versions, which accepts leading zeros.
    """
    return sloppy_ip(text) is not None


def address_warnings(path: str, text: str) -> list[str]:
    """Return a warning if ``text``, a valid IPv6 address, is not in canonical form.

    For an IPv4 address, there is no warning.
    """
    address = sloppy_ip(text)
    if not isinstance(address, IPv6Address) or str(address) == text:
        return []
    return [f'{path}: IPv6 address "{text}" should be in RFC 5952 canonical format ("{address}")']


def network_warnings(path: str, text: str) -> list[str]:
    """Return a warning if ``text``, a valid IPv6 CIDR, is not in canonical form.

    For an IPv4 CIDR, there is no warning.
    """
    found = sloppy_cidr(text)
    if found is None or not isinstance(found[0], IPv6Address):
        return []
    shortest = str(ip_network(found, strict=False))
    if shortest == text:
        return []
    return [
        f'{path}: IPv6 CIDR value "{text}" should be in RFC 5952 canonical format ("{shortest}")'
    ]
