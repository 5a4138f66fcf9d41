"""``EventRecorder``: Kubernetes events about objects, as ``kubectl describe`` shows them."""

import asyncio
import re
from collections.abc import Callable
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from functools import partial
from math import inf
from random import Random
from typing import Final, Literal

from steersman.client import Client
from steersman.clock import Clock
from steersman.controller.events.correlator import BURST, EventRows, Row, Said, reference_to
from steersman.controller.events.event_objects import (
    change_of,
    component_change,
    component_event,
    event_of,
)
from steersman.errors import (
    AlreadyExists,
    BadName,
    Forbidden,
    NotFound,
    ServerFailed,
    SteersmanError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from steersman.kinds import Resource, Unstructured, core_v1, events_v1
from steersman.names import ObjectRef, check_label_key, check_subdomain
from steersman.observe import EventNotRecorded, EventsDropped, Observer
from steersman.workqueue import BackoffPolicy

# The server's limits, in bytes.
LONGEST_NOTE: Final = 1024
LONGEST_WORD: Final = 128

# An event is worth no more than this: there are others in line.
_DEADLINE_SECONDS: Final = 10.0
# client-go tries twelve times, every ten seconds; by then it is news of two minutes ago.
_MOST_TRIES: Final = 5
# What a server asks for beyond this would outlast the news that an event is.
_LONGEST_RETRY_AFTER_SECONDS: Final = 60.0
_BACKOFF: Final = BackoffPolicy(first_seconds=1.0, longest_seconds=30.0, jitter=0.5)
# For so long nothing more is sent to a namespace that took an event from nobody: it is on its way
# out, or the operator lacks the right. And what went wrong is not told again.
_CLOSED_SECONDS: Final = 300.0
# How often to say that events were dropped.
_DROPS_SECONDS: Final = 60.0

_PASSING: Final = (Unreachable, TooManyRequests, ServerFailed, Unauthorized)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNFIT: Final = re.compile(r"[^a-z0-9.-]+")


class EventRecorder:
    """Writes events in the background, and never gets into the way of those who record them.

    One event that comes again and again is one object in the cluster with a count. Too many
    different ones about one object, or too many at once, are dropped and counted. What the server
    does not take is told to the observer, and is nobody's failure.

    ``controller`` is who reports, as ``NAME`` or ``DOMAIN/NAME``; observations have the ``NAME``.
    With a ``source`` events are of the older API, from that component, as those of Kubernetes' own
    controllers are. ``record`` belongs to the thread of the event loop.
    """

    def __init__(
        self,
        client: Client,
        *,
        controller: str,
        instance: str,
        clock: Clock,
        rng: Random,
        observe: Observer,
        source: str = "",
    ) -> None:
        self._source = source
        self._client = client.adjusted(deadline_seconds=_DEADLINE_SECONDS)
        self._reporting = reporting_name(controller)
        self._controller = controller.rpartition("/")[2]
        self._instance = cut(instance, LONGEST_WORD) or self._reporting
        self._clock = clock
        self._rng = rng
        self._observe = observe
        # Kubernetes' own tell of each that comes again, up to their share.
        self._rows = EventRows(eager=BURST if source else 2)
        self._number = 0
        self._news = asyncio.Event()
        self._begin: Callable[[], object] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._failures = 0
        self._closed: dict[str, float] = {}  # namespaces, and until when
        self._complained: dict[str, float] = {}  # errors, and until when they are old news
        self._drops_due_at = 0.0

    def begin_with(self, begin: Callable[[], object]) -> None:
        """Have ``begin`` start ``run`` when there is a first event: most have none for long."""
        # Whoever records it first is not the one to whom all the rest belongs.
        self._begin = partial(copy_context().run, begin)

    def record(
        self,
        obj: Resource | Unstructured,
        reason: str,
        note: str,
        *,
        type: Literal["Normal", "Warning"] = "Normal",
        action: str = "Reconcile",
        related: Resource | Unstructured | None = None,
    ) -> None:
        """An event about ``obj``, written soon; what is too long for the server is cut."""
        if self._begin is not None:
            begin, self._begin = self._begin, None
            begin()
        about = _identity(obj)
        said = Said(
            about,
            type,
            cut(reason, LONGEST_WORD),
            cut(action, LONGEST_WORD),
            cut(note, LONGEST_NOTE),
            "" if related is None else _identity(related),
        )
        now_at, now_time = self._clock.monotonic(), self._clock.now()
        is_one_more = self._rows.repeated(said, now_at=now_at, now_time=now_time)
        if not is_one_more and self._rows.may_begin(about, now_at=now_at):
            self._number += 1
            row = Row(
                said,
                regarding=reference_to(obj),
                related=None if related is None else reference_to(related),
                name=event_name(obj.ref, now_time, self._number, self._rng),
                now_at=now_at,
                now_time=now_time,
            )
            self._rows.begin(row)
        self._news.set()

    async def run(self) -> None:
        """Write what is recorded, until cancelled; ``flush`` writes what is left then."""
        while True:
            self._news.clear()
            now_at = self._clock.monotonic()
            row = self._rows.take_due(now_at=now_at)
            if row is not None:
                wait_seconds = await self._write(row)
                if wait_seconds:
                    # Whatever is the matter with the server, all others in line would find it too.
                    await self._clock.sleep(wait_seconds)
                continue
            self._rows.forget_old(now_at=now_at)
            if self._rows.has_dropped and now_at >= self._drops_due_at:
                self._tell_of_drops()
                self._drops_due_at = now_at + _DROPS_SECONDS
            await self._rest(now_at)

    async def flush(self, *, within_seconds: float) -> None:
        """Write all that is left, as far as it can be done in time; drop the rest."""
        try:
            async with self._clock.timeout(within_seconds):
                while True:
                    async with self._one_at_a_time:
                        pass  # what ``run`` is still writing is done
                    row = self._rows.take_due(now_at=inf)
                    # There is no time to wait until a server that is unwell is well again.
                    if row is None or await self._write(row):
                        break
        except TimeoutError:
            pass
        while (row := self._rows.take_due(now_at=inf)) is not None:
            self._rows.give_up(row, "the operator stopped")
        self._tell_of_drops()

    async def _rest(self, now_at: float) -> None:
        waits = [self._rows.due_seconds(now_at=now_at)]
        if self._rows.has_dropped:
            waits.append(self._drops_due_at - now_at)
        try:
            async with self._clock.timeout(min((w for w in waits if w is not None), default=None)):
                await self._news.wait()
        except TimeoutError:
            pass

    async def _write(self, row: Row) -> float:
        """Tell the server of a row; how long to wait before the next, if there is a reason to."""
        try:
            async with self._one_at_a_time:
                return await self._write_now(row)
        except asyncio.CancelledError:
            self._rows.put_back(row, now_at=self._clock.monotonic())
            raise

    async def _write_now(self, row: Row) -> float:
        now_at = self._clock.monotonic()
        if now_at < self._closed.get(row.namespace, now_at):
            self._rows.give_up(row, "the namespace takes no events")
            return 0.0
        times = row.count
        try:
            await (self._patch(row) if row.told else self._create(row))
        except _PASSING as error:
            return self._try_later(row, error)
        except SteersmanError as error:
            self._failures = 0
            if isinstance(error, Forbidden):
                self._close(row.namespace)
            self._give_up(row, error)
            return 0.0
        self._failures = 0
        self._rows.was_told(row, times, now_at=self._clock.monotonic())
        return 0.0

    async def _create(self, row: Row) -> None:
        event: Resource
        if self._source:
            event = component_event(row, self._source)
        else:
            event = event_of(row, self._reporting, self._instance)
        try:
            await self._client.create(event)
        except AlreadyExists:
            # The answer to an earlier attempt was lost. What came since is still to be told.
            if row.count > 1:
                await self._patch(row)

    async def _patch(self, row: Row) -> None:
        kind: type[Resource] = core_v1.Event if self._source else events_v1.Event
        patch = component_change(row) if self._source else change_of(row)
        try:
            await self._client.patch(kind, row.name, patch, namespace=row.namespace)
        except NotFound:
            # The server keeps events for an hour or so, and somebody may have deleted it.
            await self._create(row)

    def _try_later(self, row: Row, error: SteersmanError) -> float:
        self._failures += 1
        row.tries += 1
        if row.tries < _MOST_TRIES:
            self._rows.put_back(row, now_at=self._clock.monotonic())
        else:
            self._give_up(row, error)
        asked = error.retry_after_seconds if isinstance(error, TooManyRequests) else None
        asked_seconds = min(asked or 0.0, _LONGEST_RETRY_AFTER_SECONDS)
        return max(asked_seconds, _BACKOFF.wait_seconds(self._failures, rng=self._rng))

    def _give_up(self, row: Row, error: SteersmanError) -> None:
        # The first error of its sort is told; those that follow are only counted.
        name, now_at = type(error).__name__, self._clock.monotonic()
        is_news = now_at >= self._complained.get(name, now_at)
        self._rows.give_up(row, None if is_news else f"refused: {name}")
        if is_news:
            self._complained[name] = now_at + _CLOSED_SECONDS
            regarding = row.regarding
            ref = ObjectRef(regarding.kind or "", regarding.namespace, regarding.name or "")
            self._observe(EventNotRecorded(controller=self._controller, ref=ref, error=error))

    def _close(self, namespace: str) -> None:
        now_at = self._clock.monotonic()
        self._closed = {each: at for each, at in self._closed.items() if at > now_at}
        self._closed[namespace] = now_at + _CLOSED_SECONDS

    def _tell_of_drops(self) -> None:
        for reason, count in self._rows.take_dropped().items():
            self._observe(EventsDropped(controller=self._controller, count=count, reason=reason))

    def __repr__(self) -> str:
        return f"<EventRecorder of {self._controller}: {self._rows!r}>"


def cut(text: str, longest_bytes: int) -> str:
    """The text as it can be sent, cut between two characters if it is too long."""
    whole = str(text)[: longest_bytes + 1]  # no character is less than a byte
    # Half of a pair, as a file's name can hold it, is no character, and JSON has no place for it.
    coded = whole.encode("utf-8", "replace")
    if len(coded) <= longest_bytes:
        return coded.decode()
    return coded[: longest_bytes - len("…".encode())].decode("utf-8", "ignore") + "…"


def reporting_name(controller: str) -> str:
    """The name of a controller as the server takes it: a label's key, with 63 characters."""
    try:
        return check_label_key(controller)
    except BadName:
        return _UNFIT.sub("-", controller.lower())[:63].strip(".-") or "controller"


def event_name(ref: ObjectRef, now_time: datetime, number: int, rng: Random) -> str:
    """A name for an event about this object that no other has, and that the server accepts.

    Names are in the order of time, and then of numbers: kubectl shows events of one second in the
    order of their names. Not every object's name is a DNS name (``system:node`` is a role), and an
    event's must be.
    """
    # Twenty-four digits and a dot, of 253 characters.
    readable = _UNFIT.sub("-", ref.name.lower())[:228].rstrip(".-")
    try:
        check_subdomain(readable)
    except BadName:
        readable = _UNFIT.sub("-", ref.kind.lower())
    micros = (now_time - _EPOCH) // timedelta(microseconds=1)
    return f"{readable}.{micros:014x}{number & 0xFFFF:04x}{rng.getrandbits(24):06x}"


def _identity(obj: Resource | Unstructured) -> str:
    return obj.uid or str(obj.ref)
