"""IP addresses and CIDR blocks: ``ip('10.0.0.1')``, ``cidr('10.0.0.0/8')``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from string import hexdigits
from typing import Any, ClassVar, Final

from steersman_cluster.apiserver.cel.errors import NotEvaluated
from steersman_cluster.apiserver.cel.values import Function
from steersman_cluster.apiserver.meta.field_errors import shown

_ASCII_DIGITS: Final = re.compile(r"[0-9]+\Z", re.ASCII)


class _Unreadable(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Address:
    cel_name: ClassVar[str] = "net.IP"
    address: IPv4Address | IPv6Address

    def cel_text(self) -> str:
        return str(self.address)

    @property
    def size(self) -> int:
        return self.address.max_prefixlen // 8


@dataclass(frozen=True, slots=True)
class Block:
    cel_name: ClassVar[str] = "net.CIDR"
    address: IPv4Address | IPv6Address
    bits: int

    def cel_text(self) -> str:
        return f"{self.address}/{self.bits}"

    @property
    def size(self) -> int:
        return -(-self.bits // 8)

    def masked(self) -> "Block":
        network = ip_network((self.address, self.bits), strict=False)
        return Block(network.network_address, self.bits)


def _parsed(text: str) -> IPv4Address | IPv6Address:
    """Return an address; raise an error with the message of Go's parser."""
    for letter in text:
        if letter == ".":
            _check_ipv4(text)
            break
        if letter in ":%":
            break
    else:
        raise _Unreadable(f"ParseAddr({shown(text)}): unable to parse IP")
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        raise _Unreadable(_ipv6_problem(text)) from None


def _check_ipv4(text: str) -> None:
    def problem(why: str) -> _Unreadable:
        return _Unreadable(f"ParseAddr({shown(text)}): {why}")

    fields = digits = value = 0
    for index, letter in enumerate(text):
        if letter.isascii() and letter.isdigit():
            if digits == 1 and value == 0:
                raise problem("IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(letter), digits + 1
            if value > 255:
                raise problem("IPv4 field has value >255")
        elif letter == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                rest = shown(text[index:])
                raise problem(f"IPv4 field must have at least one digit (at {rest})")
            if fields == 3:
                raise problem("IPv4 address too long")
            fields, digits, value = fields + 1, 0, 0
        else:
            raise problem(f"unexpected character (at {shown(text[index:])})")
    if fields < 3:
        raise problem("IPv4 address too short")


def _ipv6_problem(text: str) -> str:
    def problem(why: str, at: str = "") -> str:
        return f"ParseAddr({shown(text)}): {why}{f' (at {shown(at)})' if at else ''}"

    rest = text.partition("%")[0]
    groups, seen_double = 0, False
    if rest.startswith("::"):
        seen_double, rest = True, rest[2:]
    while rest and groups < 8:
        digits = len(rest) - len(rest.lstrip(hexdigits))
        if not digits:
            return problem("each colon-separated field must have at least one digit", rest)
        if digits > 4:
            return problem("each group must have 4 or less digits", rest)
        groups, rest = groups + 1, rest[digits:]
        if not rest:
            break
        if rest[0] != ":":
            return problem("unexpected character, want colon", rest)
        if len(rest) == 1:
            return problem("colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if seen_double:
                return problem("multiple :: in address", rest)
            seen_double, rest = True, rest[1:]
    if rest:
        return problem("trailing garbage after address", rest)
    return problem("address string too short")


def _address(text: str) -> Address:
    try:
        address = _parsed(text)
    except _Unreadable as error:
        raise NotEvaluated(
            f"IP Address {shown(text)} parse error during conversion from string: {error}"
        ) from None
    if "%" in text:
        raise NotEvaluated(f"IP address {shown(text)} with zone value is not allowed")
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise NotEvaluated(f"IPv4-mapped IPv6 address {shown(text)} is not allowed")
    return Address(address)


def _block(text: str) -> Block:
    # In kube-apiserver, both the library and its parser add this prefix.
    twice = "network address parse error during conversion from string: "
    try:
        address, bits = _prefix(text)
    except _Unreadable as error:
        raise NotEvaluated(f"{twice}{twice}{error}") from None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise NotEvaluated(f"{twice}IPv4-mapped IPv6 address {shown(text)} is not allowed")
    return Block(address, bits)


def _prefix(text: str) -> tuple[IPv4Address | IPv6Address, int]:
    def problem(why: str) -> _Unreadable:
        return _Unreadable(f"netip.ParsePrefix({shown(text)}): {why}")

    written, slash, bits = text.rpartition("/")
    if not slash:
        raise problem("no '/'")
    try:
        address = _parsed(written)
    except _Unreadable as error:
        raise problem(str(error)) from None
    if "%" in written:
        raise problem("IPv6 zones cannot be present in a prefix")
    if not _ASCII_DIGITS.match(bits) or (len(bits) > 1 and bits[0] == "0"):
        raise problem(f"bad bits after slash: {shown(bits)}")
    if int(bits[:4]) > address.max_prefixlen:
        raise problem("prefix length out of range")
    return address, int(bits)


def _is(read: Function) -> Function:
    def check(text: str) -> bool:
        try:
            read(text)
        except NotEvaluated:
            return False
        return True

    return check


def _ip(value: Any) -> Address:
    return Address(value.address) if isinstance(value, Block) else _address(value)


def _given(read: Function, value: Any) -> Any:
    """Return ``value``, parsed by ``read`` if it is a text.

    For an invalid text, the error is generic, as in kube-apiserver.
    """
    if not isinstance(value, str):
        return value
    try:
        return read(value)
    except NotEvaluated:
        raise NotEvaluated from None


def _contains_ip(block: Block, other: Any) -> bool:
    address = _given(_address, other).address
    return address.version == block.address.version and address in ip_network(
        (block.address, block.bits), strict=False
    )


def _contains_block(block: Block, other: Any) -> bool:
    inner = _given(_block, other)
    if inner.address.version != block.address.version or block.bits > inner.bits:
        return False
    return _contains_ip(block, Address(inner.address))


def _is_global(of: Address) -> bool:
    address = of.address
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or _is_link_local(of)
        or address == IPv4Address("255.255.255.255")
    )


def _is_link_local(of: Address) -> bool:
    return of.address.is_link_local


def _is_link_local_multicast(of: Address) -> bool:
    if isinstance(of.address, IPv4Address):
        return of.address in ip_network("224.0.0.0/24")
    return of.address in ip_network("ff02::/16") or (
        of.address.packed[0] == 0xFF and of.address.packed[1] & 0x0F == 0x02
    )


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "cidr": _block,
    "containsCIDR": _contains_block,
    "containsIP": _contains_ip,
    "family": lambda of: of.address.version,
    "ip": _ip,
    "ip.isCanonical": lambda text: _address(text).cel_text() == text,
    "isCIDR": _is(_block),
    "isGlobalUnicast": _is_global,
    "isIP": _is(_address),
    "isLinkLocalMulticast": _is_link_local_multicast,
    "isLinkLocalUnicast": _is_link_local,
    "isLoopback": lambda of: of.address.is_loopback,
    "isUnspecified": lambda of: of.address.is_unspecified,
    "masked": Block.masked,
    "prefixLength": lambda of: of.bits,
}
