"""The informer: watches the objects of one kind, stores them in memory, and notifies handlers.

    reflector ──▶ delta FIFO ──▶ own writes ──▶ indexer ──▶ lister
                       │
                       └───────▶ handlers, each at its own pace

The store is updated before handlers are called. Each namespace of the scope has its own reflector
and its own position. All namespaces share one indexer.
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

from steersman.cache.background import Start, background_tasks
from steersman.cache.delta_fifo import Added, Deleted, Delta, Sync
from steersman.cache.handlers import Handler, InlineRegistration, Registration
from steersman.cache.inflight_writes import InflightWrites, WriteToken
from steersman.cache.informer_events import InformerEvents
from steersman.cache.namespace_informer import NamespaceInformer
from steersman.cache.scope import Scope
from steersman.cache.store.indexer import Indexer
from steersman.cache.store.indexes import IndexFunction
from steersman.cache.store.lister import Lister
from steersman.cache.store.mutations import MutationDetector
from steersman.cache.store.transform import TransformedSource, Transformer
from steersman.client import Client, Deletion, is_gone
from steersman.errors import (
    BadSettings,
    CacheMutated,
    CacheSyncTimeout,
    InvalidObject,
    NotFound,
    NotWatched,
    SteersmanError,
)
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Observer
from steersman.watch import ClientListerWatcher, Reflector, ReflectorSettings, key_of

Obj = TypeVar("Obj", bound=Resource | Unstructured)
Answer = TypeVar("Answer", bound=Resource | Unstructured | Deletion[Any])


class InformerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of informers, shared by all informers of one ``Caches``."""

    reflector: ReflectorSettings = ReflectorSettings()

    keep_managed_fields: bool = False

    # The entries of these field managers are kept: controllers read from them whether an apply
    # would change anything.
    kept_managers: frozenset[str] = frozenset()

    # A cache that has had no watch for this long no longer counts as synced. Longer than an API
    # server takes to restart; short enough that no controller acts on old objects for minutes.
    stale_seconds: float = 60.0

    # How often an informer checks whether it has gone stale, and whether a handler hangs.
    check_seconds: float = 10.0

    # For tests only, because it encodes every object.
    detect_mutations: bool = False

    def __post_init__(self) -> None:
        for name in ("stale_seconds", "check_seconds"):
            seconds = getattr(self, name)
            if not 0 < seconds < inf:
                raise BadSettings(
                    source=f"InformerSettings({name}={seconds!r})",
                    problem=f"{name} must be a positive, finite number of seconds",
                    what_now="Correct it, or leave it out.",
                )


class Informer(Generic[Obj]):
    """A watch and a cache of the objects of one kind in one scope.

    ``lister`` reads the cached objects. ``run`` lists and watches until it is cancelled.
    ``running`` does the same while a block runs, and enters the block once the cache has synced.
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
        inflight: InflightWrites | None = None,
    ) -> None:
        self.kind = kind
        self.scope = scope or Scope()
        self.scope.check_fits(kind.resource_type)
        self._settings = settings or InformerSettings()
        self._clock = client.clock
        self._rng = client.rng
        self._observe = observe
        self._events = InformerEvents(
            observe, resource_type=kind.resource_type, scope=str(self.scope)
        )
        self._inflight = InflightWrites() if inflight is None else inflight
        self._transformer = Transformer(
            kind,
            transform=transform,
            keep_managed_fields=self._settings.keep_managed_fields,
            kept_managers=self._settings.kept_managers,
        )
        self._detector = MutationDetector() if self._settings.detect_mutations else None
        self._objects: Indexer[Obj] = Indexer(failed=self._events.index_failed)
        for name, function in (indexes or {}).items():
            self._objects.add_index(name, function)
        self._state_changed = asyncio.Event()
        self._children = {
            namespace: self._new_child(client, namespace) for namespace in self.scope.parts()
        }
        self._registrations: dict[Registration[Obj], list[asyncio.Task[None]]] = {}
        self._start: Start | None = None
        self._has_listed = False
        self._is_stale = False
        self._has_ended = False
        self.lister = Lister(
            self._objects,
            resource_type=kind.resource_type,
            scope=self.scope,
            has_listed=lambda: self.has_listed,
        )

    def __repr__(self) -> str:
        state = "synced" if self.has_synced else "not synced"
        return f"<Informer {self.kind.resource_type}, {self.scope}: {len(self._objects)}, {state}>"

    def __len__(self) -> int:
        """The number of cached objects."""
        return len(self._objects)

    # State

    @property
    def has_listed(self) -> bool:
        """Whether the initial list of every namespace is complete; once true, it stays true."""
        return self._has_listed or all(child.has_listed for child in self._children.values())

    @property
    def has_synced(self) -> bool:
        """Whether the informer runs, has listed all objects, and has an open watch per namespace.

        A watch that has been failing for less than ``stale_seconds`` still counts as open.
        """
        limit = self._settings.stale_seconds
        return self._start is not None and all(
            child.is_relisted and child.failing_seconds < limit for child in self._children.values()
        )

    @property
    def is_running(self) -> bool:
        """Whether ``run`` is running."""
        return self._start is not None

    @property
    def last_contact_at(self) -> float | None:
        """The monotonic time at which a list or watch last received data; ``None`` means never."""
        contacts = [child.reflector.last_contact_at for child in self._children.values()]
        return max((each for each in contacts if each is not None), default=None)

    def silent_watches(self, *, since_at: float) -> Sequence[Reflector[Obj]]:
        """Return the informer's open watches that have received nothing since time ``since_at``."""
        return [
            child.reflector
            for child in self._children.values()
            if child.reflector.is_connected and (child.reflector.last_contact_at or 0.0) <= since_at
        ]

    @property
    def sync_error(self) -> SteersmanError | None:
        """The error of the last failed list or watch, while the informer is not synced.

        ``None`` if the informer is synced, or if no list or watch has failed.
        """
        if self.has_synced:
            return None
        errors = (child.reflector.last_error for child in self._children.values())
        return next((error for error in errors if error is not None), None)

    async def synced(self, *, within_seconds: float | None = None) -> None:
        """Wait until the informer has synced.

        Raise ``NotWatched`` if the informer stops before it has synced, and ``CacheSyncTimeout`` if
        it has not synced after ``within_seconds``.
        """
        try:
            async with self._clock.timeout(within_seconds):
                await self._synced()
        except TimeoutError:
            raise self.sync_timeout(within_seconds or 0.0) from self.sync_error

    async def wait_synced_or_failed(self) -> None:
        """Wait until the informer has synced or stopped, or a list or watch has failed."""
        while not (self.has_synced or self.sync_error is not None or self._has_ended):
            self._state_changed.clear()
            await self._state_changed.wait()

    def sync_timeout(self, waited_seconds: float) -> CacheSyncTimeout:
        """Return the error for this cache, which has not synced within ``waited_seconds``."""
        return CacheSyncTimeout(
            wanted=f"fill the cache of {self.kind.resource_type}, {self.scope}",
            pending=[(str(self.kind.resource_type.gvk), sync_problem(self.sync_error))],
            waited_seconds=waited_seconds,
        )

    async def _synced(self) -> None:
        while not self.has_synced:
            if self._has_ended:
                raise NotWatched(
                    wanted=f"wait for {self.kind.resource_type}, {self.scope}",
                    problem="the informer has ended",
                    what_now="Wait inside the `async with` block in which it runs.",
                )
            self._state_changed.clear()
            await self._state_changed.wait()

    @property
    def decode_failures(self) -> Mapping[ObjectKey, InvalidObject]:
        """The objects whose latest state cannot be decoded, each with the error."""
        return {
            key: failure.error
            for child in self._children.values()
            for key, failure in child.fifo.decode_failures.items()
        }

    # Setup

    def add_index(self, name: str, function: IndexFunction[Obj]) -> None:
        """Index objects by the values of ``function``, for ``lister.by_index(name, …)``."""
        self._objects.add_index(name, function)

    def warm_up(self, objects: Iterable[Obj]) -> None:
        """Fill the cache with ``objects`` before the initial list, which corrects differences."""
        for obj in objects:
            key, child = key_of(obj), self._child_for(obj.namespace)
            if child is not None and key not in child.fifo.known:
                child.fifo.warm_up((obj,))
                if key not in self._objects:
                    self._objects.put(obj, key)

    def add_handler(
        self,
        handler: Handler[Obj],
        *,
        name: str = "",
        resync_seconds: float | None = None,
        inline: bool = False,
        may_yield: bool = False,
        newest_first: bool = False,
    ) -> Registration[Obj]:
        """Call ``handler`` with each change, and first with each existing object, as Added.

        - ``resync_seconds``: the interval at which the handler receives every object again, as
          Sync.
        - ``inline``: the handler is not async, and the reflector calls it directly. The overhead is
          negligible, but everything else waits while the handler runs. The handler should
          therefore only record what has changed.
        - ``may_yield``: a long list is delivered to an inline handler in batches, between which
          other tasks run. Until the last batch, the cache is ahead of the handler.
        - ``newest_first``: existing objects are delivered with the most recently written ones
          first, because those may have changed while no operator was running.
        """
        if resync_seconds is not None and not resync_seconds > 0:
            raise ValueError(f"resync_seconds must be positive, got {resync_seconds}")
        make = partial(InlineRegistration, may_yield=may_yield) if inline else Registration
        registration: Registration[Obj] = make(
            handler,
            name=name or getattr(handler, "__qualname__", type(handler).__qualname__),
            resource=self.kind.resource_type.plural,
            resync_seconds=resync_seconds,
            newest_first=newest_first,
            clock=self._clock,
            observe=self._observe,
        )
        registration.notify([Added(obj, key, True) for key, obj in self._known()])
        if self.has_listed:
            registration.end_initial()
        self._registrations[registration] = []
        if self._start is not None:
            self._start_delivery(registration, self._start)
        return registration

    def remove_handler(self, registration: Registration[Obj]) -> None:
        """Stop calling the handler."""
        registration.end()
        for task in self._registrations.pop(registration, ()):
            task.cancel()

    # Running

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """List and watch while the block runs; the block is entered once the cache has synced."""
        self._has_ended = False
        async with background_tasks() as start:
            start(self.run(), name=f"informer of {self.kind.resource_type}")
            await self.synced()
            yield
            self.check_mutations()

    async def run(self) -> None:
        """List and watch until this task is cancelled; each call of ``run`` begins with a list."""
        async with background_tasks() as start:
            self._start, self._has_ended = start, False
            try:
                for child in self._children.values():
                    child.is_relisted = False
                    start(child.reflector.run(), name=f"reflector of {child.ref}")
                for registration in self._registrations:
                    self._start_delivery(registration, start)
                while True:
                    await self._clock.sleep(self._settings.check_seconds)
                    self._check()
            finally:
                self._start = None
                for registration in self._registrations:
                    if isinstance(registration, InlineRegistration):
                        registration.deliver_with(None)
                self.mark_ended()
                self._events.ended()

    def mark_ended(self) -> None:
        """Mark the informer as stopped, or as never to be started, and wake all waiting tasks."""
        self._has_ended = True
        self._state_changed.set()

    def _start_delivery(self, registration: Registration[Obj], start: Start) -> None:
        tasks: list[asyncio.Task[None]] = []
        self._registrations[registration] = tasks
        name = f"handler {registration.name}"
        if isinstance(registration, InlineRegistration):

            def start_delivery() -> None:
                task = start(registration.deliver_waiting(), name=name)
                tasks.append(task)
                task.add_done_callback(tasks.remove)

            registration.deliver_with(start_delivery)
        else:
            tasks.append(start(registration.run(), name=name))
        if registration.resync_seconds is not None:
            resync = self._resync(registration, registration.resync_seconds)
            tasks.append(start(resync, name=f"resync of {registration.name}"))

    async def _resync(self, registration: Registration[Obj], seconds: float) -> None:
        while True:
            # Up to a tenth earlier or later, so that handlers do not all resync at once.
            await self._clock.sleep(seconds * self._rng.uniform(0.9, 1.1))
            registration.resync([Sync(obj, key) for key, obj in self._known()])

    # Own writes

    async def record_write(self, write: Awaitable[Answer]) -> Answer:
        """Await ``write``, one of the operator's own writes, and add its response to this cache.

        ``Caches.record_write`` does the same for all informers of a kind.
        """
        with WriteToken(self._inflight) as token:
            answer = await write
            self.record_response(answer, token)
        return answer

    def record_response(
        self, answer: Resource | Unstructured | Deletion[Any], token: WriteToken
    ) -> None:
        """Add ``answer``, the response to one of the operator's writes, to this informer's cache.

        Do nothing if the written object is not of the informer's kind.
        """
        written, kept = answer.resource_type, self.kind.resource_type
        if written is not kept and written.gvk != kept.gvk:
            return
        if isinstance(answer, Deletion):
            if answer.is_gone:
                version = answer.obj.resource_version if answer.obj is not None else ""
                self._record_deletion(answer.key, answer.uid, version, token)
            elif answer.obj is not None:
                self._record_write(answer.obj, token)
        elif is_gone(answer):
            self._record_deletion(key_of(answer), answer.uid, answer.resource_version, token)
        else:
            self._record_write(answer, token)

    def _record_write(self, answer: Resource | Unstructured, token: WriteToken) -> None:
        child = self._child_for(answer.namespace)
        if child is None:
            return
        try:
            obj = self._transformer.transform_answer(answer)
        except InvalidObject:
            return  # The write succeeded; the watch will report the decode failure.
        if obj is not None:
            child.writes.add_write(obj, token, belongs=self.scope.selects(answer))

    def _record_deletion(self, key: ObjectKey, uid: str, version: str, token: WriteToken) -> None:
        child = self._child_for(key.namespace)
        if child is not None:
            child.writes.add_deletion(key, uid, version, token)

    # Internals

    def _new_child(self, client: Client, namespace: str | None) -> NamespaceInformer[Obj]:
        source = ClientListerWatcher(
            client,
            self.kind,
            namespace=namespace,
            labels=self.scope.labels,
            fields=self.scope.fields,
        )
        return NamespaceInformer(
            TransformedSource(source, self._transformer),
            scope=self.scope,
            shown=self._objects,
            inflight=self._inflight,
            notify=self._notify_handlers,
            clock=self._clock,
            rng=self._rng,
            observe=self._observe,
            settings=self._settings.reflector,
            on_change=self._state_changed.set,
        )

    def _child_for(self, namespace: str | None) -> NamespaceInformer[Obj] | None:
        return self._children.get(None) or self._children.get(namespace)

    def _known(self) -> Iterator[tuple[ObjectKey, Obj]]:
        """Yield all objects that handlers have received: in every namespace whose first list is
        complete.
        """
        for child in self._children.values():
            if child.has_listed:
                yield from child.fifo.known.items()

    def _notify_handlers(self, deltas: Sequence[Delta[Obj]]) -> None:
        """Send handlers the deltas, which the store already contains."""
        if deltas:
            for registration in tuple(self._registrations):
                registration.notify(deltas)
            if self._detector is not None:
                _remember(self._detector, deltas)
        if not self._has_listed and self.has_listed:
            self._has_listed = True
            for registration in self._registrations:
                registration.end_initial()
            self._events.synced(len(self._objects))
        self._state_changed.set()

    def _check(self) -> None:
        self._state_changed.set()
        for registration in self._registrations:
            registration.check()
        failing_seconds, child = max(
            ((child.failing_seconds, child) for child in self._children.values()),
            key=lambda pair: pair[0],
        )
        self._events.checked(
            objects=len(self._objects),
            decode_failures=len(self.decode_failures),
            pending_notifications=sum(map(len, self._registrations)),
            failing_seconds=failing_seconds,
        )
        is_stale = self.has_listed and failing_seconds >= self._settings.stale_seconds
        if is_stale and not self._is_stale:
            self._events.stale(failing_seconds, child.reflector.last_error)
        self._is_stale = is_stale

    def check_mutations(self) -> None:
        """Raise ``CacheMutated`` if the operator's code changed an object in the cache, in memory.

        The check has an effect only if ``detect_mutations`` is true in the settings.
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
    """Return a short reason why a cache is not synced, without text from the server.

    ``error`` is the error of the last failed list or watch; ``None`` if none has failed.
    """
    if error is None:
        return "its list has not completed"
    if isinstance(error, NotFound):
        return "the API server does not serve it"
    return f"its list fails with {type(error).__name__}"
