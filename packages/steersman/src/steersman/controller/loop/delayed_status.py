"""``DelayedStatuses``: statuses that only show progress are applied once in a while."""

from typing import Final, NamedTuple

from steersman.clock import Clock
from steersman.controller.context.context import Context
from steersman.controller.declaration.outcomes import Later, Outcome
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Why

# A shorter delay is none.
_SHORTEST_SECONDS: Final = 0.001


class DelayedStatuses:
    """Applies the status of an outcome, or requeues the object to apply it later.

    A delayed status is not kept: the next reconcile returns the latest one. Only the time until
    which it may wait and the reasons of its reconcile are remembered.
    """

    def __init__(self, *, delay_seconds: float, clock: Clock) -> None:
        self._delay_seconds = delay_seconds
        self._clock = clock
        self._waiting: dict[ObjectKey, _Delayed] = {}

    def __len__(self) -> int:
        """The number of objects with a delayed status."""
        return len(self._waiting)

    def __repr__(self) -> str:
        return f"<DelayedStatuses {len(self._waiting)} waiting>"

    def __contains__(self, key: ObjectKey) -> bool:
        """Whether its status is delayed."""
        return key in self._waiting

    def forget(self, key: ObjectKey) -> None:
        """The object is gone, or its status is applied."""
        self._waiting.pop(key, None)

    def whys(self, key: ObjectKey) -> tuple[Why, ...]:
        """The reasons of the reconcile whose status was delayed: the next one has the same."""
        waiting = self._waiting.get(key)
        return () if waiting is None else waiting.whys

    async def apply(
        self, outcome: Outcome, key: ObjectKey, obj: Resource | Unstructured, context: Context
    ) -> Outcome:
        """The outcome, after its status is applied; or a ``Later``, if the status can wait."""
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
        can_wait = is_open and wait_seconds >= _SHORTEST_SECONDS
        if await context.report_status(obj, outcome.status, can_wait=can_wait):
            self.forget(key)
            return outcome
        self._waiting[key] = _Delayed(due_at, context.whys)
        return Later(after_seconds=wait_seconds)


class _Delayed(NamedTuple):
    """Until when a status may wait, and the reasons of its reconcile."""

    due_at: float
    whys: tuple[Why, ...]
