"""A sample of each observation of a cache."""

from steersman.errors import InvalidObject, Unreachable
from steersman.names import ObjectRef
from steersman.observe import (
    CacheChecked,
    CacheEnded,
    CacheStale,
    CacheSynced,
    HandlerFailed,
    HandlerStuck,
    IndexFailed,
    ObjectNotDecoded,
    Observation,
)

WEB = ObjectRef("Pod", "default", "web")
LOST = Unreachable("GET /api/v1/pods on https://kube: cannot reach the server. Wait.")
UNDECODABLE = InvalidObject(ref="Pod default/web", into="Pod", problem="spec is missing", body={})

SYNCED = CacheSynced(resource="pods", scope="in default", objects=3)
CHECKED = CacheChecked(
    resource="pods",
    scope="in default",
    objects=4,
    decode_failures=1,
    pending_notifications=2,
    failing_seconds=5.0,
)
STALE = CacheStale(resource="pods", scope="in default", failing_seconds=61.0, error=LOST)
ENDED = CacheEnded(resource="pods", scope="in default")
NOT_DECODED = ObjectNotDecoded(resource="pods", ref=WEB, error=UNDECODABLE)
INDEX_FAILED = IndexFailed(resource="pods", ref=WEB, index="node", error=KeyError("nodeName"))
HANDLER_FAILED = HandlerFailed(
    resource="pods", ref=WEB, handler="enqueue", error=ValueError("no such queue")
)
HANDLER_STUCK = HandlerStuck(
    resource="pods", ref=WEB, handler="enqueue", busy_seconds=31.0, waiting=7
)

CACHED: tuple[Observation, ...] = (
    SYNCED,
    CHECKED,
    STALE,
    ENDED,
    NOT_DECODED,
    INDEX_FAILED,
    HANDLER_FAILED,
    HANDLER_STUCK,
)
