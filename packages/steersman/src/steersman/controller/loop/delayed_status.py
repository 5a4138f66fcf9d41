"""How things stand, said when a look ends: what is news at once, and progress once in a while."""

from typing import Final, NamedTuple

from steersman.clock import Clock
from steersman.controller.context.context import Context
from steersman.controller.declaration.outcomes import Later, Outcome
from steersman.kinds import Resource, Unstructured
from steersman.names import ObjectKey
from steersman.observe import Why

# Less is no time at all.
_SHORTEST_SECONDS: Final = 0.001


class Reporting:
    """Applies the status that an outcome has, or asks for another look in a while.

    The status that can wait is not kept: the next look says how things stand then, whatever it is
    for. Of a look in which something waits, it is remembered until when, and for what it was.
    """

    def __init__(self, *, patience_seconds: float, clock: Clock) -> None:
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._waiting: dict[ObjectKey, _Waiting] = {}

    def __len__(self) -> int:
        """Of how many objects there is something to be said."""
        return len(self._waiting)

    def __repr__(self) -> str:
        return f"<Reporting, {len(self._waiting)} to come>"

    def __contains__(self, key: ObjectKey) -> bool:
        """Whether there is something to be said of it."""
        return key in self._waiting

    def forget(self, key: ObjectKey) -> None:
        """The object is gone, or what was to be said of it is said."""
        self._waiting.pop(key, None)

    def whys(self, key: ObjectKey) -> tuple[Why, ...]:
        """What the look was for in which something was not said: the next is for the same."""
        waiting = self._waiting.get(key)
        return () if waiting is None else waiting.whys

    async def report(
        self, outcome: Outcome, key: ObjectKey, obj: Resource | Unstructured, context: Context
    ) -> Outcome:
        """The outcome, once its status is applied; or another look, if that can wait."""
        if outcome.status is None:
            self.forget(key)
            return outcome
        now_at = self._clock.monotonic()
        before = self._waiting.get(key)
        # As long as what has waited longest may wait.
        due_at = now_at + self._patience_seconds if before is None else before.due_at
        wait_seconds = due_at - now_at
        # Who wants to look again by the clock has asked somebody for this, and is not asked twice.
        is_open = isinstance(outcome, Later) and outcome.after_seconds is None
        can_wait = is_open and wait_seconds >= _SHORTEST_SECONDS
        if await context.report_status(obj, outcome.status, can_wait=can_wait):
            self.forget(key)
            return outcome
        self._waiting[key] = _Waiting(due_at, context.whys)
        return Later(after_seconds=wait_seconds)


class _Waiting(NamedTuple):
    """Until when something waits to be said, and for what the look was that found it out."""

    due_at: float
    whys: tuple[Why, ...]
