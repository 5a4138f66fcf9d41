"""The informer: one kind followed, kept in memory, and told to handlers.

    reflector ──▶ delta FIFO ──▶ own writes ──▶ indexer ──▶ lister
                       │
                       └───────▶ handlers, each at its own pace

The store is updated before anyone is told. Each namespace of the scope is a part with a story of
its own; all parts share one indexer.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from typing import Any, Generic, TypeVar

import msgspec

from steersman.cache.background import Start, in_background
from steersman.cache.delta_fifo import Added, Deleted, Delta, Sync
from steersman.cache.flights import Flights, Ticket
from steersman.cache.handlers import Handler, PromptRegistration, Registration
from steersman.cache.indexer import Indexer
from steersman.cache.indexes import IndexFunction
from steersman.cache.lister import Lister
from steersman.cache.mutations import MutationDetector
from steersman.cache.part import Part
from steersman.cache.preparing import Preparation, PreparedSource
from steersman.cache.scope import Scope
from steersman.cache.telling import Teller
from steersman.client import Client, Deletion, is_gone
from steersman.errors import (
    BadSettings,
    CacheMutated,
    CacheSyncTimeout,
    InvalidObject,
    NotFollowed,
    NotFound,
    SteersmanError,
)
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Observer
from steersman.watch import ClientSource, Reflector, ReflectorSettings, key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)
Answer = TypeVar("Answer", bound=Resource | Unstructured | Deletion[Any])


class InformerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What informers do unless told otherwise."""

    reflector: ReflectorSettings = ReflectorSettings()

    keep_managed_fields: bool = False

    # Of these, what they applied is kept all the same: a controller knows by it whether an apply
    # would change anything.
    kept_managers: frozenset[str] = frozenset()

    # Without a watch for so long, a cache no longer counts as synced. Longer than an API server
    # takes to restart; short enough that nobody acts for minutes on what may have changed.
    stale_seconds: float = 60.0

    # How often an informer looks after itself: whether it has gone stale, whether a handler hangs.
    look_seconds: float = 10.0

    # Costs an encoding of each object: for tests.
    detect_mutations: bool = False

    def __post_init__(self) -> None:
        for name in ("stale_seconds", "look_seconds"):
            seconds = getattr(self, name)
            if not 0 < seconds < inf:
                raise BadSettings(
                    source=f"InformerSettings({name}={seconds!r})",
                    problem=f"{name} must be a length of time",
                    what_now="Correct it, or leave it out.",
                )


class Informer(Generic[Obj]):
    """Follows the objects of one kind in one scope.

    ``lister`` reads what it holds. ``run`` follows for ever; ``running`` while a block runs, which
    is entered once everything that is there has been heard.
    """

    def __init__(
        self,
        client: Client,
        kind: type[Obj],
        *,
        observe: Observer,
        scope: Scope | None = None,
        indexes: Mapping[str, IndexFunction[Obj]] | None = None,
        transform: Callable[[Obj], Obj] | None = None,
        settings: InformerSettings | None = None,
        flights: Flights | None = None,
    ) -> None:
        self.kind = kind
        self.scope = scope or Scope()
        self.scope.check_fits(kind.resource_type)
        self._settings = settings or InformerSettings()
        self._clock = client.clock
        self._rng = client.rng
        self._observe = observe
        self._tell = Teller(observe, resource_type=kind.resource_type, scope=str(self.scope))
        self._flights = Flights() if flights is None else flights
        self._preparation = Preparation(
            kind,
            transform=transform,
            keep_managed_fields=self._settings.keep_managed_fields,
            kept_managers=self._settings.kept_managers,
        )
        self._detector = MutationDetector() if self._settings.detect_mutations else None
        self._objects: Indexer[Obj] = Indexer(failed=self._tell.index_failed)
        for name, function in (indexes or {}).items():
            self._objects.add_index(name, function)
        self._pulse = asyncio.Event()
        self._parts = {namespace: self._part(client, namespace) for namespace in self.scope.parts()}
        self._registrations: dict[Registration[Obj], list[asyncio.Task[None]]] = {}
        self._start: Start | None = None
        self._is_whole = False
        self._is_stale = False
        self._has_ended = False
        self.lister = Lister(
            self._objects,
            resource_type=kind.resource_type,
            scope=self.scope,
            is_whole=lambda: self.is_whole,
        )

    def __repr__(self) -> str:
        state = "synced" if self.has_synced else "not synced"
        return f"<Informer {self.kind.resource_type}, {self.scope}: {len(self._objects)}, {state}>"

    def __len__(self) -> int:
        """How many objects it holds."""
        return len(self._objects)

    # How it stands

    @property
    def is_whole(self) -> bool:
        """Whether everything that was there at first has been heard; from then on it always is."""
        return self._is_whole or all(part.is_whole for part in self._parts.values())

    @property
    def has_synced(self) -> bool:
        """Whether it runs, has heard all there is, and follows, or did until a moment ago."""
        limit = self._settings.stale_seconds
        return self._start is not None and all(
            part.is_fresh and part.lost_seconds < limit for part in self._parts.values()
        )

    @property
    def is_running(self) -> bool:
        """Whether it follows, or tries to."""
        return self._start is not None

    @property
    def last_contact_at(self) -> float | None:
        """When the server last sent anything to one of its lists or watches; ``None``: never."""
        contacts = [part.reflector.last_contact_at for part in self._parts.values()]
        return max((each for each in contacts if each is not None), default=None)

    def silent_watches(self, *, since_at: float) -> Sequence[Reflector[Obj]]:
        """Those of its watches that are open, and through which nothing came since then."""
        return [
            part.reflector
            for part in self._parts.values()
            if part.reflector.is_connected and (part.reflector.last_contact_at or 0.0) <= since_at
        ]

    @property
    def sync_error(self) -> SteersmanError | None:
        """Why its last list or watch failed, while it is not synced; ``None`` if nothing failed."""
        if self.has_synced:
            return None
        errors = (part.reflector.last_error for part in self._parts.values())
        return next((error for error in errors if error is not None), None)

    async def synced(self, *, within_seconds: float | None = None) -> None:
        """Wait until it has; ``NotFollowed`` if it ends, ``CacheSyncTimeout`` if it is too late."""
        try:
            async with self._clock.timeout(within_seconds):
                await self._synced()
        except TimeoutError:
            raise self.sync_timeout(within_seconds or 0.0) from self.sync_error

    async def synced_or_failing(self) -> None:
        """Wait until it has synced, a list or watch of it has failed, or it has ended."""
        while not (self.has_synced or self.sync_error is not None or self._has_ended):
            self._pulse.clear()
            await self._pulse.wait()

    def sync_timeout(self, waited_seconds: float) -> CacheSyncTimeout:
        """The error for waiting so long in vain."""
        return CacheSyncTimeout(
            wanted=f"fill the cache of {self.kind.resource_type}, {self.scope}",
            pending=[(str(self.kind.resource_type.gvk), sync_problem(self.sync_error))],
            waited_seconds=waited_seconds,
        )

    async def _synced(self) -> None:
        while not self.has_synced:
            if self._has_ended:
                raise NotFollowed(
                    wanted=f"wait for {self.kind.resource_type}, {self.scope}",
                    problem="the informer has ended",
                    what_now="Wait inside the block in which it runs.",
                )
            self._pulse.clear()
            await self._pulse.wait()

    @property
    def refused(self) -> Mapping[ObjectKey, InvalidObject]:
        """What is kept aside because it does not fit the class, with the reason."""
        return {
            key: refused.error
            for part in self._parts.values()
            for key, refused in part.fifo.misfits.items()
        }

    # Setting up

    def add_index(self, name: str, function: IndexFunction[Obj]) -> None:
        """Find objects by what ``function`` says of them, under ``lister.by_index(name, …)``."""
        self._objects.add_index(name, function)

    def warm(self, objects: Iterable[Obj]) -> None:
        """Take these for known before anything was heard; the first list puts right what is not."""
        for obj in objects:
            key, part = key_of(obj), self._part_of(obj.namespace)
            if part is not None and key not in part.fifo.known:
                part.fifo.warm((obj,))
                if key not in self._objects:
                    self._objects.put(obj, key)

    def add_handler(
        self,
        handler: Handler[Obj],
        *,
        name: str = "",
        resync_seconds: float | None = None,
        prompt: bool = False,
        by_turns: bool = False,
        newest_first: bool = False,
    ) -> Registration[Obj]:
        """Tell ``handler`` of each change; of what is there already first, as Added.

        Every ``resync_seconds`` it is told of everything again, as Sync. A ``prompt`` one is told
        in passing, which costs next to nothing, and is for plain functions that only note what has
        changed: while one of them runs, everybody else waits. If it may be told ``by_turns``, that
        is not so for all of a long list, and the cache may show what it has not been told of yet.
        One that asks for ``newest_first`` is told of what is there in that order: what was written
        last has perhaps been written while nobody listened.
        """
        if resync_seconds is not None and not resync_seconds > 0:
            raise ValueError(f"resync_seconds must be positive, got {resync_seconds}")
        make = partial(PromptRegistration, by_turns=by_turns) if prompt else Registration
        registration: Registration[Obj] = make(
            handler,
            name=name or getattr(handler, "__qualname__", type(handler).__qualname__),
            resource=self.kind.resource_type.plural,
            resync_seconds=resync_seconds,
            newest_first=newest_first,
            clock=self._clock,
            observe=self._observe,
        )
        registration.tell([Added(obj, key, True) for key, obj in self._known()])
        if self.is_whole:
            registration.end_initial()
        self._registrations[registration] = []
        if self._start is not None:
            self._start_telling(registration, self._start)
        return registration

    def remove_handler(self, registration: Registration[Obj]) -> None:
        """Tell it nothing any more."""
        registration.end()
        for task in self._registrations.pop(registration, ()):
            task.cancel()

    # Running

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow while the block runs; enter it once everything that is there has been heard."""
        self._has_ended = False
        async with in_background() as start:
            start(self.run(), name=f"informer of {self.kind.resource_type}")
            await self.synced()
            yield
            self.check_mutations()

    async def run(self) -> None:
        """Follow for ever; whoever begins again begins with a list."""
        async with in_background() as start:
            self._start, self._has_ended = start, False
            try:
                for part in self._parts.values():
                    part.is_fresh = False
                    start(part.reflector.run(), name=f"reflector of {part.ref}")
                for registration in self._registrations:
                    self._start_telling(registration, start)
                while True:
                    await self._clock.sleep(self._settings.look_seconds)
                    self._look_after()
            finally:
                self._start = None
                for registration in self._registrations:
                    if isinstance(registration, PromptRegistration):
                        registration.employ_with(None)
                self.give_up()
                self._tell.ended()

    def give_up(self) -> None:
        """Have nobody wait for it: it has ended, or will never begin."""
        self._has_ended = True
        self._pulse.set()

    def _start_telling(self, registration: Registration[Obj], start: Start) -> None:
        tasks: list[asyncio.Task[None]] = []
        self._registrations[registration] = tasks
        name = f"handler {registration.name}"
        if isinstance(registration, PromptRegistration):

            def employ() -> None:
                task = start(registration.work_off(), name=name)
                tasks.append(task)
                task.add_done_callback(tasks.remove)

            registration.employ_with(employ)
        else:
            tasks.append(start(registration.run(), name=name))
        if registration.resync_seconds is not None:
            resync = self._resync(registration, registration.resync_seconds)
            tasks.append(start(resync, name=f"resync of {registration.name}"))

    async def _resync(self, registration: Registration[Obj], seconds: float) -> None:
        while True:
            # Up to a tenth earlier or later, so that not everybody resyncs at once.
            await self._clock.sleep(seconds * self._rng.uniform(0.9, 1.1))
            registration.tell_again([Sync(obj, key) for key, obj in self._known()])

    # Own writes

    async def noting(self, write: Awaitable[Answer]) -> Answer:
        """The answer to a write of ours, which is shown from now on, as by ``Caches.noting``."""
        with Ticket(self._flights) as ticket:
            answer = await write
            self.note(answer, ticket)
        return answer

    def note(self, answer: Resource | Unstructured | Deletion[Any], ticket: Ticket) -> None:
        """Show the outcome of a write of ours from now on, if it is of a kind that is kept here."""
        theirs, mine = answer.resource_type, self.kind.resource_type
        if theirs is not mine and theirs.gvk != mine.gvk:
            return
        if isinstance(answer, Deletion):
            if answer.is_gone:
                version = answer.obj.resource_version if answer.obj is not None else ""
                self._note_end(answer.key, answer.uid, version, ticket)
            elif answer.obj is not None:
                self._note_write(answer.obj, ticket)
        elif is_gone(answer):
            self._note_end(key_of(answer), answer.uid, answer.resource_version, ticket)
        else:
            self._note_write(answer, ticket)

    def _note_write(self, answer: Resource | Unstructured, ticket: Ticket) -> None:
        part = self._part_of(answer.namespace)
        if part is None:
            return
        try:
            prepared = self._preparation.of_answer(answer)
        except InvalidObject:
            return  # The write was made all the same. It is kept aside, and told, once heard.
        if prepared is not None:
            part.writes.wrote(prepared, ticket, belongs=self.scope.selects(answer))

    def _note_end(self, key: ObjectKey, uid: str, version: str, ticket: Ticket) -> None:
        part = self._part_of(key.namespace)
        if part is not None:
            part.writes.ended(key, uid, version, ticket)

    # Inside

    def _part(self, client: Client, namespace: str | None) -> Part[Obj]:
        source = ClientSource(
            client,
            self.kind,
            namespace=namespace,
            labels=self.scope.labels,
            fields=self.scope.fields,
        )
        return Part(
            PreparedSource(source, self._preparation),
            scope=self.scope,
            shown=self._objects,
            flights=self._flights,
            tell=self._tell_handlers,
            clock=self._clock,
            rng=self._rng,
            observe=self._observe,
            settings=self._settings.reflector,
            on_change=self._pulse.set,
        )

    def _part_of(self, namespace: str | None) -> Part[Obj] | None:
        return self._parts.get(None) or self._parts.get(namespace)

    def _known(self) -> Iterator[tuple[ObjectKey, Obj]]:
        """All that handlers were told of; before its first list, a part has told them nothing."""
        for part in self._parts.values():
            if part.is_whole:
                yield from part.fifo.known.items()

    def _tell_handlers(self, deltas: Sequence[Delta[Obj]]) -> None:
        """Of what a part has heard, and shows by now."""
        if deltas:
            for registration in tuple(self._registrations):
                registration.tell(deltas)
            if self._detector is not None:
                _remember(self._detector, deltas)
        if not self._is_whole and self.is_whole:
            self._is_whole = True
            for registration in self._registrations:
                registration.end_initial()
            self._tell.synced(len(self._objects))
        self._pulse.set()

    def _look_after(self) -> None:
        self._pulse.set()
        for registration in self._registrations:
            registration.check()
        lost_seconds, part = max(
            ((part.lost_seconds, part) for part in self._parts.values()), key=lambda pair: pair[0]
        )
        self._tell.looked_after(
            objects=len(self._objects),
            refused=len(self.refused),
            untold=sum(map(len, self._registrations)),
            lost_seconds=lost_seconds,
        )
        is_stale = self.is_whole and lost_seconds >= self._settings.stale_seconds
        if is_stale and not self._is_stale:
            self._tell.stale(lost_seconds, part.reflector.last_error)
        self._is_stale = is_stale

    def check_mutations(self) -> None:
        """Raise ``CacheMutated`` if somebody changed what belongs to the cache.

        Knows of it only where the settings ask for detection.
        """
        changed = self._detector.check() if self._detector is not None else []
        if changed:
            raise CacheMutated(changed=[(each.ref, each.path) for each in changed])


def _remember(detector: MutationDetector, deltas: Sequence[Delta[Obj]]) -> None:
    for delta in deltas:
        if isinstance(delta, Deleted):
            detector.forget(delta.key)
        elif not isinstance(delta, Sync):
            detector.remember(delta.key, delta.obj)


def sync_problem(error: SteersmanError | None) -> str:
    """What keeps a cache from being filled, in a few words that hold no answer of the server."""
    if error is None:
        return "its list has not ended"
    if isinstance(error, NotFound):
        return "the API server does not serve it"
    return f"its list fails with {type(error).__name__}"
