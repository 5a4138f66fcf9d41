"""When something in a collection last changed, as a watcher sees it."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.harness.load import Destination

CHUNK_BYTES = 1 << 16

# For the answer to a watch; the first news may take its time.
ANSWER_SECONDS = 30.0

VERSIONS = re.compile(rb'"resourceVersion":"(\d+)"')
# None is longer.
VERSION_BYTES = 40


class Witness:
    """Somebody who does nothing but look at the clock whenever there is news.

    A server that is short of time ends a watch that takes its news too slowly; the witness goes on
    from the last that it has heard of.
    """

    def __init__(self, to: Destination, path: str) -> None:
        self._to = to
        self._path = path
        self._last_at = time.monotonic()
        self._version = b""
        self._is_over = False
        self._failure: Exception | None = None
        self._connection = self._open()

    @property
    def last_at(self) -> float:
        """When the last news came, on the monotonic clock."""
        if self._failure is not None:
            raise AssertionError(f"nobody saw the end at {self._path}") from self._failure
        return self._last_at

    def listen(self) -> None:
        """Note the time of whatever arrives, until there is nothing more to see."""
        try:
            while not self._is_over:
                self._hear()
                if not self._is_over:
                    self._connection.close()
                    self._connection = self._open()
        except (OSError, AssertionError) as error:
            if not self._is_over:
                self._failure = error

    def end(self) -> None:
        """Look no more."""
        self._is_over = True
        with suppress(OSError):  # it is over already
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Leave."""
        self._connection.close()

    def _hear(self) -> None:
        rest = b""
        while chunk := self._connection.recv(CHUNK_BYTES):
            # Without bookmarks, a watch speaks only of changes.
            self._last_at = time.monotonic()
            # A version may come in two parts.
            rest += chunk
            if versions := VERSIONS.findall(rest):
                self._version = versions[-1]
            rest = rest[-VERSION_BYTES:]

    def _open(self) -> socket.socket:
        """A connection on which a watch has been answered."""
        to = self._to
        plain = socket.create_connection((to.host, to.port), timeout=ANSWER_SECONDS)
        connection = to.tls.wrap_socket(plain, server_hostname=to.host)
        since = f"&resourceVersion={self._version.decode()}" if self._version else ""
        connection.sendall(to.request("GET", f"{self._path}?watch=true&timeoutSeconds=3600{since}"))
        # The answer has begun, so that nothing will be missed.
        if not (head := connection.recv(CHUNK_BYTES)).startswith(b"HTTP/1.1 200"):
            raise AssertionError(f"the watch of {self._path} was answered {head[:200]!r}")
        connection.settimeout(None)
        return connection


@contextmanager
def watching_changes(kubeconfig: Path, path: str) -> Iterator[Witness]:
    """Watch the collection at ``path`` while the block runs; nothing in it is missed."""
    witness = Witness(Destination.of(kubeconfig), path)
    thread = threading.Thread(target=witness.listen, name=f"watch {path}")
    thread.start()
    try:
        yield witness
    finally:
        witness.end()
        thread.join()
        witness.close()
