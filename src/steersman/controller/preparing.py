"""From a controller's declaration to one that can work: caches that are whole, and its hands."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from steersman.cache import (
    Caches,
    IndexFunction,
    Informer,
    Scope,
    Wanted,
    by_controller,
    in_background,
)
from steersman.client import Client, Fields, Labels
from steersman.controller.cached import CONTROLLER_INDEX, Cached, index_name
from steersman.controller.declaring import Controller
from steersman.controller.loop import ControlLoop
from steersman.controller.recorder import Recorder
from steersman.controller.threads import Threads
from steersman.controller.writing import Writer
from steersman.kinds import Resource, Unstructured
from steersman.observe import Observer

Obj = TypeVar("Obj", bound=Resource | Unstructured)

# For events that are still to be written at the end; they are worth a moment, and no more.
FLUSH_SECONDS = 2.0


class Prepared(Generic[Obj]):
    """A controller whose caches are kept; ``loop`` gives it a life."""

    def __init__(
        self,
        controller: Controller[Obj],
        *,
        informers: Mapping[type[Any], Informer[Any]],
        client: Client,
        caches: Caches,
        recorder: Recorder,
        threads: Threads,
        observe: Observer,
    ) -> None:
        self.controller = controller
        self._informers = informers
        self._client = client
        self._recorder = recorder
        self._threads = threads
        self._observe = observe
        self._caches = caches
        self._cached = Cached(
            controller.name, {kind: each.lister for kind, each in informers.items()}
        )

    def loop(self) -> ControlLoop[Obj]:
        """A control loop, to be run once."""
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
        )


@asynccontextmanager
async def prepared(
    controller: Controller[Obj],
    *,
    client: Client,
    caches: Caches,
    namespaces: tuple[str, ...],
    threads: Threads,
    instance: str,
    observe: Observer,
) -> AsyncIterator[Prepared[Obj]]:
    """Follow all kinds that it declares; the block is entered once their caches are whole."""
    recorder = Recorder(
        client,
        # A qualified name, as the reporter of events has.
        controller=controller.reports_as or controller.finalizer,
        source=controller.reports_as,
        instance=instance,
        clock=client.clock,
        rng=client.rng,
        observe=observe,
    )
    wanted = {
        kind: Wanted(needs.scope(kind, namespaces), needs.indexes)
        for kind, needs in _needs_of(controller).items()
    }
    async with caches.following_all(wanted) as informers, in_background() as start:
        name = f"events of {controller.name}"
        recorder.begin_with(lambda: start(recorder.run(), name=name))
        yield Prepared(
            controller,
            informers=informers,
            client=client,
            caches=caches,
            recorder=recorder,
            threads=threads,
            observe=observe,
        )
        await recorder.flush(within_seconds=FLUSH_SECONDS)


class _Needs:
    def __init__(
        self,
        indexes: Mapping[str, IndexFunction[Any]],
        *,
        labels: Labels,
        fields: Fields | None = None,
    ) -> None:
        self.indexes = indexes
        self._labels = labels
        self._fields = fields or Fields()

    def scope(self, kind: type[Any], namespaces: tuple[str, ...]) -> Scope:
        return Scope(
            namespaces=namespaces if kind.resource_type.namespaced else (),
            labels=self._labels,
            fields=self._fields,
        )


def _needs_of(controller: Controller[Any]) -> dict[type[Any], _Needs]:
    def named(indexes: Mapping[str, IndexFunction[Any]]) -> dict[str, IndexFunction[Any]]:
        return {index_name(controller.name, name): each for name, each in indexes.items()}

    return {
        controller.kind: _Needs(named(controller.indexes), labels=controller.labels),
        **{
            owns.kind: _Needs({CONTROLLER_INDEX: by_controller}, labels=owns.labels)
            for owns in controller.owned
        },
        **{
            watch.kind: _Needs(named(watch.indexes), labels=watch.labels, fields=watch.fields)
            for watch in controller.watches
        },
    }
