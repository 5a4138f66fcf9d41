"""The state machine of leader election, with time as an argument."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steersman.manager.leader_election.election import (
    JITTER,
    MAX_SECONDS,
    CandidateState,
    Claim,
    LeaseEvent,
    LeaseRead,
    LeaseSettings,
    ObservedLease,
    ReadStep,
    Record,
    Step,
    Wait,
    WriteConfirmed,
    WriteStarted,
    advance,
    next_step,
    released_record,
    unique_identity,
    wait_seconds,
)

SETTINGS = LeaseSettings(namespace="default", name="web", identity="us")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RIVAL = Record(holder="them", lease_seconds=15, acquire_time=NOW, renew_time=NOW, transitions=4)


class Candidate:
    """A candidate whose reads, writes and times a test determines."""

    def __init__(self, settings: LeaseSettings = SETTINGS) -> None:
        self.settings = settings
        self.state = CandidateState()

    def observe(self, event: LeaseEvent, at: float) -> None:
        self.state = advance(self.state, event, settings=self.settings, now_at=at)

    def read(self, record: Record, at: float, *, version: str = "1") -> None:
        self.observe(LeaseRead(observed=ObservedLease(record=record, version=version)), at)

    def find_no_lease(self, at: float) -> None:
        self.observe(LeaseRead(observed=ObservedLease()), at)

    def step(self, at: float) -> Step:
        return next_step(self.state, settings=self.settings, now_at=at, now_time=NOW)

    def claim(self, at: float) -> Claim:
        step = self.step(at)
        assert isinstance(step, Claim)
        return step

    def send(self, at: float) -> Record:
        record = self.claim(at).record
        self.observe(WriteStarted(claim=record), at)
        return record

    def lead(self, at: float, *, version: str = "2") -> Record:
        record = self.send(at)
        self.observe(
            WriteConfirmed(observed=ObservedLease(record=record, version=version), sent_at=at), at
        )
        return record


def test_a_new_candidate_reads_first() -> None:
    assert Candidate().step(0) == ReadStep()


def test_a_missing_lease_is_created() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)

    assert replica.claim(at=0) == Claim(
        record=Record(
            holder="us", lease_seconds=15, acquire_time=NOW, renew_time=NOW, transitions=0
        ),
        version="",
    )


def test_a_released_lease_is_acquired_immediately() -> None:
    replica = Candidate()
    replica.read(RIVAL, at=0)
    replica.read(released_record(RIVAL, now_time=NOW), at=1, version="2")

    claim = replica.claim(at=1)

    assert (claim.version, claim.record.holder, claim.record.transitions) == ("2", "us", 5)


def test_a_held_lease_is_acquired_once_it_has_not_changed_for_its_duration() -> None:
    replica = Candidate()
    replica.read(replace(RIVAL, lease_seconds=20), at=100)
    replica.read(replace(RIVAL, lease_seconds=20), at=110)

    assert replica.step(at=119.9) == Wait(until_at=120)
    assert replica.claim(at=120).version == "1"


@pytest.mark.parametrize("years", [-10, 0, 10])
def test_the_times_in_the_record_do_not_matter(years: int) -> None:
    replica = Candidate()
    replica.read(replace(RIVAL, renew_time=NOW + timedelta(days=365 * years)), at=100)

    assert replica.step(at=114.9) == Wait(until_at=115)
    assert replica.claim(at=115).version == "1"


@pytest.mark.parametrize(
    ("record", "version"),
    [
        (replace(RIVAL, renew_time=NOW + timedelta(seconds=2)), "2"),
        (replace(RIVAL, holder="another", transitions=5), "2"),
        (RIVAL, "2"),
    ],
)
def test_any_change_of_a_held_lease_starts_the_wait_again(record: Record, version: str) -> None:
    replica = Candidate()
    replica.read(RIVAL, at=100)
    replica.read(record, at=114, version=version)

    assert replica.step(at=128.9) == Wait(until_at=129)


@pytest.mark.parametrize("seconds", [10 * 365 * 86400, 2**31 - 1])
def test_a_lease_for_ten_years_is_acquired_after_an_hour(seconds: int) -> None:
    replica = Candidate()
    replica.read(replace(RIVAL, lease_seconds=seconds), at=0)

    assert replica.step(at=MAX_SECONDS - 1) == Wait(until_at=MAX_SECONDS)
    assert replica.claim(at=MAX_SECONDS).version == "1"


@pytest.mark.parametrize("seconds", [None, 0, -5])
def test_for_a_held_lease_without_a_duration_the_configured_one_counts(seconds: int | None) -> None:
    replica = Candidate()
    replica.read(replace(RIVAL, lease_seconds=seconds), at=0)

    assert replica.step(at=0) == Wait(until_at=15)


def test_a_leader_may_act_from_before_its_write_was_sent() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    record = replica.send(at=1)
    replica.observe(
        WriteConfirmed(observed=ObservedLease(record=record, version="1"), sent_at=1), at=9
    )

    assert replica.state.acting_until_at == 11


def test_no_replica_acts_before_the_write_is_confirmed() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    replica.send(at=1)

    assert replica.state.acting_until_at == -inf
    assert replica.step(at=1) == ReadStep()


def test_a_leader_renews_without_a_read() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    taken = replica.lead(at=0, version="7")

    assert replica.claim(at=2) == Claim(record=taken, version="7")


def test_a_claim_whose_response_was_lost_is_recognized_and_confirmed() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    record = replica.send(at=0)
    replica.read(record, at=5)

    assert replica.state.rival == ""
    assert replica.claim(at=5).version == "1"
    assert replica.state.acting_until_at == -inf


def test_a_late_claim_is_recognized_after_another_attempt() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    late = replica.send(at=0)
    replica.find_no_lease(at=5)
    replica.send(at=5)
    replica.read(late, at=6)

    assert replica.claim(at=6).version == "1"


def test_a_lease_with_the_same_identity_from_an_earlier_process_is_waited_for() -> None:
    replica = Candidate()
    replica.read(replace(RIVAL, holder="us"), at=0)

    assert replica.state.rival == "us"
    assert replica.step(at=0) == Wait(until_at=15)


def test_another_holder_with_the_same_identity_is_a_rival() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    ours = replica.lead(at=0)
    replica.read(
        replace(ours, transitions=1, acquire_time=NOW + timedelta(seconds=1)), at=20, version="9"
    )

    assert replica.state.rival == "us"


def test_a_leader_whose_lease_was_deleted_creates_it_immediately() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    replica.lead(at=0)
    replica.find_no_lease(at=2)

    assert replica.claim(at=2).version == ""


def test_a_leader_whose_lease_was_modified_continues() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    ours = replica.lead(at=0, version="2")
    replica.read(ours, at=2, version="3")

    assert replica.claim(at=2) == Claim(record=ours, version="3")


def test_after_a_deletion_a_candidate_waits_as_long_as_the_holder_may_act() -> None:
    replica = Candidate()
    replica.read(RIVAL, at=100)
    replica.find_no_lease(at=110)
    replica.find_no_lease(at=120)

    # The holder may have renewed it until the moment of the deletion.
    assert replica.step(at=124.9) == Wait(until_at=125)
    assert replica.claim(at=125).version == ""


def test_a_leader_that_reads_another_holder_records_its_identity() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    replica.lead(at=0)
    replica.read(RIVAL, at=2, version="9")

    assert replica.state.rival == "them"


def test_a_confirmed_write_with_another_record_does_not_count() -> None:
    replica = Candidate()
    replica.find_no_lease(at=0)
    replica.send(at=0)
    replica.observe(
        WriteConfirmed(observed=ObservedLease(record=RIVAL, version="3"), sent_at=0), at=0
    )

    assert replica.state.acting_until_at == -inf


def test_a_released_lease_has_no_holder_and_the_shortest_time() -> None:
    record = released_record(RIVAL, now_time=NOW)

    assert (record.holder, record.lease_seconds, record.transitions) == ("", 1, 4)


def test_candidates_wait_with_jitter_and_not_past_the_end_of_the_lease() -> None:
    replica = Candidate()
    replica.read(RIVAL, at=0)

    def pause(at: float, seed: int) -> float:
        return wait_seconds(replica.state, settings=SETTINGS, now_at=at, rng=Random(seed))

    pauses = [pause(0, seed) for seed in range(100)]
    assert 2 <= min(pauses) < max(pauses) <= 2 * (1 + JITTER)
    assert pause(14.5, 0) == 0.5
    assert pause(15, 0) >= 2


def test_identities_are_unique_and_name_the_host() -> None:
    rng = Random(0)
    names = {unique_identity("web-1", rng=rng) for _ in range(100)}

    assert len(names) == 100
    assert all(name.startswith("web-1_") and len(name) == 22 for name in names)


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease_seconds": 10},
        {"renew_seconds": 2.4},
        {"retry_seconds": 9},
        {"retry_seconds": 0},
        {"lease_seconds": float("nan")},
        {"lease_seconds": 3601},
        {"lease_seconds": 0.9, "renew_seconds": 0.5, "retry_seconds": 0.1},
        {"identity": ""},
        {"name": ""},
    ],
)
def test_invalid_intervals_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="a lease "):
        replace(SETTINGS, **wrong)


# Two candidates on different machines


@dataclass
class Server:
    """One lease, and the periods in which replicas act on it, in true time."""

    observed: ObservedLease = ObservedLease()
    revision: int = 0
    acted: list[tuple[str, float, float]] = field(default_factory=list[tuple[str, float, float]])

    def write(self, record: Record, version: str) -> ObservedLease | None:
        """Write the lease, and return its new state; None if its version is not ``version``."""
        if version != self.observed.version:
            return None
        self.revision += 1
        self.observed = ObservedLease(record=record, version=str(self.revision))
        return self.observed


@dataclass(frozen=True)
class Machine:
    """A clock with its own start and rate."""

    offset_seconds: float
    rate: float

    def at(self, true_at: float) -> float:
        return self.offset_seconds + true_at * self.rate

    def true(self, at: float) -> float:
        return (at - self.offset_seconds) / self.rate


def candidate(
    name: str, machine: Machine, server: Server, true_now: Callable[[], float]
) -> Generator[None, bool, None]:
    """A candidate that never stops; at each ``yield`` it can be paused, or lose a response."""
    replica = Candidate(replace(SETTINGS, identity=name))

    def now() -> float:
        return machine.at(true_now())

    def time() -> datetime:
        return NOW + timedelta(seconds=now())

    while True:
        must_read = replica.state.acting_until_at <= now()
        if must_read or isinstance(replica.step(now()), ReadStep):
            yield
            observed = server.observed
            if (yield):
                continue
            replica.observe(LeaseRead(observed=observed), now())
        step = next_step(replica.state, settings=replica.settings, now_at=now(), now_time=time())
        if not isinstance(step, Claim):
            yield
            continue
        sent_at = now()
        replica.observe(WriteStarted(claim=step.record), sent_at)
        yield
        written = server.write(step.record, step.version)
        if (yield) or written is None:
            continue
        replica.observe(WriteConfirmed(observed=written, sent_at=sent_at), now())
        until = machine.true(replica.state.acting_until_at)
        if until > true_now():
            server.acted.append((name, true_now(), until))
        yield


@dataclass(frozen=True)
class Steps:
    """A pause, and then steps of a candidate; the response to the first may be lost."""

    name: str
    pause_seconds: float
    steps: int
    is_lost: bool = False


# Mostly short, and sometimes close to the length of an interval of the lease.
pauses = st.sampled_from([0.0, 0.0, 0.0, 0.1, 1.0, 2.0, 4.9, 5.1, 9.9, 10.1, 14.9, 15.1])
turns = st.builds(
    Steps,
    name=st.sampled_from(["a", "b"]),
    pause_seconds=pauses,
    steps=st.integers(1, 6),
    is_lost=st.integers(0, 7).map(lambda chance: chance == 7),
)


def overlap(rates: tuple[float, float], schedule: list[Steps]) -> bool:
    """Whether two candidates act at the same time."""
    server = Server()
    true_seconds = [0.0]
    candidates = {
        name: candidate(name, Machine(offset, rate), server, lambda: true_seconds[0])
        for name, offset, rate in (("a", 1e6, rates[0]), ("b", -5e7, rates[1]))
    }
    for each in candidates.values():
        next(each)
    for turn in schedule:
        true_seconds[0] += turn.pause_seconds
        for step in range(turn.steps):
            candidates[turn.name].send(turn.is_lost and step == 0)
    return any(
        one[0] != other[0] and max(one[1], other[1]) < min(one[2], other[2]) - 1e-6
        for one in server.acted
        for other in server.acted
    )


@given(
    ratio=st.sampled_from([1 / 1.5, 1.0, 1.5]) | st.floats(1 / 1.5, 1.5),
    schedule=st.lists(turns, min_size=10, max_size=60),
)
def test_two_candidates_never_act_at_once_however_they_are_paused(
    ratio: float, schedule: list[Steps]
) -> None:
    assert not overlap((1.0, ratio), schedule)


def test_with_a_clock_that_is_too_fast_two_candidates_do_act_at_once() -> None:
    # Shows that the test above can fail: both read the lease, a leads, and b has a fast clock.
    lead, read_lease = Steps("a", 0.0, 5), Steps("b", 0.0, 3)
    take = Steps("b", 9.9, 8)

    assert overlap((1.0, 2.0), [lead, read_lease, take])
    assert not overlap((1.0, 1.5), [lead, read_lease, take])
