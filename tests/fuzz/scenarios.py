"""One seed, one server, some hundred requests, and checks of the server's state afterwards."""

import asyncio
import gc
import time  # noqa: TID251 - how long an answer takes is asked of the processor
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec

from steersman.observe import Observation, ResponseFailed
from steersman.wire import Reply, Request
from steersman_cluster.apiserver import ApiServer, NoWebhookTransport, RevisionLog, administrator
from steersman_cluster.apiserver.request.object_encoder import rest_of
from steersman_cluster.apiserver.request.request_info import parse_request_info
from steersman_cluster.apiserver.request.resources import ServedResource
from tests.fuzz.request_generator import NAMESPACES, TOKEN, RequestGenerator, path_of
from tests.fuzz.response_checks import SLOWEST_SECONDS, Finding, cause_of, faults, finding

# A client that disconnects after this many chunks of a watch: some watches would never end.
MAX_PIECES = 6
REQUESTS = 600

_WRITES = frozenset(("create", "update", "patch"))
_ADMIN = (("Authorization", f"Bearer {TOKEN}"),)


class HastyClock:
    """There is no other task, so each wait ends at once, without a result."""

    def __init__(self) -> None:
        self._passed_seconds = 0.0

    def monotonic(self) -> float:
        return self._passed_seconds

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._passed_seconds % 1e8)

    async def sleep(self, seconds: float) -> None:
        self._passed_seconds += seconds

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(0):  # noqa: TID251 - as the class says
                yield
        except TimeoutError:
            # A little more than zero: a remainder from rounding would be waited for forever.
            self._passed_seconds += max(seconds or 0.0, 0.001)
            raise


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Disable garbage collection in the block: a collection visits all objects of the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(slots=True, kw_only=True)
class FuzzResult:
    """The results of one scenario, or of several."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    verbs: Counter[str] = field(default_factory=Counter)
    written: int = 0
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: "FuzzResult") -> None:
        self.requests += other.requests
        self.statuses += other.statuses
        self.verbs += other.verbs
        self.written += other.written
        self.findings += other.findings


class Scenario:
    """A server, and random requests to it."""

    def __init__(
        self, seed: int, valid: dict[str, list[dict[str, Any]]], *, requests: int = REQUESTS
    ) -> None:
        self._seed = seed
        self._requests = requests
        self._rng = Random(seed)
        self._observed: list[Observation] = []
        self._server = ApiServer(
            log=RevisionLog(),
            tokens={TOKEN: administrator()},
            clock=HastyClock(),
            rng=Random(seed),
            observe=self._observed.append,
            outbound=NoWebhookTransport(),
        )
        self._generator = RequestGenerator(self._server, self._rng, valid)
        self._result = FuzzResult()
        self._step = 0
        self._request: Request | None = None
        self._before: dict[str, dict[str, Any]] = {}
        self._began = 0

    async def run(self) -> FuzzResult:
        """Send requests, check every response, and check the state at the end."""
        with _nothing_collected():
            return await self._run()

    async def _run(self) -> FuzzResult:
        for name in NAMESPACES[1:]:
            await self._get_or_post("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        await self._begin()
        for step in range(self._requests):
            self._step = step
            if self._rng.random() < 0.002:
                self._server.store.log.compact(self._server.store.log.revision)
            if self._server.store.log.compacted > self._began:
                await self._begin()
            await self._send(self._generator.request())
        self._request = None
        await self._look_back()
        return self._result

    def _found(self, what: str, detail: str = "") -> None:
        self._result.findings.append(
            finding(what, detail, seed=self._seed, step=self._step, request=self._request)
        )

    async def _send(self, request: Request) -> None:
        self._request = request
        log = self._server.store.log
        revision = log.revision
        began_at = time.process_time()
        reply, body = await self._respond(request)
        took_seconds = time.process_time() - began_at
        asked = parse_request_info(request)
        self._result.requests += 1
        self._result.statuses[reply.status] += 1
        self._result.verbs[asked.verb] += 1
        self._result.written += log.revision - revision
        if took_seconds > SLOWEST_SECONDS:
            self._found(f"{asked.verb} took {took_seconds:.1f} s")
        for fault in faults(request, reply, body):
            self._found(fault)
        # A response that cannot be encoded as requested fails after the write was made.
        refused = reply.status >= 400 and reply.status != 406
        if log.revision != revision and (refused or "dryRun" in asked.query):
            self._found(f"{asked.verb} answered {reply.status}, and wrote, dry run or not")
        obj = _object_in(reply, body)
        self._generator.seen(obj)
        if reply.status < 300 and asked.verb in _WRITES and obj is not None:
            await self._read_again(request, obj)

    async def _respond(self, request: Request) -> tuple[Reply, bytes]:
        try:
            reply = await self._server.handle(request)
            body = await _whole(reply)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            self._found("leaked: {}".format(*cause_of(error)), str(error))
            return Reply(status=599), b""
        for each in self._observed:
            if isinstance(each, ResponseFailed):
                self._found(*cause_of(each.error))
        self._observed.clear()
        return reply, body

    async def _read_again(self, request: Request, obj: dict[str, Any]) -> None:
        """Check that a written object can be read."""
        asked = parse_request_info(request)
        about = obj["metadata"]
        served = self._server.registry.find(asked.group, asked.version, asked.resource)
        if served is None or "dryRun" in asked.query or "uid" not in about:
            return
        if asked.subresource not in ("", "status") or obj["kind"] != served.gvk.kind:
            return
        if asked.resource == "customresourcedefinitions":
            return  # a status that is written a moment later
        path = path_of(served, about.get("namespace", ""), about["name"])
        status, found = await self._get_or_post("GET", path)
        if status == 404 and about.get("deletionTimestamp"):
            return  # its last finalizer was removed
        if found != obj:
            what = "custom resources" if served.custom else asked.resource
            self._found(f"{asked.verb} of {what} answered what is not there", f"{found}\n    {obj}")

    async def _get_or_post(self, method: str, path: str, obj: Any = None) -> tuple[int, Any]:
        body = None if obj is None else msgspec.json.encode(obj)
        request = Request(method=method, path=path.partition("?")[0], headers=_ADMIN, body=body)
        reply, body = await self._respond(request)
        return reply.status, msgspec.json.decode(body)

    # Checks of the whole state.

    async def _begin(self) -> None:
        """Start watching: at the end, every change must be explained by an event."""
        self._began = self._server.store.log.revision
        self._before = {}
        for served in self._readable():
            self._before[path_of(served)] = await self._listed(served)

    def _readable(self) -> Iterator[ServedResource]:
        for served in tuple(self._server.registry):
            if {"list", "watch"} <= served.verbs:
                yield served

    async def _listed(self, served: ServedResource) -> dict[str, Any]:
        began_at = time.process_time()
        status, found = await self._get_or_post("GET", path_of(served))
        if time.process_time() - began_at > SLOWEST_SECONDS:
            self._found(f"a list of {served.plural} takes longer than {SLOWEST_SECONDS} s")
        if status != 200:
            self._found(f"{served.plural} cannot be listed: {found.get('message')}")
            return {}
        by_place: dict[str, Any] = {}
        for item in found["items"]:
            about = item["metadata"]
            place = f"{about.get('namespace', '')}/{about['name']}"
            if place in by_place:
                self._found(f"two of one name among the {served.plural}")
            by_place[place] = _without_kind(item)
        return by_place

    async def _look_back(self) -> None:
        for served in self._readable():
            now = await self._listed(served)
            replayed = await self._replayed(served)
            if replayed is not None:
                self._compare(served, replayed, now)
            for place in now:
                namespace, _, name = place.partition("/")
                if bool(namespace) != served.namespaced:
                    continue  # a definition that was deleted, and created again with another scope
                status, found = await self._get_or_post("GET", path_of(served, namespace, name))
                if status != 200 or _without_kind(found) != now[place]:
                    what = f"one of the {served.plural} is listed, and cannot be read"
                    self._found(what, f"{served.gvk} {place}: {now[place]}\n    {found}")
        self._look_for_changed_history()

    def _compare(
        self, served: ServedResource, replayed: dict[str, Any], now: dict[str, Any]
    ) -> None:
        for place in sorted(now.keys() | replayed.keys()):
            pair = replayed.get(place), now.get(place)
            if served.custom:
                # Another schema shows other fields of an object that was not written since.
                pair = _version(pair[0]), _version(pair[1])
            if pair[0] != pair[1]:
                self._found(
                    f"a watch of {served.plural} leads elsewhere than a list",
                    f"{place}: {pair[0]}\n    {pair[1]}",
                )

    async def _replayed(self, served: ServedResource) -> dict[str, Any] | None:
        """The state at the end of a watch from the beginning; None without the beginning."""
        state = dict(self._before.get(path_of(served), {}))
        view, log = self._server.store.view, self._server.store.log
        if log.compacted > self._began:
            return None
        if (
            path_of(served) not in self._before
            and view.page(served.stored_as, revision=self._began).entries
        ):
            return None  # it existed in another version only
        query = (("watch", "1"), ("timeoutSeconds", "1"), ("resourceVersion", str(self._began)))
        request = Request(method="GET", path=path_of(served), query=query, headers=_ADMIN)
        reply, body = await self._respond(request)
        if reply.status != 200:
            self._found(f"{served.plural} cannot be watched: {reply.status}")
            return None
        last = self._began
        for line in body.splitlines():
            event = msgspec.json.decode(line)
            about = event["object"]["metadata"]
            if event["type"] == "ERROR":
                self._found(f"a watch of {served.plural} ends", str(event["object"]))
                return None
            revision = int(about["resourceVersion"])
            if revision <= last:
                self._found(f"revisions of {served.plural} do not rise")
            last = revision
            place = f"{about.get('namespace', '')}/{about['name']}"
            if (event["type"] == "ADDED") == (place in state):
                known = "known" if place in state else "unknown"
                self._found(f"{event['type']} comes of {served.plural} that were {known}")
            if event["type"] == "DELETED":
                state.pop(place, None)
            else:
                state[place] = _without_kind(event["object"])
        return state

    def _look_for_changed_history(self) -> None:
        """Check that what was written once is the same for every later reader."""
        for resource in {each.stored_as for each in self._server.registry}:
            for entry in self._server.store.view.page(resource).entries:
                if entry.value and entry.rendered and rest_of(entry.value) != entry.rendered:
                    self._found(
                        f"a stored object was changed in place: {resource} {entry.key.place}"
                    )


async def _whole(reply: Reply) -> bytes:
    if reply.stream is None:
        return reply.body
    pieces: list[bytes] = []
    async for piece in reply.stream:
        pieces.append(piece)
        if len(pieces) == MAX_PIECES:
            break
    await reply.stream.aclose()
    return b"".join(pieces)


def _object_in(reply: Reply, body: bytes) -> dict[str, Any] | None:
    if reply.stream is not None or ("content-type", "application/json") not in reply.headers:
        return None
    try:
        found = msgspec.json.decode(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("metadata"), dict) else None


def _version(obj: dict[str, Any] | None) -> Any:
    return None if obj is None else (obj["metadata"]["uid"], obj["metadata"]["resourceVersion"])


def _without_kind(obj: dict[str, Any]) -> dict[str, Any]:
    """Lists of built-in kinds omit the kind of their items."""
    return {name: value for name, value in obj.items() if name not in ("kind", "apiVersion")}
