"""Who leads: the rules by which candidates share a Lease. Pure; reading and writing are another's.

The numbers and the record are those of client-go, and replicas of both kinds can share a lease.
But no moment in the record is ever compared with a clock of ours: another machine wrote it, by its
own clock. What counts is for how long, on our own monotonic clock, the record has not changed:

    leader      acts until ``renew_seconds`` after the moment before its last confirmed write
    candidates  take a lease over that has not changed for the ``lease_seconds`` it names

A candidate sees a write after it was made, and the leader counts from before it was made. So, as
long as no clock is faster than another by more than ``lease_seconds / renew_seconds``, the leader
has stopped before another replica takes over. Every write has the version that was read as
precondition.
"""

from datetime import datetime
from math import ceil, inf
from random import Random
from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

# As client-go has it: a wait between two tries may be longer by so much, left to chance, so that
# candidates which began together do not go on together.
JITTER: Final = 1.2

# A record may name any time, by mistake or out of malice, and its holder may be dead. No candidate
# that is alive lets a lease go without renewal for an hour: after that it is taken over, whatever
# it says. Settings keep to it as well.
LONGEST_SECONDS: Final = 3600.0

# What a released lease says. The least that the server allows; no candidate waits for it.
RELEASED_SECONDS: Final = 1


class LeaseSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The lease, the identity and the intervals; ``unique_identity`` names a process."""

    namespace: str
    name: str
    identity: str

    # So long after its last renewal, a lease can be taken from a leader that is gone.
    lease_seconds: float = 15.0

    # So long after its last renewal, a leader stops. The rest is for clocks that differ, and for a
    # write that is on its way.
    renew_seconds: float = 10.0

    # So often a leader renews, and a candidate looks.
    retry_seconds: float = 2.0

    def __post_init__(self) -> None:
        if not self.namespace or not self.name or not self.identity:
            raise ValueError("a lease needs a namespace, a name, and the identity of a candidate")
        rhythm = (self.retry_seconds * JITTER, self.renew_seconds, self.lease_seconds)
        if not 0 < rhythm[0] < rhythm[1] < rhythm[2] <= LONGEST_SECONDS or rhythm[2] < 1:
            raise ValueError(
                f"a lease must satisfy 0 < retry_seconds * {JITTER} < renew_seconds <"
                f" lease_seconds, and 1 <= lease_seconds <= {LONGEST_SECONDS:g}, got"
                f" retry_seconds={self.retry_seconds} renew_seconds={self.renew_seconds}"
                f" lease_seconds={self.lease_seconds}"
            )


def unique_identity(hostname: str, *, rng: Random) -> str:
    """A name for this process that no other has, not even its own next life."""
    return f"{hostname}_{rng.getrandbits(64):016x}"


# What is written, and what is known


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a lease says; ``holder`` is empty if no replica holds it.

    The moments are for people to read, and to tell one claim from another.
    """

    holder: str = ""
    lease_seconds: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None
    transitions: int = 0

    def is_same_claim(self, other: "Record | None") -> bool:
        """Whether both are of one reign: the same holder, since the same moment."""
        return other is not None and (
            (self.holder, self.acquire_time, self.transitions)
            == (other.holder, other.acquire_time, other.transitions)
        )


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A lease as it was read: its record, and its version, which is empty if there is no lease."""

    record: Record = Record()
    version: str = ""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate knows.

    ``seen`` may be out of date where ``must_read``. Unless it changes, another replica may act
    until ``taken_until_at``. ``claim`` is the last that we tried to write, whose answer may have
    been lost. By what was confirmed, we may act until ``acting_until_at``.
    """

    must_read: bool = True
    seen: Seen = Seen()
    taken_until_at: float = -inf
    claim: Record | None = None
    acting_until_at: float = -inf

    @property
    def is_claimed(self) -> bool:
        """Whether the lease is ours, as far as is known."""
        return bool(self.seen.record.holder) and self.seen.record.is_same_claim(self.claim)

    @property
    def rival(self) -> str:
        """Who else holds the lease, as far as is known."""
        return "" if self.is_claimed else self.seen.record.holder


# Events


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """This is how the lease was when it was read."""

    seen: Seen


class Sending(msgspec.Struct, frozen=True, kw_only=True):
    """This is about to be written; whether it was, is not known until it is ``Written``."""

    claim: Record


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The server has confirmed a write that was begun at ``sent_at``."""

    seen: Seen
    sent_at: float


LeaseEvent: TypeAlias = Read | Sending | Written


def advance(
    standing: Standing, event: LeaseEvent, *, settings: LeaseSettings, now_at: float
) -> Standing:
    """The standing after an event, at ``now_at`` or before."""
    match event:
        case Read(seen=seen):
            return _looked(standing, seen, settings, now_at)
        case Sending(claim=claim):
            return replace(standing, must_read=True, claim=claim)
        case Written(seen=seen, sent_at=sent_at):
            looked = _looked(standing, seen, settings, now_at)
            if not looked.is_claimed:
                return looked
            # From before it was sent, because others may have read it any time after.
            return replace(looked, acting_until_at=sent_at + settings.renew_seconds)
        case _:
            assert_never(event)


def _looked(standing: Standing, seen: Seen, settings: LeaseSettings, now_at: float) -> Standing:
    looked = replace(standing, must_read=False, seen=seen)
    if seen == standing.seen:
        return looked
    if looked.rival:
        # From here, because we see a write only after it was made.
        taken_until_at = now_at + _valid_seconds(seen.record, settings)
    elif not seen.version and standing.rival:
        # The lease was deleted, and its holder need not know. It may have been renewed
        # up to that moment, so that its time counts from here.
        taken_until_at = now_at + _valid_seconds(standing.seen.record, settings)
    else:
        # Ours, or free: released by its holder, once it had stopped.
        taken_until_at = -inf
    return replace(looked, taken_until_at=taken_until_at)


def _valid_seconds(record: Record, settings: LeaseSettings) -> float:
    seconds = record.lease_seconds
    if seconds is None or seconds < 1:
        return settings.lease_seconds
    return min(float(seconds), LONGEST_SECONDS)


# What to do


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Read the lease."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Write this, if the lease still has this version; without one, create it."""

    record: Record
    version: str


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """Another replica may act until then."""

    until_at: float


Step: TypeAlias = Look | Claim | Wait


def next_step(
    standing: Standing, *, settings: LeaseSettings, now_at: float, now_time: datetime
) -> Step:
    """What a candidate does next to lead, or a leader to go on leading."""
    if standing.must_read:
        return Look()
    record = standing.seen.record
    if standing.is_claimed:
        return Claim(
            record=replace(record, lease_seconds=ceil(settings.lease_seconds), renew_time=now_time),
            version=standing.seen.version,
        )
    if now_at < standing.taken_until_at:
        return Wait(until_at=standing.taken_until_at)
    transitions = record.transitions + 1 if standing.seen.version else 0
    claim = standing.claim
    is_repeated = claim is not None and claim.transitions == transitions
    return Claim(
        record=Record(
            holder=settings.identity,
            lease_seconds=ceil(settings.lease_seconds),
            # One that we have tried to write before may be carried out yet: it is the same claim.
            acquire_time=claim.acquire_time if claim and is_repeated else now_time,
            renew_time=now_time,
            transitions=transitions,
        ),
        version=standing.seen.version,
    )


def released(record: Record, *, now_time: datetime) -> Record:
    """The record that a stopped leader leaves: the lease is free."""
    return replace(
        record,
        holder="",
        lease_seconds=RELEASED_SECONDS,
        acquire_time=now_time,
        renew_time=now_time,
    )


def wait_seconds(
    standing: Standing, *, settings: LeaseSettings, now_at: float, rng: Random
) -> float:
    """How long a candidate waits before it looks again: not past the moment it may take over."""
    pause_seconds = settings.retry_seconds * (1 + JITTER * rng.random())
    left_seconds = standing.taken_until_at - now_at
    return min(pause_seconds, left_seconds) if left_seconds > 0 else pause_seconds
