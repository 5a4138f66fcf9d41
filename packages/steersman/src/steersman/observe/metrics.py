"""Observations as Prometheus metrics; all their names are here or next door."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge

from steersman.clock import Clock
from steersman.observe.controller_events import ControllerObservation, ReconcileFinished
from steersman.observe.controller_metrics import ControllerMetrics
from steersman.observe.events import (
    ApiWarned,
    CacheChecked,
    CacheEnded,
    CacheStale,
    CacheSynced,
    CredentialsNotRenewed,
    CredentialsRenewed,
    HandlerFailed,
    HandlerStuck,
    HistoryRewound,
    IndexFailed,
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    KindMissing,
    Listed,
    ObjectNotDecoded,
    Observation,
    Observer,
    OutOfOrder,
    QueueEnded,
    ReflectorStopped,
    RequestFinished,
    RequestRetried,
    ResponseFailed,
    RetriesSpent,
    RiskAccepted,
    StreamingRefused,
    WatchEnded,
    WatchEventsReceived,
    WatchFailed,
    WatchSilent,
    WatchStarted,
)
from steersman.observe.labels import bounded
from steersman.observe.manager_events import ManagerObservation
from steersman.observe.manager_metrics import ManagerMetrics
from steersman.observe.queue_metrics import QueueMetrics
from steersman.observe.request_metrics import REQUEST, RequestMetrics

_CACHE: Final = ("resource", "scope")


class MetricsObserver:
    """Counts in ``registry``; no label is ever the name of an object.

    Nor of a namespace, but for those that an author limits a cache to (``scope``).
    """

    def __init__(self, registry: CollectorRegistry, *, clock: Clock) -> None:
        self._queues = QueueMetrics(registry, clock=clock)
        self._controllers = ControllerMetrics(registry, queues=self._queues)
        self._manager = ManagerMetrics(registry)
        self._requests = RequestMetrics(registry)
        self._retries = Counter(
            "steersman_client_retries",
            "Attempts that failed and were repeated.",
            REQUEST,
            registry=registry,
        )
        self._retries_spent = Counter(
            "steersman_client_retries_spent",
            "Requests that were not repeated because the retry budget was empty.",
            REQUEST,
            registry=registry,
        )
        self._warnings = Counter(
            "steersman_client_warnings",
            "Warnings that the API server sent.",
            REQUEST,
            registry=registry,
        )
        self._renewals = Counter(
            "steersman_client_credential_renewals",
            "Renewals of tokens and certificates, by outcome (renewed or failed).",
            ("outcome",),
            registry=registry,
        )
        self._lists = Counter(
            "steersman_watch_lists",
            "Lists that reflectors made of all their objects, by the reason for it.",
            ("resource", "reason"),
            registry=registry,
        )
        self._connected = Gauge(
            "steersman_watch_connected",
            "Watches that are open.",
            ("resource",),
            registry=registry,
        )
        self._events = Counter(
            "steersman_watch_events",
            "Events that came through watches, counted about once a minute.",
            ("resource",),
            registry=registry,
        )
        self._failures = Counter(
            "steersman_watch_failures",
            "Lists and watches that failed and were tried again, by the class of the error.",
            ("resource", "error"),
            registry=registry,
        )
        self._silences = Counter(
            "steersman_watch_silences",
            "Watches that were cut because nothing came through them.",
            ("resource",),
            registry=registry,
        )
        self._out_of_order = Counter(
            "steersman_watch_out_of_order",
            "Watches in which something was told again, or too late.",
            ("resource",),
            registry=registry,
        )
        self._rewinds = Counter(
            "steersman_watch_rewinds",
            "Times that the server's history was found to be shorter than it had been.",
            ("resource",),
            registry=registry,
        )
        self._cached = Gauge(
            "steersman_cache_objects",
            "Objects that caches hold.",
            _CACHE,
            registry=registry,
        )
        self._refused = Gauge(
            "steersman_cache_undecodable_objects",
            "Objects that do not fit their class and are kept aside.",
            _CACHE,
            registry=registry,
        )
        self._pending_notifications = Gauge(
            "steersman_cache_pending_notifications",
            "Changes that handlers have not been told of yet.",
            _CACHE,
            registry=registry,
        )
        self._failing_seconds = Gauge(
            "steersman_cache_failing_seconds",
            "For how long caches have been unable to follow; 0 while they do.",
            _CACHE,
            registry=registry,
        )
        self._stale = Counter(
            "steersman_cache_stale",
            "Times that a cache was unable to follow for too long to count as synced.",
            ("resource",),
            registry=registry,
        )
        self._refusals = Counter(
            "steersman_cache_decode_failures",
            "Objects that were found not to fit their class.",
            ("resource",),
            registry=registry,
        )
        self._index_failures = Counter(
            "steersman_cache_index_failures",
            "Index functions that raised.",
            ("resource",),
            registry=registry,
        )
        self._handler_failures = Counter(
            "steersman_cache_handler_failures",
            "Handlers that raised, or were busy with one change for too long.",
            ("resource", "outcome"),
            registry=registry,
        )
        self._scopes: set[str] = set()
        self._errors: set[str] = set()
        self._verbs: set[str] = set()
        self._resources: set[str] = set()
        # There are so many of these that it matters how they are told from each other.
        self._often: Mapping[type[Any], Callable[[Any], None]] = {
            KeyTaken: self._queues.taken,
            KeyDone: self._queues.done,
            KeyAdded: self._queues.added,
            KeyDelayed: self._queues.delayed,
            KeyRaised: self._queues.raised,
            QueueEnded: self._queues.ended,
            ReconcileFinished: self._controllers.finished,
            RequestFinished: self._requests.finished,
        }

    def __call__(self, observation: Observation) -> None:
        self.listener_for(type(observation))(observation)

    def listener_for(self, kind: type[Any]) -> Observer:
        """What counts observations of this class."""
        return self._often.get(kind, self._seldom)

    def _seldom(self, observation: Observation) -> None:
        match observation:
            case KeyTaken() | KeyDone() | KeyAdded() | KeyDelayed() | KeyRaised() | QueueEnded():
                pass
            case ReconcileFinished() | RequestFinished():
                pass
            case RequestRetried():
                self._retries.labels(*self._labels(observation)).inc()
            case RetriesSpent():
                self._retries_spent.labels(*self._labels(observation)).inc()
            case ApiWarned():
                self._warnings.labels(*self._labels(observation)).inc()
            case CredentialsRenewed():
                self._renewals.labels("renewed").inc()
            case CredentialsNotRenewed():
                self._renewals.labels("failed").inc()
            case Listed(reason=reason):
                self._lists.labels(self._resource(observation.resource), reason).inc()
            case WatchStarted():
                self._connected.labels(self._resource(observation.resource)).inc()
            case WatchEnded():
                self._connected.labels(self._resource(observation.resource)).dec()
            case WatchEventsReceived(events=events):
                self._events.labels(self._resource(observation.resource)).inc(events)
            case WatchFailed(error=error):
                name = bounded(type(error).__name__, self._errors)
                self._failures.labels(self._resource(observation.resource), name).inc()
            case WatchSilent():
                self._silences.labels(self._resource(observation.resource)).inc()
            case OutOfOrder():
                self._out_of_order.labels(self._resource(observation.resource)).inc()
            case HistoryRewound():
                self._rewinds.labels(self._resource(observation.resource)).inc()
            case CacheSynced(objects=objects):
                self._cached.labels(*self._cache_labels(observation)).set(objects)
            case CacheChecked():
                labels = self._cache_labels(observation)
                self._cached.labels(*labels).set(observation.objects)
                self._refused.labels(*labels).set(observation.decode_failures)
                self._pending_notifications.labels(*labels).set(observation.pending_notifications)
                self._failing_seconds.labels(*labels).set(observation.failing_seconds)
            case CacheEnded():
                labels = self._cache_labels(observation)
                for gauge in (
                    self._cached,
                    self._refused,
                    self._pending_notifications,
                    self._failing_seconds,
                ):
                    gauge.labels(*labels).set(0)
            case CacheStale():
                self._stale.labels(self._resource(observation.resource)).inc()
            case ObjectNotDecoded():
                self._refusals.labels(self._resource(observation.resource)).inc()
            case IndexFailed():
                self._index_failures.labels(self._resource(observation.resource)).inc()
            case HandlerFailed():
                self._handler_failures.labels(self._resource(observation.resource), "failed").inc()
            case HandlerStuck():
                self._handler_failures.labels(self._resource(observation.resource), "stuck").inc()
            case RiskAccepted() | ResponseFailed():
                # Said once, at the start, or not the client's: those are for the log.
                pass
            case KindMissing() | StreamingRefused() | ReflectorStopped():
                # The failures that lead to them, the lists that follow, and watches are counted.
                pass
            case _:
                self._the_rest(observation)

    # A checker sees to it that nothing else is left.
    def _the_rest(self, observation: ControllerObservation | ManagerObservation) -> None:
        if isinstance(observation, ControllerObservation):
            self._controllers(observation)
        else:
            self._manager(observation)

    def _cache_labels(self, cache: CacheSynced | CacheChecked | CacheEnded) -> tuple[str, str]:
        return self._resource(cache.resource), bounded(cache.scope, self._scopes)

    def _resource(self, resource: str) -> str:
        return bounded(resource, self._resources)

    def _labels(self, request: RequestRetried | RetriesSpent | ApiWarned) -> tuple[str, str]:
        return bounded(request.verb, self._verbs), bounded(request.resource, self._resources)
