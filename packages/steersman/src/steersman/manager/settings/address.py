"""The address at which a server listens: a host and a port."""

import ipaddress
import re
from typing import Final

import msgspec

from steersman.errors import BadValue

_ADDRESS: Final = r"(?:\[(?P<six>[^\[\]]*)\]|(?P<host>[^:\[\]]*)):(?P<port>[0-9]{1,5})"
_HOST_NAME: Final = r"(?!-)[A-Za-z0-9-]{1,63}(?:\.(?!-)[A-Za-z0-9-]{1,63})*\.?"
_MAX_PORT: Final = 65535


class ListenAddress(msgspec.Struct, frozen=True):
    """The host and port at which a server listens.

    An empty host means all interfaces, and port 0 means any free port.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "ListenAddress":
        """Return the address in ``text``: HOST:PORT, where an IPv6 address is in brackets."""
        found = re.fullmatch(_ADDRESS, text)
        if found is None:
            raise _bad(text, "it must be HOST:PORT, such as [::1]:8080 or :8080")
        host = found["host"] if found["six"] is None else found["six"]
        if found["six"] is not None and not _is_ip(host, version=6):
            raise _bad(text, "the host in brackets must be an IPv6 address")
        # A host without letters must be an IP address: 300.0.0.1 is not a host name.
        numeric = bool(host) and not any(each.isalpha() for each in host)
        if found["six"] is None and numeric and not _is_ip(host, version=4):
            raise _bad(text, "an IPv4 address must consist of four numbers from 0 to 255")
        if found["six"] is None and host and not numeric and re.fullmatch(_HOST_NAME, host) is None:
            raise _bad(
                text, "the host must be an IP address or a host name; if it is empty, all addresses"
            )
        if int(found["port"]) > _MAX_PORT:
            raise _bad(text, f"the port must be at most {_MAX_PORT}")
        return cls(host, int(found["port"]))

    @property
    def is_loopback(self) -> bool:
        """Whether only clients on this machine, or in this Pod, can connect."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower().rstrip(".") == "localhost"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _is_ip(text: str, *, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version
    except ValueError:
        return False


def _bad(text: str, rule: str) -> BadValue:
    return BadValue(wanted="an address to listen on", value=text, rule=rule)
