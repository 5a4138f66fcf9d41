"""The last reconcile of an object, as text that can be sent to another process."""

from datetime import datetime
from typing import Final

import msgspec

from steersman.names import ObjectRef
from steersman.observe import (
    ReconcileFinished,
    ReconcileReason,
    Write,
    duration_text,
    outcome_text,
    some_of,
)
from steersman.view.lines import printable

_MAX_NAMED: Final = 3
_MAX_ERROR_LENGTH: Final = 500


class Reconciled(msgspec.Struct, frozen=True, kw_only=True, tag="reconciled"):
    """The result of a reconcile: its time, reasons and writes, and its ``error`` if it failed.

    ``is_news`` is true if the reconcile failed, or wrote more than the status of its own object.
    ``idle`` is the number of later reconciles of the object that changed nothing.
    """

    ref: ObjectRef
    controller: str
    outcome: str
    took_seconds: float
    time: datetime
    why: str = ""
    did: str = ""
    error: str = ""
    after_seconds: float | None = None
    is_news: bool = True
    idle: int = 0

    def merged_with(self, later: "Reconciled") -> "Reconciled":
        """Return the reconcile that the view shows once ``later`` has also finished.

        This is ``later``, unless ``later`` changed nothing and had the same outcome. In that case
        it is this reconcile with ``idle`` one higher, if this reconcile changed something.
        """
        is_idle = not later.did and not later.error and later.outcome == self.outcome
        return msgspec.structs.replace(self, idle=self.idle + 1) if is_idle and self.did else later

    @property
    def in_brief(self) -> str:
        """The object, the reasons and the result of the reconcile on one line, for a timeline."""
        why = f", because {self.why}" if self.why else ""
        return f"reconciled {self.ref}{why}: {self.error or self.did or self.outcome}"

    def __str__(self) -> str:
        outcome = outcome_text(self.outcome)
        again = (
            "" if self.after_seconds is None else f", again in {duration_text(self.after_seconds)}"
        )
        parts = [f"{outcome} in {duration_text(self.took_seconds)}{again}"]
        if self.error:
            parts.append(self.error)
        if self.why:
            parts.append(f"because {self.why}")
        if self.did:
            parts.append(self.did)
        if self.idle:
            times = "" if self.idle == 1 else f", {self.idle} times"
            parts.append(f"later reconciles changed nothing{times}")
        return "; ".join(parts)


# The predicates of events about an object, and the texts of events without one.
_EVENTS: Final = {
    "added": "was created",
    "deleted": "was deleted",
    "initial": "was listed at the start",
    "mapped": "changed",
    "resync": "was resynced",
}
_CAUSES: Final = {
    "later": "the requested delay ended",
    "retry": "the last reconcile failed",
    "stream": "a source of keys yielded it",
    "timer": "its timer fired",
}


def reconciled(finished: ReconcileFinished, *, time: datetime) -> Reconciled:
    """Return the observation ``finished`` as a ``Reconciled`` with this ``time``."""
    error = finished.error
    # The same reason may occur twice before the reconcile.
    reasons = list(dict.fromkeys(_because(why, finished.ref) for why in finished.reasons))
    text = "" if error is None else printable(f"{type(error).__name__}: {error}")
    return Reconciled(
        ref=finished.ref,
        controller=finished.controller,
        outcome=finished.outcome,
        took_seconds=finished.took_seconds,
        time=time,
        why=some_of(reasons, most=_MAX_NAMED, left_out=finished.reasons_left_out),
        did=some_of(
            [_wrote(each, finished.ref) for each in finished.writes if each.is_change],
            most=_MAX_NAMED,
        ),
        error=text if len(text) <= _MAX_ERROR_LENGTH else f"{text[: _MAX_ERROR_LENGTH - 1]}…",
        after_seconds=finished.after_seconds,
        is_news=error is not None
        or any(
            each.is_change and (each.verb, each.ref) != ("apply status", finished.ref)
            for each in finished.writes
        ),
    )


def _because(why: ReconcileReason, ref: ObjectRef) -> str:
    subject = str(why.about) if why.about is not None and why.about != ref else "the object"
    if why.event == "updated":
        fields = some_of(why.changed_fields, most=_MAX_NAMED)
        if fields and subject == "the object":
            return f"{fields} changed"
        # The subject first, because a terminal truncates the line.
        return f"{subject} changed: {fields}" if fields else f"{subject} changed"
    if why.event in _EVENTS:
        return f"{subject} {_EVENTS[why.event]}"
    return _CAUSES.get(why.event, why.event)


def _wrote(write: Write, ref: ObjectRef) -> str:
    if (write.verb, write.ref) == ("apply status", ref):
        return f"updated the {ref.kind}'s status"
    return str(write)
