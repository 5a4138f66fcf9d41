"""Observations of work queues, which ``queue_metrics`` counts."""

import logging
from typing import ClassVar

from steersman.names import ObjectKey, ObjectRef
from steersman.observe.observation import Fields, Observation
from steersman.observe.phrases import duration_text, ref_fields


class _KeyObservation(Observation, frozen=True, kw_only=True, gc=False):
    LEVEL: ClassVar[int] = logging.DEBUG
    queue: str
    key: object

    def _subject(self) -> str:
        return f"queue {self.queue}: {self.key}"

    def _fields(self, **more: int | float) -> Fields:
        key = self.key
        fields: dict[str, str | int | float] = {"queue": self.queue, "key": str(key), **more}
        match key:
            case ObjectRef():
                fields |= ref_fields(key)
            case ObjectKey(namespace=namespace, name=name):
                fields["name"] = name
                if namespace:
                    fields["namespace"] = namespace
            case _:
                pass  # a key of the author's type
        return fields


class KeyAdded(_KeyObservation, frozen=True, kw_only=True, gc=False):
    """A key was added to a work queue; the queue did not contain the key before."""

    priority: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the priority."""
        text = f"{self._subject()}: added{_urgency(self.priority)}"
        return text, self._fields(priority=self.priority)


class KeyRaised(_KeyObservation, frozen=True, kw_only=True, gc=False):
    """A key that waits in a work queue was added again with a higher priority."""

    old_priority: int
    priority: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with both priorities."""
        old, new = self.old_priority, self.priority
        text = f"{self._subject()}: moved up from priority {old} to {new}"
        return text, self._fields(priority=new)


class KeyDelayed(_KeyObservation, frozen=True, kw_only=True, gc=False):
    """A key will be added to a work queue after a delay.

    ``requeues`` is the number of the key's consecutive failures.
    """

    wait_seconds: float
    requeues: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the delay and the number of failures."""
        after = f", after failure {self.requeues}" if self.requeues else ""
        text = f"{self._subject()}: to be added in {duration_text(self.wait_seconds)}{after}"
        return text, self._fields(wait_seconds=self.wait_seconds, requeues=self.requeues)


class KeyTaken(_KeyObservation, frozen=True, kw_only=True, gc=False):
    """A worker has taken a key from a work queue to process it."""

    priority: int
    waited_seconds: float
    taken_at: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the time that the key has waited."""
        waited = duration_text(self.waited_seconds)
        text = f"{self._subject()}: taken after {waited}{_urgency(self.priority)}"
        return text, self._fields(priority=self.priority, waited_seconds=self.waited_seconds)


class KeyDone(_KeyObservation, frozen=True, kw_only=True, gc=False):
    """A worker has finished processing a key."""

    took_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the processing time."""
        text = f"{self._subject()}: done in {duration_text(self.took_seconds)}"
        return text, self._fields(took_seconds=self.took_seconds)


class QueueEnded(Observation, frozen=True, kw_only=True):
    """A work queue was shut down.

    ``left`` is the number of keys that were dropped. ``held`` is the number of keys that workers
    still process.
    """

    queue: str
    left: int
    held: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of dropped keys."""
        text = (
            f"queue {self.queue}: shut down with {self.left} keys left and {self.held} still"
            f" worked on"
        )
        return text, {"queue": self.queue, "left": self.left, "held": self.held}


def _urgency(priority: int) -> str:
    return f" with priority {priority}" if priority else ""
