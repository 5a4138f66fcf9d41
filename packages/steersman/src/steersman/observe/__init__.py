"""Values that describe what happened, each reported once to all observers.

Takes:     an ``Observation`` from working code, through an ``Observer``
Gives:     log lines (plain or JSON) and Prometheus metrics; anything else is one more observer
Promises:  - every observation has a log line
           - every observation is counted in a metric or left out on purpose
           - a log line carries the object it is about
           - one failing observer does not silence the others
           - labels of metrics come from a bounded set
Never:     decides anything, blocks, or configures the root logger
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman.observe.events.cache_events import (
    CacheChecked,
    CacheEnded,
    CacheStale,
    CacheSynced,
    HandlerFailed,
    HandlerStuck,
    IndexFailed,
    ObjectNotDecoded,
)
from steersman.observe.events.controller_events import (
    ControllerStarted,
    ControllerStopped,
    EventNotRecorded,
    EventsDropped,
    FieldConflictFound,
    HotLoop,
    ReconcileFinished,
    ReconcileReason,
    ReconcileSkipped,
    SlowLaneChanged,
    SourceFailed,
    ThreadAbandoned,
    ThreadsExhausted,
    TriggerFailed,
    Write,
)
from steersman.observe.events.manager_events import (
    CacheSyncOverdue,
    ClusterFound,
    LeaderChanged,
    LeadershipGained,
    LeadershipLost,
    LeadershipReleased,
    LeadershipRenewed,
    Listening,
    LivenessChanged,
    LoopBlocked,
    PermissionMissing,
    PermissionsUnknown,
    ReadinessChanged,
    RenewalFailed,
    RunnableFailed,
    ServerRecovered,
    ServerUnresponsive,
    StageReached,
    StopOverdue,
    StopRequested,
    WriteFenced,
)
from steersman.observe.events.queue_events import (
    KeyAdded,
    KeyDelayed,
    KeyDone,
    KeyRaised,
    KeyTaken,
    QueueEnded,
)
from steersman.observe.events.request_events import (
    ApiWarned,
    CredentialsNotRenewed,
    CredentialsRenewed,
    RequestFinished,
    RequestRetried,
    ResponseFailed,
    RetriesSpent,
    RiskAccepted,
)
from steersman.observe.events.watch_events import (
    HistoryRewound,
    KindMissing,
    Listed,
    OutOfOrder,
    ReflectorStopped,
    StreamingRefused,
    WatchEnded,
    WatchEventsReceived,
    WatchFailed,
    WatchSilent,
    WatchStarted,
)
from steersman.observe.logs import LineFormatter, LogObserver, log_to
from steersman.observe.observation import Metric, Observation, Observer, Sample
from steersman.observe.observers import fan_out, ignore
from steersman.observe.phrases import duration_text, outcome_text, some_of

if TYPE_CHECKING:
    from steersman.observe.metrics.exposition import CollectorRegistry, metrics_text, new_registry
    from steersman.observe.metrics.families import HistogramValue, MetricFamily, register_families
    from steersman.observe.metrics.metrics_observer import MetricsObserver

__all__ = [
    "ApiWarned",
    "CacheChecked",
    "CacheEnded",
    "CacheStale",
    "CacheSyncOverdue",
    "CacheSynced",
    "ClusterFound",
    "CollectorRegistry",
    "ControllerStarted",
    "ControllerStopped",
    "CredentialsNotRenewed",
    "CredentialsRenewed",
    "EventNotRecorded",
    "EventsDropped",
    "FieldConflictFound",
    "HandlerFailed",
    "HandlerStuck",
    "HistogramValue",
    "HistoryRewound",
    "HotLoop",
    "IndexFailed",
    "KeyAdded",
    "KeyDelayed",
    "KeyDone",
    "KeyRaised",
    "KeyTaken",
    "KindMissing",
    "LeaderChanged",
    "LeadershipGained",
    "LeadershipLost",
    "LeadershipReleased",
    "LeadershipRenewed",
    "LineFormatter",
    "Listed",
    "Listening",
    "LivenessChanged",
    "LogObserver",
    "LoopBlocked",
    "Metric",
    "MetricFamily",
    "MetricsObserver",
    "ObjectNotDecoded",
    "Observation",
    "Observer",
    "OutOfOrder",
    "PermissionMissing",
    "PermissionsUnknown",
    "QueueEnded",
    "ReadinessChanged",
    "ReconcileFinished",
    "ReconcileReason",
    "ReconcileSkipped",
    "ReflectorStopped",
    "RenewalFailed",
    "RequestFinished",
    "RequestRetried",
    "ResponseFailed",
    "RetriesSpent",
    "RiskAccepted",
    "RunnableFailed",
    "Sample",
    "ServerRecovered",
    "ServerUnresponsive",
    "SlowLaneChanged",
    "SourceFailed",
    "StageReached",
    "StopOverdue",
    "StopRequested",
    "StreamingRefused",
    "ThreadAbandoned",
    "ThreadsExhausted",
    "TriggerFailed",
    "WatchEnded",
    "WatchEventsReceived",
    "WatchFailed",
    "WatchSilent",
    "WatchStarted",
    "Write",
    "WriteFenced",
    "duration_text",
    "fan_out",
    "ignore",
    "log_to",
    "metrics_text",
    "new_registry",
    "outcome_text",
    "register_families",
    "some_of",
]

# Imported on demand: programs that only log do not need prometheus_client.
_LAZY = {
    "CollectorRegistry": "metrics.exposition",
    "HistogramValue": "metrics.families",
    "MetricFamily": "metrics.families",
    "MetricsObserver": "metrics.metrics_observer",
    "metrics_text": "metrics.exposition",
    "new_registry": "metrics.exposition",
    "register_families": "metrics.families",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
