"""One request to the real server, and its response, as JSON values."""

import base64
import json
from dataclasses import dataclass
from typing import Any, Self

from steersman_cluster.testing.calls import JSON, HttpResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """A request; ``body`` is what ``request_value`` returns."""

    method: str
    path: str
    body: Any = None
    sends: str = JSON
    accept: str = JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its response; ``content`` is what ``response_value`` returns."""

    request: RecordedRequest
    status: int
    content: Any
    content_type: str = JSON
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: RecordedRequest, response: HttpResponse) -> Self:
        """The exchange that a server ended with this response."""
        return cls(
            request=request,
            status=response.status,
            content=response_value(response.body, response.content_type),
            content_type=response.content_type,
            warnings=response.warnings,
        )

    @property
    def response(self) -> HttpResponse:
        """The response as a caller returns it."""
        return HttpResponse(
            status=self.status,
            body=content_bytes(self.content),
            content_type=self.content_type,
            warnings=self.warnings,
        )

    def as_json(self) -> dict[str, Any]:
        """The exchange without the usual values."""
        request = self.request
        every = {
            "request": f"{request.method} {request.path}",
            "body": request.body,
            "sends": None if request.sends == JSON else request.sends,
            "accept": None if request.accept == JSON else request.accept,
            "status": self.status,
            "type": None if self.content_type == JSON else self.content_type,
            "warnings": list(self.warnings) or None,
            "content": self.content,
        }
        return {name: value for name, value in every.items() if value is not None}

    @classmethod
    def from_json(cls, recorded: dict[str, Any]) -> Self:
        """The exchange that ``as_json`` encoded."""
        method, _, path = recorded["request"].partition(" ")
        return cls(
            request=RecordedRequest(
                method=method,
                path=path,
                body=recorded.get("body"),
                sends=recorded.get("sends", JSON),
                accept=recorded.get("accept", JSON),
            ),
            status=recorded["status"],
            content=recorded["content"],
            content_type=recorded.get("type", JSON),
            warnings=tuple(recorded.get("warnings", ())),
        )


def request_value(body: object) -> Any:
    """The body of a request: bytes stay as they are, because some cases are about spaces in it."""
    if body is None:
        return None
    return _plain(body) if isinstance(body, bytes) else ["json", json.loads(json.dumps(body))]


def response_value(body: bytes, content_type: str) -> Any:
    """The body of a response: JSON is decoded, and its spaces and escapes are not kept."""
    return ["json", json.loads(body)] if content_type == JSON and body else _plain(body)


def content_bytes(value: Any) -> bytes:
    """The bytes of a recorded body."""
    form, content = value
    if form == "json":
        return json.dumps(content).encode()
    return base64.b64decode(content) if form == "base64" else str(content).encode()


def _plain(content: bytes) -> Any:
    try:
        return ["text", content.decode()]
    except UnicodeDecodeError:
        return ["base64", base64.b64encode(content).decode()]
