"""When something in a collection last changed, as a watcher sees it."""

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

# For the answer to a watch; the first news may take its time.
ANSWER_SECONDS = 30.0

# Longer than anything that is watched here.
WATCH_SECONDS = 3600

FAILED = re.compile(rb'"type" ?: ?"ERROR"')
VERSIONS = re.compile(rb'"resourceVersion" ?: ?"(\d+)"')
# Nothing that is looked for is longer.
MAX_BYTES = 60


class Witness:
    """A process that only reads the clock whenever there is news.

    A server that is short of time ends a watch that takes its news too slowly; the witness goes on
    from the last that it has received.
    """

    def __init__(self, to: Destination, path: str, *, watch_seconds: int) -> None:
        self._to = to
        self._path = path
        self._watch_seconds = watch_seconds
        self._last_at = time.monotonic()
        self._version = b""
        self._is_over = False
        self._failure: Exception | None = None
        self._connection = HTTPSConnection(to.host, to.port, timeout=ANSWER_SECONDS, context=to.tls)
        self._answer = self._open()

    @property
    def last_at(self) -> float:
        """When the last news came, on the monotonic clock."""
        if self._failure is not None:
            raise AssertionError(f"no end seen at {self._path}") from self._failure
        return self._last_at

    def listen(self) -> None:
        """Note the time of whatever arrives, until there is nothing more to see."""
        try:
            while not self._is_over:
                with suppress(HTTPException):  # cut off in the middle of a word
                    self._hear()
                if not self._is_over:
                    self._connection.close()
                    self._answer = self._open()
        except (OSError, AssertionError, HTTPException) as error:
            if not self._is_over:
                self._failure = error

    def end(self) -> None:
        """Look no more."""
        self._is_over = True
        if (there := self._connection.sock) is not None:
            with suppress(OSError):  # it is over already
                there.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Leave."""
        self._connection.close()

    def _hear(self) -> None:
        rest = b""
        while chunk := self._answer.read1(CHUNK_BYTES):
            # Without bookmarks, a watch speaks only of changes.
            self._last_at = time.monotonic()
            # What is looked for may come in two parts.
            rest += chunk
            if FAILED.search(rest):
                raise AssertionError(f"the watch of {self._path} failed: {rest[-500:]!r}")
            if versions := VERSIONS.findall(rest):
                self._version = versions[-1]
            rest = rest[-MAX_BYTES:]

    def _open(self) -> HTTPResponse:
        """The answer to a watch, which has begun, so that nothing will be missed."""
        since = f"&resourceVersion={self._version.decode()}" if self._version else ""
        query = f"watch=true&timeoutSeconds={self._watch_seconds}{since}"
        headers = {"Authorization": f"Bearer {self._to.token}", "Accept": "application/json"}
        self._connection.request("GET", f"{self._path}?{query}", headers=headers)
        there = self._connection.sock
        answer = self._connection.getresponse()
        if answer.status != 200:
            raise AssertionError(f"the watch of {self._path} was answered {answer.status}")
        there.settimeout(None)
        return answer


@contextmanager
def watching_changes(
    kubeconfig: Path, path: str, *, watch_seconds: int = WATCH_SECONDS
) -> Iterator[Witness]:
    """Watch the collection at ``path`` while the block runs; nothing in it is missed."""
    witness = Witness(Destination.of(kubeconfig), path, watch_seconds=watch_seconds)
    thread = threading.Thread(target=witness.listen, name=f"watch {path}")
    thread.start()
    try:
        yield witness
    finally:
        witness.end()
        thread.join()
        witness.close()
