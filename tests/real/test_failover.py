"""A leader that is paused for longer than its lease writes nothing after the new leader's write.

The test reads the audit log of kube-apiserver. `python -m tests.real.failover` runs fifty rounds.
The fence cannot block a write if the process was paused in the microseconds between its check of
the clock and the system call: at this rate, once in thousands of rounds.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from tests.real.failover.audit_log import AuditedWrite, Round, failover_result
from tests.real.failover.rounds import LeaseTimings, replica_pair, running_replicas

ROUNDS = 3

# Long enough that no leader loses its lease on a busy machine.
LEASE_TIMINGS = LeaseTimings(lease_seconds=7, renew_seconds=5.0, retry_seconds=0.3)

# The additional failover time that is allowed for a busy machine.
SLACK_SECONDS = 30.0


async def test_no_write_of_a_paused_leader_follows_the_first_write_of_the_new_one(
    tmp_path: Path,
) -> None:
    with replica_pair(tmp_path, timings=LEASE_TIMINGS) as pair:
        async with running_replicas(pair) as client:
            rng = Random(0)
            rounds = [await pair.fail_over(client, rng=rng) for _ in range(ROUNDS)]
        writes = pair.accepted_writes()

    results = [failover_result(each, writes) for each in rounds]
    assert [each.late for each in results] == [[]] * ROUNDS
    # Each replica has led, and has been paused.
    assert {each.old for each in rounds} == {each.new for each in rounds}
    assert all(
        LEASE_TIMINGS.renew_seconds
        <= each.failover_seconds
        < LEASE_TIMINGS.lease_seconds + SLACK_SECONDS
        for each in results
    )


def test_the_failover_result_contains_a_late_write() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)

    def write(agent: str, received_seconds: float, answered_seconds: float) -> AuditedWrite:
        return AuditedWrite(
            agent=agent,
            description="patch configmaps target-0",
            code=200,
            received_time=began + timedelta(seconds=received_seconds),
            answered_time=began + timedelta(seconds=answered_seconds),
        )

    early, first = write("old", -0.1, 0.1), write("new", 4.0, 4.1)
    slow, late = write("old", 3.9, 4.05), write("old", 5.0, 5.1)
    played = Round(
        old="old",
        new="new",
        stopped_time=began,
        resumed_time=began + timedelta(seconds=5),
        ended_time=began + timedelta(seconds=6),
    )

    result = failover_result(played, [early, slow, first, late])

    assert result.late == [slow, late]
    assert result.failover_seconds == 4
