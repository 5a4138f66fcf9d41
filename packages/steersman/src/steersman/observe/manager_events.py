"""What can happen to an operator as a whole: who leads, what starts and stops, what it may not."""

from typing import TypeAlias

import msgspec

from steersman.errors import CacheSyncTimeout
from steersman.names import ObjectRef


class LeaderChanged(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody else than before holds the lease; ``holder`` is ``""`` if nobody does."""

    lease: ObjectRef
    holder: str
    identity: str


class LeadershipGained(msgspec.Struct, frozen=True, kw_only=True):
    """This replica leads, after so long a wait."""

    lease: ObjectRef
    identity: str
    waited_seconds: float


class LeadershipRenewed(msgspec.Struct, frozen=True, kw_only=True):
    """This replica has renewed its lease, and it took so long to do."""

    lease: ObjectRef
    identity: str
    took_seconds: float


class RenewalFailed(msgspec.Struct, frozen=True, kw_only=True):
    """This replica could not renew its lease, and has so long left to try again."""

    lease: ObjectRef
    identity: str
    error: Exception
    left_seconds: float


class LeadershipLost(msgspec.Struct, frozen=True, kw_only=True):
    """This replica no longer leads, and did not mean to stop."""

    lease: ObjectRef
    identity: str
    reason: str


class LeadershipReleased(msgspec.Struct, frozen=True, kw_only=True):
    """This replica has given its lease away, so that nobody has to wait for it to run out."""

    lease: ObjectRef
    identity: str


class WriteHeldBack(msgspec.Struct, frozen=True, kw_only=True):
    """A write was not sent, because this replica could not be sure to lead."""

    method: str
    path: str


class ClusterFound(msgspec.Struct, frozen=True, kw_only=True):
    """With which cluster the operator is about to speak, and who says so."""

    server: str
    source: str


class StageReached(msgspec.Struct, frozen=True, kw_only=True):
    """An operator has come so far in starting or stopping, and the last step took so long."""

    stage: str
    took_seconds: float


class StopRequested(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody wants the operator to stop, within so long."""

    signal: str
    grace_seconds: float


class StopOverdue(msgspec.Struct, frozen=True, kw_only=True):
    """Something has not stopped within so long, and is left behind."""

    what: str
    seconds: float


class PermissionMissing(msgspec.Struct, frozen=True, kw_only=True):
    """The operator may not do something that its controllers declare.

    ``rule`` is the RBAC rule in YAML that would grant it; without what is not needed
    (``is_needed``), the operator does less, and what it does is right.
    """

    what: str
    rule: str
    is_needed: bool


class PermissionsUnknown(msgspec.Struct, frozen=True, kw_only=True):
    """Nobody could tell whether the operator may do this; it will be seen when it tries."""

    what: str
    error: Exception


class ServerUnresponsive(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing has come from the API server for so long, although it was asked.

    ``watches`` are those that were open, and are opened again.
    """

    server: str
    silent_seconds: float
    watches: tuple[str, ...] = ()


class ServerRecovered(msgspec.Struct, frozen=True, kw_only=True):
    """The API server answers again, after so long without a sign of life."""

    server: str
    silent_seconds: float


class CacheSyncOverdue(msgspec.Struct, frozen=True, kw_only=True):
    """A controller has not started, because caches of its kinds were not filled in time.

    ``error`` names the kinds. The controller starts as soon as they are filled.
    """

    controller: str
    error: CacheSyncTimeout


class ReadinessChanged(msgspec.Struct, frozen=True, kw_only=True):
    """The operator is ready from now on, or no longer; ``failing`` says which checks say so."""

    is_ready: bool
    failing: tuple[tuple[str, str], ...] = ()


class LivenessChanged(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's checks of its own life fail from now on, or no longer; ``failing`` says which.

    A kubelet that asks for them starts the operator again.
    """

    is_alive: bool
    failing: tuple[tuple[str, str], ...] = ()


class LoopBlocked(msgspec.Struct, frozen=True, kw_only=True):
    """Something kept the event loop busy for so long, and everything else stood still.

    ``controller`` and ``ref`` say whose reconcile it was, where it was one; ``stack`` where it was,
    the innermost frame last.
    """

    seconds: float
    controller: str = ""
    ref: ObjectRef | None = None
    stack: tuple[str, ...] = ()


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """Something can be reached from outside: probes, metrics."""

    what: str
    address: str


class RunnableFailed(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the operator runs has failed, and takes the operator along."""

    runnable: str
    error: Exception


ManagerObservation: TypeAlias = (
    LeaderChanged
    | LeadershipGained
    | LeadershipRenewed
    | RenewalFailed
    | LeadershipLost
    | LeadershipReleased
    | WriteHeldBack
    | ClusterFound
    | StageReached
    | StopRequested
    | StopOverdue
    | PermissionMissing
    | PermissionsUnknown
    | ServerUnresponsive
    | ServerRecovered
    | CacheSyncOverdue
    | ReadinessChanged
    | LivenessChanged
    | LoopBlocked
    | Listening
    | RunnableFailed
)
