"""The real server, called with the standard library only."""

import os
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from steersman.clock import SystemClock
from steersman_cluster.testing import find_binaries, running_real_control_plane
from tests.recorded.differential.scenario import Answer

# A watch of a second, and a request that waits for a future revision, take a few seconds.
CALL_SECONDS = 30.0

# The server runs on the same machine, whose clock may be read a little late or early.
AFTER_SECONDS = 0.02

# A watch delivers events within milliseconds; on a busy machine, within a second or two.
SILENCE_SECONDS = 5.0


class HttpsStream:
    """A watch on its own connection, which buffers unread lines."""

    def __init__(self, connection: HTTPSConnection, response: HTTPResponse) -> None:
        self._connection = connection
        self._response = response

    def received(self, is_last: Callable[[bytes], bool]) -> Answer:
        """The lines up to the last one, or until a timeout."""
        lines: list[bytes] = []
        with closing(self._connection), suppress(TimeoutError):
            while line := self._response.readline():
                lines.append(line)
                if is_last(line):
                    break
        return Answer(
            status=self._response.status,
            headers=tuple(self._response.getheaders()),
            body=b"".join(lines),
        )


class HttpsServer:
    """A server at an address, with one connection for each thread."""

    def __init__(self, url: str, *, ca_file: str, token: str) -> None:
        self.token = token
        self._address = urlsplit(url).netloc
        self._tls = ssl.create_default_context(cafile=ca_file)
        self._own = threading.local()
        self._connections: list[HTTPSConnection] = []

    def call(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Send a request, and read the whole response."""
        connection = self._connection()
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            answer = Answer(
                status=response.status,
                headers=tuple(response.getheaders()),
                body=response.read(),
            )
        except (OSError, HTTPException):
            connection.close()
            raise
        return answer

    def follow(self, path: str, headers: Mapping[str, str]) -> HttpsStream:
        """Start a watch: the server sends the response headers once the watch is active."""
        connection = HTTPSConnection(self._address, timeout=CALL_SECONDS, context=self._tls)
        connection.request("GET", path, None, dict(headers))
        plain = connection.sock
        response = connection.getresponse()
        plain.settimeout(SILENCE_SECONDS)
        return HttpsStream(connection, response)

    def wait_for_second(self) -> None:
        """Wait until a new second has begun."""
        fraction = SystemClock().now().microsecond / 1_000_000
        threading.Event().wait(1.0 - fraction + AFTER_SECONDS)

    def _connection(self) -> HTTPSConnection:
        found: HTTPSConnection | None = getattr(self._own, "connection", None)
        if found is None:
            found = HTTPSConnection(self._address, timeout=CALL_SECONDS, context=self._tls)
            self._own.connection = found
            self._connections.append(found)
        return found

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._connections:
            connection.close()


@contextmanager
def real() -> Iterator[HttpsServer]:
    """A new kube-apiserver."""
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        who = plane.credentials
        server = HttpsServer(plane.url, ca_file=str(who.ca_file), token=who.admin_token)
        with closing(server):
            yield server
