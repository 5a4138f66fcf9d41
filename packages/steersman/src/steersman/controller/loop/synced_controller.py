"""``synced_controller``: a controller with synced caches, an event recorder and a writer."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from steersman.cache import (
    CacheOptions,
    Caches,
    IndexFunction,
    Informer,
    InformerSpec,
    Scope,
    in_background,
    options_of,
)
from steersman.client import Client
from steersman.controller.cache_reader import CacheReader, index_name, same_kind
from steersman.controller.context.lifespan import NO_LIFESPAN
from steersman.controller.controller import Controller
from steersman.controller.declaration.cached_kinds import CachedKind, cached_kinds
from steersman.controller.events.recorder import EventRecorder
from steersman.controller.leadership import IsLeader
from steersman.controller.loop.control_loop import ControlLoop
from steersman.controller.threads import ThreadPool
from steersman.controller.writer.writer import Writer
from steersman.kinds import Resource, Unstructured
from steersman.observe import Observer

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# The time for writing queued events at shutdown.
FLUSH_SECONDS = 2.0


class SyncedController(Generic[Obj]):
    """A controller whose caches have synced; ``loop`` creates its control loop."""

    def __init__(
        self,
        controller: Controller[Obj],
        *,
        informers: Mapping[type[Any], Informer[Any]],
        client: Client,
        caches: Caches,
        recorder: EventRecorder,
        threads: ThreadPool,
        observe: Observer,
        leads: IsLeader | None,
        lifespan: object,
    ) -> None:
        self.controller = controller
        self._informers = {same_kind(kind): each for kind, each in informers.items()}
        self._client = client
        self._recorder = recorder
        self._threads = threads
        self._observe = observe
        self._leads = leads
        self._lifespan = lifespan
        self._caches = caches
        self._cached = CacheReader(
            controller.name, {kind: each.lister for kind, each in informers.items()}
        )

    def loop(self) -> ControlLoop[Obj]:
        """A new control loop, which can run once."""
        return ControlLoop(
            self.controller,
            informers=self._informers,
            cached=self._cached,
            client=self._client,
            writer=Writer(
                self._client,
                self._caches,
                self._cached,
                controller=self.controller.name,
                field_manager=self.controller.field_manager,
                finalizer=self.controller.finalizer,
                clock=self._client.clock,
                observe=self._observe,
            ),
            recorder=self._recorder,
            threads=self._threads,
            observe=self._observe,
            leads=self._leads,
            lifespan=self._lifespan,
        )


@asynccontextmanager
async def synced_controller(
    controller: Controller[Obj],
    *,
    client: Client,
    caches: Caches,
    namespaces: tuple[str, ...],
    threads: ThreadPool,
    instance: str,
    observe: Observer,
    joined: Callable[[Mapping[type[Any], Informer[Any]]], None] | None = None,
    leads: IsLeader | None = None,
    lifespan: object = NO_LIFESPAN,
    options: Sequence[CacheOptions[Any]] = (),
) -> AsyncIterator[SyncedController[Obj]]:
    """Run the informers of all kinds that it declares; enter the block once they have synced.

    ``joined`` is called with the informers before that. ``leads`` says whether this replica is the
    leader; ``None`` without leader election.
    """
    recorder = EventRecorder(
        client,
        # The reportingController of an event is a qualified name.
        controller=controller.event_source or controller.finalizer,
        source=controller.event_source,
        instance=instance,
        clock=client.clock,
        rng=client.rng,
        observe=observe,
    )
    wanted = {
        each.kind: InformerSpec(_scope(each, namespaces, options), _indexes(controller, each))
        for each in cached_kinds(controller)
    }
    async with caches.informers_for(wanted, joined=joined) as informers, in_background() as start:
        name = f"events of {controller.name}"
        recorder.start_with(lambda: start(recorder.run(), name=name))
        yield SyncedController(
            controller,
            informers=informers,
            client=client,
            caches=caches,
            recorder=recorder,
            threads=threads,
            observe=observe,
            leads=leads,
            lifespan=lifespan,
        )
        await recorder.flush(within_seconds=FLUSH_SECONDS)


def _scope(
    cached: CachedKind, namespaces: tuple[str, ...], options: Sequence[CacheOptions[Any]]
) -> Scope:
    more = options_of(cached.kind, options)
    if more is not None and more.namespaces is not None:
        namespaces = more.namespaces
    return Scope(
        namespaces=namespaces if cached.kind.resource_type.namespaced else (),
        labels=cached.labels,
        fields=cached.fields,
    )


def _indexes(controller: Controller[Any], cached: CachedKind) -> dict[str, IndexFunction[Any]]:
    named = {index_name(controller.name, name): each for name, each in cached.indexes.items()}
    return {**cached.own_indexes, **named}
