"""The embedded API server in the process of the test, with a clock that the test advances."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from steersman.client import Client, ClientSettings
from steersman.observe import Observation, Observer
from steersman.wire import Request
from steersman_cluster.apiserver import (
    ApiServer,
    InProcessTransport,
    NoWebhookTransport,
    RevisionLog,
    ServerOptions,
    User,
    WebhookTransport,
    administrator,
)
from tests.clocks import FakeClock

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"

TOKEN = "the-admin's-token"

# More than any task needs from its wakeup to its next wait.
TURNS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The response to a request."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def json(self) -> Any:
        """The decoded body."""
        return msgspec.json.decode(self.body)

    @property
    def names(self) -> list[str]:
        """The names of the objects in a list."""
        return [item["metadata"]["name"] for item in self.json["items"]]

    @property
    def warnings(self) -> list[str]:
        """The warnings of the server."""
        return [
            msgspec.json.decode(value.removeprefix("299 - "))
            for name, value in self.headers
            if name == "warning"
        ]

    def header(self, name: str) -> str | None:
        """The first header of this name."""
        return next((value for key, value in self.headers if key == name), None)


class EmbeddedServer:
    """A server, its log, its clock, and its observations."""

    def __init__(
        self,
        *,
        log: RevisionLog | None = None,
        tokens: Mapping[str, User] | None = None,
        clock: FakeClock | None = None,
        observe: Observer | None = None,
        outbound: WebhookTransport | None = None,
        options: ServerOptions | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.log = log or RevisionLog()
        self.observed: list[Observation] = []
        self.server = ApiServer(
            log=self.log,
            tokens={TOKEN: administrator(), **(tokens or {})},
            clock=self.clock,
            rng=Random(0),
            observe=observe or self.observed.append,
            outbound=outbound or NoWebhookTransport(),
            options=options or ServerOptions(),
        )
        self._namespaces = count(1)

    async def ask(
        self,
        method: str,
        url: str,
        body: object = None,
        *,
        sends: str = JSON,
        token: str = TOKEN,
        **headers: str,
    ) -> Answer:
        """The response to a request; ``body`` is sent as JSON, or unchanged if it is bytes."""
        reply = await self.server.handle(_request(method, url, body, sends, token, headers))
        assert reply.stream is None, "a watch answers with a stream"
        return Answer(status=reply.status, headers=reply.headers, body=reply.body)

    async def asked(self, method: str, url: str, body: object = None, **rest: str) -> Any:
        """The decoded body of the response to a request that must succeed."""
        answer = await self.ask(method, url, body, **rest)
        assert answer.status < 300, answer.body
        return answer.json

    @asynccontextmanager
    async def pieces(self, url: str, **headers: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of a watch, as they arrive."""
        separator = "&" if "?" in url else "?"
        request = _request("GET", f"{url}{separator}watch=true", None, JSON, TOKEN, headers)
        reply = await self.server.handle(request)
        assert reply.stream is not None, reply.body
        async with aclosing(reply.stream) as pieces:
            yield pieces

    @asynccontextmanager
    async def watch(self, url: str, **headers: str) -> AsyncIterator["Lines"]:
        """The events of a watch."""
        async with self.pieces(url, **headers) as pieces:
            yield Lines(pieces)

    async def namespace(self) -> str:
        """Create a namespace, and return its name."""
        name = f"test-{next(self._namespaces)}"
        await self.asked("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def client(self, *, settings: ClientSettings | None = None) -> Client:
        """A client of steersman, as the administrator."""
        return Client(
            InProcessTransport(self.server),
            clock=self.clock,
            rng=Random(0),
            observe=self.observed.append,
            settings=settings,
        )

    async def after(self, seconds: int) -> None:
        """Advance the clock second by second, and run all tasks that are due."""
        await turns()
        for _ in range(seconds):
            self.clock.advance(1.0)
            await turns()


class Lines:
    """The events of a watch."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._waiting: list[Any] = []

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> Any:
        while not self._waiting:
            piece = await anext(self._pieces)
            self._waiting += [msgspec.json.decode(line) for line in piece.splitlines()]
        return self._waiting.pop(0)

    async def first(self, number: int) -> list[Any]:
        """The next ``number`` events."""
        return [await anext(self) for _ in range(number)]

    async def seen(self, number: int) -> list[tuple[str, str]]:
        """The types and names of the next ``number`` events."""
        return [(each["type"], name_of(each["object"])) for each in await self.first(number)]


def name_of(obj: Any) -> str:
    """The name of an object; a bookmark has none."""
    return str(obj["metadata"].get("name", ""))


async def turns() -> None:
    """Run all tasks that can run."""
    for _ in range(TURNS):
        await asyncio.sleep(0)  # noqa: TID251 - no wait: other tasks run


def config_map(name: str, *, labels: Mapping[str, str] | None = None, **data: str) -> Any:
    """A ConfigMap as a client sends it."""
    metadata: dict[str, Any] = {"name": name}
    if labels is not None:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _request(
    method: str, url: str, body: object, sends: str, token: str, headers: Mapping[str, str]
) -> Request:
    parts = urlsplit(url)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        given["authorization"] = f"Bearer {token}"
    if body is not None:
        given["content-type"] = sends
    content = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
    return Request(
        method=method,
        path=parts.path,
        query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
        headers=tuple(given.items()),
        body=content,
    )
