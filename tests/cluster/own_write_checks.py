"""A check that a writer reads its own writes: a server with full history, and a slow transport."""

import asyncio
from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, NamedTuple

from steersman.cache import Informer, Scope
from steersman.client import Deletion, Labels, is_gone
from steersman.errors import Unreachable
from steersman.names import ObjectKey
from steersman.wire import Request, Response, Transport
from steersman_cluster.apiserver import Key, RevisionLog
from steersman_cluster.apiserver.storage import Entry
from tests.real.definitions import Widget


class StateAt(NamedTuple):
    """The state of a key from a revision on; without a ``value``, no object existed."""

    revision: int
    value: dict[str, Any] | None

    @property
    def uid(self) -> str:
        """The uid of the object, if one existed."""
        return "" if self.value is None else str(self.value["metadata"]["uid"])


class RememberingLog(RevisionLog):
    """Keeps the history of all Widgets after compactions."""

    def __init__(self) -> None:
        super().__init__()
        self.states = defaultdict[ObjectKey, list[StateAt]](lambda: [StateAt(0, None)])

    def append(self, key: Key, value: dict[str, Any] | None, *, expected: int) -> Entry:
        entry = super().append(key, value, expected=expected)
        if "widgets" in key.resource and "/" in key.place:
            namespace, name = key.place.split("/")
            self.states[ObjectKey(namespace, name)].append(StateAt(entry.revision, value))
        return entry

    def end_of(self, key: ObjectKey, uid: str) -> int:
        """The revision at which the object was deleted."""
        states = self.states[key]
        return next(
            after.revision
            for before, after in zip(states[-2::-1], states[:0:-1], strict=False)
            if before.uid == uid != after.uid
        )


class SlowTransport:
    """Delivers requests and responses after some iterations of the event loop.

    The chunks of a watch arrive late, and a watch is sometimes cut.
    """

    def __init__(self, server: Transport, *, rng: Random, loss: float) -> None:
        self._server = server
        self._rng = rng
        self._loss = loss
        self._watches: set[_UnhurriedResponse] = set()

    def cut(self) -> None:
        """End every watch."""
        for watch in self._watches:
            watch.cut()

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """Send ``request`` to the server."""
        is_watch = ("watch", "true") in request.query
        await self.delay()
        async with self._server.open(request) as response:
            if not is_watch:
                # The server has processed the request; the client has no response yet.
                await self.delay()
                yield response
                return
            watch = _UnhurriedResponse(response, self)
            self._watches.add(watch)
            try:
                yield watch
            finally:
                self._watches.remove(watch)

    async def delay(self) -> None:
        """Yield to other tasks: mostly never or a few times, sometimes often."""
        rng = self._rng
        chance = rng.random()
        turns = 0 if chance < 0.6 else rng.randrange(8) if chance < 0.98 else rng.randrange(150)
        for _ in range(turns):
            await asyncio.sleep(0)  # noqa: TID251 - no wait: a turn is given away

    def is_lost(self) -> bool:
        """Whether the connection is lost here."""
        return self._rng.random() < self._loss

    def split(self, piece: bytes) -> tuple[bytes, bytes]:
        """Split a chunk anywhere, even inside an event."""
        if self._rng.random() < 0.8:
            return piece, b""
        where = self._rng.randrange(len(piece) + 1)
        return piece[:where], piece[where:]


class _UnhurriedResponse:
    def __init__(self, inner: Response, transport: SlowTransport) -> None:
        self._inner = inner
        self._transport = transport
        self._reader = asyncio.current_task()
        self._is_cut = False
        self.status = inner.status
        self.headers = inner.headers
        self.warnings = inner.warnings

    def cut(self) -> None:
        """Report a lost connection to the reader."""
        if self._reader is not None and not self._is_cut:
            self._is_cut = True
            self._reader.cancel()

    async def read(self, *, limit_bytes: int) -> bytes:
        return await self._inner.read(limit_bytes=limit_bytes)

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner.chunks():
                for part in self._transport.split(piece):
                    await self._transport.delay()
                    if part:
                        yield part
                if self._transport.is_lost():
                    raise Unreachable("the connection was lost")
        except asyncio.CancelledError:
            if not self._is_cut or self._reader is None:
                raise
            self._reader.uncancel()
            raise Unreachable("the connection was lost") from None


class Reader:
    """Reads a cache, and checks that no read is older than allowed.

    Each read must match the server's history at some revision. That revision is no earlier than
    the writer's own writes, and no earlier than previous reads.
    """

    def __init__(
        self,
        informer: Informer[Widget],
        log: RememberingLog,
        known: "WrittenRevisions",
        *,
        selects: Callable[[dict[str, Any]], bool],
        is_exact: bool,
    ) -> None:
        self.informer = informer
        self._log = log
        self._known = known
        self._selects = selects
        # If only the server evaluates the selector, a new object is missing until its event comes,
        # and an object that the writer wrote is present until then.
        self._is_exact = is_exact
        self._seen: dict[ObjectKey, int] = {}

    def holds(self, key: ObjectKey) -> bool:
        """Whether the scope of the cache includes the key."""
        return self.informer.scope.holds(key.namespace)

    def read(self, key: ObjectKey) -> Widget | None:
        """The object in the cache, after the check that it is not outdated."""
        found = self.informer.lister.get(key.name, namespace=key.namespace)
        earliest = max(self._known.since(key, self.informer.scope), self._seen.get(key, 0))
        states = self._log.states[key]
        if found is None:
            since = earliest if self._is_exact else self._seen.get(key, 0)
            seen = self._absent_since(key, states, since)
        else:
            seen = int(found.resource_version)
            assert seen >= earliest, f"{found.ref} of {seen}, and {earliest} was known"
            assert found.uid not in self._known.ended, f"{found.ref} of {seen}, and it was over"
            moment = states[bisect_left(states, seen, key=lambda each: each.revision)]
            assert moment.value is not None, f"{found.ref} of {seen} was never there"
            assert (moment.revision, moment.uid) == (seen, found.uid)
            assert moment.value["spec"]["size"] == found.spec.size
            assert self._selects(moment.value) or not self._is_exact
        self._seen[key] = seen
        return found

    def _absent_since(self, key: ObjectKey, states: list[StateAt], earliest: int) -> int:
        """The first revision from ``earliest`` on at which no object existed."""
        after = bisect_left(states, earliest + 1, key=lambda each: each.revision)
        for moment in states[max(0, after - 1) :]:
            if moment.value is None or not self._selects(moment.value):
                return max(earliest, moment.revision)
        raise AssertionError(f"nothing under {key}, where since {earliest} there always was")

    def read_all(self, labels: Labels, label: tuple[str, str]) -> None:
        """Check that lists and indexes agree with single reads."""
        lister = self.informer.lister
        one_by_one = {
            key: found
            for key in list(self._log.states)
            if self.holds(key) and (found := self.read(key))
        }
        assert {obj.name: obj for obj in lister.list()}.keys() == {k.name for k in one_by_one}
        assert _by_key(lister.list()) == one_by_one
        for namespace in {key.namespace for key in one_by_one}:
            chosen = {
                key: obj
                for key, obj in one_by_one.items()
                if key.namespace == namespace and labels.matches(obj.labels)
            }
            assert _by_key(lister.list(namespace=namespace, labels=labels)) == chosen
        name, value = label
        indexed = {key: obj for key, obj in one_by_one.items() if obj.labels.get(name) == value}
        assert _by_key(lister.by_index(name, value)) == indexed


def _by_key(objects: list[Widget]) -> dict[ObjectKey, Widget]:
    found = {ObjectKey(obj.namespace, obj.name): obj for obj in objects}
    assert len(found) == len(objects)
    return found


class WrittenRevisions:
    """The revisions of a writer's own writes."""

    def __init__(self, log: RememberingLog) -> None:
        self._log = log
        self._since: dict[ObjectKey, int] = {}
        self._since_surely: dict[ObjectKey, int] = {}
        self.ended: set[str] = set()

    def since(self, key: ObjectKey, scope: Scope) -> int:
        """The oldest revision of the key that a cache may return."""
        return (self._since_surely if scope.is_limited else self._since).get(key, 0)

    def learn(self, answer: Widget | Deletion[Widget]) -> ObjectKey:
        """Record the response of a write; the key of its object."""
        is_sure = True
        if isinstance(answer, Deletion):
            key, uid, is_over = answer.key, answer.uid, answer.is_gone
            is_sure = answer.obj is not None
            version = "" if answer.obj is None else answer.obj.resource_version
        else:
            key, uid = ObjectKey(answer.namespace, answer.name), answer.uid
            is_over, version = is_gone(answer), answer.resource_version
        if is_over:
            self.ended.add(uid)
        revision = self._log.end_of(key, uid) if is_over else int(version)
        self._since[key] = max(revision, self._since.get(key, 0))
        if is_sure:
            # For a deletion whose response has no version, a cache with a selector knows no
            # more than the identity of the object.
            self._since_surely[key] = max(revision, self._since_surely.get(key, 0))
        return key
