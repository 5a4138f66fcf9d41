"""Observations of an operator: leadership, starting and stopping, permissions, health."""

import logging
from collections.abc import Iterable
from typing import ClassVar, Final

from steersman.errors import CacheSyncTimeout, SteersmanError
from steersman.names import ObjectRef
from steersman.observe.observation import Fields, Metric, Observation, Sample, counter, gauge
from steersman.observe.phrases import duration_text, raised, ref_fields

# Up to the ten seconds after which a leader that cannot renew its lease stops leading.
_RENEWAL_SECONDS: Final = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)

_LEADS: Final = gauge(
    "leader_election_master_status",
    "Whether this replica leads, by the name of the lease: 1 if it does.",
    "name",
)
_RESPONSIVE: Final = gauge(
    "steersman_manager_server_responsive",
    "Whether the API server responds: 1 if it does.",
    initial=1,
)
_LEADER_CHANGES: Final = counter(
    "steersman_manager_leader_changes",
    "Times that another holder of the lease was observed.",
    "name",
)
_LOSSES: Final = counter(
    "steersman_manager_leadership_losses",
    "Times that this replica led, and had to stop unexpectedly.",
    "name",
)
_RENEWALS: Final = Metric(
    kind="histogram",
    name="steersman_manager_lease_renewal_seconds",
    help="Time that renewals of the lease took.",
    labels=("name",),
    buckets=_RENEWAL_SECONDS,
)
_RENEWAL_FAILURES: Final = counter(
    "steersman_manager_lease_renewal_failures",
    "Renewals of the lease that failed.",
    "name",
)
_STAGES: Final = gauge(
    "steersman_manager_stage_seconds",
    "How long the operator took for each step of starting and stopping.",
    "stage",
)
_PERMISSIONS: Final = counter(
    "steersman_manager_permissions_missing",
    "Missing permissions, by whether the operator needs them.",
    "is_needed",
)
_READY: Final = gauge("steersman_manager_ready", "Whether the operator is ready: 1 if it is.")
_READINESS: Final = counter(
    "steersman_manager_readiness_changes",
    "Times that the operator became ready, or ceased to be.",
)
_BLOCKED: Final = Metric(
    kind="summary",
    name="steersman_manager_loop_blocked_seconds",
    help="Times for which the event loop was blocked.",
)
_OUTAGES: Final = Metric(
    kind="summary",
    name="steersman_manager_server_outage_seconds",
    help="Times for which nothing was received from the API server.",
)
_UNRESPONSIVE: Final = counter(
    "steersman_manager_server_unresponsive",
    "Times that nothing was received from the API server for too long.",
)


class _LeaseObservation(Observation, frozen=True, kw_only=True):
    lease: ObjectRef
    identity: str

    def _fields(self, **more: str | int | float) -> Fields:
        return {"identity": self.identity, **ref_fields(self.lease), **more}


class LeaderChanged(_LeaseObservation, frozen=True, kw_only=True):
    """The holder of the lease has changed; ``holder`` is ``""`` if no replica holds the lease."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_LEADER_CHANGES, _LEADS)
    holder: str

    def level(self) -> int:
        """Return ``DEBUG`` if this replica is the new holder of the lease, else ``INFO``.

        If this replica is the new holder, ``LeadershipGained`` is reported as well.
        """
        return logging.DEBUG if self.holder == self.identity else logging.INFO

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the new holder of the lease."""
        holder = "this replica" if self.holder == self.identity else self.holder or "no replica"
        return f"{self.lease}: held by {holder}", self._fields(holder=self.holder)

    def samples(self) -> Iterable[Sample]:
        """Yield a sample that counts one change of the holder.

        If this replica is not the holder, also yield a sample with the value 0: it does not lead.
        """
        yield _LEADER_CHANGES.sample(1, self.lease.name)
        if self.holder != self.identity:
            yield _LEADS.sample(0, self.lease.name)


class LeadershipGained(_LeaseObservation, frozen=True, kw_only=True):
    """This replica has become the leader, after waiting for ``waited_seconds``."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_LEADS,)
    waited_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration of the wait."""
        text = f"{self.lease}: this replica leads, after {duration_text(self.waited_seconds)}"
        return text, self._fields(waited_seconds=self.waited_seconds)

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the value 1: this replica leads."""
        return (_LEADS.sample(1, self.lease.name),)


class LeadershipRenewed(_LeaseObservation, frozen=True, kw_only=True):
    """This replica has renewed its lease; the request took ``took_seconds``."""

    LEVEL: ClassVar[int] = logging.DEBUG
    METRICS: ClassVar[tuple[Metric, ...]] = (_RENEWALS,)
    took_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration of the renewal."""
        text = f"{self.lease}: renewed in {duration_text(self.took_seconds)}"
        return text, self._fields(took_seconds=self.took_seconds)

    def samples(self) -> Iterable[Sample]:
        """Return the duration of the renewal."""
        return (_RENEWALS.sample(self.took_seconds, self.lease.name),)


class RenewalFailed(_LeaseObservation, frozen=True, kw_only=True):
    """This replica could not renew its lease.

    It loses leadership unless it succeeds within ``left_seconds``.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (_RENEWAL_FAILURES,)
    error: Exception
    left_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the error and the time left."""
        left = self.left_seconds
        what = f"not renewed, with {duration_text(left)} left to lead" if left else "unreachable"
        text = f"{self.lease}: {what}: {self.error}"
        return text, self._fields(left_seconds=left, error=type(self.error).__name__)

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one failed renewal."""
        return (_RENEWAL_FAILURES.sample(1, self.lease.name),)


class LeadershipLost(_LeaseObservation, frozen=True, kw_only=True):
    """This replica has unexpectedly lost leadership."""

    LEVEL: ClassVar[int] = logging.ERROR
    METRICS: ClassVar[tuple[Metric, ...]] = (_LEADS, _LOSSES)
    reason: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the reason."""
        text = f"{self.lease}: this replica no longer leads: {self.reason}"
        return text, self._fields(reason=self.reason)

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one loss, and a sample with the value 0: not the leader."""
        return (_LEADS.sample(0, self.lease.name), _LOSSES.sample(1, self.lease.name))


class LeadershipReleased(_LeaseObservation, frozen=True, kw_only=True):
    """This replica has released its lease, so that another replica can lead immediately."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_LEADS,)

    def describe(self) -> tuple[str, Fields]:
        """Return a log text that names the lease."""
        text = f"{self.lease}: released, so that another replica can take it over immediately"
        return text, self._fields()

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the value 0: this replica no longer leads."""
        return (_LEADS.sample(0, self.lease.name),)


class WriteFenced(Observation, frozen=True, kw_only=True):
    """A write was not sent, because another replica may already be the leader."""

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_manager_writes_held_back",
            "Writes that were not sent because another replica might lead.",
            "method",
        ),
    )
    method: str
    path: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text that names the write."""
        text = f"{self.method} {self.path}: not sent, because another replica may lead"
        return text, {"method": self.method, "path": self.path}


class ClusterFound(Observation, frozen=True, kw_only=True):
    """The operator is about to use this cluster; ``source`` is the origin of the address."""

    server: str
    source: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the address and its source."""
        text = f"using the cluster at {self.server}, from {self.source}"
        return text, {"server": self.server, "source": self.source}


class StageReached(Observation, frozen=True, kw_only=True):
    """An operator has reached a stage of starting or stopping.

    ``took_seconds`` is the time since the operator started.
    """

    METRICS: ClassVar[tuple[Metric, ...]] = (_STAGES,)
    stage: str
    took_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the stage."""
        text = f"{self.stage}, after {duration_text(self.took_seconds)}"
        return text, {"stage": self.stage, "took_seconds": self.took_seconds}

    def samples(self) -> Iterable[Sample]:
        """Return the time since the operator started."""
        return (_STAGES.sample(self.took_seconds, self.stage),)


class StopRequested(Observation, frozen=True, kw_only=True):
    """The operator has received a request to stop, and has ``grace_seconds`` to do so."""

    signal: str
    grace_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the signal."""
        text = f"received {self.signal}; stops within {duration_text(self.grace_seconds)}"
        return text, {"signal": self.signal, "grace_seconds": self.grace_seconds}


class StopOverdue(Observation, frozen=True, kw_only=True):
    """The operator no longer waits for a part of it that has not stopped within ``seconds``."""

    LEVEL: ClassVar[int] = logging.ERROR
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_manager_stops_overdue",
            "Parts that did not stop in time, and were abandoned.",
        ),
    )
    what: str
    seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text that names the part."""
        text = f"{self.what} did not stop within {duration_text(self.seconds)}, and is abandoned"
        return text, {"what": self.what, "seconds": self.seconds}


class PermissionMissing(Observation, frozen=True, kw_only=True):
    """The operator lacks a permission that its controllers need.

    ``rule`` is the RBAC rule in YAML that would grant the permission. If ``is_needed`` is false,
    the operator works without the permission, but lacks a feature.
    """

    METRICS: ClassVar[tuple[Metric, ...]] = (_PERMISSIONS,)
    what: str
    rule: str
    is_needed: bool

    def level(self) -> int:
        """Return ``ERROR`` if the permission is needed, else ``WARNING``."""
        return logging.ERROR if self.is_needed else logging.WARNING

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the permission and the rule that grants it."""
        harm = "" if self.is_needed else " (the operator works without it, with reduced function)"
        text = f"the operator may not {self.what}{harm}. This rule would allow it: {self.rule}"
        return text, {"what": self.what, "rule": self.rule, "is_needed": self.is_needed}

    def samples(self) -> Iterable[Sample]:
        """Return a sample that counts one missing permission."""
        return (_PERMISSIONS.sample(1, str(self.is_needed).lower()),)


class PermissionsUnknown(Observation, frozen=True, kw_only=True):
    """It could not be determined whether the operator has a permission.

    If the permission is missing, the first use of the permission fails.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    what: str
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the permission and the error."""
        text = f"could not check whether the operator may {self.what}: {self.error}"
        return text, {"what": self.what, "error": type(self.error).__name__}


class ServerUnresponsive(Observation, frozen=True, kw_only=True):
    """The API server has sent nothing for ``silent_seconds``, not even a response to a probe.

    ``watches`` are the open watches, which are closed and opened again.
    """

    LEVEL: ClassVar[int] = logging.ERROR
    METRICS: ClassVar[tuple[Metric, ...]] = (_RESPONSIVE, _UNRESPONSIVE)
    server: str
    silent_seconds: float
    watches: tuple[str, ...] = ()

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration and the watches that are opened again."""
        text = (
            f"{self.server} has not responded for {duration_text(self.silent_seconds)};"
            f" reopened watches: {', '.join(self.watches) or 'none'}"
        )
        return text, {
            "server": self.server,
            "silent_seconds": self.silent_seconds,
            "watches": len(self.watches),
        }

    def samples(self) -> Iterable[Sample]:
        """Return samples with which an outage of the API server begins."""
        return (_RESPONSIVE.sample(0), _UNRESPONSIVE.sample(1))


class ServerRecovered(Observation, frozen=True, kw_only=True):
    """The API server responds again, after it sent nothing for ``silent_seconds``."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_RESPONSIVE, _OUTAGES)
    server: str
    silent_seconds: float

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the duration of the silence."""
        text = f"{self.server} responds again, after {duration_text(self.silent_seconds)}"
        return text, {"server": self.server, "silent_seconds": self.silent_seconds}

    def samples(self) -> Iterable[Sample]:
        """Return samples with which an outage of the API server ends, with its duration."""
        return (_RESPONSIVE.sample(1), _OUTAGES.sample(self.silent_seconds))


class CacheSyncOverdue(Observation, frozen=True, kw_only=True):
    """A controller has not started yet, because caches of its kinds have not synced in time.

    ``error`` names these kinds. The controller starts as soon as the caches have synced.
    """

    LEVEL: ClassVar[int] = logging.ERROR
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter(
            "steersman_manager_cache_syncs_overdue",
            "Controllers that did not start in time, because their caches had not synced.",
            "controller",
        ),
    )
    controller: str
    error: CacheSyncTimeout

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the error."""
        kinds = ", ".join(kind for kind, _ in self.error.pending)
        return str(self.error), {"controller": self.controller, "kinds": kinds}


class ReadinessChanged(Observation, frozen=True, kw_only=True):
    """The operator has become ready or not ready; ``failing`` lists the failing checks."""

    METRICS: ClassVar[tuple[Metric, ...]] = (_READY, _READINESS)
    is_ready: bool
    failing: tuple[tuple[str, str], ...] = ()

    def level(self) -> int:
        """Return ``INFO`` if the operator is ready, else ``WARNING``."""
        return logging.INFO if self.is_ready else logging.WARNING

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the failing checks."""
        text = "ready" if self.is_ready else f"not ready: {_reasons(self.failing)}"
        return text, {"is_ready": self.is_ready, "failing": _names(self.failing)}

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the readiness, and a sample that counts one change."""
        return (_READY.sample(self.is_ready), _READINESS.sample(1))


# Not counted: the kubelet counts its restarts.
class LivenessChanged(Observation, frozen=True, kw_only=True):
    """The result of the operator's liveness checks has changed.

    ``failing`` lists the failing checks; the operator counts as alive if there are none. If a
    liveness probe is configured, the kubelet restarts an operator that is not alive.
    """

    is_alive: bool
    failing: tuple[tuple[str, str], ...] = ()

    def level(self) -> int:
        """Return ``ERROR`` if the operator is not alive, else ``INFO``."""
        return logging.INFO if self.is_alive else logging.ERROR

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the failing checks."""
        text = "alive again" if self.is_alive else f"not alive: {_reasons(self.failing)}"
        return text, {"is_alive": self.is_alive, "failing": _names(self.failing)}


class LoopBlocked(Observation, frozen=True, kw_only=True):
    """The event loop was blocked for ``seconds``: no other task could run.

    ``controller`` and ``ref`` name the reconcile that blocked the loop, if a reconcile did.
    ``stack`` is the stack of the blocking code, with the innermost frame last.
    """

    LEVEL: ClassVar[int] = logging.WARNING
    METRICS: ClassVar[tuple[Metric, ...]] = (_BLOCKED,)
    seconds: float
    controller: str = ""
    ref: ObjectRef | None = None
    stack: tuple[str, ...] = ()

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the blocking code and the remedy."""
        ref = self.ref
        where = f" in the reconcile of {ref} by {self.controller}" if ref is not None else ""
        text = f"the event loop was blocked for {duration_text(self.seconds)}"
        text += (
            f"{where}: {' > '.join(self.stack)}. This code computed or waited without await: make"
            f" that reconcile a plain function, which runs in a thread"
            if self.stack
            else ", and so was the thread that watches it: the process was stopped or got no"
            " CPU time, or an extension module held the GIL"
        )
        about = {} if ref is None else {"controller": self.controller, **ref_fields(ref)}
        return text, {"seconds": self.seconds, **about, "stack": "\n".join(self.stack)}

    def samples(self) -> Iterable[Sample]:
        """Return a sample with the time for which the event loop was blocked."""
        return (_BLOCKED.sample(self.seconds),)


class Listening(Observation, frozen=True, kw_only=True):
    """A listener of the operator, which serves probes or metrics, accepts connections."""

    what: str
    address: str

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the address."""
        return f"{self.what} at {self.address}", {"what": self.what, "address": self.address}


class RunnableFailed(Observation, frozen=True, kw_only=True):
    """A runnable of the operator has failed, and the operator stops."""

    LEVEL: ClassVar[int] = logging.ERROR
    METRICS: ClassVar[tuple[Metric, ...]] = (
        counter("steersman_manager_runnable_failures", "Runnables that failed.", "runnable"),
    )
    runnable: str
    error: Exception

    def describe(self) -> tuple[str, Fields]:
        """Return a log text with the runnable and the error."""
        text = f"{self.runnable} failed: {raised(self.error)}"
        return text, {"runnable": self.runnable, "error": type(self.error).__name__}

    def traced_error(self, *, is_debug: bool) -> Exception | None:  # noqa: ARG002
        """Return the error if the operator author's code raised it; its traceback is then logged.

        Errors that steersman raises need no traceback.
        """
        return None if isinstance(self.error, SteersmanError) else self.error


def _reasons(failing: tuple[tuple[str, str], ...]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in failing)


def _names(failing: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(name for name, _ in failing)
