"""Monitors: one for each kind that the garbage collector watches.

A monitor shares the informer of its kind if this process already has an informer for all
namespaces. Otherwise the monitor watches only the metadata and needs no cache, because the graph
stores what is needed.

The API server has many built-in cluster-scoped kinds whose objects rarely change. The owners of
these objects are cluster-scoped, too. The monitors of such kinds therefore start late: when an
object references an owner of such a kind, when the deletion of a cluster-scoped object begins, or
after ``DEFERRED_SECONDS``.

With ``on_first_write``, a kind is not watched until the first object of this kind exists.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from steersman.cache import Caches, Informer, Registration, Start
from steersman.client import Discovery
from steersman.errors import SteersmanError
from steersman.kinds import Unstructured, metadata_only
from steersman.manager import Services
from steersman.names import ResourceType
from steersman.observe import Observation, WatchFailed
from steersman.watch import ClientListerWatcher, Reflector
from steersman_cluster.workloads.garbagecollector.discovery import (
    MAX_SECONDS,
    Definitions,
    defines,
)
from steersman_cluster.workloads.garbagecollector.graph import DependencyGraph
from steersman_cluster.workloads.garbagecollector.graph_builder import GraphBuilder
from steersman_cluster.workloads.garbagecollector.kinds import (
    KindKey,
    ServedKinds,
    deletable_kinds,
    is_rarely_changed,
    kind_key,
)
from steersman_cluster.workloads.settings import OnFirstWrite

# After this time all monitors run. It is short for a cluster, and longer than most tests.
DEFERRED_SECONDS: Final = 10.0

# How long the collector waits for a kind whose watch neither synchronizes nor fails.
SYNC_TIMEOUT_SECONDS: Final = 30.0


class Monitors:
    """The monitors of all kinds that the API server serves, started and stopped as kinds change."""

    def __init__(
        self,
        services: Services,
        graph: DependencyGraph,
        *,
        start: Start,
        on_change: Callable[[], None],
        on_discovery: Callable[[ServedKinds], None],
        on_first_write: OnFirstWrite | None,
    ) -> None:
        self._services = services
        self._graph = graph
        self._start = start
        self._on_change = on_change
        self._on_discovery = on_discovery
        self._on_first_write = on_first_write
        # One request for each kind instead of two, where the server streams the list.
        self._settings = replace(services.caches.settings.reflector, initial="streamed")
        self._definitions = Definitions()
        self._monitors: dict[KindKey, _Monitor] = {}
        self._deferred: dict[KindKey, ResourceType] = {}
        self._empty: set[KindKey] = set()
        self._is_all_started = False
        self._unsynced: dict[KindKey, None] = {}
        self._synced = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Monitors {len(self._monitors)} kinds, {len(self._unsynced)} not synced>"

    async def synced(self) -> None:
        """Wait until each monitor has synced or failed, for at most ``SYNC_TIMEOUT_SECONDS``."""
        try:
            async with self._services.clock.timeout(SYNC_TIMEOUT_SECONDS):
                await self._synced.wait()
        except TimeoutError:
            pass

    async def run(self) -> None:
        """Run a monitor for each kind that the API server serves, until cancelled."""
        definitions, clock = self._definitions, self._services.clock
        self._start(self._start_deferred(), name="kinds that rarely change")
        while True:
            definitions.changed.clear()
            try:
                self.sync(await self._services.client.discover())
                wait_seconds = definitions.wait_seconds()
            except SteersmanError:
                wait_seconds = definitions.wait_seconds() or MAX_SECONDS
            try:
                async with clock.timeout(wait_seconds):
                    await definitions.changed.wait()
            except TimeoutError:
                pass

    def stop(self) -> None:
        """Stop starting monitors."""
        self._empty.clear()

    def sync(self, discovery: Discovery) -> None:
        """Start a monitor for each new kind in ``discovery``, and stop those of removed kinds."""
        kinds = ServedKinds(discovery)
        self._on_discovery(kinds)
        self._definitions.set_served(kinds.names)
        served = {kind_key(each): each for each in deletable_kinds(discovery)}
        for place, gone in [*self._monitors.items()]:
            if place not in served and gone.kind.gvk.api_version not in discovery.stale:
                self._stop_monitor(place, gone)
        self._empty.intersection_update(served)
        shareable = _shareable(self._services.caches)
        at_once: dict[KindKey, Informer[Any]] = {}
        self._deferred = {}
        for place, kind in served.items():
            if place in self._monitors:
                continue
            if (informer := shareable.get(place)) is None:
                if is_rarely_changed(kind) and not self._is_all_started:
                    self._deferred[place] = kind
                elif not self._is_empty(place, kind):
                    self._start_monitor(place, kind)
            elif informer.has_synced:
                at_once[place] = informer
            else:
                self._start_shared({place: informer})
        if at_once:
            self._start_shared(at_once)
        self._check_synced()

    def _is_empty(self, place: KindKey, kind: ResourceType) -> bool:
        """Return whether the kind has no objects,
        so that the first write will start its monitor.
        """
        on_first_write = self._on_first_write
        if on_first_write is None or place in self._empty:
            return place in self._empty

        def begin() -> None:
            # The kind may have been removed, or the monitors stopped.
            if place in self._empty:
                self._empty.remove(place)
                if place not in self._monitors:
                    self._start_monitor(place, kind)

        if on_first_write(kind, begin):
            self._empty.add(place)
        return place in self._empty

    def start_named(self, api_version: str, kind: str) -> None:
        """Start the deferred monitor of ``kind``, because an owner reference contains this kind."""
        group = api_version.rpartition("/")[0]
        for place, each in [*self._deferred.items()]:
            if each.gvk.kind == kind and each.gvk.group == group:
                self._start_monitor(place, self._deferred.pop(place))

    def start_all(self) -> None:
        """Start all deferred monitors."""
        self._is_all_started = True
        late, self._deferred = self._deferred, {}
        for place, kind in late.items():
            self._start_monitor(place, kind)

    async def _start_deferred(self) -> None:
        await self._services.clock.sleep(DEFERRED_SECONDS)
        self.start_all()

    def _start_monitor(self, place: KindKey, kind: ResourceType) -> None:
        self._unsynced[place] = None
        work = self._run_reflector(kind, self._graph_builder(place, kind), place)
        self._monitors[place] = _Monitor(kind, self._start(work, name=f"owners among {kind}"))

    def _start_shared(self, shared: Mapping[KindKey, Informer[Any]]) -> None:
        for place, informer in shared.items():
            self._unsynced[place] = None
            # The informer reports the end of its kind.
            self._monitors[place] = _Monitor(informer.kind.resource_type, None)
        self._start(self._run_shared(shared), name="owners among shared informers")

    def _graph_builder(self, place: KindKey, kind: ResourceType) -> GraphBuilder:
        return GraphBuilder(
            kind,
            self._graph,
            definitions=self._definitions if defines(kind) else None,
            on_change=self._on_change,
            on_synced=lambda: self._mark_synced(place),
            on_delete=self.start_all,
        )

    async def _run_shared(self, shared: Mapping[KindKey, Informer[Any]]) -> None:
        """Run all monitors on shared informers, in one task."""
        async with AsyncExitStack() as until_the_end:
            registrations: dict[KindKey, Registration[Any]] = {}
            for place, each in shared.items():
                # To hold the informer, so that it outlives its other users.
                informer = await until_the_end.enter_async_context(
                    self._services.caches.informer(each.kind)
                )
                kind = each.kind.resource_type
                handle = self._graph_builder(place, kind).handle
                name = f"owners among {kind}"
                registrations[place] = informer.add_handler(handle, name=name, inline=True)
                until_the_end.callback(informer.remove_handler, registrations[place])
            for place, registration in registrations.items():
                await registration.synced()
                self._mark_synced(place)
            await asyncio.get_running_loop().create_future()

    async def _run_reflector(self, kind: ResourceType, graph: GraphBuilder, place: KindKey) -> None:
        services = self._services

        def observe(observation: Observation) -> None:
            if isinstance(observation, WatchFailed):
                # A kind that cannot be watched does not delay the others.
                self._mark_synced(place)
            services.observe(observation)

        await Reflector(
            ClientListerWatcher(services.client, metadata_only(kind)),
            graph,
            clock=services.clock,
            rng=services.rng,
            observe=observe,
            settings=self._settings,
        ).run()

    def _stop_monitor(self, place: KindKey, gone: "_Monitor") -> None:
        if gone.task is None:
            return
        gone.task.cancel()
        del self._monitors[place]
        self._mark_synced(place)
        for identity in self._graph.observed(gone.kind.gvk.api_version, gone.kind.gvk.kind):
            self._graph.remove_unconfirmed(identity)
        self._on_change()

    def _mark_synced(self, place: KindKey) -> None:
        if self._unsynced and place in self._unsynced:
            del self._unsynced[place]
            self._check_synced()

    def _check_synced(self) -> None:
        if not self._unsynced:
            self._synced.set()


class _Monitor(NamedTuple):
    """A monitored kind and its task; the task is ``None`` if the monitor uses a shared informer."""

    kind: ResourceType
    task: asyncio.Task[None] | None


def _shareable(caches: Caches) -> Mapping[KindKey, Informer[Any]]:
    """Return the informers that cache all objects of a kind."""
    return {
        kind_key(each.kind.resource_type): each
        for each in caches.informers
        if not each.scope.namespaces
        and not each.scope.is_limited
        and not issubclass(each.kind, Unstructured)
    }
