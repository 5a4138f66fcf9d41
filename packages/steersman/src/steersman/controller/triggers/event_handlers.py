"""``EventHandlers``: from a change of an object to the keys that the change enqueues.

    own kind ────── when ──▶ itself ────────────────────┐
    owned kind ──── when ──▶ its controlling owner ─────┼──▶ enqueue(key, why, priority)
    watched kind ── when ──▶ the keys of its mapping ───┘

A kind may have several of these roles. Each role has its own predicate and enqueues its own keys.

An update enqueues the old owner or the old keys as well as the new ones. The initial list and
resyncs have a lower priority than changes.

Predicates and mappings are functions of the operator author. A predicate that raises counts as
true, because an extra reconcile does no harm; a mapping that raises is retried, see ``mappings``.
"""

import inspect
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Literal, Protocol, TypeAlias

from steersman.cache import Added, Deleted, Delta, Sync, Updated
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.changed import BuiltPredicate
from steersman.controller.controller import Controller
from steersman.controller.declaration.functions import name_of
from steersman.controller.declaration.watches import Owns, Watch
from steersman.controller.events.error_notes import public_text
from steersman.controller.pause import is_paused
from steersman.controller.triggers.mappings import MappingFailure, Mappings
from steersman.controller.triggers.reasons import changes
from steersman.controller.triggers.source_runner import Enqueue
from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Observer, ReconcileReason, TriggerFailed
from steersman.workqueue import LOW_PRIORITY

Object: TypeAlias = Resource | Unstructured
DeltaHandler: TypeAlias = Callable[[Delta[Any]], None]
When: TypeAlias = Callable[[Any, Any], bool]


class RecordsEvents(Protocol):
    """A protocol for recorders of Kubernetes events."""

    def record(
        self, obj: Object, reason: str, note: str, *, type: Literal["Normal", "Warning"]
    ) -> None:
        """Record a Kubernetes event about ``obj``."""
        ...


class EventHandlers:
    """The event handlers of one controller, which enqueue keys.

    Mappings read from the caches, so add the handlers to informers only after the caches have
    synced.
    """

    def __init__(
        self,
        controller: Controller[Any],
        *,
        cached: CacheReader,
        enqueue: Enqueue,
        clock: Clock,
        rng: Random,
        observe: Observer,
        recorder: RecordsEvents,
    ) -> None:
        self._name = controller.name
        self._when = controller.when
        self._priority = controller.priority
        self._kind = controller.kind.resource_type
        self._enqueue = enqueue
        self._observe = observe
        self._recorder = recorder
        self._mappings = Mappings(
            self._kind,
            controller=self._name,
            cached=cached,
            enqueue=enqueue,
            clock=clock,
            rng=rng,
            failed=self._mapping_failed,
        )

    def __repr__(self) -> str:
        return f"<EventHandlers of {self._name}, {len(self._mappings)} mappings failing>"

    @property
    def num_failing(self) -> int:
        """The number of objects for which a mapping has failed and is being retried."""
        return len(self._mappings)

    def own(self, delta: Delta[Any]) -> None:
        """Handle ``delta``, a change of an object of the controller's own kind."""
        when = self._when
        if (
            when is not None
            and not self._passes(when, delta)
            # The predicate must not hide a deletion or a change of the pause annotation.
            and not _is_ending(delta.obj)
            and not (type(delta) is Updated and is_paused(delta.old) != is_paused(delta.obj))
        ):
            return
        self._enqueue(delta.key, _why(delta), _priority(delta))

    def owned(self, owns: Owns) -> DeltaHandler:
        """Return the handler for changes of the owned kind of ``owns``."""
        when = owns.when

        def handle(delta: Delta[Any]) -> None:
            owner = self._owner_of(delta.obj)
            old_owner = self._owner_of(delta.old) if type(delta) is Updated else owner
            if owner is None and old_owner is None:
                return
            # A change of the owner enqueues both owners, whatever the predicate returns.
            if owner == old_owner and when is not None and not self._passes(when, delta):
                return
            why, priority = _why(delta), _priority(delta)
            if owner is not None:
                self._enqueue(owner, why, priority)
            if old_owner is not None and old_owner != owner:
                self._enqueue(old_owner, why, priority)

        return handle

    def watched(self, watch: Watch[Any], number: int = 0) -> DeltaHandler:
        """Return the handler for changes of the watched kind of ``watch``.

        ``number`` distinguishes several watches of one kind, each of which has its own mapping.
        """
        kind, to, when = watch.kind.resource_type, watch.to, watch.when
        if to is None:
            return _ignore_change

        def handle(delta: Delta[Any]) -> None:
            if (
                when is None
                or self._passes(when, delta)
                # The mapping failed for an earlier change, and must see the latest state.
                or self._mappings.is_failing(kind, number, delta.key)
            ):
                self._mappings.handle(kind, number, delta, to, _why(delta), _priority(delta))

        return handle

    def priority_of(self, obj: Object | None) -> int:
        """Return the operator author's priority of ``obj``; 0 if the priority function raises."""
        function = self._priority
        if function is None or obj is None:
            return 0
        try:
            answer: object = function(obj)
            if isinstance(answer, int):
                return int(answer)
            if inspect.iscoroutine(answer):
                answer.close()  # avoids Python's warning that it was never awaited
            raise TypeError(f"it returned an object of {type(answer).__name__}; return an int")
        except AUTHOR_ERRORS as raised:
            self._report_failure(obj, function, "priority", failure_of(raised), None)
            return 0

    async def retry_mappings(self) -> None:
        """Retry failed mappings until this task is cancelled."""
        await self._mappings.retry()

    def _passes(self, when: When, delta: Delta[Any]) -> bool:
        """Return the result of the predicate ``when``.

        For deletions and resyncs, the result is true, and ``when`` is not called.
        """
        if type(delta) is Updated:
            old = delta.old
        elif type(delta) is Added:
            old = None
        else:
            return True
        try:
            answer: object = when(old, delta.obj)
            if isinstance(answer, bool):
                return answer
            if inspect.iscoroutine(answer):
                answer.close()  # avoids Python's warning that it was never awaited
                raise TypeError("it is `async def`; make it a plain function")
            return bool(answer)
        except AUTHOR_ERRORS as error:
            self._report_failure(delta.obj, when, "predicate", failure_of(error), None)
            return True

    def _owner_of(self, obj: Object) -> ObjectKey | None:
        """Return the key of the object of the controller's kind that controls ``obj``; ``None``
        without one.
        """
        group, kind = self._kind.gvk.group, self._kind.gvk.kind
        namespace = obj.namespace
        if self._kind.namespaced:
            if not namespace:
                return None  # a cluster-scoped object has no owner in a namespace
        else:
            namespace = None
        if isinstance(obj, Unstructured):
            for each in obj.metadata.get("ownerReferences") or ():
                api_version, its_kind = each.get("apiVersion", ""), each.get("kind", "")
                if each.get("controller") and _is_of(api_version, its_kind, group, kind):
                    return ObjectKey(namespace, each.get("name", ""))
            return None
        for owner in obj.metadata.owner_references or ():
            if owner.controller and _is_of(owner.api_version, owner.kind, group, kind):
                return ObjectKey(namespace, owner.name)
        return None

    def _mapping_failed(self, failure: MappingFailure) -> None:
        request = failure.request
        self._report_failure(
            request.obj,
            request.to,
            "mapping",
            failure.error,
            failure.wait_seconds,
            is_gone=request.is_gone,
        )

    def _report_failure(
        self,
        obj: Object,
        function: Callable[..., object],
        role: Literal["mapping", "predicate", "priority"],
        error: Exception,
        wait_seconds: float | None,
        *,
        is_gone: bool = False,
    ) -> None:
        name = repr(function) if isinstance(function, BuiltPredicate) else name_of(function)
        self._observe(
            TriggerFailed(
                controller=self._name,
                ref=obj.ref,
                function=name,
                role=role,
                error=error,
                wait_seconds=wait_seconds,
            )
        )
        if not is_gone:
            reason = f"{role.capitalize()}Failed"
            self._recorder.record(obj, reason, public_text(error, of=name), type="Warning")


def _is_of(api_version: str, its_kind: str, group: str, kind: str) -> bool:
    # Without the version, because all versions are the same object.
    return its_kind == kind and api_version.rpartition("/")[0] == group


def _ignore_change(delta: Delta[Any]) -> None:
    """Do nothing: the handler for a kind that is cached for reads only."""


def _why(delta: Delta[Any]) -> ReconcileReason:
    obj = delta.obj
    if type(delta) is Updated:
        return ReconcileReason(
            about=obj.ref,
            event="updated",
            version=obj.resource_version,
            find_changes=partial(changes, delta.old, obj),
        )
    return ReconcileReason(about=obj.ref, event=_event(delta), version=obj.resource_version)


def _event(delta: Delta[Any]) -> str:
    match delta:
        case Added(is_initial=is_initial):
            return "initial" if is_initial else "added"
        case Updated():
            return "updated"
        case Deleted():
            return "deleted"
        case Sync():
            return "resync"


def _priority(delta: Delta[Any]) -> int:
    if type(delta) is Added:
        return LOW_PRIORITY if delta.is_initial else 0
    return LOW_PRIORITY if type(delta) is Sync else 0


def _is_ending(obj: Object) -> bool:
    # ``deletion_time`` would parse the time of an Unstructured object each time.
    if isinstance(obj, Unstructured):
        return bool(obj.metadata.get("deletionTimestamp"))
    return obj.metadata.deletion_timestamp is not None
