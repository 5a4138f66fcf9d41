"""The real server, asked with nothing but the standard library."""

import os
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from steersman.clock import SystemClock
from steersman.testing import find_binaries, running_control_plane
from tests.real.differential.story import Answer

# A watch of a second and a request that waits for a revision of the future take a few.
CALL_SECONDS = 30.0


class HttpsServer:
    """A server at an address, with one connection for each thread that asks."""

    def __init__(self, url: str, *, ca_file: str, token: str) -> None:
        self.token = token
        self._address = urlsplit(url).netloc
        self._tls = ssl.create_default_context(cafile=ca_file)
        self._own = threading.local()
        self._connections: list[HTTPSConnection] = []

    def call(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Ask, and wait for the whole answer."""
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
    """A kube-apiserver that nobody has asked anything yet."""
    with running_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
        who = plane.credentials
        server = HttpsServer(plane.url, ca_file=str(who.ca_file), token=who.admin_token)
        with closing(server):
            yield server
