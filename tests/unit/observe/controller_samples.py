"""A sample of each observation of a controller."""

from steersman.errors import Unreachable
from steersman.names import ObjectRef
from steersman.observe import (
    ControllerStarted,
    ControllerStopped,
    EventNotRecorded,
    EventsDropped,
    FieldConflictFound,
    HotLoop,
    Observation,
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

APP = ObjectRef("AppService", "default", "web")
DEPLOYMENT = ObjectRef("Deployment", "default", "web")
LOST = Unreachable("GET /apis on https://kube: cannot reach the server. Wait.")

UPDATED = ReconcileReason(about=APP, event="updated", find_changes=lambda: ("spec.size",))
APPLIED = Write(verb="apply", ref=DEPLOYMENT, is_change=True)
FINISHED = ReconcileFinished(
    controller="appservice",
    ref=APP,
    outcome="done",
    took_seconds=0.012,
    queued_seconds=0.002,
    reasons=(UPDATED,),
    writes=(APPLIED,),
)
SKIPPED = ReconcileSkipped(controller="appservice", ref=APP, reason="paused")
HOT_LOOP = HotLoop(
    controller="appservice", ref=APP, fields=("status.checkedAt",), count=20, seconds=4.0
)
FIELD_CONFLICT = FieldConflictFound(
    controller="appservice",
    ref=DEPLOYMENT,
    fields=("spec.replicas",),
    managers=("autoscaler",),
    count=5,
    seconds=60.0,
)
MAPPING_FAILED = TriggerFailed(
    controller="appservice",
    ref=ObjectRef("ConfigMap", "default", "settings"),
    function="apps_of",
    role="mapping",
    error=KeyError("app"),
    wait_seconds=2.0,
)
PREDICATE_FAILED = TriggerFailed(
    controller="appservice",
    ref=APP,
    function="matters",
    role="predicate",
    error=KeyError("app"),
)
SOURCE_FAILED = SourceFailed(
    controller="appservice", source="orders", error=OSError("the line is dead"), wait_seconds=2.0
)
SOURCE_ENDED = SourceFailed(controller="appservice", source="orders", error=None, wait_seconds=2.0)
EXHAUSTED = ThreadsExhausted(threads=2, waiting=7, held_by=("appservice AppService default/web",))
ABANDONED = ThreadAbandoned(controller="appservice", ref=APP, seconds=0.0)
ENDED_LATE = ThreadAbandoned(controller="appservice", ref=APP, seconds=60.0, has_ended=True)
DROPPED = EventsDropped(controller="appservice", count=12, reason="too many about one object")
NOT_RECORDED = EventNotRecorded(controller="appservice", ref=APP, error=LOST)
STARTED = ControllerStarted(controller="appservice", workers=4)
SLOW = SlowLaneChanged(controller="appservice", slow=12, hanging=7, waiting=2)
STOPPED = ControllerStopped(controller="appservice", seconds=0.25)

CONTROLLED: tuple[Observation, ...] = (
    FINISHED,
    SKIPPED,
    HOT_LOOP,
    FIELD_CONFLICT,
    MAPPING_FAILED,
    PREDICATE_FAILED,
    SOURCE_FAILED,
    SOURCE_ENDED,
    EXHAUSTED,
    ABANDONED,
    DROPPED,
    NOT_RECORDED,
    STARTED,
    STOPPED,
    SLOW,
)
