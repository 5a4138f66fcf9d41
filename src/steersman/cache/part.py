"""One part of an informer: one namespace or all of them, with a story and a position of its own."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Generic, TypeVar, assert_never

from steersman.cache.delta_fifo import (
    Added,
    Deleted,
    Delta,
    DeltaFifo,
    Reached,
    Refused,
    Replaced,
    Sync,
    Updated,
)
from steersman.cache.flights import Flights
from steersman.cache.indexer import Indexer
from steersman.cache.keys import identity_in
from steersman.cache.own_writes import OwnWrites
from steersman.cache.scope import Scope
from steersman.clock import Clock
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectRef
from steersman.observe import ObjectRefused, Observer
from steersman.watch import Reflector, ReflectorSettings, Source

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class Part(Generic[Obj]):
    """Hears one story, and keeps what is shown true to it and to our own writes."""

    def __init__(
        self,
        source: Source[Obj],
        *,
        scope: Scope,
        shown: Indexer[Obj],
        flights: Flights,
        clock: Clock,
        rng: Random,
        observe: Observer,
        settings: ReflectorSettings,
    ) -> None:
        self.ref = source.ref
        self._resource = source.resource
        self.fifo = DeltaFifo[Obj]()
        self.writes = OwnWrites(
            shown,
            is_limited=scope.is_limited,
            lays_new=not scope.fields.terms,
            flights=flights,
        )
        self.reflector = Reflector(
            source, self.fifo, clock=clock, rng=rng, observe=observe, settings=settings
        )
        self.is_whole = False
        self._clock = clock
        self._observe = observe

    def __repr__(self) -> str:
        return f"<Part {self.ref} at {self.writes.position}>"

    @property
    def lost_seconds(self) -> float:
        """For how long it has been unable to follow; 0 while it does."""
        since_at = self.reflector.failing_since_at
        return 0.0 if since_at is None else self._clock.monotonic() - since_at

    def drain(self) -> Iterator[Sequence[Delta[Obj]]]:
        """Take in all that was heard; yield each step's changes once they are shown."""
        for popped in self.fifo.drain():
            match popped:
                case Added() | Updated() | Deleted() | Sync():
                    self._show(popped)
                    if popped.version:
                        self.writes.reached(popped.version)
                    yield (popped,)
                case Reached(version=version):
                    self.writes.reached(version)
                case Refused(version=version):
                    self._refuse(popped)
                    if version:
                        self.writes.reached(version)
                case Replaced(deltas=deltas, refused=refused, version=version, rewound=rewound):
                    for delta in deltas:
                        self._show(delta, in_list=True)
                    for each in refused:
                        self._refuse(each)
                    self.writes.replaced(version, rewound=rewound)
                    self.is_whole = True
                    yield deltas
                case _:
                    assert_never(popped)

    def _show(self, delta: Delta[Obj], *, in_list: bool = False) -> None:
        if isinstance(delta, Added | Updated):
            self.writes.heard(delta.obj, delta.key, in_list=in_list)
        elif isinstance(delta, Deleted):
            self.writes.heard_end(delta.key, delta.obj.uid)

    def _refuse(self, refused: Refused) -> None:
        key = refused.key
        _, uid, _ = identity_in(refused.error.body)
        if refused.is_gone:
            self.writes.heard_end(key, uid)
            return
        self.writes.heard_misfit(key, uid)
        ref = ObjectRef(self.ref.kind, key.namespace, key.name or "?")
        self._observe(ObjectRefused(resource=self._resource, ref=ref, error=refused.error))
