"""The policy of what a kubeconfig can cause this process to do, such as start a plugin."""

import ipaddress
import re
import socket
from contextlib import suppress
from typing import Final

import msgspec


class ExecPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The policy of which credential plugins may be started, and how.

    - ``allowed`` lists commands: ``aws`` permits a kubeconfig's command ``aws``, which is found
      in PATH; ``/usr/bin/aws`` permits that file, however a kubeconfig names it. ``None`` permits
      every command.
    - ``in_cluster`` permits plugins inside a cluster. By default, no plugin is started inside a
      cluster: a pod has a service account, and a kubeconfig with a command is more likely an
      attack.
    - ``terminal`` permits a plugin to prompt the user: the plugin then uses standard input and
      standard error, and has more time.
    """

    allowed: frozenset[str] | None = None
    in_cluster: bool = False
    terminal: bool = False

    # Plugins of cloud providers respond within seconds. This is half of a request's deadline, so
    # that the error names the plugin, not the server.
    timeout_seconds: float = 30.0

    def allows(self, *, command: str, resolved: str) -> bool:
        """Whether the policy permits ``command``; ``resolved`` is the path of the found program."""
        return self.allowed is None or bool({command, resolved} & self.allowed)


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """The policy of what a kubeconfig can cause this process to do, such as start a plugin.

    The default is for a user's own kubeconfig file. A kubeconfig with ``insecure-skip-tls-verify``
    is rejected unless ``unverified_servers`` is true.
    """

    plugins: ExecPolicy = ExecPolicy()
    files: bool = True
    proxies: bool = True
    plain_http: bool = True
    inner_addresses: bool = True
    unverified_servers: bool = False


# For a kubeconfig from an untrusted source, such as a Secret. It may contain credentials and
# certificates inline, and name a server on the network. Host names are not resolved here: network
# policies decide which addresses are permitted.
UNTRUSTED: Final = Trust(
    plugins=ExecPolicy(allowed=frozenset()),
    files=False,
    proxies=False,
    plain_http=False,
    inner_addresses=False,
)

# Metadata services of cloud providers outside the link-local range.
_METADATA: Final = frozenset(
    {"100.100.100.200", "fd00:ec2::254", "metadata", "metadata.google.internal"}
)

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_loopback(host: str) -> bool:
    """Whether data sent to ``host`` stays on this machine."""
    address = _address(host)
    return address.is_loopback if address else f".{_plain_name(host)}".endswith(".localhost")


def is_internal_host(host: str) -> bool:
    """Whether ``host`` is, or could be, this machine, its local link or a metadata service."""
    address = _address(host)
    if address is None:
        # The resolver maps other characters to ASCII, such as full-width digits, so that the name
        # may become an address of this machine.
        is_odd = not _PLAIN_NAME.fullmatch(host)
        return is_odd or is_loopback(host) or _plain_name(host) in _METADATA
    address = _translated_ipv4(address)
    return (
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
        or str(address) in _METADATA
    )


def _plain_name(host: str) -> str:
    return host.lower().rstrip(".")


def _address(host: str) -> _Address | None:
    with suppress(ValueError):
        address = ipaddress.ip_address(host.partition("%")[0])
        mapped = getattr(address, "ipv4_mapped", None)
        return mapped or address
    # The system's resolver also accepts addresses such as 127.1, 2130706433 and 0x7f.1.
    with suppress(OSError, UnicodeEncodeError):
        return ipaddress.IPv4Address(socket.inet_aton(host.rstrip(".")))
    return None


def _translated_ipv4(address: _Address) -> _Address:
    """Return the IPv4 address to which a gateway translates ``address``, or else ``address``."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(address.packed[-4:])
    return address.sixtofour or address
