"""``Mappings``: the operator author's functions from a changed object to the keys to enqueue.

If a function raises an exception, the call is retried with backoff, with the object's latest state,
until it succeeds or the object is deleted. For a deleted object, the call is retried a few more
times, because the keys to which the object was mapped must still be enqueued. The state about an
object is dropped once its mapping has succeeded.
"""

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import msgspec

from steersman.cache import Deleted, Delta, Updated
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.declaration.watches import Mapper
from steersman.controller.triggers.keys import keys_in
from steersman.controller.triggers.source_runner import Enqueue
from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey, ResourceType
from steersman.observe import ReconcileReason, ignore
from steersman.workqueue import BackoffPolicy, KeyBackoff, WorkQueue

Object: TypeAlias = Resource | Unstructured
# A kind, the number of the watch in the controller, and an object.
MappingId: TypeAlias = tuple[ResourceType, int, ObjectKey]

# The longest wait is five minutes, as for failed reconciles.
_BACKOFF = BackoffPolicy(first_seconds=0.1, max_seconds=300.0)

# The number of calls for a deleted object, which take about a minute. No further change of that
# object will follow, and its last state is stored only for these calls.
TRIES_WHEN_GONE = 10

# The limit of last states of an object that is created and deleted repeatedly.
_MAX_STATES = 4

# After this number of consecutive retries, other tasks run.
_TURN = 50


class MapRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One call of a mapping for an object.

    ``before`` contains earlier states of the object, for which keys must be enqueued too.
    """

    to: Mapper[Any]
    kind: ResourceType
    watch: int
    key: ObjectKey
    before: tuple[Object, ...]
    obj: Object
    is_gone: bool
    why: ReconcileReason
    priority: int
    tries: int = 0

    @property
    def id(self) -> MappingId:
        """The identity of the request: the watch and the object."""
        return self.kind, self.watch, self.key

    def as_retry(self) -> "MapRequest":
        """Return a copy of this request that is marked as a retry."""
        why = ReconcileReason(
            about=self.why.about,
            event="mapped",
            version=self.why.version,
            find_changes=self.why.find_changes,
        )
        return msgspec.structs.replace(self, why=why, tries=self.tries + 1)


class MappingFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping that raised an exception.

    ``wait_seconds`` is the time until it is called again; ``None`` if it is not called again.
    """

    request: MapRequest
    error: Exception
    wait_seconds: float | None


class Mappings:
    """The mappings of one controller. Calls mappings, enqueues their keys, and retries failures."""

    def __init__(
        self,
        kind: ResourceType,
        *,
        controller: str,
        cached: CacheReader,
        enqueue: Enqueue,
        clock: Clock,
        rng: Random,
        failed: Callable[[MappingFailure], None],
    ) -> None:
        self._kind = kind
        self._cached = cached
        self._enqueue = enqueue
        self._clock = clock
        self._failed = failed
        self._failing: dict[MappingId, MapRequest] = {}
        self._backoff: KeyBackoff[MappingId] = KeyBackoff(_BACKOFF, rng=rng)
        # Without an observer: TriggerFailed reports the failing mappings, and since when they fail.
        self._retries: WorkQueue[MappingId] = WorkQueue(
            f"{controller} mappings", limiter=self._backoff, clock=clock, observe=ignore
        )

    def __len__(self) -> int:
        """The number of failing mappings, counted for each object."""
        return len(self._failing)

    def is_failing(self, kind: ResourceType, watch: int, key: ObjectKey) -> bool:
        """Return whether the mapping of ``watch`` has failed for the object of ``key``."""
        return bool(self._failing) and (kind, watch, key) in self._failing

    def handle(
        self,
        kind: ResourceType,
        watch: int,
        delta: Delta[Any],
        to: Mapper[Any],
        why: ReconcileReason,
        priority: int,
    ) -> None:
        """Call the mapping ``to`` for ``delta``, and enqueue the keys that ``to`` returns."""
        before: tuple[Object, ...] = (delta.old,) if type(delta) is Updated else ()
        is_gone = type(delta) is Deleted
        earlier = self._failing.get((kind, watch, delta.key)) if self._failing else None
        if earlier is not None:
            # States between the last mapped one and this one are skipped, except the last state of
            # an object that was deleted in between.
            before = (*earlier.before, earlier.obj) if earlier.is_gone else earlier.before
            priority = max(priority, earlier.priority)
            if is_gone:
                self._backoff.forget(earlier.id)
        request = MapRequest(
            to=to,
            kind=kind,
            watch=watch,
            key=delta.key,
            before=before[-_MAX_STATES:],
            obj=delta.obj,
            is_gone=is_gone,
            why=why,
            priority=priority,
        )
        self._map(request)

    async def retry(self) -> None:
        """Retry failed mappings until this task is cancelled."""
        turn = 0
        while True:
            async with self._retries.take() as mapping_id:
                request = self._failing.get(mapping_id)
                if request is not None:
                    self._map(request.as_retry())
            turn += 1
            if turn % _TURN == 0:
                await self._clock.sleep(0)

    def _map(self, request: MapRequest) -> None:
        keys, error = self._keys_of(request)
        for key in keys:
            self._enqueue(key, request.why, request.priority)
        if error is None:
            self._close(request)
        elif request.is_gone and request.tries + 1 >= TRIES_WHEN_GONE:
            self._close(request)
            self._failed(MappingFailure(request=request, error=error, wait_seconds=None))
        else:
            self._failing[request.id] = request
            wait_seconds = self._backoff.wait_seconds(request.id)
            self._retries.add_after(request.id, wait_seconds)
            self._failed(MappingFailure(request=request, error=error, wait_seconds=wait_seconds))

    def _keys_of(self, request: MapRequest) -> tuple[dict[ObjectKey, None], Exception | None]:
        """Return the keys of all states in ``request``, and the last error that a state raised, if
        any.
        """
        keys: dict[ObjectKey, None] = {}
        error: Exception | None = None
        for state in (*request.before, request.obj):
            try:
                keys |= keys_in(request.to(state, self._cached), self._kind)
            except AUTHOR_ERRORS as raised:
                error = failure_of(raised)
        return keys, error

    def _close(self, request: MapRequest) -> None:
        if self._failing and self._failing.pop(request.id, None) is not None:
            self._backoff.forget(request.id)
