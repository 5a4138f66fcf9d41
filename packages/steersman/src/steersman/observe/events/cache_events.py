"""Observations of caches and their handlers."""

import logging
from collections.abc import Iterable
from typing import ClassVar, Final

from steersman.names import ObjectRef
from steersman.observe.observation import Fields, Metric, Observation, Sample, counter, gauge
from steersman.observe.phrases import duration_text, raised, ref_fields

_OBJECTS: Final = gauge("steersman_cache_objects", "Objects in caches.", "resource", "scope")
_UNDECODABLE: Final = gauge(
    "steersman_cache_undecodable_objects",
    "Objects that cannot be decoded and are not in the cache.",
    "resource",
    "scope",
)
_PENDING: Final = gauge(
    "steersman_cache_pending_notifications",
    "Changes that handlers have not handled yet.",
    "resource",
    "scope",
)
_FAILING_SECONDS: Final = gauge(
    "steersman_cache_failing_seconds",
    "For how long caches have been unable to watch; 0 while they do.",
    "resource",
    "scope",
)
_HANDLER_FAILURES: Final = counter(
    "steersman_cache_handler_failures",
    "Handlers that raised, or were busy with one change for too long.",
    "resource",
    "outcome",
)


class _CacheObservation(Observation, frozen=True, kw_only=True):
    resource: str
    scope: str

    def _subject(self) -> str:
        return f"cache of {self.resource}, {self.scope}"

    def _fields(self, **more: str | int | float) -> Fields:
        return {"resource": self.resource, "scope": self.scope, **more}


class CacheSynced(_CacheObservation, frozen=True, kw_only=True):
    """A cache has synced: it contains all objects that the API server listed."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_OBJECTS,)
    objects: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the number of objects."""
        text = f"{self._subject()}: synced, with {self.objects} objects"
        return text, self._fields(objects=self.objects)

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the number of objects in the cache."""
        return (_OBJECTS.sample(self.objects, self.resource, self.scope),)


class CacheChecked(_CacheObservation, frozen=True, kw_only=True):
    """A report of the state of a cache, which the cache makes every few seconds.

    ``pending_notifications`` is the number of changes that handlers have not handled yet.
    ``failing_seconds`` is the time for which the cache's lists and watches have failed.
    """

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (_OBJECTS, _UNDECODABLE, _PENDING, _FAILING_SECONDS)
    objects: int
    decode_failures: int
    pending_notifications: int
    failing_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the sizes of the cache."""
        pending = self.pending_notifications
        text = f"{self._subject()}: {self.objects} objects, {pending} pending notifications"
        return text, self._fields(
            objects=self.objects,
            decode_failures=self.decode_failures,
            pending_notifications=pending,
            failing_seconds=self.failing_seconds,
        )

    def samples(self) -> Iterable[Sample]:
        """Return a sample of each metric of the cache's state."""
        labels = self.resource, self.scope
        return (
            _OBJECTS.sample(self.objects, *labels),
            _UNDECODABLE.sample(self.decode_failures, *labels),
            _PENDING.sample(self.pending_notifications, *labels),
            _FAILING_SECONDS.sample(self.failing_seconds, *labels),
        )


class CacheStale(_CacheObservation, frozen=True, kw_only=True):
    """A cache has been unable to watch for ``failing_seconds``, and no longer counts as synced."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_cache_stale",
            "Times that a cache was unable to watch for too long to count as synced.",
            "resource",
        ),
    )
    failing_seconds: float
    error: Exception | None

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration and the reason."""
        why = f": {self.error}" if self.error is not None else ""
        duration = duration_text(self.failing_seconds)
        text = f"{self._subject()}: stale, unable to watch for {duration}{why}"
        name = type(self.error).__name__ if self.error is not None else ""
        return text, self._fields(failing_seconds=self.failing_seconds, error=name)


class CacheEnded(_CacheObservation, frozen=True, kw_only=True):
    """A cache has stopped; it is no longer updated."""

    METRICS: ClassVar[tuple[Metric, ...]] = CacheChecked.METRICS

    def describe(self) -> tuple[str, Fields]:
        """Return a log text that names the cache."""
        return f"{self._subject()}: stopped", self._fields()

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the value 0 for each metric of the cache."""
        return [metric.sample(0, self.resource, self.scope) for metric in self.METRICS]


class _ObjectObservation(Observation, frozen=True, kw_only=True):
    LEVEL: ClassVar[int] = logging.WARNING
    resource: str
    ref: ObjectRef

    def _fields(self, **more: str | int | float) -> Fields:
        return {"resource": self.resource, **ref_fields(self.ref), **more}


class ObjectNotDecoded(_ObjectObservation, frozen=True, kw_only=True):
    """An object cannot be decoded, so its new state is not in the cache.

    Other objects are not affected.
    """

    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_cache_decode_failures",
            "Objects that could not be decoded.",
            "resource",
        ),
    )
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the error."""
        text = f"{self.ref}: kept out of the cache: {self.error}"
        return text, self._fields(error=type(self.error).__name__)


class IndexFailed(_ObjectObservation, frozen=True, kw_only=True):
    """An index function raised an exception for an object.

    The object is in the cache, but missing from that index.
    """

    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter("steersman_cache_index_failures", "Index functions that raised.", "resource"),
    )
    index: str
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the index and the error."""
        text = f"{self.ref}: kept out of the index {self.index}: {raised(self.error)}"
        return text, self._fields(index=self.index, error=type(self.error).__name__)

    def traced_error(self, *, is_debug: bool) -> Exception | None:
        """Return the error if ``is_debug`` is true; its traceback is then logged.

        Otherwise return ``None``: there may be an error for each change, and the log line already
        contains the file and line of the error.
        """
        return self.error if is_debug else None


class HandlerFailed(_ObjectObservation, frozen=True, kw_only=True):
    """A handler raised an exception for a change; the handler still receives later changes."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_HANDLER_FAILURES,)
    handler: str
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the handler and the error."""
        text = f"{self.ref}: the handler {self.handler} failed: {raised(self.error)}"
        return text, self._fields(handler=self.handler, error=type(self.error).__name__)

    def traced_error(self, *, is_debug: bool) -> Exception | None:
        """Return the error if ``is_debug`` is true; its traceback is then logged.

        Otherwise return ``None``: there may be an error for each change, and the log line already
        contains the file and line of the error.
        """
        return self.error if is_debug else None

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one failure of the handler."""
        return (_HANDLER_FAILURES.sample(1, self.resource, "failed"),)


class HandlerStuck(_ObjectObservation, frozen=True, kw_only=True):
    """A handler has been handling one change for ``busy_seconds``, while other changes wait."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_HANDLER_FAILURES,)
    handler: str
    busy_seconds: float
    waiting: int

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the handler and the number of waiting changes."""
        text = (
            f"{self.ref}: the handler {self.handler} has been busy with this for"
            f" {duration_text(self.busy_seconds)}, and {self.waiting} changes wait for it"
        )
        return text, self._fields(handler=self.handler, waiting=self.waiting)

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one stuck handler."""
        return (_HANDLER_FAILURES.sample(1, self.resource, "stuck"),)
