"""``synced_controller``: a controller with synced caches, an event recorder and a writer."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from steersman.cache import (
    CacheOptions,
    Caches,
    IndexFunction,
    Informer,
    InformerSpec,
    Scope,
    background_tasks,
    options_of,
)
from steersman.client import Client
from steersman.controller.cache_reader import CacheReader, index_name, same_kind
from steersman.controller.context.context import ContextServices
from steersman.controller.context.lifespan import NO_LIFESPAN
from steersman.controller.controller import Controller
from steersman.controller.declaration.access import DeclaredAccess
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


@dataclass(frozen=True, slots=True)
class SyncedController(Generic[Obj]):
    """A controller whose caches have synced.

    ``loop`` creates the control loop of the controller; a control loop can run only once.
    """

    controller: Controller[Obj]
    loop: Callable[[], ControlLoop[Obj]]


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
    """Run the informers of all kinds of ``controller``; enter the block when they have synced.

    ``joined`` is called with the informers before they have synced. ``leads`` returns whether this
    replica is the leader; it is ``None`` if there is no leader election.
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
    async with (
        caches.informers_for(wanted, joined=joined) as informers,
        background_tasks() as start,
    ):
        name = f"events of {controller.name}"
        recorder.start_with(lambda: start(recorder.run(), name=name))
        cached = CacheReader(
            controller.name, {kind: each.lister for kind, each in informers.items()}
        )

        def loop() -> ControlLoop[Obj]:
            writer = Writer(
                client,
                caches,
                cached,
                controller=controller.name,
                field_manager=controller.field_manager,
                finalizer=controller.finalizer,
                clock=client.clock,
                observe=observe,
            )
            services = ContextServices(
                access=DeclaredAccess(controller),
                cached=cached,
                client=client,
                writer=writer,
                recorder=recorder,
                leads=leads,
                lifespan=lifespan,
            )
            return ControlLoop(
                controller,
                services,
                informers={same_kind(kind): each for kind, each in informers.items()},
                threads=threads,
                observe=observe,
            )

        yield SyncedController(controller, loop)
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
