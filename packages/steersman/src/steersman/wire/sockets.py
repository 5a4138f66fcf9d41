"""Socket options: TCP keepalive, and discarding unsent bytes when a socket is closed."""

import socket
import struct
import sys
from contextlib import suppress
from typing import Final

# After 15 s of silence the kernel probes the other side three times, 5 s apart; sent bytes may wait
# for their acknowledgement for as long. So a dead connection is found within 30 s, whichever side
# sent last, and middleboxes in between keep the connection.
SILENT_SECONDS: Final = 15
PROBE_SECONDS: Final = 5
PROBES: Final = 3
UNACKNOWLEDGED_SECONDS: Final = SILENT_SECONDS + PROBES * PROBE_SECONDS

# SO_LINGER with a timeout of zero.
_NO_LINGERING: Final = struct.pack("ii", 1, 0)


def enable_keepalive(connected: socket.socket) -> None:
    """Enable TCP keepalive for ``connected``, so that the kernel detects a dead connection."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    if sys.platform == "linux":
        options += [
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_SECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES),
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_SECONDS * 1000),
        ]
    for level, option, value in options:
        # Sandboxed kernels lack some of these, and deadlines find a dead connection as well.
        with suppress(OSError):
            connected.setsockopt(level, option, value)


def discard_unsent(connected: socket.socket) -> None:
    """Make the kernel discard unsent bytes when ``connected`` is closed.

    By default, the kernel sends these bytes later.
    """
    with suppress(OSError):
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
