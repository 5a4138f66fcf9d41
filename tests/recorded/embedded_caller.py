"""Calls an embedded server in this process, with the interface of the real server's caller."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from steersman_cluster.testing.calls import JSON, HttpResponse
from tests.recorded.differential.embedded import embedded
from tests.recorded.differential.scenario import Server


class EmbeddedCaller:
    """Calls an embedded server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def call(
        self, method: str, path: str, body: object = None, *, sends: str = JSON, accept: str = JSON
    ) -> HttpResponse:
        """Send a request with ``body``, if any; as ``HttpCaller.call``."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        authorization = f"Bearer {self._server.token}"
        headers = {"authorization": authorization, "content-type": sends, "accept": accept}
        response = self._server.call(method, path, content, headers)
        received = [(name.lower(), value) for name, value in response.headers]
        return HttpResponse(
            status=response.status,
            body=response.body,
            content_type=dict(received).get("content-type", ""),
            warnings=tuple(
                json.loads(value.removeprefix("299 - "))
                for name, value in received
                if name == "warning"
            ),
        )

    def send(self, method: str, path: str, body: object = None, *, sends: str = JSON) -> None:
        """Send a request whose response does not matter."""
        self.call(method, path, body, sends=sends)


@contextmanager
def embedded_caller() -> Iterator[EmbeddedCaller]:
    """A caller of a new embedded server."""
    with embedded() as server:
        yield EmbeddedCaller(server)
