"""What happened, told once, to whoever listens.

Takes:     an ``Observation`` from working code, through an ``Observer``
Gives:     log lines (plain or JSON) and Prometheus metrics; anything else is one more observer
Promises:  - every observation has a log line
           - every observation is counted in a metric or left out on purpose
           - a log line carries the object it is about
           - one failing observer does not silence the others
           - labels of metrics come from a bounded set
Never:     decides anything, blocks, or seizes the root logger
"""

from typing import TYPE_CHECKING

from steersman.observe.controller_events import (
    ControllerStarted,
    ControllerStopped,
    EventNotRecorded,
    EventsDropped,
    FieldFight,
    HotLoop,
    ReconcileFinished,
    ReconcileSkipped,
    SlowLaneChanged,
    SourceFailed,
    ThreadLeftBehind,
    ThreadsExhausted,
    TriggerFailed,
    Why,
    Write,
)
from steersman.observe.events import (
    AnswerFailed,
    ApiWarned,
    CacheEnded,
    CacheLookedAfter,
    CacheStale,
    CacheSynced,
    CredentialsNotRenewed,
    CredentialsRenewed,
    FollowingEnded,
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
    ObjectRefused,
    Observation,
    Observer,
    OutOfOrder,
    QueueEnded,
    RequestFinished,
    RequestRetried,
    RetriesSpent,
    RiskAccepted,
    StreamingRefused,
    WatchEnded,
    WatchFailed,
    WatchHeard,
    WatchSilent,
    WatchStarted,
)
from steersman.observe.logs import LineFormatter, LogObserver, log_to
from steersman.observe.manager_events import (
    CacheSyncOverdue,
    ClusterFound,
    LeaderSeen,
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
    ServerAnswers,
    ServerUnresponsive,
    StageReached,
    StopAsked,
    StopOverdue,
    WriteHeldBack,
)
from steersman.observe.observers import fan_out, ignore

if TYPE_CHECKING:
    from steersman.observe.families import HistogramValue, MetricFamily, register_families
    from steersman.observe.metrics import MetricsObserver
    from steersman.observe.scraping import CollectorRegistry, metrics_text, new_registry

__all__ = [
    "AnswerFailed",
    "ApiWarned",
    "CacheEnded",
    "CacheLookedAfter",
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
    "FieldFight",
    "FollowingEnded",
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
    "LeaderSeen",
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
    "MetricFamily",
    "MetricsObserver",
    "ObjectRefused",
    "Observation",
    "Observer",
    "OutOfOrder",
    "PermissionMissing",
    "PermissionsUnknown",
    "QueueEnded",
    "ReadinessChanged",
    "ReconcileFinished",
    "ReconcileSkipped",
    "RenewalFailed",
    "RequestFinished",
    "RequestRetried",
    "RetriesSpent",
    "RiskAccepted",
    "RunnableFailed",
    "ServerAnswers",
    "ServerUnresponsive",
    "SlowLaneChanged",
    "SourceFailed",
    "StageReached",
    "StopAsked",
    "StopOverdue",
    "StreamingRefused",
    "ThreadLeftBehind",
    "ThreadsExhausted",
    "TriggerFailed",
    "WatchEnded",
    "WatchFailed",
    "WatchHeard",
    "WatchSilent",
    "WatchStarted",
    "Why",
    "Write",
    "WriteHeldBack",
    "fan_out",
    "ignore",
    "log_to",
    "metrics_text",
    "new_registry",
    "register_families",
]


if not TYPE_CHECKING:  # to the checkers, a module with this has whatever is asked for

    def __getattr__(name: str) -> object:
        # prometheus_client is not needed by those who only log.
        if name == "MetricsObserver":
            from steersman.observe.metrics import MetricsObserver

            return MetricsObserver
        if name in ("CollectorRegistry", "metrics_text", "new_registry"):
            from steersman.observe import scraping

            return getattr(scraping, name)
        if name in ("HistogramValue", "MetricFamily", "register_families"):
            from steersman.observe import families

            return getattr(families, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
