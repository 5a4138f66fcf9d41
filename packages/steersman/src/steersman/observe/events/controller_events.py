"""Observations of controllers, from triggers to the results of reconciles."""

import logging
from collections.abc import Callable, Iterable
from typing import ClassVar, Final

import msgspec

from steersman.errors import Conflict, Forbidden, NotFound, NotLeading, SteersmanError
from steersman.names import ObjectRef
from steersman.observe.observation import Fields, Metric, Observation, Sample, counter, gauge
from steersman.observe.phrases import duration_text, outcome_text, raised, ref_fields, some_of

# Enough to recognize a reconcile, and short enough for a log line.
_MAX_REASONS: Final = 3
_MAX_NAMED: Final = 5

_FAILURES: Final = frozenset({"failed", "permanent", "timed out"})
_PAST_TENSE: Final = {
    "apply": "applied",
    "apply status": "updated the status of",
    "patch": "patched",
    "delete": "deleted",
    "create": "created",
}

_SLOW: Final = gauge(
    "steersman_controller_slow_reconciles",
    "Slow reconciles that run in addition to the workers.",
    "controller",
)
_HANGING: Final = gauge(
    "steersman_controller_hanging_objects",
    "Objects whose last reconcile timed out.",
    "controller",
)
_THREADS_ABANDONED: Final = counter(
    "steersman_controller_threads_abandoned",
    "Plain functions that still ran when their reconcile had ended.",
    "controller",
)
_EVENTS_DROPPED: Final = counter(
    "steersman_controller_events_dropped",
    "Kubernetes events that were not written because there were too many.",
    "controller",
    "reason",
)
_WORKERS: Final = gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum number of concurrent reconciles per controller",
    "controller",
)


class ReconcileReason(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A reason for a reconcile: what happened, and the object to which it happened, if any.

    ``event`` is ``added``, ``updated``, ``deleted``, ``initial``, ``resync``, ``timer``,
    ``stream``, ``retry``, ``later`` or ``mapped``. ``version`` is the object's resourceVersion.
    """

    about: ObjectRef | None
    event: str
    version: str = ""
    find_changes: Callable[[], tuple[str, ...]] | None = None

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """The paths of the object's changed fields; computed on demand, because they are rarely
        needed.
        """
        return () if self.find_changes is None else self.find_changes()


class Write(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One write that a reconcile sent.

    ``verb`` is ``apply``, ``apply status``, ``patch``, ``delete`` or ``create``. ``is_change`` is
    true if the write has changed the object. ``version`` is the object's resourceVersion after the
    write; ``""`` if the object was deleted.
    """

    verb: str
    ref: ObjectRef
    is_change: bool
    version: str = ""

    def __str__(self) -> str:
        return f"{_PAST_TENSE.get(self.verb, self.verb)} {self.ref}"


class _ObjectObservation(Observation, frozen=True, kw_only=True):
    controller: str
    ref: ObjectRef

    def _subject(self) -> str:
        return f"{self.controller}: {self.ref}"

    def _fields(self, **more: str | int | float) -> Fields:
        return {"controller": self.controller, **ref_fields(self.ref), **more}


class ReconcileFinished(_ObjectObservation, frozen=True, kw_only=True):
    """A reconcile of an object has ended; ``reconcile_metrics`` counts it.

    ``outcome`` is ``done``, ``later``, ``failed``, ``permanent``, ``timed out`` or ``cancelled``.
    ``failures`` is the number of consecutive failures. ``after_seconds`` is the time until the next
    reconcile if the object does not change before. ``skipped_writes`` is the number of writes that
    were not sent because they would have changed nothing.
    """

    outcome: str
    took_seconds: float
    queued_seconds: float = 0.0
    failures: int = 0
    after_seconds: float | None = None
    reasons: tuple[ReconcileReason, ...] = ()
    reasons_left_out: int = 0
    writes: tuple[Write, ...] = ()
    skipped_writes: int = 0
    is_finalize: bool = False
    error: Exception | None = None

    def level(self) -> int:
        """Return the level of the log line.

        Most failures are warnings. A reconcile that changed nothing is logged at ``DEBUG``.
        """
        outcome = self.outcome
        if outcome in _FAILURES:
            # Of consecutive failures, only the first, second, fourth, eighth and so on.
            if self.failures & (self.failures - 1):
                return logging.DEBUG
            return logging.INFO if self._is_expected() else logging.WARNING
        # ``later`` is quiet: another reconcile of the object will follow.
        has_changed = outcome == "done" and any(write.is_change for write in self.writes)
        return logging.INFO if outcome == "cancelled" or has_changed else logging.DEBUG

    def _is_expected(self) -> bool:
        # An outdated cached object or a lost leadership is normal; only repeated conflicts are not.
        error = self.error
        return isinstance(error, NotLeading) or (isinstance(error, Conflict) and self.failures < 2)

    def traced_error(self, *, is_debug: bool) -> Exception | None:  # noqa: ARG002
        """Return the error if the operator author's code raised it; its traceback is then logged.

        Errors that steersman raises need no traceback.
        """
        return None if isinstance(self.error, SteersmanError) else self.error

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the outcome, the error, the reasons and the writes."""
        outcome, error, after = self.outcome, self.error, self.after_seconds
        what = outcome_text(outcome)
        parts = [f"{self._subject()} {'finalize ' if self.is_finalize else ''}{what}"]
        parts.append(
            f" {'after' if outcome == 'cancelled' else 'in'} {duration_text(self.took_seconds)}"
        )
        if self.failures > 1:
            parts.append(f", {self.failures} failures in a row")
        if after is not None:
            parts.append(f", again in {duration_text(after)}")
        reasons = some_of(
            [self._because(why) for why in self.reasons[:_MAX_REASONS]],
            most=_MAX_REASONS,
            left_out=len(self.reasons[_MAX_REASONS:]) + self.reasons_left_out,
        )
        about = "; ".join(filter(None, (reasons, self._did())))
        if error is not None:
            text = str(error) if isinstance(error, SteersmanError) else raised(error)
            parts.append(f": {text.removesuffix('.')}; {about}" if about else f": {text}")
        elif about:
            parts.append(f": {about}")
        fields: dict[str, str | int | float] = {
            "outcome": outcome,
            "took_seconds": self.took_seconds,
            "queued_seconds": self.queued_seconds,
            "failures": self.failures,
            "why": reasons,
            "writes": len(self.writes),
            "skipped_writes": self.skipped_writes,
        }
        if after is not None:
            fields["after_seconds"] = after
        if error is not None:
            fields["error"] = type(error).__name__
        return "".join(parts), self._fields(**fields)

    def _because(self, why: ReconcileReason) -> str:
        changed = f" {_named(why.changed_fields)}".rstrip()
        about = "" if why.about is None or why.about == self.ref else f"{why.about} "
        return f"{about}{why.event}{changed}"

    def _did(self) -> str:
        changes = [str(write) for write in self.writes if write.is_change]
        parts = [some_of(changes, most=_MAX_NAMED)] if changes else []
        if no_ops := len(self.writes) - len(changes):
            parts.append(f"{no_ops} {_writes(no_ops)} changed nothing")
        if self.skipped_writes:
            parts.append(f"{self.skipped_writes} {_writes(self.skipped_writes)} skipped")
        return "; ".join(parts)


class ReconcileSkipped(_ObjectObservation, frozen=True, kw_only=True):
    """A worker took the key of an object from the queue, but did not reconcile the object.

    ``reason`` is ``paused``, ``permanent``, ``gone``, ``being deleted`` or ``out of scope``.
    """

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_controller_skips",
            "Reconciles that were skipped because there was nothing to do, by the reason.",
            "controller",
            "reason",
        ),
    )
    reason: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the reason."""
        text = f"{self._subject()}: nothing done: {self.reason}"
        return text, self._fields(reason=self.reason)


class SlowLaneChanged(Observation, frozen=True, kw_only=True):
    """The number of slow reconciles or of hanging objects of a controller has changed.

    ``slow`` is the number of reconciles that run in addition to the workers. ``hanging`` is the
    number of objects whose last reconcile timed out. ``waiting`` of these objects wait for a
    reconcile, because only a limited number of hanging objects is reconciled concurrently.
    """

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (_SLOW, _HANGING)
    controller: str
    slow: int
    hanging: int
    waiting: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the numbers."""
        text = (
            f"{self.controller}: {self.slow} slow reconciles run beside the workers,"
            f" {self.hanging} objects timed out, {self.waiting} of them wait"
        )
        return text, {
            "controller": self.controller,
            "slow": self.slow,
            "hanging": self.hanging,
            "waiting": self.waiting,
        }

    def samples(self) -> Iterable[Sample]:
        """Return the numbers of slow reconciles and of hanging objects."""
        controller = self.controller
        return (_SLOW.sample(self.slow, controller), _HANGING.sample(self.hanging, controller))


class HotLoop(_ObjectObservation, frozen=True, kw_only=True):
    """A controller triggers itself: each reconcile changes what the previous reconcile wrote."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_controller_hot_loops",
            "Times that a controller triggered itself repeatedly.",
            "controller",
        ),
    )
    fields: tuple[str, ...]
    count: int
    seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the fields and the remedy."""
        text = (
            f"{self._subject()}: the controller triggers itself: {self.count} reconciles in"
            f" {duration_text(self.seconds)} changed {_named(self.fields)}, each because of the"
            f" previous one's write. Write the same value unless something else has changed"
        )
        return text, self._fields(fields=", ".join(self.fields), count=self.count)


class FieldConflictFound(_ObjectObservation, frozen=True, kw_only=True):
    """Another client repeatedly changes fields that a controller then sets again."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_controller_field_conflicts",
            "Times that another client repeatedly changed fields that a controller sets.",
            "controller",
        ),
    )
    fields: tuple[str, ...]
    managers: tuple[str, ...]
    count: int
    seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the fields, the other field managers, and the remedy."""
        text = (
            f"{self._subject()}: {_named(self.managers) or 'another client'} keeps changing"
            f" {_named(self.fields)}, and the controller set them again {self.count} times in"
            f" {duration_text(self.seconds)}. Remove these fields from one of the two"
        )
        return text, self._fields(
            fields=", ".join(self.fields), managers=", ".join(self.managers), count=self.count
        )


class TriggerFailed(_ObjectObservation, frozen=True, kw_only=True):
    """A mapping, predicate or priority function of the operator author raised an exception.

    ``role`` is ``mapping``, ``predicate`` or ``priority``. ``wait_seconds`` is the time until the
    function is called again; ``None`` if it is not called again.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_controller_trigger_failures",
            "Mappings and predicates that raised.",
            "controller",
            "role",
        ),
    )
    function: str
    role: str
    error: Exception
    wait_seconds: float | None = None

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the function, the error and the consequence."""
        then = (
            f", and will be called again in {duration_text(self.wait_seconds)}"
            if self.wait_seconds is not None
            else ", and the change counts as relevant"
            if self.role == "predicate"
            else ""
        )
        what = f"the {self.role} {self.function} failed{then}: {raised(self.error)}"
        return f"{self._subject()}: {what}", self._fields(
            function=self.function, role=self.role, error=type(self.error).__name__
        )

    def traced_error(self, *, is_debug: bool) -> Exception | None:
        """Return the error if ``is_debug`` is true; its traceback is then logged.

        Otherwise return ``None``: there may be an error for each change, and the log line already
        contains the file and line of the error.
        """
        return self.error if is_debug else None


class SourceFailed(Observation, frozen=True, kw_only=True):
    """A source of keys failed, or ended without an error, and will be opened again."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_controller_source_failures",
            "Sources that raised or ended, and were opened again.",
            "controller",
            "source",
        ),
    )
    controller: str
    source: str
    error: Exception | None
    wait_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the source, the error and the wait."""
        error = self.error
        what = "ended" if error is None else "failed"
        why = "" if error is None else f": {raised(error)}"
        wait = self.wait_seconds
        then = f"and will be opened again in {duration_text(wait)}" if wait else "and continues"
        name = "" if error is None else type(error).__name__
        return f"{self.controller}: the source {self.source} {what}, {then}{why}", {
            "controller": self.controller,
            "source": self.source,
            "error": name,
        }


class ThreadsExhausted(Observation, frozen=True, kw_only=True):
    """All threads for functions that are not async are busy.

    ``waiting`` calls of such functions wait for a thread.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_controller_threads_exhausted",
            "Times that calls had to wait because all threads for plain functions were busy.",
        ),
    )
    threads: int
    waiting: int
    held_by: tuple[str, ...]

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of threads and their holders."""
        text = (
            f"all {self.threads} threads for plain functions are busy and {self.waiting} calls"
            f" wait: {_named(self.held_by)}"
        )
        return text, {
            "threads": self.threads,
            "waiting": self.waiting,
            "held_by": ", ".join(self.held_by),
        }


class ThreadAbandoned(_ObjectObservation, frozen=True, kw_only=True):
    """A function still runs in its thread although its reconcile has ended.

    This observation is reported twice: when the reconcile ends, and, with ``has_ended``, when the
    function ends. The second time, ``seconds`` is the time between the two.
    """

    METRICS: ClassVar[tuple[Metric, ...]] = (_THREADS_ABANDONED,)
    seconds: float
    has_ended: bool = False

    def level(self) -> int:
        """Return ``WARNING`` while the function runs, and ``INFO`` once it has ended."""
        return logging.INFO if self.has_ended else logging.WARNING

    def describe(self) -> tuple[str, Fields]:
        """Return a log text that says whether the function has ended."""
        text = (
            f"its function has ended, {duration_text(self.seconds)} after the reconcile"
            if self.has_ended
            else "the reconcile ended, but its function still runs in a thread; it can no longer"
            " read or write"
        )
        return f"{self._subject()}: {text}", self._fields(seconds=self.seconds)

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one abandoned thread; none when the function ends."""
        return () if self.has_ended else (_THREADS_ABANDONED.sample(1, self.controller),)


class EventsDropped(Observation, frozen=True, kw_only=True):
    """``count`` Kubernetes events were not written, because there were too many."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (_EVENTS_DROPPED,)
    controller: str
    count: int
    reason: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of events and the reason."""
        text = f"{self.controller}: {self.count} events were not written: {self.reason}"
        return text, {"controller": self.controller, "count": self.count, "reason": self.reason}

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the number of dropped events."""
        return (_EVENTS_DROPPED.sample(self.count, self.controller, self.reason),)


class EventNotRecorded(_ObjectObservation, frozen=True, kw_only=True):
    """The API server rejected a Kubernetes event about an object, and the event is dropped."""

    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_controller_events_not_recorded",
            "Kubernetes events that the server rejected.",
            "controller",
        ),
    )
    error: Exception

    def level(self) -> int:
        """Return ``INFO`` if the rejection is normal, otherwise ``WARNING``.

        It is normal in a namespace that is being deleted, and without leadership.
        """
        error = self.error
        if isinstance(error, Forbidden):
            is_normal = any(cause.reason == "NamespaceTerminating" for cause in error.causes)
        else:
            is_normal = isinstance(error, NotFound | NotLeading)
        return logging.INFO if is_normal else logging.WARNING

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the error."""
        text = f"{self._subject()}: an event was not written: {self.error}"
        return text, self._fields(error=type(self.error).__name__)


class ControllerStarted(Observation, frozen=True, kw_only=True):
    """A controller has started its workers."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_WORKERS,)
    controller: str
    workers: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of workers."""
        workers = self.workers
        text = f"{self.controller}: started with {workers} worker{'s' if workers > 1 else ''}"
        return text, {"controller": self.controller, "workers": workers}

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the number of workers."""
        return (_WORKERS.sample(self.workers, self.controller),)


class ControllerStopped(Observation, frozen=True, kw_only=True):
    """A controller's workers have stopped, ``seconds`` after they were requested to stop."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_WORKERS,)
    controller: str
    seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration of the stop."""
        text = f"{self.controller}: stopped within {duration_text(self.seconds)}"
        return text, {"controller": self.controller, "seconds": self.seconds}

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the value 0: no worker runs."""
        return (_WORKERS.sample(0, self.controller),)


def _named(things: tuple[str, ...]) -> str:
    return some_of(things, most=_MAX_NAMED)


def _writes(count: int) -> str:
    return "write" if count == 1 else "writes"
