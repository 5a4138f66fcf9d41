"""Triggers: from what has changed to whom it wakes.

    own kind ────── when ──▶ itself ────────────────────┐
    owned kind ──── when ──▶ the owner that controls it ┼──▶ add(key, why, priority)
    watched kind ── when ──▶ those it is mapped to ─────┘

One kind may have several of these roles. Then each role has its own predicate, and each adds keys.

Those that a change was about before are woken as well as those it is about now. What is there at
the start, and what a resync brings up, waits behind what has just changed.

Predicates and mappings are the author's. A predicate that raises counts as true, because a look too
many does no harm; what becomes of a mapping that raises, see ``mapping``.
"""

import inspect
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Literal, Protocol, TypeAlias

from steersman.cache import Added, Deleted, Delta, Sync, Updated
from steersman.clock import Clock
from steersman.controller.cache_reader import CacheReader
from steersman.controller.changed import Made
from steersman.controller.controller import Controller
from steersman.controller.declaration.functions import name_of
from steersman.controller.declaration.watches import Owns, Watch
from steersman.controller.events.error_notes import public_text
from steersman.controller.pause import is_paused
from steersman.controller.triggers.mappings import Failed, Mappings
from steersman.controller.triggers.reasons import changes
from steersman.controller.triggers.source_runner import Add
from steersman.errors import AUTHOR_ERRORS, failure_of
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Observer, TriggerFailed, Why
from steersman.workqueue import LOW_PRIORITY

Object: TypeAlias = Resource | Unstructured
Handler: TypeAlias = Callable[[Delta[Any]], None]
When: TypeAlias = Callable[[Any, Any], bool]


class Recording(Protocol):
    """What records Kubernetes events."""

    def record(
        self, obj: Object, reason: str, note: str, *, type: Literal["Normal", "Warning"]
    ) -> None:
        """Put an event on the object."""
        ...


class Triggers:
    """The handlers of one controller: they take changes, and add keys.

    Mappings read what is cached: the handlers are to be added when the caches are whole.
    """

    def __init__(
        self,
        controller: Controller[Any],
        *,
        cached: CacheReader,
        add: Add,
        clock: Clock,
        rng: Random,
        observe: Observer,
        recorder: Recording,
    ) -> None:
        self._name = controller.name
        self._when = controller.when
        self._priority = controller.priority
        self._kind = controller.kind.resource_type
        self._add = add
        self._observe = observe
        self._recorder = recorder
        self._mappings = Mappings(
            self._kind,
            controller=self._name,
            cached=cached,
            add=add,
            clock=clock,
            rng=rng,
            failed=self._mapping_failed,
        )

    def __repr__(self) -> str:
        return f"<Triggers of {self._name}, {len(self._mappings)} mappings failing>"

    @property
    def num_failing(self) -> int:
        """How many objects there are about which a mapping has not answered."""
        return len(self._mappings)

    def own(self, delta: Delta[Any]) -> None:
        """An object of the controller's kind has changed."""
        when = self._when
        if (
            when is not None
            and not self._passes(when, delta)
            # Whatever the author wants to know, these the controller has to.
            and not _is_ending(delta.obj)
            and not (type(delta) is Updated and is_paused(delta.old) != is_paused(delta.obj))
        ):
            return
        self._add(delta.key, _why(delta), _priority(delta))

    def owned(self, owns: Owns) -> Handler:
        """What is to be told when an object of an owned kind has changed."""
        when = owns.when

        def handle(delta: Delta[Any]) -> None:
            owner = self._owner_of(delta.obj)
            old_owner = self._owner_of(delta.old) if type(delta) is Updated else owner
            if owner is None and old_owner is None:
                return
            # Whoever gained or lost it has to know in any case.
            if owner == old_owner and when is not None and not self._passes(when, delta):
                return
            why, priority = _why(delta), _priority(delta)
            if owner is not None:
                self._add(owner, why, priority)
            if old_owner is not None and old_owner != owner:
                self._add(old_owner, why, priority)

        return handle

    def watched(self, watch: Watch[Any], number: int = 0) -> Handler:
        """What is to be told when an object of a watched kind has changed.

        ``number`` tells apart several watches of one kind: each has a mapping of its own.
        """
        kind, to, when = watch.kind.resource_type, watch.to, watch.when
        if to is None:
            return _wake_nobody

        def handle(delta: Delta[Any]) -> None:
            if (
                when is None
                or self._passes(when, delta)
                # A change that does not matter, perhaps, after one that did.
                or self._mappings.is_open(kind, number, delta.key)
            ):
                self._mappings.changed(kind, number, delta, to, _why(delta), _priority(delta))

        return handle

    def priority_of(self, obj: Object | None) -> int:
        """What the author's function adds to the priority of an object; 0 if it raises."""
        function = self._priority
        if function is None or obj is None:
            return 0
        try:
            answer: object = function(obj)
            if isinstance(answer, int):
                return int(answer)
            if inspect.iscoroutine(answer):
                answer.close()  # else Python complains that nobody has awaited it
            raise TypeError(f"it returned an object of {type(answer).__name__}; return an int")
        except AUTHOR_ERRORS as raised:
            self._tell_failed(obj, function, "priority", failure_of(raised), None)
            return 0

    async def retrying(self) -> None:
        """Ask mappings that have failed again, for ever."""
        await self._mappings.retrying()

    def _passes(self, when: When, delta: Delta[Any]) -> bool:
        """Whether the author wants to know; nobody is asked about a deletion or a resync."""
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
                answer.close()  # else Python complains that nobody has awaited it
                raise TypeError("it is `async def`; make it a plain function")
            return bool(answer)
        except AUTHOR_ERRORS as error:
            self._tell_failed(delta.obj, when, "predicate", failure_of(error), None)
            return True

    def _owner_of(self, obj: Object) -> ObjectKey | None:
        """The object of the controller's kind that controls this one."""
        group, kind = self._kind.gvk.group, self._kind.gvk.kind
        namespace = obj.namespace
        if self._kind.namespaced:
            if not namespace:
                return None  # what lives in no namespace has no owner that does
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

    def _mapping_failed(self, failed: Failed) -> None:
        question = failed.question
        self._tell_failed(
            question.obj,
            question.to,
            "mapping",
            failed.error,
            failed.wait_seconds,
            is_gone=question.is_gone,
        )

    def _tell_failed(
        self,
        obj: Object,
        function: Callable[..., object],
        role: Literal["mapping", "predicate", "priority"],
        error: Exception,
        wait_seconds: float | None,
        *,
        is_gone: bool = False,
    ) -> None:
        name = repr(function) if isinstance(function, Made) else name_of(function)
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
    # Of whichever version: an object has all of them.
    return its_kind == kind and api_version.rpartition("/")[0] == group


def _wake_nobody(delta: Delta[Any]) -> None:
    """For a kind that is only there to be read."""


def _why(delta: Delta[Any]) -> Why:
    obj = delta.obj
    if type(delta) is Updated:
        return Why(
            about=obj.ref,
            event="updated",
            version=obj.resource_version,
            find_changes=partial(changes, delta.old, obj),
        )
    return Why(about=obj.ref, event=_event(delta), version=obj.resource_version)


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
    # Not its ``deletion_time``, which an Unstructured object would have to parse each time.
    if isinstance(obj, Unstructured):
        return bool(obj.metadata.get("deletionTimestamp"))
    return obj.metadata.deletion_timestamp is not None
