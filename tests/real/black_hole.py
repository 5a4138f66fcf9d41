"""Drops all packets of a connection, as an unresponsive network does.

The kernel of a proxy that stops reading still acknowledges packets. A filter on the receiving
socket makes the kernel drop them. It needs no privileges and affects no other socket.
"""

import ctypes
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

# From <asm-generic/socket.h>; Python's ``socket`` does not define it.
_SO_ATTACH_FILTER = 26

# One instruction of classic BPF: return 0, which drops the packet.
_DROP_PACKET = struct.pack("HBBI", 0x06, 0, 0, 0)

KEEPALIVE: Mapping[str, int] = {
    "idle": socket.TCP_KEEPIDLE,
    "interval": socket.TCP_KEEPINTVL,
    "count": socket.TCP_KEEPCNT,
    "user_timeout": socket.TCP_USER_TIMEOUT,
}


def drop_received_packets(receiving_socket: socket.socket) -> None:
    """Drop all packets to this socket from now on; the sender gets no error."""
    program = ctypes.create_string_buffer(_DROP_PACKET, len(_DROP_PACKET))
    attached_filter = struct.pack("HP", 1, ctypes.addressof(program))
    receiving_socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, attached_filter)


def keepalive_settings(client_socket: socket.socket) -> dict[str, int]:
    """The keepalive settings of a socket."""
    options = {
        name: client_socket.getsockopt(socket.IPPROTO_TCP, option)
        for name, option in KEEPALIVE.items()
    }
    return {"on": client_socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), **options}


def shorten_keepalive(client_socket: socket.socket, *, after_seconds: int) -> None:
    """Shorten the timeouts after which the kernel reports a dead connection."""
    sooner = {"idle": 1, "interval": 1, "user_timeout": after_seconds * 1000}
    for name, value in sooner.items():
        client_socket.setsockopt(socket.IPPROTO_TCP, KEEPALIVE[name], value)


@contextmanager
def sockets_to(port: int) -> Iterator[list[socket.socket]]:
    """The sockets of this process that are connected to a port of this machine."""
    with ExitStack() as opened:
        found: list[socket.socket] = []
        for entry in Path("/proc/self/fd").iterdir():
            # Not a socket, not connected, or closed meanwhile.
            with suppress(OSError):
                each = opened.enter_context(socket.socket(fileno=os.dup(int(entry.name))))
                if each.family == socket.AF_INET and each.getpeername()[1] == port:
                    found.append(each)
        yield found
