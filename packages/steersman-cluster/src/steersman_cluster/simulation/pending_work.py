"""The operators' pending work: requeues, retries, and watches that are not open.

The operators report it with their observations.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from steersman.clock import Clock
from steersman.names import ObjectRef
from steersman.observe import (
    KindMissing,
    Listed,
    Observation,
    ReconcileFinished,
    ReconcileSkipped,
    ReflectorStopped,
    WatchEnded,
    WatchStarted,
)

_WorkKey: TypeAlias = tuple[str, str, ObjectRef]  # actor, controller or resource, object


class Failing(NamedTuple):
    """An object whose reconcile failed, and which the controller will retry."""

    actor: str
    controller: str
    ref: ObjectRef
    error: str

    def __str__(self) -> str:
        return f"{self.actor} {self.controller} {self.ref}: {self.error}"


class PendingWork:
    """The pending work of operators: requeues, retries, and watches that are not open."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[_WorkKey, float] = {}
        self._failing: dict[_WorkKey, str] = {}
        self._unwatched: dict[_WorkKey, None] = {}

    def note(self, actor: str, observation: Observation) -> None:
        """Update the pending work with ``observation``, reported by the operator ``actor``."""
        if type(observation) is ReconcileFinished:
            place = actor, observation.controller, observation.ref
            if observation.outcome in ("failed", "timed out"):
                self._failing[place] = str(observation.error)
            else:
                self._failing.pop(place, None)
            if observation.after_seconds is None:
                self._due.pop(place, None)
            else:
                self._due[place] = self._clock.monotonic() + observation.after_seconds
        elif type(observation) is ReconcileSkipped:
            place = actor, observation.controller, observation.ref
            self._failing.pop(place, None)
            self._due.pop(place, None)
        elif isinstance(observation, Listed | WatchEnded):
            self._unwatched[actor, observation.resource, observation.ref] = None
        elif isinstance(observation, WatchStarted | KindMissing | ReflectorStopped):
            self._unwatched.pop((actor, observation.resource, observation.ref), None)

    def forget(self, actor: str) -> None:
        """Drop the pending work of the operator ``actor``, which has ended."""
        for kept in (self._due, self._failing, self._unwatched):
            for place in [each for each in kept if each[0] == actor]:
                del kept[place]

    def due_until(self, at: float) -> float | None:
        """Return the time of the last requeue that is due by ``at``, or ``None`` if none is due."""
        return max((each for each in self._due.values() if each <= at), default=None)

    def due_to(self, actor: str, controller: str) -> Iterator[tuple[ObjectRef, float]]:
        """Yield each object that a controller of ``actor`` has requeued, with its due time.

        ``actor`` is the name of an operator or another program in the simulation.
        """
        for (who, what, ref), due_at in self._due.items():
            if who == actor and what == controller:
                yield ref, due_at

    def failing(self) -> list[Failing]:
        """Return the objects whose reconcile failed, and which will be retried."""
        return [Failing(*place, error) for place, error in self._failing.items()]

    def unwatched(self) -> list[str]:
        """Return a line for each watch that an operator needs and that is not open."""
        return [f"{actor} does not watch {ref}" for actor, _, ref in self._unwatched]
