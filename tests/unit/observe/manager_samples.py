"""A sample of each observation of a manager."""

from steersman.errors import CacheSyncTimeout, Unreachable
from steersman.names import ObjectRef
from steersman.observe import (
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
    Observation,
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

LEASE = ObjectRef("Lease", "apps", "operator")
LOST = Unreachable("PUT /lease on https://kube: cannot reach the server. Wait.")
RULE = "- {apiGroups: [apps], resources: [deployments], verbs: [list]}"

SEEN = LeaderChanged(lease=LEASE, holder="pod-1", identity="pod-0")
GAINED = LeadershipGained(lease=LEASE, identity="pod-0", waited_seconds=15.0)
RENEWED = LeadershipRenewed(lease=LEASE, identity="pod-0", took_seconds=0.02)
NOT_RENEWED = RenewalFailed(lease=LEASE, identity="pod-0", error=LOST, left_seconds=7.5)
LOST_IT = LeadershipLost(lease=LEASE, identity="pod-0", reason="not renewed in time")
RELEASED = LeadershipReleased(lease=LEASE, identity="pod-0")
HELD_BACK = WriteFenced(method="PATCH", path="/apis/apps/v1/namespaces/default/deployments/web")
FOUND = ClusterFound(server="https://kube", source="context dev of ~/.kube/config")
STAGE = StageReached(stage="caches synced", took_seconds=1.5)
STOP_REQUESTED = StopRequested(signal="SIGTERM", grace_seconds=25.0)
STOP_OVERDUE = StopOverdue(what="the controller appservice", seconds=25.0)
NOT_ALLOWED = PermissionMissing(what="list deployments.apps", rule=RULE, is_needed=True)
NOT_MISSED = PermissionMissing(what="create events.events.k8s.io", rule=RULE, is_needed=False)
UNKNOWN = PermissionsUnknown(what="list deployments.apps", error=LOST)
UNRESPONSIVE = ServerUnresponsive(
    server="https://10.0.0.1", silent_seconds=50.0, watches=("Pod */*", "Node *")
)
RECOVERED = ServerRecovered(server="https://10.0.0.1", silent_seconds=75.0)
SYNC_OVERDUE = CacheSyncOverdue(
    controller="backup",
    error=CacheSyncTimeout(
        wanted="start the controller backup",
        pending=[("acme.io/v1 Backup", "the API server does not serve it")],
        waited_seconds=120.0,
    ),
)
READY = ReadinessChanged(is_ready=True)
NOT_READY = ReadinessChanged(is_ready=False, failing=(("caches", "not filled"),))
ALIVE = LivenessChanged(is_alive=True)
NOT_ALIVE = LivenessChanged(is_alive=False, failing=(("database", "it is closed"),))
BLOCKED = LoopBlocked(
    seconds=1.5,
    controller="app",
    ref=ObjectRef("App", "default", "web"),
    stack=("app.py:9 in reconcile", "app.py:3 in compute"),
)
LISTENING = Listening(what="metrics", address="http://0.0.0.0:8080/metrics")
RUNNABLE_FAILED = RunnableFailed(runnable="webhooks", error=OSError("the port is taken"))

MANAGED: tuple[Observation, ...] = (
    SEEN,
    GAINED,
    RENEWED,
    NOT_RENEWED,
    LOST_IT,
    RELEASED,
    HELD_BACK,
    FOUND,
    STAGE,
    STOP_REQUESTED,
    STOP_OVERDUE,
    NOT_ALLOWED,
    NOT_MISSED,
    UNKNOWN,
    UNRESPONSIVE,
    RECOVERED,
    SYNC_OVERDUE,
    READY,
    NOT_READY,
    ALIVE,
    NOT_ALIVE,
    BLOCKED,
    LISTENING,
    RUNNABLE_FAILED,
)
