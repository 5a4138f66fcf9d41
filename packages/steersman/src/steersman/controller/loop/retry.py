"""The decision after a reconcile: when to retry, and which event to record. No I/O."""

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

# A conflict means that the cache was behind; the next attempt usually succeeds.
QUIET_CONFLICTS = 3

# The names, in Python and on the wire, of the fields that are not an object's content.
_NOT_CONTENT = frozenset({"api_version", "apiVersion", "kind", "metadata", "status"})


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What the control loop does with a key after a reconcile.

    If ``is_failure``, the reconcile is retried with backoff. If ``is_final``, the object is
    reconciled again only after it has changed. ``note`` contains the reason and the text of a
    Kubernetes event about the object.
    """

    outcome: str
    after_seconds: float | None = None
    is_failure: bool = False
    is_final: bool = False
    note: tuple[str, str] | None = None


def decide(outcome: Outcome, error: Exception | None, *, failures: int) -> Decision:
    """Return what the control loop does after a reconcile with this ``outcome`` or ``error``.

    ``failures`` is the number of consecutive failures of the object.
    """
    match error:
        case None if isinstance(outcome, Later):
            return Decision(outcome="later", after_seconds=outcome.after_seconds)
        case None:
            return Decision(outcome="done")
        case Permanent():
            return Decision(
                outcome="permanent", is_final=True, note=("Permanent", error_text(error))
            )
        case NotLeading():
            # The leader reconciles it; this process stops soon.
            return Decision(outcome="cancelled", is_failure=True)
        case ReconcileTimedOut():
            note = (type(error).__name__, error_text(error))
            return Decision(outcome="timed out", is_failure=True, note=note)
        case _:
            return Decision(outcome="failed", is_failure=True, note=_note(error, failures))


def _note(error: Exception, failures: int) -> tuple[str, str] | None:
    match error:
        case Unreachable() | ServerFailed() | TooManyRequests():
            return None  # not about the object, and an event could not be written anyway
        case Conflict() if failures < QUIET_CONFLICTS:
            return None
        case SteersmanError():
            return type(error).__name__, public_text(error, of="reconcile")
        case _:
            return "ReconcileFailed", public_text(error, of="reconcile")


def fingerprint(obj: Resource | Unstructured) -> object:
    """Return a value that changes if anything in ``obj``, except its status, changes."""
    return (
        obj.uid,
        obj.generation or _content(obj),
        obj.deletion_time,
        tuple(sorted(obj.labels.items())),
        tuple(sorted(obj.annotations.items())),
    )


def _content(obj: Resource | Unstructured) -> object:
    """Return the content of an object whose kind has no ``metadata.generation``.

    ConfigMap, Secret, Service, Node and other built-in kinds have no generation.
    """
    if isinstance(obj, Unstructured):
        return {field: value for field, value in obj.body.items() if field not in _NOT_CONTENT}
    names: tuple[str, ...] = getattr(type(obj), "__struct_fields__", ())
    fields = [each for each in names if each not in _NOT_CONTENT]
    if not fields:
        # A metadata-only class: only the resourceVersion shows a change of `data`.
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
    """Return the work queue of a controller.

    A retry waits for the backoff of its key and for the bucket of all keys, whichever takes longer.
    """
    limiter: Any = MaxOf(KeyBackoff(backoff, rng=rng), TokenBucket(bucket, clock=clock))
    return WorkQueue(name, limiter=limiter, clock=clock, observe=observe)
