"""What is to be done after a reconcile: a verdict on its outcome or its error. Pure."""

from random import Random
from typing import Any

import msgspec

from steersman.clock import Clock
from steersman.controller.declaration.outcomes import Later, Outcome
from steersman.controller.events.error_notes import error_text, public_text
from steersman.errors import (
    Conflict,
    NotLeading,
    Permanent,
    ReconcileTimedOut,
    ServerFailed,
    SteersmanError,
    TooManyRequests,
    Unreachable,
)
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Observer
from steersman.workqueue import (
    BackoffPolicy,
    BucketPolicy,
    KeyBackoff,
    MaxOf,
    TokenBucket,
    WorkQueue,
)

# A conflict says that something was read too early; the next attempt usually has what it needs.
CONFLICTS_IN_SILENCE = 3

# The fields of an object, in Python's names and the wire's, that are not its content.
_BESIDE = frozenset({"api_version", "apiVersion", "kind", "metadata", "status"})


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done with a key, and what its author is to be told.

    ``is_failure``: again, after a wait that grows. ``is_final``: not before the object changes.
    ``note`` is the reason and text of an event on the object.
    """

    outcome: str
    after_seconds: float | None = None
    is_failure: bool = False
    is_final: bool = False
    note: tuple[str, str] | None = None


def judge(outcome: Outcome, error: Exception | None, *, failures: int) -> Verdict:
    """The verdict on what a reconcile has led to, after so many failures in a row before it."""
    match error:
        case None if isinstance(outcome, Later):
            return Verdict(outcome="later", after_seconds=outcome.after_seconds)
        case None:
            return Verdict(outcome="done")
        case Permanent():
            return Verdict(
                outcome="permanent", is_final=True, note=("Permanent", error_text(error))
            )
        case NotLeading():
            # Whoever leads does it; here, the end is near.
            return Verdict(outcome="cancelled", is_failure=True)
        case ReconcileTimedOut():
            note = (type(error).__name__, error_text(error))
            return Verdict(outcome="timed out", is_failure=True, note=note)
        case _:
            return Verdict(outcome="failed", is_failure=True, note=_note(error, failures))


def _note(error: Exception, failures: int) -> tuple[str, str] | None:
    match error:
        case Unreachable() | ServerFailed() | TooManyRequests():
            return None  # It says nothing about the object, and could not be written anyway.
        case Conflict() if failures < CONFLICTS_IN_SILENCE:
            return None
        case SteersmanError():
            return type(error).__name__, public_text(error, of="reconcile")
        case _:
            return "ReconcileFailed", public_text(error, of="reconcile")


def fingerprint(obj: Resource | Unstructured) -> object:
    """What is to be different for an object to have changed, its status apart."""
    return (
        obj.uid,
        obj.generation or _content(obj),
        obj.deletion_time,
        tuple(sorted(obj.labels.items())),
        tuple(sorted(obj.annotations.items())),
    )


def _content(obj: Resource | Unstructured) -> object:
    """All but the metadata and the status of an object for which the server counts no generation.

    The server counts none for ConfigMap, Secret, Service, Node and other built-in kinds.
    """
    if isinstance(obj, Unstructured):
        return {field: value for field, value in obj.body.items() if field not in _BESIDE}
    names: tuple[str, ...] = getattr(type(obj), "__struct_fields__", ())
    fields = [each for each in names if each not in _BESIDE]
    if not fields:
        # The class has the metadata only, where nothing but the version tells a change of `data`.
        return obj.resource_version
    return {field: getattr(obj, field) for field in fields}


def new_queue(
    name: str,
    *,
    backoff: BackoffPolicy,
    bucket: BucketPolicy,
    clock: Clock,
    rng: Random,
    observe: Observer,
) -> WorkQueue[ObjectKey]:
    """The queue of a controller; what fails waits as long as both policies want."""
    limiter: Any = MaxOf(KeyBackoff(backoff, rng=rng), TokenBucket(bucket, clock=clock))
    return WorkQueue(name, limiter=limiter, clock=clock, observe=observe)
