"""``EventRecorder``: records Kubernetes events about objects, which ``kubectl describe`` shows."""

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
from steersman.controller.events.correlator import (
    BURST,
    EventCorrelator,
    EventEntry,
    EventKey,
    reference_to,
)
from steersman.controller.events.event_objects import (
    to_core_event,
    to_core_event_patch,
    to_event,
    to_event_patch,
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
MAX_NOTE_LENGTH: Final = 1024
MAX_WORD_LENGTH: Final = 128

# The time limit of one event, because others are queued.
_DEADLINE_SECONDS: Final = 10.0
# client-go tries twelve times, every ten seconds; the event is two minutes old by then.
_MAX_TRIES: Final = 5
# After a longer wait, the event would be useless.
_MAX_RETRY_AFTER_SECONDS: Final = 60.0
_BACKOFF: Final = BackoffPolicy(first_seconds=1.0, max_seconds=30.0, jitter=0.5)
# The time without events for a namespace that rejected one: it is being deleted, or the operator
# lacks the permission. Also the time for which the same error is not reported again.
_CLOSED_SECONDS: Final = 300.0
# The interval between two reports of dropped events.
_DROPS_SECONDS: Final = 60.0

_PASSING: Final = (Unreachable, TooManyRequests, ServerFailed, Unauthorized)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNFIT: Final = re.compile(r"[^a-z0-9.-]+")


class EventRecorder:
    """A recorder that writes Kubernetes events in the background; its callers do not wait.

    Repeated events are written as one object with a count. Too many different events about one
    object, or too many queued events, are dropped and counted. If the API server rejects an event,
    that is reported as an observation, and no reconcile fails.

    ``controller`` is the reporting controller, as ``NAME`` or ``DOMAIN/NAME``; observations contain
    only the ``NAME``. If ``source`` is given, events are written as core events with ``source`` as
    their source component, as the controllers of Kubernetes do. ``record`` must be called in the
    thread of the event loop.
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
        self._client = client.with_settings(deadline_seconds=_DEADLINE_SECONDS)
        self._reporting = reporting_name(controller)
        self._controller = controller.rpartition("/")[2]
        self._instance = truncated(instance, MAX_WORD_LENGTH) or self._reporting
        self._clock = clock
        self._rng = rng
        self._observe = observe
        # Kubernetes' own controllers write each repeated event, up to the limit for its object.
        self._correlator = EventCorrelator(eager=BURST if source else 2)
        self._number = 0
        self._recorded = asyncio.Event()
        self._start: Callable[[], object] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._failures = 0
        self._closed_until: dict[str, float] = {}  # namespaces, by the time until when
        self._reported_until: dict[str, float] = {}  # names of errors, by the time until when
        self._drops_due_at = 0.0

    def start_with(self, start: Callable[[], object]) -> None:
        """Set the function that starts ``run``; the first call of ``record`` calls ``start``.

        ``run`` is not started earlier, because most controllers record their first event late.
        """
        # The task must not inherit the context variables of the first caller of ``record``.
        self._start = partial(copy_context().run, start)

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
        """Record an event about ``obj``; texts that are too long for the server are truncated."""
        if self._start is not None:
            start, self._start = self._start, None
            start()
        about = _identity(obj)
        key = EventKey(
            about,
            type,
            truncated(reason, MAX_WORD_LENGTH),
            truncated(action, MAX_WORD_LENGTH),
            truncated(note, MAX_NOTE_LENGTH),
            "" if related is None else _identity(related),
        )
        now_at, now_time = self._clock.monotonic(), self._clock.now()
        is_repeat = self._correlator.count_repeat(key, now_at=now_at, now_time=now_time)
        if not is_repeat and self._correlator.allows(about, now_at=now_at):
            self._number += 1
            entry = EventEntry(
                key,
                regarding=reference_to(obj),
                related=None if related is None else reference_to(related),
                name=event_name(obj.ref, now_time, self._number, self._rng),
                now_at=now_at,
                now_time=now_time,
            )
            self._correlator.add(entry)
        self._recorded.set()

    async def run(self) -> None:
        """Write recorded events until this task is cancelled; ``flush`` then writes the rest."""
        while True:
            self._recorded.clear()
            now_at = self._clock.monotonic()
            entry = self._correlator.take_due(now_at=now_at)
            if entry is not None:
                wait_seconds = await self._write(entry)
                if wait_seconds:
                    # A failing server would fail the queued events, too.
                    await self._clock.sleep(wait_seconds)
                continue
            self._correlator.forget_old(now_at=now_at)
            if self._correlator.has_dropped and now_at >= self._drops_due_at:
                self._report_drops()
                self._drops_due_at = now_at + _DROPS_SECONDS
            await self._rest(now_at)

    async def flush(self, *, within_seconds: float) -> None:
        """Write the queued events; drop those that are not written after ``within_seconds``."""
        try:
            async with self._clock.timeout(within_seconds):
                while True:
                    async with self._one_at_a_time:
                        pass  # wait for the current write of ``run``
                    entry = self._correlator.take_due(now_at=inf)
                    # There is no time to wait for a failing server.
                    if entry is None or await self._write(entry):
                        break
        except TimeoutError:
            pass
        while (entry := self._correlator.take_due(now_at=inf)) is not None:
            self._correlator.give_up(entry, "the operator stopped")
        self._report_drops()

    async def _rest(self, now_at: float) -> None:
        waits = [self._correlator.due_seconds(now_at=now_at)]
        if self._correlator.has_dropped:
            waits.append(self._drops_due_at - now_at)
        try:
            async with self._clock.timeout(min((w for w in waits if w is not None), default=None)):
                await self._recorded.wait()
        except TimeoutError:
            pass

    async def _write(self, entry: EventEntry) -> float:
        """Write an entry; return the seconds to wait before the next entry."""
        try:
            async with self._one_at_a_time:
                return await self._write_now(entry)
        except asyncio.CancelledError:
            self._correlator.requeue(entry, now_at=self._clock.monotonic())
            raise

    async def _write_now(self, entry: EventEntry) -> float:
        now_at = self._clock.monotonic()
        if now_at < self._closed_until.get(entry.namespace, now_at):
            self._correlator.give_up(entry, "the namespace does not accept events")
            return 0.0
        times = entry.count
        try:
            await (self._patch(entry) if entry.written else self._create(entry))
        except _PASSING as error:
            return self._try_later(entry, error)
        except SteersmanError as error:
            self._failures = 0
            if isinstance(error, Forbidden):
                self._close(entry.namespace)
            self._give_up(entry, error)
            return 0.0
        self._failures = 0
        self._correlator.mark_written(entry, times, now_at=self._clock.monotonic())
        return 0.0

    async def _create(self, entry: EventEntry) -> None:
        event: Resource
        if self._source:
            event = to_core_event(entry, self._source)
        else:
            event = to_event(entry, self._reporting, self._instance)
        try:
            await self._client.create(event)
        except AlreadyExists:
            # An earlier attempt succeeded without a response. Later events still have to be
            # written.
            if entry.count > 1:
                await self._patch(entry)

    async def _patch(self, entry: EventEntry) -> None:
        kind: type[Resource] = core_v1.Event if self._source else events_v1.Event
        patch = to_core_event_patch(entry) if self._source else to_event_patch(entry)
        try:
            await self._client.patch(kind, entry.name, patch, namespace=entry.namespace)
        except NotFound:
            # The server deletes events after an hour by default.
            await self._create(entry)

    def _try_later(self, entry: EventEntry, error: SteersmanError) -> float:
        self._failures += 1
        entry.tries += 1
        if entry.tries < _MAX_TRIES:
            self._correlator.requeue(entry, now_at=self._clock.monotonic())
        else:
            self._give_up(entry, error)
        asked = error.retry_after_seconds if isinstance(error, TooManyRequests) else None
        asked_seconds = min(asked or 0.0, _MAX_RETRY_AFTER_SECONDS)
        return max(asked_seconds, _BACKOFF.wait_seconds(self._failures, rng=self._rng))

    def _give_up(self, entry: EventEntry, error: SteersmanError) -> None:
        # The first error of a type is reported; later ones are only counted.
        name, now_at = type(error).__name__, self._clock.monotonic()
        is_first = now_at >= self._reported_until.get(name, now_at)
        self._correlator.give_up(entry, None if is_first else f"refused: {name}")
        if is_first:
            self._reported_until[name] = now_at + _CLOSED_SECONDS
            regarding = entry.regarding
            ref = ObjectRef(regarding.kind or "", regarding.namespace, regarding.name or "")
            self._observe(EventNotRecorded(controller=self._controller, ref=ref, error=error))

    def _close(self, namespace: str) -> None:
        now_at = self._clock.monotonic()
        self._closed_until = {each: at for each, at in self._closed_until.items() if at > now_at}
        self._closed_until[namespace] = now_at + _CLOSED_SECONDS

    def _report_drops(self) -> None:
        for reason, count in self._correlator.take_dropped().items():
            self._observe(EventsDropped(controller=self._controller, count=count, reason=reason))

    def __repr__(self) -> str:
        return f"<EventRecorder of {self._controller}: {self._correlator!r}>"


def truncated(text: str, max_bytes: int) -> str:
    """Return ``text``, truncated at a character boundary to at most ``max_bytes`` bytes."""
    whole = str(text)[: max_bytes + 1]  # a character has at least one byte
    # A lone surrogate, as a file name can hold it, cannot be encoded.
    coded = whole.encode("utf-8", "replace")
    if len(coded) <= max_bytes:
        return coded.decode()
    return coded[: max_bytes - len("…".encode())].decode("utf-8", "ignore") + "…"


def reporting_name(controller: str) -> str:
    """Return ``controller``, the name of a controller, as a valid label key of at most 63
    characters.
    """
    try:
        return check_label_key(controller)
    except BadName:
        return _UNFIT.sub("-", controller.lower())[:63].strip(".-") or "controller"


def event_name(ref: ObjectRef, now_time: datetime, number: int, rng: Random) -> str:
    """Return a unique and valid name for an event about the object ``ref``.

    The names sort by time, and then by ``number``, because kubectl shows events of the same second
    in the order of their names. The name of an event must be a DNS name. Some names of objects are
    not DNS names, such as ``system:node`` of a ClusterRole; the name of the event then begins with
    the object's kind instead.
    """
    # The suffix takes a dot and 24 digits of the 253 characters.
    readable = _UNFIT.sub("-", ref.name.lower())[:228].rstrip(".-")
    try:
        check_subdomain(readable)
    except BadName:
        readable = _UNFIT.sub("-", ref.kind.lower())
    micros = (now_time - _EPOCH) // timedelta(microseconds=1)
    return f"{readable}.{micros:014x}{number & 0xFFFF:04x}{rng.getrandbits(24):06x}"


def _identity(obj: Resource | Unstructured) -> str:
    return obj.uid or str(obj.ref)
