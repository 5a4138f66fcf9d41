"""``Caches``: shared informers; each is stopped when its last user leaves."""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

from steersman.cache.background import Start, background_tasks
from steersman.cache.inflight_writes import InflightWrites, WriteToken
from steersman.cache.informer import Answer, Informer, InformerSettings
from steersman.cache.options import CacheOptions, options_of
from steersman.cache.scope import Scope
from steersman.cache.store.indexes import IndexFunction
from steersman.client import Client
from steersman.errors import NotWatched
from steersman.kinds import Resource, Unstructured
from steersman.names import GroupVersionKind, ResourceType
from steersman.observe import Observer

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class InformerSpec(NamedTuple):
    """The scope and the indexes that a caller requires of the informer of one kind."""

    scope: Scope
    indexes: Mapping[str, IndexFunction[Any]]


class Caches:
    """A set of shared informers: one for each kind and scope, whatever the number of users.

    ``informer`` provides an informer. ``record_write`` adds the response to one of the operator's
    own writes to every informer of the written kind. Call both inside ``async with
    caches.running()``. ``options`` limit which objects of a kind are cached, and transform them,
    for all users.
    """

    def __init__(
        self,
        client: Client,
        *,
        observe: Observer,
        settings: InformerSettings | None = None,
        options: Sequence[CacheOptions[Any]] = (),
    ) -> None:
        self._client = client
        self._observe = observe
        self._settings = settings or InformerSettings()
        self._options = tuple(options)
        self._transforms = {_kind_identity(each.kind): each.transform for each in self._options}
        self._shared: dict[Hashable, _SharedInformer] = {}
        # The same by kind: a write concerns the informers of its kind.
        self._by_kind: dict[GroupVersionKind, list[_SharedInformer]] = {}
        self._inflight = InflightWrites()
        self._start: Start | None = None

    def __repr__(self) -> str:
        return f"<Caches {len(self._shared)} informers>"

    def __len__(self) -> int:
        """The number of running informers."""
        return len(self._shared)

    @property
    def settings(self) -> InformerSettings:
        """The settings of all informers of this ``Caches``."""
        return self._settings

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        """The running informers."""
        return tuple(shared.informer for shared in self._shared.values())

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Caches"]:
        """Allow informers to run inside the ``async with`` block.

        Each informer starts with its first user and stops with its last user.
        """
        async with background_tasks() as self._start:
            try:
                yield self
            finally:
                self._start = None
                self._shared.clear()
                self._by_kind.clear()

    @asynccontextmanager
    async def informer(
        self,
        kind: type[Obj],
        *,
        scope: Scope | None = None,
        indexes: Mapping[str, IndexFunction[Obj]] | None = None,
        within_seconds: float | None = None,
    ) -> AsyncIterator[Informer[Obj]]:
        """Provide the synced informer for ``kind`` and ``scope`` while the block runs.

        Raise ``CacheSyncTimeout`` if the informer has not synced after ``within_seconds``. If
        ``within_seconds`` is ``None``, wait until the informer has synced.
        """
        wanted: dict[type[Any], InformerSpec] = {
            kind: InformerSpec(scope or Scope(), indexes or {})
        }
        async with self.informers_for(wanted, within_seconds=within_seconds) as informers:
            yield informers[kind]

    @asynccontextmanager
    async def informers_for(
        self,
        wanted: Mapping[type[Any], InformerSpec],
        *,
        within_seconds: float | None = None,
        joined: Callable[[Mapping[type[Any], Informer[Any]]], None] | None = None,
    ) -> AsyncIterator[Mapping[type[Any], Informer[Any]]]:
        """Provide the synced informer of each kind in ``wanted`` while the block runs.

        The initial lists of all kinds run concurrently. ``joined`` is called with the informers
        before they have synced.
        """
        shares: dict[type[Any], _SharedInformer] = {}
        try:
            for kind, (scope, indexes) in wanted.items():
                shares[kind] = shared = self._join(kind, scope)
                for name, function in indexes.items():
                    shared.informer.add_index(name, function)
            informers = {kind: shared.informer for kind, shared in shares.items()}
            if joined is not None:
                joined(informers)
            await self._synced(informers.values(), within_seconds)
            yield informers
            for informer in informers.values():
                informer.check_mutations()
        finally:
            for shared in shares.values():
                self._leave(shared)

    async def _synced(
        self, informers: Iterable[Informer[Any]], within_seconds: float | None
    ) -> None:
        current: Informer[Any] | None = None
        try:
            async with self._client.clock.timeout(within_seconds):
                for current in informers:
                    await current.synced()
        except TimeoutError:
            if current is None:
                raise
            raise current.sync_timeout(within_seconds or 0.0) from current.sync_error

    async def record_write(self, write: Awaitable[Answer]) -> Answer:
        """Await ``write``, return its response, and add the response to every informer of its kind.

        Do not use this method for dry runs: their responses would be shown as real objects. An
        informer may use another Python class for the kind than the response does. Such an informer
        shows the response immediately only if the response's class has every field of the
        informer's class. Otherwise it shows the change when its watch receives the change.
        """
        with WriteToken(self._inflight) as token:
            answer = await write
            for shared in self._by_kind.get(answer.resource_type.gvk, ()):
                shared.informer.record_response(answer, token)
        return answer

    def _join(self, kind: type[Obj], scope: Scope) -> "_SharedInformer":
        if self._start is None:
            raise NotWatched(
                wanted=f"watch {kind.resource_type}",
                problem="the caches are not running",
                what_now="Enter `async with caches.running()` first.",
            )
        if self._options and (more := options_of(kind, self._options)) is not None:
            scope = more.limit(scope)
        identity = _kind_identity(kind), scope
        shared = self._shared.get(identity)
        if shared is None:
            informer = Informer(
                self._client,
                kind,
                observe=self._observe,
                scope=scope,
                transform=self._transforms.get(_kind_identity(kind)),
                settings=self._settings,
                inflight=self._inflight,
            )
            task = self._start(informer.run(), name=f"informer of {kind.resource_type}, {scope}")
            # A task that is cancelled before it begins does not run its ``finally``.
            task.add_done_callback(lambda _: informer.mark_ended())
            shared = self._shared[identity] = _SharedInformer(identity, informer, task)
            self._by_kind.setdefault(kind.resource_type.gvk, []).append(shared)
        shared.users += 1
        return shared

    def _leave(self, shared: "_SharedInformer") -> None:
        shared.users -= 1
        if shared.users == 0:
            if self._shared.get(shared.identity) is shared:
                del self._shared[shared.identity]
                self._by_kind[shared.informer.kind.resource_type.gvk].remove(shared)
            shared.task.cancel()


def _kind_identity(kind: type[Obj]) -> tuple[type[Any], ResourceType]:
    """Return the identity of a class of a kind.

    All classes that ``Unstructured.of`` created for one kind have the same identity.
    """
    return Unstructured if issubclass(kind, Unstructured) else kind, kind.resource_type


class _SharedInformer:
    __slots__ = ("identity", "informer", "task", "users")

    def __init__(
        self, identity: Hashable, informer: Informer[Any], task: asyncio.Task[None]
    ) -> None:
        self.identity = identity
        self.informer = informer
        self.task = task
        self.users = 0
