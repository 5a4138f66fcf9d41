"""The reflector: lists and watches, and resumes without a gap after each lost connection.

The module ``position`` defines the effect of each input, and the module ``backoff`` the wait after
failures. This module sends the requests and passes the responses to the store.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from math import inf
from random import Random
from typing import Final, Generic, NoReturn, TypeVar, assert_never

import msgspec

from steersman.client import Bookmark, ObjectDeleted, ObjectWritten, WatchEvent
from steersman.clock import Clock
from steersman.errors import (
    BadRequest,
    Invalid,
    MethodNotAllowed,
    SteersmanError,
    Unreachable,
)
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectRef
from steersman.observe import Observer
from steersman.watch.backoff import FailureStreak, wait_seconds
from steersman.watch.list_builder import ListBuilder
from steersman.watch.lister_watcher import ListerWatcher
from steersman.watch.position import (
    Confirmed,
    Ended,
    EventReceived,
    Failed,
    Input,
    ListCompleted,
    MayWatch,
    Missing,
    MustList,
    MustProbe,
    Position,
    Streaming,
    StreamStarted,
    advance,
    advance_by_event,
    classify,
)
from steersman.watch.reflector_events import ReflectorEvents
from steersman.watch.reflector_store import ReflectorStore
from steersman.watch.settings import ReflectorSettings
from steersman.watch.versions import is_older

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# A watch that lasts this long ends a series of failures; a shorter watch counts as another failure.
# Longer than a crash loop takes to crash, shorter than load balancers' idle timeouts.
STEADY_SECONDS: Final = 10.0

# The number of events after which other tasks run.
BATCH_EVENTS: Final = 500

# The errors of a server that does not support initial events.
_REFUSALS_TO_STREAM: Final = (BadRequest, Invalid, MethodNotAllowed)


class _Failure(msgspec.Struct, frozen=True):
    """An error, and the input for the position that corresponds to the error."""

    received: Input
    error: SteersmanError


class Reflector(Generic[Obj]):
    """Lists and watches ``source``, and passes all objects and events to the store ``into``."""

    def __init__(
        self,
        source: ListerWatcher[Obj],
        into: ReflectorStore[Obj],
        *,
        clock: Clock,
        rng: Random,
        observe: Observer,
        settings: ReflectorSettings,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        self._source = source
        self._into = into
        self._clock = clock
        self._rng = rng
        self._settings = settings
        self._events = ReflectorEvents(observe, resource=source.resource, ref=source.ref)
        self._streams = settings.initial == "streamed"
        # Half, because the server's timeout is in whole seconds.
        self._steady_seconds = min(STEADY_SECONDS, settings.watch_seconds / 2)
        self._position: Position = MustList()
        self._streak = FailureStreak()
        self._last_contact_at: float | None = None
        self._is_connected = False
        self._failing_since_at: float | None = None
        self._last_error: SteersmanError | None = None
        # Called after a failure and when a watch opens, so that waiters check the state again.
        self._on_change = on_change
        # Exists while a watch is open that is closed when silent: set to close it now.
        self._cut: asyncio.Event | None = None

    @property
    def is_connected(self) -> bool:
        """Whether a watch is open and all earlier events have been passed to the store."""
        return self._is_connected

    @property
    def last_contact_at(self) -> float | None:
        """The time at which the server last sent data; ``None`` means never."""
        return self._last_contact_at

    @property
    def failing_since_at(self) -> float | None:
        """The time of the first failure since a watch was last open; ``None`` without failures."""
        return self._failing_since_at

    @property
    def last_error(self) -> SteersmanError | None:
        """The last failure since a watch was last open; ``None`` without failures."""
        return self._last_error

    def __repr__(self) -> str:
        state = "connected" if self._is_connected else "not connected"
        return f"<Reflector {self._source.ref} {state}, {self._position}>"

    @property
    def ref(self) -> ObjectRef:
        """The objects that the reflector lists and watches, in readable form: ``Pod default/*``."""
        return self._source.ref

    def reconnect(self) -> bool:
        """Close the open watch, as after a long silence; return whether a watch was open.

        The reflector resumes the watch from the last version, after the usual wait. Nothing is
        closed if the settings of the reflector disable the closing of silent watches.
        """
        if self._cut is None:
            return False
        self._cut.set()
        return True

    async def run(self) -> NoReturn:
        """List and watch until this coroutine is cancelled; each call begins with a list."""
        self._position = MustList(self._before().reached)
        try:
            while True:
                failure = await self._step()
                if failure is not None:
                    await self._recover(failure)
        finally:
            self._events.stopped()

    async def _step(self) -> _Failure | None:
        position = self._position
        try:
            match position:
                case MayWatch():
                    return await self._watch(position)
                case MustProbe(version):
                    await self._source.probe(version)
                    self._last_contact_at = self._clock.monotonic()
                    self._advance(Confirmed())
                    return None
                case MustList():
                    return await (self._watch(position) if self._streams else self._list())
                case Streaming():  # the watch has ended
                    self._advance(Failed())
                    return None
                case _:
                    assert_never(position)
        except SteersmanError as error:
            return _Failure(classify(error), error)

    async def _recover(self, failure: _Failure) -> None:
        error = failure.error
        self._advance(failure.received)
        self._last_error = error
        if self._failing_since_at is None:
            self._failing_since_at = self._clock.monotonic()
        is_news = self._streak.add(error)
        failures = self._streak.failures
        wait = wait_seconds(
            failures,
            error,
            rng=self._rng,
            max_retry_after_seconds=self._settings.max_retry_after_seconds,
        )
        self._events.failed(error, failures=failures, wait_seconds=wait, is_news=is_news)
        if isinstance(failure.received, Missing):
            self._drop_objects_of_missing_kind(error)
        if self._on_change is not None:
            self._on_change()
        await self._clock.sleep(wait)

    def _drop_objects_of_missing_kind(self, error: SteersmanError) -> None:
        position = self._position
        if isinstance(position, MustList) and position.missing == self._settings.missing_limit:
            self._events.missing(error)
            if position.reached:
                self._into.replace({}, (), position.reached, rewound=False)

    # List

    async def _list(self) -> _Failure | None:
        started_at = self._clock.monotonic()
        builder: ListBuilder[Obj] = ListBuilder()
        version: str | None = None
        async for page in self._source.pages(page_size=self._settings.page_size):
            self._last_contact_at = self._clock.monotonic()
            if version is None and page.resource_version:
                # The first page's: the watch then reports all changes since, even if a later page
                # has a newer version.
                version = page.resource_version
                if (refusal := self._rejection_of(version)) is not None:
                    return refusal
            builder.add_page(page)
        return self._replace(builder, version or "", started_at)

    def _replace(
        self, builder: ListBuilder[Obj], version: str, started_at: float
    ) -> _Failure | None:
        """Replace all objects by a complete list, unless the list is older than the position."""
        if (refusal := self._rejection_of(version)) is not None:
            return refusal
        took_seconds = self._clock.monotonic() - started_at
        objects, decode_failures = builder.objects, builder.decode_failures
        before = self._before()
        is_rewound = is_older(version, before.reached)
        self._into.replace(objects, decode_failures, version, rewound=is_rewound)
        self._advance(ListCompleted(version))
        if is_rewound:
            self._events.rewound(before.reached, version)
        self._events.listed(len(objects), len(decode_failures), took_seconds, before.why)
        return None

    def _rejection_of(self, version: str) -> _Failure | None:
        """Return why a watch cannot start from a list of this version; ``None`` if it can."""
        if version in ("", "0"):
            problem = "the server's list has no version"
            return _Failure(Failed(), self._events.bad_answer("list", problem))
        if isinstance(self._after(ListCompleted(version)), MayWatch):
            return None
        problem = f"the server's list is of version {version}, older than {self._before().reached}"
        return _Failure(ListCompleted(version), self._events.bad_answer("list", problem))

    def _before(self) -> MustList:
        position = self._position
        match position:
            case MustList():
                return position
            case Streaming(before):
                return before
            case MustProbe(version) | MayWatch(version):
                return MustList(version)
            case _:
                assert_never(position)

    # Watch

    async def _watch(self, start: MayWatch | MustList) -> _Failure | None:
        if self._settings.silence_seconds == inf:
            return await self._run_watch(start)
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._run_watch(start), name=f"watch {self._source.ref}")
            silent_seconds = await self._cut_when_silent(listener)
        if silent_seconds is None or not listener.cancelled():
            return listener.result()
        self._events.silent(silent_seconds)
        error = Unreachable(
            f"could not watch {self._source.ref}: nothing was received for {silent_seconds:.0f} s."
            f" Check the network to the API server, and whether it keeps long connections open."
        )
        if isinstance(self._position, Streaming):
            self._stop_streaming(error)
        return _Failure(Failed(), error)

    async def _cut_when_silent(self, listener: "asyncio.Task[_Failure | None]") -> float | None:
        """Cancel the listener once it has been silent for too long; return the silent seconds."""
        # Events only set a time, because a timeout for each event would be expensive.
        opened_at = self._clock.monotonic()
        self._cut = cut = asyncio.Event()
        listener.add_done_callback(lambda _: cut.set())
        try:
            while not listener.done():
                contact_at = max(opened_at, self._last_contact_at or opened_at)
                silent_seconds = self._clock.monotonic() - contact_at
                if cut.is_set() or silent_seconds >= self._settings.silence_seconds:
                    listener.cancel()
                    return silent_seconds
                with suppress(TimeoutError):
                    async with self._clock.timeout(self._settings.silence_seconds - silent_seconds):
                        await cut.wait()
            return None
        finally:
            self._cut = None

    async def _run_watch(self, start: MayWatch | MustList) -> _Failure | None:
        """Run one watch from beginning to end.

        Errors are returned, not raised, because a watch with a limit on silence runs in a task of
        its own, in a task group.
        """
        started_at = self._clock.monotonic()
        timeout_seconds = self._settings.watch_seconds * (1 + self._rng.random())
        try:
            if isinstance(start, MayWatch):
                async with self._source.watch(
                    version=start.version, initial_events=False, timeout_seconds=timeout_seconds
                ) as events:
                    failure = await self._receive_events(events, start)
            else:
                async with self._source.watch(
                    version=None, initial_events=True, timeout_seconds=timeout_seconds
                ) as events:
                    failure = await self._receive_initial_events(events, started_at)
                    position = self._position
                    if not isinstance(position, MayWatch):
                        return failure
                    failure = await self._receive_events(events, position)
        except SteersmanError as error:
            has_streamed = isinstance(self._position, MayWatch)
            if isinstance(error, _REFUSALS_TO_STREAM) and not has_streamed:
                self._stop_streaming(error)
                return None
            failure = _Failure(classify(error), error)
        lasted_seconds = self._clock.monotonic() - started_at
        if failure is None and lasted_seconds < self._steady_seconds:
            problem = f"the server ended the watch after {lasted_seconds:.1f} s"
            return _Failure(Ended(), self._events.bad_answer("watch", problem))
        if failure is None:
            self._advance(Ended())
        return failure

    async def _receive_initial_events(
        self, events: AsyncIterator[WatchEvent[Obj]], started_at: float
    ) -> _Failure | None:
        """Receive the initial events of a watch, and build one list from them."""
        self._advance(StreamStarted())
        builder: ListBuilder[Obj] = ListBuilder()
        async for event in events:
            self._last_contact_at = self._clock.monotonic()
            if not isinstance(event, Bookmark):
                builder.add(event)
            elif event.ends_initial_events:
                return self._replace(builder, event.resource_version, started_at)
            else:
                break
        # The end of the initial events was not marked: the server does not support them.
        problem = "the server does not mark the end of the initial events"
        self._stop_streaming(self._events.bad_answer("watch", problem))
        return None

    def _stop_streaming(self, error: SteersmanError) -> None:
        self._streams = False
        self._advance(Failed())
        self._events.streaming_refused(error)

    async def _receive_events(
        self, events: AsyncIterator[WatchEvent[Obj]], position: MayWatch
    ) -> _Failure | None:
        """Receive the events after the position, and pass them to the store."""
        into, monotonic = self._into, self._clock.monotonic
        is_repeating = False
        count = passed_on = 0
        started_at = self._connect()
        try:
            async for event in events:
                self._last_contact_at = monotonic()
                if isinstance(event, (ObjectWritten, ObjectDeleted)):
                    version = event.obj.resource_version
                else:
                    version = event.resource_version
                after = advance_by_event(position, version)
                if isinstance(after, MustList):
                    return self._out_of_order(version, position.version)
                is_repeat, self._position, position = after is position, after, after
                if isinstance(event, ObjectWritten):
                    into.upsert(event.obj)
                elif isinstance(event, ObjectDeleted):
                    into.delete(event.obj)
                elif isinstance(event, Bookmark):
                    into.progress(version)
                    self._events.received(count)
                    count = 0
                    continue
                else:
                    into.decode_failed(event.error, version, is_gone=event.is_gone)
                count += 1
                if is_repeat and not is_repeating:
                    is_repeating = True
                    self._events.out_of_order(version, version)
                passed_on += 1
                if passed_on % BATCH_EVENTS == 0:
                    await self._clock.sleep(0)
            return None
        finally:
            self._events.received(count)
            self._disconnect(started_at)

    def _out_of_order(self, version: str, reached: str) -> _Failure:
        self._events.out_of_order(version, reached)
        problem = f"the server sent version {version} after {reached}"
        return _Failure(EventReceived(version), self._events.bad_answer("watch", problem))

    def _connect(self) -> float:
        self._is_connected = True
        self._failing_since_at = None
        self._last_error = None
        self._events.started(self._streak.failures)
        self._last_contact_at = self._clock.monotonic()
        if self._on_change is not None:
            self._on_change()
        return self._last_contact_at

    def _disconnect(self, started_at: float) -> None:
        lasted_seconds = self._clock.monotonic() - started_at
        if lasted_seconds >= self._steady_seconds:
            self._streak.end()
        self._is_connected = False
        self._events.ended(lasted_seconds)

    # Position

    def _after(self, received: Input) -> Position:
        return advance(self._position, received, too_large_limit=self._settings.too_large_limit)

    def _advance(self, received: Input) -> None:
        self._position = self._after(received)
