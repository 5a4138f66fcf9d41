"""One part of an informer: one namespace or all of them, with a story and a position of its own."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Generic, TypeVar, assert_never

from steersman._collector import nothing_collected
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
from steersman.cache.own_writes import OwnWrites
from steersman.cache.scope import Scope
from steersman.clock import Clock
from steersman.errors import InvalidObject
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ObjectRefused, Observer
from steersman.watch import Reflector, ReflectorSettings, Source, identity_in

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class Part(Generic[Obj]):
    """Hears one story, and keeps what is shown true to it and to our own writes.

    It is the sink of its reflector: what is heard is shown, and ``tell`` told of it, at once.
    """

    def __init__(
        self,
        source: Source[Obj],
        *,
        scope: Scope,
        shown: Indexer[Obj],
        flights: Flights,
        tell: Callable[[Sequence[Delta[Obj]]], None],
        clock: Clock,
        rng: Random,
        observe: Observer,
        settings: ReflectorSettings,
        on_change: Callable[[], None],
    ) -> None:
        self.ref = source.ref
        self._resource = source.resource
        self.fifo: DeltaFifo[Obj] = DeltaFifo()
        self.writes = OwnWrites(
            shown,
            is_limited=scope.is_limited,
            lays_new=not scope.fields.terms,
            flights=flights,
        )
        self.reflector: Reflector[Obj] = Reflector(
            source,
            self,
            clock=clock,
            rng=rng,
            observe=observe,
            settings=settings,
            on_change=on_change,
        )
        self.is_whole = False  # whether a list was ever heard
        self.is_fresh = False  # whether one was since the informer began to run
        self._tell = tell
        self._clock = clock
        self._observe = observe

    def __repr__(self) -> str:
        return f"<Part {self.ref} at {self.writes.position}>"

    @property
    def lost_seconds(self) -> float:
        """For how long it has been unable to follow; 0 while it does."""
        since_at = self.reflector.failing_since_at
        return 0.0 if since_at is None else self._clock.monotonic() - since_at

    # What its reflector hears

    def replace(
        self,
        objects: Mapping[ObjectKey, Obj],
        misfits: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        """This is all there is at ``version``."""
        with nothing_collected():
            self.fifo.replace(objects, misfits, version, rewound=rewound)
            told = self._drained()
        self._tell(told)

    def wrote(self, obj: Obj) -> None:
        """The object was created or changed."""
        self.fifo.wrote(obj)
        self._tell(self._drained())

    def removed(self, obj: Obj) -> None:
        """The object is gone."""
        self.fifo.removed(obj)
        self._tell(self._drained())

    def misfit(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """An object was written, or is gone, that does not fit its class."""
        self.fifo.misfit(error, version, is_gone=is_gone)
        self._tell(self._drained())

    def reached(self, version: str) -> None:
        """Everything up to ``version`` has been told."""
        self.fifo.reached(version)
        self._tell(self._drained())

    # Inside

    def _drained(self) -> list[Delta[Obj]]:
        """Take in all that was heard; what has changed by it, and is shown by now."""
        told: list[Delta[Obj]] = []
        writes = self.writes
        for popped in self.fifo.drain():
            match popped:
                case Updated() | Added():
                    writes.heard(popped.obj, popped.key, version=popped.version)
                    told.append(popped)
                case Deleted(obj=obj, key=key):
                    writes.heard_end(key, obj.uid)
                    writes.reached(popped.version)
                    told.append(popped)
                case Sync():
                    told.append(popped)
                case Reached(version=version):
                    writes.reached(version)
                case Refused(version=version):
                    self._refuse(popped)
                    writes.reached(version)
                case Replaced():
                    self._replace(popped)
                    told += popped.deltas
                case _:
                    assert_never(popped)
        return told

    def _replace(self, replaced: Replaced[Obj]) -> None:
        for delta in replaced.deltas:
            if isinstance(delta, Deleted):
                self.writes.heard_end(delta.key, delta.obj.uid)
        # What is there after that, since a name may be that of another object now.
        self.writes.heard_in_list(
            (delta.key, delta.obj) for delta in replaced.deltas if not isinstance(delta, Deleted)
        )
        for refused in replaced.refused:
            self._refuse(refused)
        self.writes.replaced(replaced.version, rewound=replaced.rewound)
        self.is_whole = self.is_fresh = True

    def _refuse(self, refused: Refused) -> None:
        key = refused.key
        _, uid, _ = identity_in(refused.error.body)
        if refused.is_gone:
            self.writes.heard_end(key, uid)
            return
        self.writes.heard_misfit(key, uid)
        ref = ObjectRef(self.ref.kind, key.namespace, key.name or "?")
        self._observe(ObjectRefused(resource=self._resource, ref=ref, error=refused.error))
