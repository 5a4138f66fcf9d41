"""The rules of leader election: how candidates share a Lease. No I/O.

The durations and the record are those of client-go, so that replicas with client-go can share the
lease. But the times in the record are never compared with the local clock, because another machine
wrote them with another clock. The rules use only the time for which the record has not changed,
measured with the local monotonic clock:

    leader      acts until ``renew_seconds`` after the start of its last confirmed write
    candidates  acquire a lease that has not changed for the ``lease_seconds`` in its record

A candidate reads a write only after the write was made, and the leader measures from before the
write. So the leader has stopped before another replica takes over, unless one clock is faster than
another by more than a factor of ``lease_seconds / renew_seconds``. Every write has a precondition:
the lease still has the resourceVersion that was read.
"""

from datetime import datetime
from math import ceil, inf
from random import Random
from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

# As in client-go: a wait between two attempts is longer by a random part of this factor, so that
# candidates that started together do not stay synchronized.
JITTER: Final = 1.2

# A record may have any duration, by mistake or malice, and its holder may be dead. No live
# candidate fails to renew its lease for an hour: after that, another takes it over, whatever the
# record's duration is. Settings have the same limit.
MAX_SECONDS: Final = 3600.0

# The duration of a released lease: the least that the server allows. No candidate waits for it.
RELEASED_SECONDS: Final = 1


class LeaseSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a lease, the identity of a replica, and the intervals of leader election.

    The function ``unique_identity`` returns a suitable ``identity``.
    """

    namespace: str
    name: str
    identity: str

    # A candidate may acquire the lease this long after its last renewal.
    lease_seconds: float = 15.0

    # The leader stops this long after its last renewal. The difference allows for clocks that
    # differ, and for a write in flight.
    renew_seconds: float = 10.0

    # The interval of the leader's renewals, and of a candidate's attempts.
    retry_seconds: float = 2.0

    def __post_init__(self) -> None:
        if not self.namespace or not self.name or not self.identity:
            raise ValueError("a lease needs a namespace, a name and an identity")
        rhythm = (self.retry_seconds * JITTER, self.renew_seconds, self.lease_seconds)
        if not 0 < rhythm[0] < rhythm[1] < rhythm[2] <= MAX_SECONDS or rhythm[2] < 1:
            raise ValueError(
                f"a lease must satisfy 0 < retry_seconds * {JITTER} < renew_seconds <"
                f" lease_seconds, and 1 <= lease_seconds <= {MAX_SECONDS:g}, got"
                f" retry_seconds={self.retry_seconds} renew_seconds={self.renew_seconds}"
                f" lease_seconds={self.lease_seconds}"
            )


def unique_identity(hostname: str, *, rng: Random) -> str:
    """Return an identity for this process: ``hostname`` with a random suffix.

    Therefore a process has another identity after each restart.
    """
    return f"{hostname}_{rng.getrandbits(64):016x}"


# The record and its observation


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a Lease; ``holder`` is empty if no replica holds the lease.

    The times are for people to read, and to distinguish one term of leadership from another.
    """

    holder: str = ""
    lease_seconds: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None
    transitions: int = 0

    def is_same_claim(self, other: "Record | None") -> bool:
        """Return whether both records belong to the same term of leadership.

        Records of one term have the same holder, start and number of transitions.
        """
        return other is not None and (
            (self.holder, self.acquire_time, self.transitions)
            == (other.holder, other.acquire_time, other.transitions)
        )


class ObservedLease(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a Lease that was read, and its resourceVersion.

    ``version`` is empty if the lease did not exist.
    """

    record: Record = Record()
    version: str = ""


class CandidateState(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that a candidate knows about the lease.

    If ``must_read``, ``observed`` may be out of date. Another replica is permitted to act as the
    leader until ``taken_until_at``, and longer if it renews the lease. ``claim`` is the last record
    that this candidate tried to write; the response to that write may have been lost.
    ``acting_until_at`` follows from this replica's last confirmed write; until then, the replica is
    permitted to act as the leader.
    """

    must_read: bool = True
    observed: ObservedLease = ObservedLease()
    taken_until_at: float = -inf
    claim: Record | None = None
    acting_until_at: float = -inf

    @property
    def is_claimed(self) -> bool:
        """Whether this candidate holds the lease, as far as it knows."""
        return bool(self.observed.record.holder) and self.observed.record.is_same_claim(self.claim)

    @property
    def rival(self) -> str:
        """The other replica that holds the lease, as far as this candidate knows; else ``""``."""
        return "" if self.is_claimed else self.observed.record.holder


# Events


class LeaseRead(msgspec.Struct, frozen=True, kw_only=True):
    """An event: the lease was read, with the result ``observed``."""

    observed: ObservedLease


class WriteStarted(msgspec.Struct, frozen=True, kw_only=True):
    """An event: a write of the record ``claim`` began.

    The result of the write is unknown until ``WriteConfirmed``.
    """

    claim: Record


class WriteConfirmed(msgspec.Struct, frozen=True, kw_only=True):
    """An event: the server has confirmed a write that began at ``sent_at``."""

    observed: ObservedLease
    sent_at: float


LeaseEvent: TypeAlias = LeaseRead | WriteStarted | WriteConfirmed


def advance(
    state: CandidateState, event: LeaseEvent, *, settings: LeaseSettings, now_at: float
) -> CandidateState:
    """Return the state that follows ``state`` after ``event``, which happened by ``now_at``."""
    match event:
        case LeaseRead(observed=observed):
            return _after_read(state, observed, settings, now_at)
        case WriteStarted(claim=claim):
            return replace(state, must_read=True, claim=claim)
        case WriteConfirmed(observed=observed, sent_at=sent_at):
            updated = _after_read(state, observed, settings, now_at)
            if not updated.is_claimed:
                return updated
            # Counted from the time before sending, because others may read the write at any time.
            return replace(updated, acting_until_at=sent_at + settings.renew_seconds)
        case _:
            assert_never(event)


def _after_read(
    state: CandidateState, observed: ObservedLease, settings: LeaseSettings, now_at: float
) -> CandidateState:
    updated = replace(state, must_read=False, observed=observed)
    if observed == state.observed:
        return updated
    if updated.rival:
        # Counted from now, because a write is only read after it was made.
        taken_until_at = now_at + _valid_seconds(observed.record, settings)
    elif not observed.version and state.rival:
        # The lease was deleted, possibly without its holder's knowledge. The holder may have
        # renewed it up to that moment, so its time counts from now.
        taken_until_at = now_at + _valid_seconds(state.observed.record, settings)
    else:
        # The lease belongs to this candidate, or its holder stopped and released it.
        taken_until_at = -inf
    return replace(updated, taken_until_at=taken_until_at)


def _valid_seconds(record: Record, settings: LeaseSettings) -> float:
    seconds = record.lease_seconds
    if seconds is None or seconds < 1:
        return settings.lease_seconds
    return min(float(seconds), MAX_SECONDS)


# The next step


class ReadStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step: read the lease."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A step: write ``record`` if the lease still has the resourceVersion ``version``.

    If ``version`` is empty, create the lease.
    """

    record: Record
    version: str


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """A step: wait, because another replica is permitted to lead until ``until_at``."""

    until_at: float


Step: TypeAlias = ReadStep | Claim | Wait


def next_step(
    state: CandidateState, *, settings: LeaseSettings, now_at: float, now_time: datetime
) -> Step:
    """Return the next step of a candidate that tries to lead, or of a leader that renews."""
    if state.must_read:
        return ReadStep()
    record = state.observed.record
    if state.is_claimed:
        return Claim(
            record=replace(record, lease_seconds=ceil(settings.lease_seconds), renew_time=now_time),
            version=state.observed.version,
        )
    if now_at < state.taken_until_at:
        return Wait(until_at=state.taken_until_at)
    transitions = record.transitions + 1 if state.observed.version else 0
    claim = state.claim
    is_repeated = claim is not None and claim.transitions == transitions
    return Claim(
        record=Record(
            holder=settings.identity,
            lease_seconds=ceil(settings.lease_seconds),
            # A previously sent record may still be written: it is the same claim.
            acquire_time=claim.acquire_time if claim and is_repeated else now_time,
            renew_time=now_time,
            transitions=transitions,
        ),
        version=state.observed.version,
    )


def released_record(record: Record, *, now_time: datetime) -> Record:
    """Return ``record`` without a holder, which a leader writes to release the lease."""
    return replace(
        record,
        holder="",
        lease_seconds=RELEASED_SECONDS,
        acquire_time=now_time,
        renew_time=now_time,
    )


def wait_seconds(
    state: CandidateState, *, settings: LeaseSettings, now_at: float, rng: Random
) -> float:
    """Return the time until the next attempt of a candidate.

    The attempt is never later than the time at which the candidate is permitted to take over.
    """
    pause_seconds = settings.retry_seconds * (1 + JITTER * rng.random())
    left_seconds = state.taken_until_at - now_at
    return min(pause_seconds, left_seconds) if left_seconds > 0 else pause_seconds
