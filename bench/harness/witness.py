"""When something in a collection last changed, as a watcher sees it."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness.load import Destination

CHUNK_BYTES = 1 << 16

# For the answer to a watch; the first news may take its time.
ANSWER_SECONDS = 30.0


class Witness:
    """Somebody who does nothing but look at the clock whenever there is news."""

    def __init__(self) -> None:
        self._last_at = time.monotonic()

    @property
    def last_at(self) -> float:
        """When the last news came, on the monotonic clock."""
        return self._last_at

    def listen(self, connection: socket.socket) -> None:
        """Note the time of whatever arrives, until nothing can any more."""
        # What it says need not be read: without bookmarks, a watch speaks only of changes.
        while connection.recv(CHUNK_BYTES):
            self._last_at = time.monotonic()


@contextmanager
def watching_changes(kubeconfig: Path, path: str) -> Iterator[Witness]:
    """Watch the collection at ``path`` while the block runs."""
    to = Destination.of(kubeconfig)
    with (
        socket.create_connection((to.host, to.port), timeout=ANSWER_SECONDS) as plain,
        to.tls.wrap_socket(plain, server_hostname=to.host) as connection,
    ):
        connection.sendall(to.request("GET", f"{path}?watch=true&timeoutSeconds=3600"))
        # The answer has begun, so that nothing will be missed.
        if not (head := connection.recv(CHUNK_BYTES)).startswith(b"HTTP/1.1 200"):
            raise AssertionError(f"the watch of {path} was answered {head[:200]!r}")
        connection.settimeout(None)
        witness = Witness()
        thread = threading.Thread(target=witness.listen, args=(connection,), name=f"watch {path}")
        thread.start()
        try:
            yield witness
        finally:
            connection.shutdown(socket.SHUT_RDWR)
            thread.join()
