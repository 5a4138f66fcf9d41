"""All kinds followed, each as cheaply as can be.

What somebody in this process follows anyway is followed with them. Of every other kind only the
metadata is asked for, in one watch that begins with what is there; there is no cache of it, since
the graph keeps what is needed.

The server's own kinds that live in no namespace are many, and hardly ever change. They can depend
only on what lives in no namespace either. So they are followed when that is at stake: when somebody
names one as an owner, when the end of something without a namespace begins, or after a while.

With ``on_first_write``, a kind is not watched before there is an object of it.
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
from steersman.watch import ClientSource, Reflector
from steersman_cluster.workloads.garbagecollector.discovery import (
    LONGEST_SECONDS,
    Definitions,
    defines,
)
from steersman_cluster.workloads.garbagecollector.graph import Graph
from steersman_cluster.workloads.garbagecollector.graph_builder import KindSink
from steersman_cluster.workloads.garbagecollector.kinds import (
    KnownKinds,
    Place,
    collectable,
    is_quiet,
    place_of,
)
from steersman_cluster.workloads.settings import OnFirstWrite

# After so long everything is followed, whether it seems to matter or not. A few seconds are nothing
# in the life of a cluster, and more than most tests take.
LATE_SECONDS: Final = 10.0

# For so long nothing is collected if a kind can neither be followed nor is refused.
PATIENCE_SECONDS: Final = 30.0


class Following:
    """Keeps every kind followed that the server serves, as kinds come and go."""

    def __init__(
        self,
        services: Services,
        graph: Graph,
        *,
        start: Start,
        heard: Callable[[], None],
        found: Callable[[KnownKinds], None],
        on_first_write: OnFirstWrite | None,
    ) -> None:
        self._services = services
        self._graph = graph
        self._start = start
        self._heard = heard
        self._found = found
        self._on_first_write = on_first_write
        # One request for each kind instead of two; from a server that cannot, there is a list.
        self._settings = replace(services.caches.settings.reflector, initial="streamed")
        self._definitions = Definitions()
        self._followed: dict[Place, _Followed] = {}
        self._late: dict[Place, ResourceType] = {}
        self._empty: set[Place] = set()
        self._are_late_followed = False
        self._unsettled: dict[Place, None] = {}
        self._settled = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Following {len(self._followed)} kinds, {len(self._unsettled)} not whole>"

    async def whole(self) -> None:
        """Wait until every kind has told what is there, or that it will not; but not for ever."""
        try:
            async with self._services.clock.timeout(PATIENCE_SECONDS):
                await self._settled.wait()
        except TimeoutError:
            pass

    async def run(self) -> None:
        """Follow whatever is served, until cancelled."""
        definitions, clock = self._definitions, self._services.clock
        self._start(self._follow_late(), name="kinds that hardly ever change")
        while True:
            definitions.changed.clear()
            try:
                self.follow(await self._services.client.discover())
                wait_seconds = definitions.wait_seconds()
            except SteersmanError:
                wait_seconds = definitions.wait_seconds() or LONGEST_SECONDS
            try:
                async with clock.timeout(wait_seconds):
                    await definitions.changed.wait()
            except TimeoutError:
                pass

    def end(self) -> None:
        """Begin with nothing any more, whatever comes to be."""
        self._empty.clear()

    def follow(self, discovery: Discovery) -> None:
        """Begin with what is new, and end with what is gone."""
        kinds = KnownKinds(discovery)
        self._found(kinds)
        self._definitions.are_served(kinds.names)
        served = {place_of(each): each for each in collectable(discovery)}
        for place, gone in [*self._followed.items()]:
            if place not in served and gone.kind.gvk.api_version not in discovery.stale:
                self._unfollow(place, gone)
        self._empty.intersection_update(served)
        shareable = _shareable(self._services.caches)
        at_once: dict[Place, Informer[Any]] = {}
        self._late = {}
        for place, kind in served.items():
            if place in self._followed:
                continue
            if (informer := shareable.get(place)) is None:
                if is_quiet(kind) and not self._are_late_followed:
                    self._late[place] = kind
                elif not self._is_empty(place, kind):
                    self._begin(place, kind)
            elif informer.has_synced:
                at_once[place] = informer
            else:
                self._begin_sharing({place: informer})
        if at_once:
            self._begin_sharing(at_once)
        self._check_settled()

    def _is_empty(self, place: Place, kind: ResourceType) -> bool:
        """Whether there is nothing of it, and we hear when there is."""
        on_first_write = self._on_first_write
        if on_first_write is None or place in self._empty:
            return place in self._empty

        def begin() -> None:
            # Since then, nobody may serve it any more, or want to hear of it.
            if place in self._empty:
                self._empty.remove(place)
                if place not in self._followed:
                    self._begin(place, kind)

        if on_first_write(kind, begin):
            self._empty.add(place)
        return place in self._empty

    def follow_named(self, api_version: str, kind: str) -> None:
        """Somebody names an owner of this kind: it is no longer too quiet to be followed."""
        group = api_version.rpartition("/")[0]
        for place, each in [*self._late.items()]:
            if each.gvk.kind == kind and each.gvk.group == group:
                self._begin(place, self._late.pop(place))

    def follow_all(self) -> None:
        """Follow the quiet kinds, too."""
        self._are_late_followed = True
        late, self._late = self._late, {}
        for place, kind in late.items():
            self._begin(place, kind)

    async def _follow_late(self) -> None:
        await self._services.clock.sleep(LATE_SECONDS)
        self.follow_all()

    def _begin(self, place: Place, kind: ResourceType) -> None:
        self._unsettled[place] = None
        work = self._watch(kind, self._sink(place, kind), place)
        self._followed[place] = _Followed(kind, self._start(work, name=f"owners among {kind}"))

    def _begin_sharing(self, shared: Mapping[Place, Informer[Any]]) -> None:
        for place, informer in shared.items():
            self._unsettled[place] = None
            # Whoever else follows it hears of its end, and we with them.
            self._followed[place] = _Followed(informer.kind.resource_type, None)
        self._start(self._share(shared), name="owners among what others follow")

    def _sink(self, place: Place, kind: ResourceType) -> KindSink:
        return KindSink(
            kind,
            self._graph,
            definitions=self._definitions if defines(kind) else None,
            heard=self._heard,
            settled=lambda: self._settle(place),
            ended=self.follow_all,
        )

    async def _share(self, shared: Mapping[Place, Informer[Any]]) -> None:
        """Hear what others hear; in one task where nobody has to wait for anything."""
        async with AsyncExitStack() as until_the_end:
            told: dict[Place, Registration[Any]] = {}
            for place, each in shared.items():
                # To have a share in it, and not only to know it: then it goes on without the other.
                informer = await until_the_end.enter_async_context(
                    self._services.caches.informer(each.kind)
                )
                kind = each.kind.resource_type
                handle = self._sink(place, kind).handle
                name = f"owners among {kind}"
                told[place] = informer.add_handler(handle, name=name, inline=True)
                until_the_end.callback(informer.remove_handler, told[place])
            for place, registration in told.items():
                await registration.synced()
                self._settle(place)
            await asyncio.get_running_loop().create_future()

    async def _watch(self, kind: ResourceType, sink: KindSink, place: Place) -> None:
        services = self._services

        def observe(observation: Observation) -> None:
            if isinstance(observation, WatchFailed):
                self._settle(place)  # one that cannot be followed does not hold up the others
            services.observe(observation)

        await Reflector(
            ClientSource(services.client, metadata_only(kind)),
            sink,
            clock=services.clock,
            rng=services.rng,
            observe=observe,
            settings=self._settings,
        ).run()

    def _unfollow(self, place: Place, gone: "_Followed") -> None:
        if gone.task is None:
            return
        gone.task.cancel()
        del self._followed[place]
        self._settle(place)
        for identity in self._graph.told_of(gone.kind.gvk.api_version, gone.kind.gvk.kind):
            self._graph.doubt(identity)
        self._heard()

    def _settle(self, place: Place) -> None:
        if self._unsettled and place in self._unsettled:
            del self._unsettled[place]
            self._check_settled()

    def _check_settled(self) -> None:
        if not self._unsettled:
            self._settled.set()


class _Followed(NamedTuple):
    """A kind that is followed, and the task that does it; ``None``: somebody else's."""

    kind: ResourceType
    task: asyncio.Task[None] | None


def _shareable(caches: Caches) -> Mapping[Place, Informer[Any]]:
    """The informers that hear of all objects of a kind."""
    return {
        place_of(each.kind.resource_type): each
        for each in caches.informers
        if not each.scope.namespaces
        and not each.scope.is_limited
        and not issubclass(each.kind, Unstructured)
    }
