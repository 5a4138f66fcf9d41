"""The part of an informer that watches one namespace, or all namespaces with one watch."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Generic, TypeVar, assert_never

from steersman._collector import gc_paused
from steersman.cache.delta_fifo import (
    Added,
    Deleted,
    Delta,
    DeltaFifo,
    NotDecoded,
    Progress,
    Replaced,
    Sync,
    Updated,
)
from steersman.cache.inflight_writes import InflightWrites
from steersman.cache.own_writes import OwnWrites
from steersman.cache.scope import Scope
from steersman.cache.store.indexer import Indexer
from steersman.clock import Clock
from steersman.errors import InvalidObject
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ObjectRef
from steersman.observe import ObjectNotDecoded, Observer
from steersman.watch import ListerWatcher, Reflector, ReflectorSettings, identity_in

Obj = TypeVar("Obj", bound=Resource | Unstructured)


class NamespaceInformer(Generic[Obj]):
    """One reflector, and the store that combines its events with the operator's own writes.

    It implements ``ReflectorStore`` for its reflector: each event updates the indexer, and then
    ``notify`` receives the deltas.
    """

    def __init__(
        self,
        source: ListerWatcher[Obj],
        *,
        scope: Scope,
        shown: Indexer[Obj],
        inflight: InflightWrites,
        notify: Callable[[Sequence[Delta[Obj]]], None],
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
            overlays_new=not scope.fields.terms,
            inflight=inflight,
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
        self.has_listed = False  # whether any list is complete
        self.is_relisted = False  # whether a list is complete since the informer began to run
        self._notify = notify
        self._clock = clock
        self._observe = observe

    def __repr__(self) -> str:
        return f"<NamespaceInformer {self.ref} at {self.writes.position}>"

    @property
    def failing_seconds(self) -> float:
        """The seconds for which lists and watches have failed; 0 while a watch is open."""
        since_at = self.reflector.failing_since_at
        return 0.0 if since_at is None else self._clock.monotonic() - since_at

    # Methods of ReflectorStore

    def replace(
        self,
        objects: Mapping[ObjectKey, Obj],
        decode_failures: Sequence[InvalidObject],
        version: str,
        *,
        rewound: bool,
    ) -> None:
        """Replace all objects by ``objects``, from a list at resourceVersion ``version``."""
        with gc_paused():
            self.fifo.replace(objects, decode_failures, version, rewound=rewound)
            deltas = self._drained()
        self._notify(deltas)

    def upsert(self, obj: Obj) -> None:
        """Store an object that was created or changed."""
        self.fifo.upsert(obj)
        self._notify(self._drained())

    def delete(self, obj: Obj) -> None:
        """Remove a deleted object."""
        self.fifo.delete(obj)
        self._notify(self._drained())

    def decode_failed(self, error: InvalidObject, version: str, *, is_gone: bool) -> None:
        """Record that an object was created, changed or deleted, and cannot be decoded."""
        self.fifo.decode_failed(error, version, is_gone=is_gone)
        self._notify(self._drained())

    def progress(self, version: str) -> None:
        """Record that all events up to resourceVersion ``version`` have been received."""
        self.fifo.progress(version)
        self._notify(self._drained())

    # Internals

    def _drained(self) -> list[Delta[Obj]]:
        """Apply the queued deltas to the store, and return the deltas for the handlers."""
        deltas: list[Delta[Obj]] = []
        writes = self.writes
        for popped in self.fifo.drain():
            match popped:
                case Updated() | Added():
                    writes.received(popped.obj, popped.key, version=popped.version)
                    deltas.append(popped)
                case Deleted(obj=obj, key=key):
                    writes.received_deletion(key, obj.uid)
                    writes.advance_to(popped.version)
                    deltas.append(popped)
                case Sync():
                    deltas.append(popped)
                case Progress(version=version):
                    writes.advance_to(version)
                case NotDecoded(version=version):
                    self._set_aside(popped)
                    writes.advance_to(version)
                case Replaced():
                    self._replace(popped)
                    deltas += popped.deltas
                case _:
                    assert_never(popped)
        return deltas

    def _replace(self, replaced: Replaced[Obj]) -> None:
        for delta in replaced.deltas:
            if isinstance(delta, Deleted):
                self.writes.received_deletion(delta.key, delta.obj.uid)
        # Existing objects last, because a deleted object's name may be in use again.
        self.writes.received_list(
            (delta.key, delta.obj) for delta in replaced.deltas if not isinstance(delta, Deleted)
        )
        for failure in replaced.decode_failures:
            self._set_aside(failure)
        self.writes.finish_list(replaced.version, rewound=replaced.rewound)
        self.has_listed = self.is_relisted = True

    def _set_aside(self, failure: NotDecoded) -> None:
        key = failure.key
        _, uid, _ = identity_in(failure.error.body)
        if failure.is_gone:
            self.writes.received_deletion(key, uid)
            return
        self.writes.received_decode_failure(key, uid)
        ref = ObjectRef(self.ref.kind, key.namespace, key.name or "?")
        self._observe(ObjectNotDecoded(resource=self._resource, ref=ref, error=failure.error))
