"""Observations of reflectors."""

import logging
from collections.abc import Iterable
from typing import ClassVar, Final

from steersman.errors import Expired
from steersman.names import ObjectRef
from steersman.observe.observation import Fields, Metric, Observation, Sample, counter, gauge
from steersman.observe.phrases import duration_text, ref_fields

_CONNECTED: Final = gauge("steersman_watch_connected", "Watches that are open.", "resource")
_EVENTS: Final = counter(
    "steersman_watch_events",
    "Events received by watches, counted about once a minute.",
    "resource",
)
_FAILURES: Final = counter(
    "steersman_watch_failures",
    "Lists and watches that failed and were retried, by the class of the error.",
    "resource",
    "error",
)


class _ReflectorObservation(Observation, frozen=True, kw_only=True):
    resource: str
    ref: ObjectRef

    def _fields(self, **more: str | int | float) -> Fields:
        return {"resource": self.resource, **ref_fields(self.ref), **more}


class Listed(_ReflectorObservation, frozen=True, kw_only=True):
    """A reflector has listed all its objects; ``reason`` says why it sent a list request."""

    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_watch_lists",
            "Lists of all objects that reflectors made, by the reason.",
            "resource",
            "reason",
        ),
    )
    count: int
    decode_failures: int
    took_seconds: float
    reason: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of objects and the reason."""
        failures = self.decode_failures
        besides = f" and {failures} that cannot be decoded" if failures else ""
        took = duration_text(self.took_seconds)
        text = f"list {self.ref}: {self.count} objects{besides} in {took} ({self.reason})"
        return text, self._fields(
            count=self.count, took_seconds=self.took_seconds, reason=self.reason
        )


class WatchStarted(_ReflectorObservation, frozen=True, kw_only=True):
    """A watch was opened, after ``failures`` consecutive failures."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_CONNECTED,)
    failures: int

    def level(self) -> int:
        """Return ``INFO`` if attempts have failed before, else ``DEBUG``."""
        return logging.INFO if self.failures else logging.DEBUG

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of failures."""
        after = f" again, after {self.failures} failures" if self.failures else ""
        return f"watch {self.ref}: open{after}", self._fields()

    def samples(self) -> Iterable[Sample]:
        """Return a sample that increases the number of open watches by one."""
        return (_CONNECTED.change(1, self.resource),)


class WatchEventsReceived(_ReflectorObservation, frozen=True, kw_only=True):
    """A watch has received ``events`` events since the previous report."""

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (_EVENTS,)
    events: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of events."""
        return f"watch {self.ref}: {self.events} events", self._fields(events=self.events)

    def samples(self) -> Iterable[Sample]:
        """Return a sample that adds the number of events to the counter."""
        return (_EVENTS.sample(self.events, self.resource),)


class WatchEnded(_ReflectorObservation, frozen=True, kw_only=True):
    """A watch has ended, for whatever reason."""

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (_CONNECTED,)
    took_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration of the watch."""
        text = f"watch {self.ref}: ended after {duration_text(self.took_seconds)}"
        return text, self._fields(took_seconds=self.took_seconds)

    def samples(self) -> Iterable[Sample]:
        """Return a sample that decreases the number of open watches by one."""
        return (_CONNECTED.change(-1, self.resource),)


# Without a metric, because its watches have one.
class ReflectorStopped(_ReflectorObservation, frozen=True, kw_only=True):
    """A reflector has stopped; it sends no further list or watch request."""

    LEVEL: ClassVar[int] = logging.DEBUG

    def describe(self) -> tuple[str, Fields]:
        """Return a log text that names the objects of the reflector."""
        return f"watch {self.ref}: the reflector has stopped", self._fields()


class WatchFailed(_ReflectorObservation, frozen=True, kw_only=True):
    """A list or watch failed and will be retried; the cached objects stay in the cache.

    ``is_news`` is true for the 1st, 2nd, 4th, 8th… of consecutive failures of one type.
    """

    METRICS: ClassVar[tuple[Metric, ...]] = (_FAILURES,)
    error: Exception
    failures: int
    wait_seconds: float
    is_news: bool

    def level(self) -> int:
        """Return ``WARNING`` if ``is_news`` is true, else ``DEBUG``.

        For an expired resourceVersion, which is normal for a watch, return ``INFO`` instead of
        ``WARNING``.
        """
        level = logging.INFO if isinstance(self.error, Expired) else logging.WARNING
        return level if self.is_news else logging.DEBUG

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of failures and the wait."""
        row = f"failed {self.failures} times in a row" if self.failures > 1 else "failed"
        again = f"will be tried again in {duration_text(self.wait_seconds)}"
        text = f"watch {self.ref}: {row} and {again}: {self.error}"
        return text, self._fields(error=type(self.error).__name__, failures=self.failures)

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one failure, labeled with the class of the error."""
        return (_FAILURES.sample(1, self.resource, type(self.error).__name__),)


class WatchSilent(_ReflectorObservation, frozen=True, kw_only=True):
    """A watch was closed, because it had received nothing for ``silent_seconds``."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_watch_silences",
            "Watches that were closed because they received nothing.",
            "resource",
        ),
    )
    silent_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration of the silence."""
        text = f"watch {self.ref}: closed after {duration_text(self.silent_seconds)} of silence"
        return text, self._fields(silent_seconds=self.silent_seconds)


class OutOfOrder(_ReflectorObservation, frozen=True, kw_only=True):
    """A watch received an event twice, or after a later event.

    Only the first such event of each watch is reported.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_watch_out_of_order",
            "Watches with a duplicate or out-of-order event.",
            "resource",
        ),
    )
    version: str
    reached_version: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with both resourceVersions."""
        text = (
            f"watch {self.ref}: duplicate or out-of-order event: version {self.version} after"
            f" {self.reached_version}"
        )
        return text, self._fields()


class HistoryRewound(_ReflectorObservation, frozen=True, kw_only=True):
    """The API server's history was rewound, perhaps because a backup of etcd was restored.

    A new list replaces the content of the cache.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_watch_rewinds",
            "Times that the server's history was found to be rewound.",
            "resource",
        ),
    )
    reached_version: str
    version: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with both resourceVersions."""
        text = (
            f"watch {self.ref}: the server's history was rewound from {self.reached_version} to"
            f" {self.version}; the cache was reset to the server's state"
        )
        return text, self._fields()


# Without a metric, because the failures that lead to it have one.
class KindMissing(_ReflectorObservation, frozen=True, kw_only=True):
    """The API server does not serve the kind of a reflector, or no longer serves it.

    All objects of the kind are treated as deleted.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the error."""
        text = (
            f"watch {self.ref}: the server does not serve the kind; its objects count as deleted"
            f" until it does: {self.error}"
        )
        return text, self._fields(error=type(self.error).__name__)


# Without a metric, because the lists that follow have one.
class StreamingRefused(_ReflectorObservation, frozen=True, kw_only=True):
    """The API server does not support the streaming of initial events.

    From now on, the reflector sends list requests instead.
    """

    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the error."""
        text = f"watch {self.ref}: initial events are not streamed, so listed: {self.error}"
        return text, self._fields(error=type(self.error).__name__)
