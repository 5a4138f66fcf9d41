"""What is counted of an operator as a whole."""

from typing import Final, assert_never

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary

from steersman.observe.labels import bounded
from steersman.observe.manager_events import (
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
    ManagerObservation,
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
    WriteHeldBack,
)

# Up to the ten seconds after which a leader that could not renew stops to lead.
_RENEWAL_SECONDS: Final = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


class ManagerMetrics:
    """Counts in ``registry``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._leads = Gauge(
            "leader_election_master_status",
            "Whether this replica leads, by the name of the lease: 1 if it does.",
            ("name",),
            registry=registry,
        )
        self._leaders = Counter(
            "steersman_manager_leader_changes",
            "Times that somebody else than before was seen to hold the lease.",
            ("name",),
            registry=registry,
        )
        self._losses = Counter(
            "steersman_manager_leadership_losses",
            "Times that this replica led, and had to stop without meaning to.",
            ("name",),
            registry=registry,
        )
        self._renewal_seconds = Histogram(
            "steersman_manager_lease_renewal_seconds",
            "Time that renewals of the lease took.",
            ("name",),
            buckets=_RENEWAL_SECONDS,
            registry=registry,
        )
        self._renewal_failures = Counter(
            "steersman_manager_lease_renewal_failures",
            "Renewals of the lease that failed.",
            ("name",),
            registry=registry,
        )
        self._held_back = Counter(
            "steersman_manager_writes_held_back",
            "Writes that were not sent because another replica might lead.",
            ("method",),
            registry=registry,
        )
        self._stages = Gauge(
            "steersman_manager_stage_seconds",
            "How long the operator took for each step of starting and stopping.",
            ("stage",),
            registry=registry,
        )
        self._overdue = Counter(
            "steersman_manager_stops_overdue",
            "Parts that did not stop in time, and were left behind.",
            registry=registry,
        )
        self._permissions = Counter(
            "steersman_manager_permissions_missing",
            "Rights that were found missing, by whether the operator can do without.",
            ("is_needed",),
            registry=registry,
        )
        self._ready = Gauge(
            "steersman_manager_ready",
            "Whether the operator is ready: 1 if it is.",
            registry=registry,
        )
        self._readiness = Counter(
            "steersman_manager_readiness_changes",
            "Times that the operator became ready, or ceased to be.",
            registry=registry,
        )
        self._blocked = Summary(
            "steersman_manager_loop_blocked_seconds",
            "Times for which the event loop stood still.",
            registry=registry,
        )
        self._runnables = Counter(
            "steersman_manager_runnable_failures",
            "Parts of the operator that failed.",
            ("runnable",),
            registry=registry,
        )
        self._responsive = Gauge(
            "steersman_manager_server_responsive",
            "Whether the API server answers: 1 if it does.",
            registry=registry,
        )
        self._responsive.set(1)
        self._outages = Summary(
            "steersman_manager_server_outage_seconds",
            "Times for which nothing came from the API server.",
            registry=registry,
        )
        self._unresponsive = Counter(
            "steersman_manager_server_unresponsive",
            "Times that nothing came from the API server for too long.",
            registry=registry,
        )
        self._syncs_overdue = Counter(
            "steersman_manager_cache_syncs_overdue",
            "Controllers that did not start in time, because their caches were not filled.",
            ("controller",),
            registry=registry,
        )
        self._leases: set[str] = set()
        self._words: set[str] = set()

    def __call__(self, observation: ManagerObservation) -> None:
        match observation:
            case LeadershipRenewed(took_seconds=took):
                self._renewal_seconds.labels(self._lease(observation)).observe(took)
            case LeaderChanged(holder=holder, identity=identity):
                self._leaders.labels(self._lease(observation)).inc()
                if holder != identity:
                    self._leads.labels(self._lease(observation)).set(0)
            case LeadershipGained():
                self._leads.labels(self._lease(observation)).set(1)
            case LeadershipLost():
                self._leads.labels(self._lease(observation)).set(0)
                self._losses.labels(self._lease(observation)).inc()
            case LeadershipReleased():
                self._leads.labels(self._lease(observation)).set(0)
            case RenewalFailed():
                self._renewal_failures.labels(self._lease(observation)).inc()
            case WriteHeldBack(method=method):
                self._held_back.labels(bounded(method, self._words)).inc()
            case StageReached(stage=stage, took_seconds=took):
                self._stages.labels(bounded(stage, self._words)).set(took)
            case StopOverdue():
                self._overdue.inc()
            case PermissionMissing(is_needed=is_needed):
                self._permissions.labels(str(is_needed).lower()).inc()
            case ReadinessChanged(is_ready=is_ready):
                self._ready.set(is_ready)
                self._readiness.inc()
            case LoopBlocked(seconds=seconds):
                self._blocked.observe(seconds)
            case RunnableFailed(runnable=runnable):
                self._runnables.labels(bounded(runnable, self._words)).inc()
            case ServerUnresponsive():
                self._responsive.set(0)
                self._unresponsive.inc()
            case ServerRecovered(silent_seconds=seconds):
                self._responsive.set(1)
                self._outages.observe(seconds)
            case CacheSyncOverdue(controller=controller):
                self._syncs_overdue.labels(bounded(controller, self._words)).inc()
            case ClusterFound() | StopRequested() | Listening() | PermissionsUnknown():
                # Said once, at the start or the end: those are for the log.
                pass
            case LivenessChanged():
                pass  # The kubelet counts its restarts.
            case _:
                assert_never(observation)

    def _lease(
        self,
        observation: LeaderChanged
        | LeadershipGained
        | LeadershipRenewed
        | RenewalFailed
        | LeadershipLost
        | LeadershipReleased,
    ) -> str:
        return bounded(observation.lease.name, self._leases)
