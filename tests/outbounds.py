"""Webhooks without a network: the requests of a server in the process, answered by a test."""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import msgspec

from steersman_cluster.apiserver import WebhookResponse, WebhookUnreachable

# From a review to the fields of its response.
Script: TypeAlias = Callable[[Any], Mapping[str, Any]]


def allow(_: Any) -> Mapping[str, Any]:
    """Allow the request."""
    return {"allowed": True}


def patch(*operations: Mapping[str, Any]) -> Script:
    """Change the object with a JSON patch."""
    encoded = b64encode(json.dumps(operations).encode()).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


class Webhooks:
    """Webhooks by the path of their URL, each with a script."""

    def __init__(self, **scripts: Script | WebhookUnreachable) -> None:
        self.scripts = scripts
        self.received: list[tuple[str, Any]] = []
        # Called during the next reviews, one for each.
        self.meanwhile: list[Callable[[], Awaitable[object]]] = []

    async def post(
        self,
        url: str,
        body: bytes,
        *,
        ca_bundle: bytes,
        server_name: str,
        connect_to: str,
        timeout_seconds: float,
    ) -> WebhookResponse:
        """The response to a review."""
        review = msgspec.json.decode(body)
        name = urlsplit(url).path.removeprefix("/")
        self.received.append((name, review["request"]))
        if self.meanwhile:
            await self.meanwhile.pop(0)()
        script = self.scripts[name]
        if isinstance(script, WebhookUnreachable):
            raise script
        response = {"uid": review["request"]["uid"], **script(review)}
        answer = {**review, "response": response}
        return WebhookResponse(
            200, {"content-type": "application/json"}, msgspec.json.encode(answer)
        )

    @property
    def names(self) -> list[str]:
        """The called webhooks, in order."""
        return [name for name, _ in self.received]


def webhook(name: str, **more: Any) -> dict[str, Any]:
    """A webhook for all requests for ConfigMaps."""
    return {
        "name": f"{name}.example.com",
        "clientConfig": {"url": f"https://webhooks.example.com/{name}"},
        "rules": [
            {
                "operations": ["*"],
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
