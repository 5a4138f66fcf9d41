"""When nothing is left to do: who still has something in hand, as they tell it themselves."""

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

Place: TypeAlias = tuple[str, str, ObjectRef]  # actor, controller or resource, object


class Failing(NamedTuple):
    """An object that a controller is going to try again."""

    actor: str
    controller: str
    ref: ObjectRef
    error: str

    def __str__(self) -> str:
        return f"{self.actor} {self.controller} {self.ref}: {self.error}"


class PendingWork:
    """What is left to do, as actors tell it: what they look at again, and what they do not hear."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[Place, float] = {}
        self._failing: dict[Place, str] = {}
        self._deaf: dict[Place, None] = {}

    def note(self, actor: str, observation: Observation) -> None:
        """Hear what an actor tells."""
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
            self._deaf[actor, observation.resource, observation.ref] = None
        elif isinstance(observation, WatchStarted | KindMissing | ReflectorStopped):
            self._deaf.pop((actor, observation.resource, observation.ref), None)

    def forget(self, actor: str) -> None:
        """The actor is gone, and with it what it had in mind."""
        for kept in (self._due, self._failing, self._deaf):
            for place in [each for each in kept if each[0] == actor]:
                del kept[place]

    def due_until(self, at: float) -> float | None:
        """The last moment up to ``at`` for which somebody has something in mind."""
        return max((each for each in self._due.values() if each <= at), default=None)

    def due_to(self, actor: str, controller: str) -> Iterator[tuple[ObjectRef, float]]:
        """What a controller has in mind, and for when."""
        for (who, what, ref), due_at in self._due.items():
            if who == actor and what == controller:
                yield ref, due_at

    def failing(self) -> list[Failing]:
        """What will be tried again, because it failed."""
        return [Failing(*place, error) for place, error in self._failing.items()]

    def deaf(self) -> list[str]:
        """Who has no watch open, and does not hear of what happens until there is one again."""
        return [f"{actor} hears nothing of {ref}" for actor, _, ref in self._deaf]
