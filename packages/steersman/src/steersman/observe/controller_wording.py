"""What a log says of controllers, and how loudly."""

import logging
from typing import Final, assert_never

from steersman.errors import Conflict, Forbidden, NotFound, NotLeading, SteersmanError
from steersman.observe.controller_events import (
    ControllerObservation,
    ControllerStarted,
    ControllerStopped,
    EventNotRecorded,
    EventsDropped,
    FieldConflictFound,
    HotLoop,
    ReconcileFinished,
    ReconcileSkipped,
    SlowLaneChanged,
    SourceFailed,
    ThreadAbandoned,
    ThreadsExhausted,
    TriggerFailed,
    Why,
    Write,
)
from steersman.observe.phrases import Fields, length, raised, ref_fields, some_of

# Enough to see what a reconcile was about; a line is no report.
_MOST_WHYS: Final = 3
_MOST_NAMED: Final = 5

_FAILURES: Final = frozenset({"failed", "permanent", "timed out"})
_TOLD: Final = {"later": "not done yet", "permanent": "failed for good"}
_WROTE: Final = {
    "apply": "applied",
    "apply status": "applied the status of",
    "patch": "patched",
    "delete": "deleted",
    "create": "created",
}


def level_of(observation: ControllerObservation) -> int:
    """How loud an observation is."""
    match observation:
        case ReconcileFinished(outcome=outcome, writes=writes):
            if outcome in _FAILURES:
                if not _is_news(observation):
                    return logging.DEBUG
                return logging.INFO if _is_everyday(observation) else logging.WARNING
            # What is not done yet will be heard of again: the news is that it is in line by now.
            if outcome == "cancelled" or (outcome == "done" and any(w.is_change for w in writes)):
                return logging.INFO
            return logging.DEBUG
        case ReconcileSkipped() | SlowLaneChanged():
            return logging.DEBUG
        case ControllerStarted() | ControllerStopped():
            return logging.INFO
        case HotLoop() | FieldConflictFound() | TriggerFailed() | SourceFailed():
            return logging.WARNING
        case ThreadAbandoned(has_ended=has_ended):
            return logging.INFO if has_ended else logging.WARNING
        case ThreadsExhausted() | EventsDropped():
            return logging.WARNING
        case EventNotRecorded(error=error):
            return logging.INFO if _is_out_of_place(error) else logging.WARNING
        case _:
            assert_never(observation)


def describe(observation: ControllerObservation) -> tuple[str, Fields]:
    """What a log says of an observation: to those who read, and to those who search."""
    match observation:
        case ReconcileFinished():
            return _finished(observation)
        case ReconcileSkipped(reason=reason):
            text = f"{_about(observation)}: nothing done: {reason}"
            return text, _fields(observation, reason=reason)
        case SlowLaneChanged(controller=controller, slow=slow, hanging=hanging, waiting=waiting):
            text = (
                f"{controller}: {slow} slow reconciles run beside the workers, {hanging} objects"
                f" hang, {waiting} of them wait"
            )
            return text, {
                "controller": controller,
                "slow": slow,
                "hanging": hanging,
                "waiting": waiting,
            }
        case HotLoop(fields=fields, count=count, seconds=seconds):
            text = (
                f"{_about(observation)}: the controller wakes itself: {count} reconciles in"
                f" {length(seconds)} changed {_named(fields)}, each after the last one's write."
                f" Write the same value as long as nothing else has changed"
            )
            return text, _fields(observation, fields=", ".join(fields), count=count)
        case FieldConflictFound(fields=fields, managers=managers, count=count, seconds=seconds):
            text = (
                f"{_about(observation)}: {_named(managers) or 'somebody'} keeps changing"
                f" {_named(fields)}, put back {count} times in {length(seconds)}. Let one of them"
                f" leave these fields out"
            )
            return text, _fields(
                observation, fields=", ".join(fields), managers=", ".join(managers), count=count
            )
        case TriggerFailed(function=function, role=role, error=error, wait_seconds=wait):
            again = (
                f", and will be asked again in {length(wait)}"
                if wait is not None
                else ", and the change counts as one that matters"
                if role == "predicate"
                else ""
            )
            text = f"{_about(observation)}: the {role} {function} failed{again}: {raised(error)}"
            return text, _fields(
                observation, function=function, role=role, error=type(error).__name__
            )
        case SourceFailed(controller=controller, source=source, error=error, wait_seconds=wait):
            what = "ended" if error is None else "failed"
            why = "" if error is None else f": {raised(error)}"
            then = f"and will be opened again in {length(wait)}" if wait else "and goes on"
            text = f"{controller}: the source {source} {what}, {then}{why}"
            name = "" if error is None else type(error).__name__
            return text, {"controller": controller, "source": source, "error": name}
        case ThreadsExhausted(threads=threads, waiting=waiting, held_by=held_by):
            text = (
                f"all {threads} threads for plain functions are busy and {waiting} calls wait:"
                f" {_named(held_by)}"
            )
            return text, {"threads": threads, "waiting": waiting, "held_by": ", ".join(held_by)}
        case ThreadAbandoned(seconds=seconds, has_ended=has_ended):
            text = (
                f"{_about(observation)}: its function has ended, {length(seconds)} after it was"
                f" given up"
                if has_ended
                else f"{_about(observation)}: its function still runs in a thread, although it was"
                f" given up; it can no longer read or write"
            )
            return text, _fields(observation, seconds=seconds)
        case EventsDropped(controller=controller, count=count, reason=reason):
            text = f"{controller}: {count} events were not written: {reason}"
            return text, {"controller": controller, "count": count, "reason": reason}
        case EventNotRecorded(error=error):
            text = f"{_about(observation)}: an event was not written: {error}"
            return text, _fields(observation, error=type(error).__name__)
        case ControllerStarted(controller=controller, workers=workers):
            text = f"{controller}: started with {workers} worker{'s' if workers > 1 else ''}"
            return text, {"controller": controller, "workers": workers}
        case ControllerStopped(controller=controller, seconds=seconds):
            text = f"{controller}: stopped within {length(seconds)}"
            return text, {"controller": controller, "seconds": seconds}
        case _:
            assert_never(observation)


def error_of(observation: ReconcileFinished) -> Exception | None:
    """What an author's code raised and did not mean to; what steersman raises says it all."""
    error = observation.error
    return None if isinstance(error, SteersmanError) else error


def _is_news(finished: ReconcileFinished) -> bool:
    # Of a row of failures the first, second, fourth, eighth: what goes on is seldom news.
    return finished.failures & (finished.failures - 1) == 0


def _is_everyday(finished: ReconcileFinished) -> bool:
    # To have acted on what was known a moment ago, or no longer to lead, is part of a
    # controller's life; only a row of conflicts means something.
    error = finished.error
    return isinstance(error, NotLeading) or (isinstance(error, Conflict) and finished.failures < 2)


def _is_out_of_place(error: Exception) -> bool:
    # A namespace that ends takes nothing new, and whoever no longer leads writes nothing.
    if isinstance(error, Forbidden):
        return any(cause.reason == "NamespaceTerminating" for cause in error.causes)
    return isinstance(error, NotFound | NotLeading)


def _finished(finished: ReconcileFinished) -> tuple[str, Fields]:
    outcome, took, after = finished.outcome, finished.took_seconds, finished.after_seconds
    told = _TOLD.get(outcome, outcome)
    what = f"finalize {told}" if finished.is_finalize else told
    parts = [f"{_about(finished)} {what} {'after' if outcome == 'cancelled' else 'in'} "]
    parts.append(length(took))
    if finished.failures > 1:
        parts.append(f", {finished.failures} failures in a row")
    if after is not None:
        parts.append(f", again in {length(after)}")
    error = finished.error
    if error is not None:
        parts.append(f": {error if error_of(finished) is None else raised(error)}")
    whys = some_of(
        [_because(why, finished) for why in finished.whys[:_MOST_WHYS]],
        most=_MOST_WHYS,
        left_out=len(finished.whys[_MOST_WHYS:]) + finished.whys_left_out,
    )
    did = _did(finished)
    for number, part in enumerate(filter(None, (whys, did))):
        parts.append(f"; {part}" if number or error is not None else f": {part}")
    fields: dict[str, str | int | float] = {
        "outcome": outcome,
        "took_seconds": took,
        "queued_seconds": finished.queued_seconds,
        "failures": finished.failures,
        "why": whys,
        "writes": len(finished.writes),
        "spared": finished.spared,
    }
    if after is not None:
        fields["after_seconds"] = after
    if error is not None:
        fields["error"] = type(error).__name__
    return "".join(parts), _fields(finished, **fields)


def _because(why: Why, finished: ReconcileFinished) -> str:
    changed = f" {_named(why.changed_fields)}".rstrip()
    about = "" if why.about is None or why.about == finished.ref else f"{why.about} "
    return f"{about}{why.event}{changed}"


def _did(finished: ReconcileFinished) -> str:
    changes = [_wrote(write) for write in finished.writes if write.is_change]
    parts = [some_of(changes, most=_MOST_NAMED)] if changes else []
    if vain := len(finished.writes) - len(changes):
        parts.append(f"{vain} {_writes(vain)} changed nothing")
    if finished.spared:
        parts.append(f"{finished.spared} {_writes(finished.spared)} spared")
    return "; ".join(parts)


def _writes(count: int) -> str:
    return "write" if count == 1 else "writes"


def _wrote(write: Write) -> str:
    return f"{_WROTE.get(write.verb, write.verb)} {write.ref}"


def _named(things: tuple[str, ...]) -> str:
    return some_of(things, most=_MOST_NAMED)


def _about(observation: "_OfAnObject") -> str:
    return f"{observation.controller}: {observation.ref}"


def _fields(observation: "_OfAnObject", **more: str | int | float) -> Fields:
    return {"controller": observation.controller, **ref_fields(observation.ref), **more}


_OfAnObject = (
    ReconcileFinished
    | ReconcileSkipped
    | HotLoop
    | FieldConflictFound
    | TriggerFailed
    | ThreadAbandoned
    | EventNotRecorded
)
