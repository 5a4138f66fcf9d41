"""The reflector: a list and a watch, joined into one unbroken story across any disconnect.

A dull driver. Where it stands and what follows from what it hears is decided in ``position``, how
long it waits in ``backoff``; here questions are asked and answers passed on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from math import inf
from random import Random
from typing import Final, Generic, NoReturn, TypeVar, assert_never

import msgspec

from steersman.client import Bookmark, Removed, WatchEvent, Wrote
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
from steersman.watch.backoff import Streak, wait_seconds
from steersman.watch.collecting import Collection
from steersman.watch.position import (
    Begun,
    Broke,
    Collecting,
    Confirmed,
    Ended,
    Heard,
    Listed,
    MayWatch,
    Missing,
    MustList,
    MustProbe,
    Position,
    Told,
    advance,
    follow,
    meaning_of,
)
from steersman.watch.settings import ReflectorSettings
from steersman.watch.sink import Sink
from steersman.watch.source import Source
from steersman.watch.telling import Teller
from steersman.watch.versions import is_older

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# A watch that has lasted so long ends a row of failures; one that has not is one more of them,
# whatever the server says. Longer than a crash loop takes to crash, shorter than load balancers
# let a quiet connection be.
STEADY_SECONDS: Final = 10.0

# After so many events in a row, whoever else has something to do gets a turn.
TURN_EVENTS: Final = 500

# What a server answers that does not know initial events, or has them turned off.
_REFUSALS_TO_STREAM: Final = (BadRequest, Invalid, MethodNotAllowed)


class _Trouble(msgspec.Struct, frozen=True):
    """What went wrong, and what it means for the position."""

    heard: Heard
    error: SteersmanError


class Reflector(Generic[Obj]):
    """Tells ``into`` all that is and all that happens at ``source``, for as long as it runs."""

    def __init__(
        self,
        source: Source[Obj],
        into: Sink[Obj],
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
        self._tell = Teller(observe, resource=source.resource, ref=source.ref)
        self._streams = settings.initial == "streamed"
        # Half, because whole seconds are asked for.
        self._steady_seconds = min(STEADY_SECONDS, settings.watch_seconds / 2)
        self._position: Position = MustList()
        self._streak = Streak()
        self._last_contact_at: float | None = None
        self._is_connected = False
        self._failing_since_at: float | None = None
        self._last_error: SteersmanError | None = None
        # Called after a failure and when a watch opens, so that waiters look at the state again.
        self._on_change = on_change
        # While a watch is open that is cut when it is silent: set to cut it now.
        self._cut: asyncio.Event | None = None

    @property
    def is_connected(self) -> bool:
        """Whether a watch is open, and everything before it has been told."""
        return self._is_connected

    @property
    def last_contact_at(self) -> float | None:
        """When the server last said anything; ``None``: never."""
        return self._last_contact_at

    @property
    def failing_since_at(self) -> float | None:
        """When the first failure was since a watch was last open; ``None`` if there was none."""
        return self._failing_since_at

    @property
    def last_error(self) -> SteersmanError | None:
        """The last of those failures."""
        return self._last_error

    def __repr__(self) -> str:
        state = "connected" if self._is_connected else "not connected"
        return f"<Reflector {self._source.ref} {state}, {self._position}>"

    @property
    def ref(self) -> ObjectRef:
        """What it lists and watches."""
        return self._source.ref

    def reconnect(self) -> bool:
        """Cut the watch that is open, as if it had been silent for too long; whether there was one.

        It is resumed from the last version, after the usual wait. A reflector that never cuts a
        silent watch does not do so here.
        """
        if self._cut is None:
            return False
        self._cut.set()
        return True

    async def run(self) -> NoReturn:
        """Listen and tell, until cancelled; begins with a list, whatever was heard before."""
        self._position = MustList(self._before().seen)
        try:
            while True:
                trouble = await self._step()
                if trouble is not None:
                    await self._recover(trouble)
        finally:
            self._tell.no_longer()

    async def _step(self) -> _Trouble | None:
        position = self._position
        try:
            match position:
                case MayWatch():
                    return await self._watch(position)
                case MustProbe(version):
                    await self._source.probe(version)
                    self._last_contact_at = self._clock.monotonic()
                    self._hear(Confirmed())
                    return None
                case MustList():
                    return await (self._watch(position) if self._streams else self._list())
                case Collecting():  # and the watch it was in is over
                    self._hear(Broke())
                    return None
                case _:
                    assert_never(position)
        except SteersmanError as error:
            return _Trouble(meaning_of(error), error)

    async def _recover(self, trouble: _Trouble) -> None:
        error = trouble.error
        self._hear(trouble.heard)
        self._last_error = error
        if self._failing_since_at is None:
            self._failing_since_at = self._clock.monotonic()
        is_news = self._streak.add(error)
        failures = self._streak.failures
        wait = wait_seconds(
            failures,
            error,
            rng=self._rng,
            longest_retry_after_seconds=self._settings.longest_retry_after_seconds,
        )
        self._tell.failed(error, failures=failures, wait_seconds=wait, is_news=is_news)
        if isinstance(trouble.heard, Missing):
            self._let_ghosts_go(error)
        if self._on_change is not None:
            self._on_change()
        await self._clock.sleep(wait)

    def _let_ghosts_go(self, error: SteersmanError) -> None:
        position = self._position
        if isinstance(position, MustList) and position.missing == self._settings.missing_limit:
            self._tell.missing(error)
            if position.seen:
                self._into.replace({}, (), position.seen, rewound=False)

    # What there is

    async def _list(self) -> _Trouble | None:
        started_at = self._clock.monotonic()
        collection: Collection[Obj] = Collection()
        version: str | None = None
        async for page in self._source.pages(page_size=self._settings.page_size):
            self._last_contact_at = self._clock.monotonic()
            if version is None and page.resource_version:
                # The first page's: were a later one's newer, what happened between the two would
                # still have to be told, and from here on it is.
                version = page.resource_version
                if (refusal := self._refusal_of(version)) is not None:
                    return refusal
            collection.add_page(page)
        return self._take_over(collection, version or "", started_at)

    def _take_over(
        self, collection: Collection[Obj], version: str, started_at: float
    ) -> _Trouble | None:
        """Make a whole list the truth, unless it is of the past."""
        if (refusal := self._refusal_of(version)) is not None:
            return refusal
        took_seconds = self._clock.monotonic() - started_at
        objects, misfits = collection.objects, collection.misfits
        before = self._before()
        is_rewound = is_older(version, before.seen)
        self._into.replace(objects, misfits, version, rewound=is_rewound)
        self._hear(Listed(version))
        if is_rewound:
            self._tell.rewound(before.seen, version)
        self._tell.listed(len(objects), len(misfits), took_seconds, before.why)
        return None

    def _refusal_of(self, version: str) -> _Trouble | None:
        """Why a list of this version cannot be gone on from, if it cannot."""
        if version in ("", "0"):
            problem = "the server does not say of which version the list is"
            return _Trouble(Broke(), self._tell.nonsense("list", problem))
        if isinstance(self._after(Listed(version)), MayWatch):
            return None
        problem = f"the server's list is of version {version}, older than {self._before().seen}"
        return _Trouble(Listed(version), self._tell.nonsense("list", problem))

    def _before(self) -> MustList:
        position = self._position
        match position:
            case MustList():
                return position
            case Collecting(before):
                return before
            case MustProbe(version) | MayWatch(version):
                return MustList(version)
            case _:
                assert_never(position)

    # What happens

    async def _watch(self, start: MayWatch | MustList) -> _Trouble | None:
        if self._settings.silence_seconds == inf:
            return await self._listen(start)
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._listen(start), name=f"watch {self._source.ref}")
            silent_seconds = await self._cut_when_silent(listener)
        if silent_seconds is None or not listener.cancelled():
            return listener.result()
        self._tell.silent(silent_seconds)
        error = Unreachable(
            f"could not watch {self._source.ref}: nothing was heard for {silent_seconds:.0f} s."
            f" Check the way to the API server, and whether it lets long connections be."
        )
        if isinstance(self._position, Collecting):
            self._stop_streaming(error)
        return _Trouble(Broke(), error)

    async def _cut_when_silent(self, listener: "asyncio.Task[_Trouble | None]") -> float | None:
        """Cancel the listener once nothing was heard for too long; after how long that was."""
        # No timeout for each event: an event only notes when it came.
        opened_at = self._clock.monotonic()
        self._cut = cut = asyncio.Event()
        listener.add_done_callback(lambda _: cut.set())
        try:
            while not listener.done():
                heard_at = max(opened_at, self._last_contact_at or opened_at)
                silent_seconds = self._clock.monotonic() - heard_at
                if cut.is_set() or silent_seconds >= self._settings.silence_seconds:
                    listener.cancel()
                    return silent_seconds
                with suppress(TimeoutError):
                    async with self._clock.timeout(self._settings.silence_seconds - silent_seconds):
                        await cut.wait()
            return None
        finally:
            self._cut = None

    async def _listen(self, start: MayWatch | MustList) -> _Trouble | None:
        """One watch, from beginning to end.

        Errors are returned: where silence counts, it is a task in a group of its own.
        """
        started_at = self._clock.monotonic()
        timeout_seconds = self._settings.watch_seconds * (1 + self._rng.random())
        try:
            if isinstance(start, MayWatch):
                async with self._source.watch(
                    version=start.version, initial_events=False, timeout_seconds=timeout_seconds
                ) as events:
                    trouble = await self._follow(events, start)
            else:
                async with self._source.watch(
                    version=None, initial_events=True, timeout_seconds=timeout_seconds
                ) as events:
                    trouble = await self._collect(events, started_at)
                    position = self._position
                    if not isinstance(position, MayWatch):
                        return trouble
                    trouble = await self._follow(events, position)
        except SteersmanError as error:
            has_streamed = isinstance(self._position, MayWatch)
            if isinstance(error, _REFUSALS_TO_STREAM) and not has_streamed:
                self._stop_streaming(error)
                return None
            trouble = _Trouble(meaning_of(error), error)
        lasted_seconds = self._clock.monotonic() - started_at
        if trouble is None and lasted_seconds < self._steady_seconds:
            problem = f"the server ended the watch after {lasted_seconds:.1f} s"
            return _Trouble(Ended(), self._tell.nonsense("watch", problem))
        if trouble is None:
            self._hear(Ended())
        return trouble

    async def _collect(
        self, events: AsyncIterator[WatchEvent[Obj]], started_at: float
    ) -> _Trouble | None:
        """The initial events of a watch, up to their end, where they become one list."""
        self._hear(Begun())
        collection: Collection[Obj] = Collection()
        async for event in events:
            self._last_contact_at = self._clock.monotonic()
            if not isinstance(event, Bookmark):
                collection.add(event)
            elif event.ends_initial_events:
                return self._take_over(collection, event.resource_version, started_at)
            else:
                break
        # It ends, or goes on as if there were nothing to end: it does not know initial events.
        problem = "the server does not say where the initial events end"
        self._stop_streaming(self._tell.nonsense("watch", problem))
        return None

    def _stop_streaming(self, error: SteersmanError) -> None:
        self._streams = False
        self._hear(Broke())
        self._tell.streaming_refused(error)

    async def _follow(
        self, events: AsyncIterator[WatchEvent[Obj]], position: MayWatch
    ) -> _Trouble | None:
        """What happens from the position on, passed on as it comes."""
        into, monotonic = self._into, self._clock.monotonic
        is_repeating = False
        count = told = 0
        started_at = self._connect()
        try:
            async for event in events:
                self._last_contact_at = monotonic()
                if isinstance(event, (Wrote, Removed)):
                    version = event.obj.resource_version
                else:
                    version = event.resource_version
                after = follow(position, version)
                if isinstance(after, MustList):
                    return self._out_of_order(version, position.version)
                is_repeat, self._position, position = after is position, after, after
                if isinstance(event, Wrote):
                    into.upsert(event.obj)
                elif isinstance(event, Removed):
                    into.delete(event.obj)
                elif isinstance(event, Bookmark):
                    into.progress(version)
                    self._tell.heard(count)
                    count = 0
                    continue
                else:
                    into.decode_failed(event.error, version, is_gone=event.is_gone)
                count += 1
                if is_repeat and not is_repeating:
                    is_repeating = True
                    self._tell.out_of_order(version, version)
                told += 1
                if told % TURN_EVENTS == 0:
                    await self._clock.sleep(0)
            return None
        finally:
            self._tell.heard(count)
            self._disconnect(started_at)

    def _out_of_order(self, version: str, reached: str) -> _Trouble:
        self._tell.out_of_order(version, reached)
        problem = f"the server told of version {version} after {reached}"
        return _Trouble(Told(version), self._tell.nonsense("watch", problem))

    def _connect(self) -> float:
        self._is_connected = True
        self._failing_since_at = None
        self._last_error = None
        self._tell.started(self._streak.failures)
        self._last_contact_at = self._clock.monotonic()
        if self._on_change is not None:
            self._on_change()
        return self._last_contact_at

    def _disconnect(self, started_at: float) -> None:
        lasted_seconds = self._clock.monotonic() - started_at
        if lasted_seconds >= self._steady_seconds:
            self._streak.end()
        self._is_connected = False
        self._tell.ended(lasted_seconds)

    # Where we stand

    def _after(self, heard: Heard) -> Position:
        return advance(self._position, heard, too_large_limit=self._settings.too_large_limit)

    def _hear(self, heard: Heard) -> None:
        self._position = self._after(heard)
