"""The time of the last change in a collection, from a watch."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path

from bench.harness.load import Destination

CHUNK_BYTES = 1 << 16

# The deadline for the response to a watch; the first event may take longer.
RESPONSE_SECONDS = 30.0

# Longer than any turn.
WATCH_SECONDS = 3600

FAILED = re.compile(rb'"type" ?: ?"ERROR"')
VERSIONS = re.compile(rb'"resourceVersion" ?: ?"(\d+)"')
# Longer than any match of the patterns above.
MAX_BYTES = 60


class ChangeWatcher:
    """Watches a collection, and stores the time of the last event.

    A busy server closes the watch of a slow reader. The watch is then resumed from the last event.
    """

    def __init__(self, to: Destination, path: str, *, watch_seconds: int) -> None:
        self._to = to
        self._path = path
        self._watch_seconds = watch_seconds
        self._last_at = time.monotonic()
        self._version = b""
        self._is_over = False
        self._failure: Exception | None = None
        self._connection = HTTPSConnection(
            to.host, to.port, timeout=RESPONSE_SECONDS, context=to.tls
        )
        self._response = self._open()

    @property
    def last_change_at(self) -> float:
        """The time of the last event, on the monotonic clock."""
        if self._failure is not None:
            raise AssertionError(f"the watch of {self._path} failed") from self._failure
        return self._last_at

    def run(self) -> None:
        """Read events until ``end`` is called."""
        try:
            while not self._is_over:
                with suppress(HTTPException):  # the connection was closed within a chunk
                    self._read_events()
                if not self._is_over:
                    self._connection.close()
                    self._response = self._open()
        except (OSError, AssertionError, HTTPException) as error:
            if not self._is_over:
                self._failure = error

    def end(self) -> None:
        """Stop reading."""
        self._is_over = True
        if (there := self._connection.sock) is not None:
            with suppress(OSError):  # it is closed already
                there.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _read_events(self) -> None:
        rest = b""
        while chunk := self._response.read1(CHUNK_BYTES):
            # Without bookmarks, each event is a change.
            self._last_at = time.monotonic()
            # A match can be split between two chunks.
            rest += chunk
            if FAILED.search(rest):
                raise AssertionError(f"the watch of {self._path} failed: {rest[-500:]!r}")
            if versions := VERSIONS.findall(rest):
                self._version = versions[-1]
            rest = rest[-MAX_BYTES:]

    def _open(self) -> HTTPResponse:
        """Open the watch; its response has started, so no later event is missed."""
        since = f"&resourceVersion={self._version.decode()}" if self._version else ""
        query = f"watch=true&timeoutSeconds={self._watch_seconds}{since}"
        headers = {"Authorization": f"Bearer {self._to.token}", "Accept": "application/json"}
        self._connection.request("GET", f"{self._path}?{query}", headers=headers)
        there = self._connection.sock
        response = self._connection.getresponse()
        if response.status != 200:
            raise AssertionError(f"the watch of {self._path}: status {response.status}")
        there.settimeout(None)
        return response


@contextmanager
def watching_changes(
    kubeconfig: Path, path: str, *, watch_seconds: int = WATCH_SECONDS
) -> Iterator[ChangeWatcher]:
    """Watch the collection at ``path`` during the block; no event is missed."""
    watcher = ChangeWatcher(Destination.of(kubeconfig), path, watch_seconds=watch_seconds)
    thread = threading.Thread(target=watcher.run, name=f"watch {path}")
    thread.start()
    try:
        yield watcher
    finally:
        watcher.end()
        thread.join()
        watcher.close()
