"""A sample of each observation of a reflector."""

from steersman.errors import Expired, Forbidden, NotFound
from steersman.names import ObjectRef
from steersman.observe import (
    HistoryRewound,
    KindMissing,
    Listed,
    Observation,
    OutOfOrder,
    ReflectorStopped,
    StreamingRefused,
    WatchEnded,
    WatchEventsReceived,
    WatchFailed,
    WatchSilent,
    WatchStarted,
)

PODS = ObjectRef("Pod", "default", "*")
FORBIDDEN = Forbidden(
    wanted="list Pod default/*",
    code=403,
    reason="Forbidden",
    message='pods is forbidden: User "web" cannot list resource "pods" in API group ""',
)
EXPIRED = Expired(wanted="watch Pod default/*", code=410, reason="Expired", message="too old")
MISSING = NotFound(wanted="list Pod default/*", code=404, reason="NotFound", message="no such")

LISTED = Listed(
    resource="pods", ref=PODS, count=3, decode_failures=0, took_seconds=0.25, reason="start"
)
STARTED = WatchStarted(resource="pods", ref=PODS, failures=0)
EVENTS = WatchEventsReceived(resource="pods", ref=PODS, events=17)
ENDED = WatchEnded(resource="pods", ref=PODS, took_seconds=300.0)
NO_LONGER = ReflectorStopped(resource="pods", ref=PODS)
FAILED = WatchFailed(
    resource="pods", ref=PODS, error=FORBIDDEN, failures=1, wait_seconds=1.2, is_news=True
)
SILENT = WatchSilent(resource="pods", ref=PODS, silent_seconds=150.0)
OUT_OF_ORDER = OutOfOrder(resource="pods", ref=PODS, version="7", reached_version="9")
REWOUND = HistoryRewound(resource="pods", ref=PODS, reached_version="900", version="12")
KIND_MISSING = KindMissing(resource="pods", ref=PODS, error=MISSING)
STREAMING_REFUSED = StreamingRefused(resource="pods", ref=PODS, error=FORBIDDEN)

WATCHED: tuple[Observation, ...] = (
    LISTED,
    STARTED,
    EVENTS,
    ENDED,
    NO_LONGER,
    FAILED,
    SILENT,
    OUT_OF_ORDER,
    REWOUND,
    KIND_MISSING,
    STREAMING_REFUSED,
)
