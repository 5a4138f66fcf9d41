"""Observations of reflectors."""

import logging
from collections.abc import Iterable
from typing import ClassVar, Final

from steersman.errors import Expired
from steersman.names import ObjectRef
from steersman.observe.observation import Fields, Metric, Observation, Sample, counter, gauge
from steersman.observe.phrases import length, ref_fields

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


class _OfAReflector(Observation, frozen=True, kw_only=True):
    resource: str
    ref: ObjectRef

    def _fields(self, **more: str | int | float) -> Fields:
        return {"resource": self.resource, **ref_fields(self.ref), **more}


class Listed(_OfAReflector, frozen=True, kw_only=True):
    """A reflector has listed all its objects; ``reason``: why it had to."""

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
        """How many objects, and why."""
        failures = self.decode_failures
        besides = f" and {failures} that cannot be decoded" if failures else ""
        took = length(self.took_seconds)
        text = f"list {self.ref}: {self.count} objects{besides} in {took} ({self.reason})"
        return text, self._fields(
            count=self.count, took_seconds=self.took_seconds, reason=self.reason
        )


class WatchStarted(_OfAReflector, frozen=True, kw_only=True):
    """A watch is open, after so many failures in a row."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_CONNECTED,)
    failures: int

    def level(self) -> int:
        """Louder after failures."""
        return logging.INFO if self.failures else logging.DEBUG

    def describe(self) -> tuple[str, Fields]:
        """After how many failures."""
        after = f" again, after {self.failures} failures" if self.failures else ""
        return f"watch {self.ref}: open{after}", self._fields()

    def samples(self) -> Iterable[Sample]:
        """One more open watch."""
        return (_CONNECTED.change(1, self.resource),)


class WatchEventsReceived(_OfAReflector, frozen=True, kw_only=True):
    """A watch has received so many events since the last report."""

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (_EVENTS,)
    events: int

    def describe(self) -> tuple[str, Fields]:
        """How many events."""
        return f"watch {self.ref}: {self.events} events", self._fields(events=self.events)

    def samples(self) -> Iterable[Sample]:
        """So many events."""
        return (_EVENTS.sample(self.events, self.resource),)


class WatchEnded(_OfAReflector, frozen=True, kw_only=True):
    """A watch is no longer open, for any reason."""

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (_CONNECTED,)
    took_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """For how long it was open."""
        text = f"watch {self.ref}: ended after {length(self.took_seconds)}"
        return text, self._fields(took_seconds=self.took_seconds)

    def samples(self) -> Iterable[Sample]:
        """One open watch less."""
        return (_CONNECTED.change(-1, self.resource),)


# Not counted: its watches are.
class ReflectorStopped(_OfAReflector, frozen=True, kw_only=True):
    """A reflector has stopped: there will be no other watch."""

    LEVEL: ClassVar[int] = logging.DEBUG

    def describe(self) -> tuple[str, Fields]:
        """Which objects."""
        return f"watch {self.ref}: the reflector has stopped", self._fields()


class WatchFailed(_OfAReflector, frozen=True, kw_only=True):
    """A list or watch failed and will be retried; the known objects stay.

    In a row of equal failures, the first is news, and then fewer and fewer of them.
    """

    METRICS: ClassVar[tuple[Metric, ...]] = (_FAILURES,)
    error: Exception
    failures: int
    wait_seconds: float
    is_news: bool

    def level(self) -> int:
        """Loud if it is news; that its version is expired is normal for a watch."""
        level = logging.INFO if isinstance(self.error, Expired) else logging.WARNING
        return level if self.is_news else logging.DEBUG

    def describe(self) -> tuple[str, Fields]:
        """How many failures, and the wait."""
        row = f"failed {self.failures} times in a row" if self.failures > 1 else "failed"
        again = f"will be tried again in {length(self.wait_seconds)}"
        text = f"watch {self.ref}: {row} and {again}: {self.error}"
        return text, self._fields(error=type(self.error).__name__, failures=self.failures)

    def samples(self) -> Iterable[Sample]:
        """One failure, by class."""
        return (_FAILURES.sample(1, self.resource, type(self.error).__name__),)


class WatchSilent(_OfAReflector, frozen=True, kw_only=True):
    """A watch received nothing for so long that it was closed."""

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
        """For how long."""
        text = f"watch {self.ref}: closed after {length(self.silent_seconds)} of silence"
        return text, self._fields(silent_seconds=self.silent_seconds)


class OutOfOrder(_OfAReflector, frozen=True, kw_only=True):
    """A watch received a duplicate or out-of-order event; reported for the first in each watch."""

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
        """Both versions."""
        text = (
            f"watch {self.ref}: duplicate or out-of-order event: version {self.version} after"
            f" {self.reached_version}"
        )
        return text, self._fields()


class HistoryRewound(_OfAReflector, frozen=True, kw_only=True):
    """The server's history was rewound (a restore?), and a new list replaces the cache."""

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
        """Both versions."""
        text = (
            f"watch {self.ref}: the server's history was rewound from {self.reached_version} to"
            f" {self.version}; the cache was reset to the server's state"
        )
        return text, self._fields()


# Not counted: the failures that lead to it are.
class KindMissing(_OfAReflector, frozen=True, kw_only=True):
    """The server does not serve the kind, or no longer; its objects count as deleted."""

    LEVEL: ClassVar[int] = logging.WARNING
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """The error."""
        text = (
            f"watch {self.ref}: the server does not serve the kind; its objects count as deleted"
            f" until it does: {self.error}"
        )
        return text, self._fields(error=type(self.error).__name__)


# Not counted: the lists that follow are.
class StreamingRefused(_OfAReflector, frozen=True, kw_only=True):
    """The server does not stream initial events; from now on the reflector lists."""

    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """The error."""
        text = f"watch {self.ref}: initial events are not streamed, so listed: {self.error}"
        return text, self._fields(error=type(self.error).__name__)
