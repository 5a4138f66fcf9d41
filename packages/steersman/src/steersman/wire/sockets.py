"""Sockets on which a black hole is found, and that take back what has not left yet."""

import socket
import struct
import sys
from contextlib import suppress
from typing import Final

# After 15 s of silence the kernel asks whether the other side is still there, three times, 5 s
# apart; what was sent may wait for its receipt for as long. So a black hole is found within
# 30 s, whoever spoke last, and the middleboxes in between remember the connection.
SILENT_SECONDS: Final = 15
PROBE_SECONDS: Final = 5
PROBES: Final = 3
UNACKNOWLEDGED_SECONDS: Final = SILENT_SECONDS + PROBES * PROBE_SECONDS

# To linger on close, and for no seconds at all.
_NO_LINGERING: Final = struct.pack("ii", 1, 0)


def make_watchful(connected: socket.socket) -> None:
    """Let the kernel find out when nobody is there any more."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    if sys.platform == "linux":
        options += [
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES),
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_SECONDS * 1000),
        ]
    for level, option, value in options:
        # Sandboxed kernels lack some of these, and deadlines find a black hole as well.
        with suppress(OSError):
            connected.setsockopt(level, option, value)


def discard_unsent(connected: socket.socket) -> None:
    """Let the kernel forget, once this is closed, what it has not sent; it would go on trying."""
    with suppress(OSError):
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
