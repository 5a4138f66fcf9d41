"""``DelayedStatuses``: applies statuses that only show progress at intervals."""

from typing import Final, NamedTuple

from steersman.clock import Clock
from steersman.controller.context.context import Context
from steersman.controller.declaration.outcomes import Later, Outcome
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import ReconcileReason

# Shorter delays count as zero.
_MIN_SECONDS: Final = 0.001


class DelayedStatuses:
    """The objects whose status write is delayed, because the status only shows progress.

    A delayed status is not stored: the next reconcile of the object returns a newer one. An entry
    contains the time until which the status may be delayed, and the reasons for the reconcile that
    returned the status.
    """

    def __init__(self, *, delay_seconds: float, clock: Clock) -> None:
        self._delay_seconds = delay_seconds
        self._clock = clock
        self._waiting: dict[ObjectKey, _DelayedStatus] = {}

    def __len__(self) -> int:
        """The number of objects with a delayed status."""
        return len(self._waiting)

    def __repr__(self) -> str:
        return f"<DelayedStatuses {len(self._waiting)} waiting>"

    def __contains__(self, key: ObjectKey) -> bool:
        """Return whether the status write of the object ``key`` is delayed."""
        return key in self._waiting

    def forget(self, key: ObjectKey) -> None:
        """Drop the entry of ``key``, because the object was deleted or its status was applied."""
        self._waiting.pop(key, None)

    def reasons(self, key: ObjectKey) -> tuple[ReconcileReason, ...]:
        """Return the reasons for the reconcile whose status write is delayed.

        The next reconcile of the object has these reasons too.
        """
        waiting = self._waiting.get(key)
        return () if waiting is None else waiting.reasons

    async def apply(
        self, outcome: Outcome, key: ObjectKey, obj: Resource | Unstructured, context: Context
    ) -> Outcome:
        """Apply the status in ``outcome`` to ``obj``, unless the status can wait.

        Return ``outcome`` if its status was applied or it has none. Otherwise return a ``Later``
        with the time of the next reconcile.
        """
        if outcome.status is None:
            self.forget(key)
            return outcome
        now_at = self._clock.monotonic()
        before = self._waiting.get(key)
        # The delay counts from the first delayed status.
        due_at = now_at + self._delay_seconds if before is None else before.due_at
        wait_seconds = due_at - now_at
        # An outcome with a time may depend on another system, and is not requeued earlier.
        is_open = isinstance(outcome, Later) and outcome.after_seconds is None
        can_wait = is_open and wait_seconds >= _MIN_SECONDS
        if await context.report_status(obj, outcome.status, can_wait=can_wait):
            self.forget(key)
            return outcome
        self._waiting[key] = _DelayedStatus(due_at, context.reasons)
        return Later(after_seconds=wait_seconds)


class _DelayedStatus(NamedTuple):
    """The time until which a status may wait, and the reasons of the reconcile that returned it."""

    due_at: float
    reasons: tuple[ReconcileReason, ...]
