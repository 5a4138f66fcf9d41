"""HTTP calls to the components of a control plane, with Python's standard library only.

Tests of a client use these calls, because they must not depend on the client under test.
"""

import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

# No call here takes a second; a paused API server must not hold up a test for longer.
CALL_SECONDS = 30.0

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """An HTTP response: its status code, body, content type, and ``Warning`` headers."""

    status: int
    body: bytes
    content_type: str = ""
    warnings: tuple[str, ...] = ()

    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)


class HttpCaller:
    """One HTTP connection: the first call opens it, and the end of a ``with`` block closes it."""

    def __init__(
        self, connection: http.client.HTTPConnection, *, headers: Mapping[str, str]
    ) -> None:
        self._connection = connection
        self._headers = headers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connection.close()

    def call(
        self, method: str, path: str, body: object = None, *, sends: str = JSON, accept: str = JSON
    ) -> HttpResponse:
        """Send a request with ``body``, if any, and return the complete response.

        A body that is not bytes is encoded as JSON. ``sends`` is the media type of the body.
        """
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        headers = {"Accept": accept, "Content-Type": sends, **self._headers}
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        return HttpResponse(
            status=response.status,
            body=response.read(),
            content_type=response.headers.get("Content-Type", ""),
            warnings=tuple(
                json.loads(each.removeprefix("299 - "))
                for each in response.headers.get_all("Warning", ())
            ),
        )

    def finds(self, *paths: str) -> bool:
        """Whether a GET of each path responds with 200; false if the server does not respond."""
        try:
            with self:
                return all(self.call("GET", path).status == 200 for path in paths)
        except (OSError, http.client.HTTPException):
            return False


class UnixConnection(http.client.HTTPConnection):
    """An HTTP connection through the Unix socket ``path``."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=CALL_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
