"""What can happen in a controller, from what wakes it to what comes of it."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from steersman.names import ObjectRef


class Why(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why an object is looked at: what happened, and to which object, if it was one.

    ``event`` is ``added``, ``updated``, ``deleted``, ``initial``, ``resync``, ``timer``,
    ``stream``, ``retry``, ``later`` or ``mapped``. ``version`` is the object's resourceVersion.
    """

    about: ObjectRef | None
    event: str
    version: str = ""
    find_changes: Callable[[], tuple[str, ...]] | None = None

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """Which fields of it are different now; looked for when asked, because few ask."""
        return () if self.find_changes is None else self.find_changes()


class Write(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One write that was sent: ``apply``, ``apply status``, ``patch``, ``delete`` or ``create``.

    ``is_change``: whether the object is different for it. ``version`` is the resourceVersion that
    it has now; ``""`` if it is gone.
    """

    verb: str
    ref: ObjectRef
    is_change: bool
    version: str = ""


class ReconcileFinished(msgspec.Struct, frozen=True, kw_only=True):
    """A controller is done with an object for now.

    ``outcome`` is ``done``, ``later``, ``failed``, ``permanent``, ``timed out`` or ``cancelled``;
    ``failures`` so many in a row; ``after_seconds`` until it will be looked at again unasked;
    ``spared`` the writes that would have changed nothing, and were not sent.
    """

    controller: str
    ref: ObjectRef
    outcome: str
    took_seconds: float
    queued_seconds: float = 0.0
    failures: int = 0
    after_seconds: float | None = None
    whys: tuple[Why, ...] = ()
    whys_left_out: int = 0
    writes: tuple[Write, ...] = ()
    spared: int = 0
    is_finalize: bool = False
    error: Exception | None = None


class ReconcileSkipped(msgspec.Struct, frozen=True, kw_only=True):
    """An object's turn came, and there was nothing to be done for it.

    ``reason`` is ``paused``, ``permanent``, ``gone``, ``being deleted`` or ``out of scope``.
    """

    controller: str
    ref: ObjectRef
    reason: str


class SlowLaneChanged(msgspec.Struct, frozen=True, kw_only=True):
    """How many reconciles of a controller run beside its workers, because they are slow.

    ``hanging`` objects are those whose last reconcile timed out; so many are ``waiting`` for the
    reconciles of others.
    """

    controller: str
    slow: int
    hanging: int
    waiting: int


class HotLoop(msgspec.Struct, frozen=True, kw_only=True):
    """A controller keeps waking itself: each reconcile changes what the last one wrote."""

    controller: str
    ref: ObjectRef
    fields: tuple[str, ...]
    count: int
    seconds: float


class FieldConflictFound(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody else keeps changing fields that a controller keeps putting back."""

    controller: str
    ref: ObjectRef
    fields: tuple[str, ...]
    managers: tuple[str, ...]
    count: int
    seconds: float


class TriggerFailed(msgspec.Struct, frozen=True, kw_only=True):
    """An author's function raised when it was asked whom a change concerns, or whether it does.

    ``role`` is ``mapping``, ``predicate`` or ``priority``; ``wait_seconds`` is how long until the
    function is called again, if it is.
    """

    controller: str
    ref: ObjectRef
    function: str
    role: str
    error: Exception
    wait_seconds: float | None = None


class SourceFailed(msgspec.Struct, frozen=True, kw_only=True):
    """A source of keys raised, or came to its end (no error), and will be opened again."""

    controller: str
    source: str
    error: Exception | None
    wait_seconds: float


class ThreadsExhausted(msgspec.Struct, frozen=True, kw_only=True):
    """All threads for plain functions are busy, and so many calls wait for one."""

    threads: int
    waiting: int
    held_by: tuple[str, ...]


class ThreadAbandoned(msgspec.Struct, frozen=True, kw_only=True):
    """A plain function goes on in its thread although nobody waits for it any more.

    Once more when it ``has_ended`` after all, so long after it was given up.
    """

    controller: str
    ref: ObjectRef
    seconds: float
    has_ended: bool = False


class EventsDropped(msgspec.Struct, frozen=True, kw_only=True):
    """So many Kubernetes events were not written, because there were too many."""

    controller: str
    count: int
    reason: str


class EventNotRecorded(msgspec.Struct, frozen=True, kw_only=True):
    """The server did not take a Kubernetes event about this object; it is given up."""

    controller: str
    ref: ObjectRef
    error: Exception


class ControllerStarted(msgspec.Struct, frozen=True, kw_only=True):
    """A controller's workers are at work."""

    controller: str
    workers: int


class ControllerStopped(msgspec.Struct, frozen=True, kw_only=True):
    """A controller's workers are done, so long after they were asked to stop."""

    controller: str
    seconds: float


ControllerObservation: TypeAlias = (
    ReconcileFinished
    | ReconcileSkipped
    | SlowLaneChanged
    | HotLoop
    | FieldConflictFound
    | TriggerFailed
    | SourceFailed
    | ThreadsExhausted
    | ThreadAbandoned
    | EventsDropped
    | EventNotRecorded
    | ControllerStarted
    | ControllerStopped
)
