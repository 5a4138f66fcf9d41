"""A leader that is paused for longer than its lease writes nothing after another has written.

The audit log of the API server is the witness. `python -m tests.real.failover` plays fifty rounds.
What a fence cannot hold back is a write that was stopped in the microseconds between the last look
at the clock and the system call: at this rate, once in thousands of rounds.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from tests.real.failover.audit_log import Round, Written, judged
from tests.real.failover.rounds import Rhythm, ready, staged

ROUNDS = 3

# Slow enough that no leader loses its lease because a busy machine stutters.
RHYTHM = Rhythm(lease_seconds=7, renew_seconds=5.0, retry_seconds=0.3)

# What a busy machine may add before another replica writes.
SLACK_SECONDS = 30.0


@pytest.mark.timeout(180)
async def test_no_write_of_a_stopped_leader_follows_the_first_write_of_the_new_one(
    tmp_path: Path,
) -> None:
    with staged(tmp_path, rhythm=RHYTHM) as stage:
        async with ready(stage) as client:
            rng = Random(0)
            rounds = [await stage.play(client, rng=rng) for _ in range(ROUNDS)]
        writes = stage.accepted()

    verdicts = [judged(each, writes) for each in rounds]
    assert [each.late for each in verdicts] == [[]] * ROUNDS
    # Each replica has led, and been stopped.
    assert {each.old for each in rounds} == {each.new for each in rounds}
    assert all(
        RHYTHM.renew_seconds <= each.failover_seconds < RHYTHM.lease_seconds + SLACK_SECONDS
        for each in verdicts
    )


def test_the_verdict_names_a_late_write() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)

    def write(agent: str, received_seconds: float, answered_seconds: float) -> Written:
        return Written(
            agent=agent,
            what="patch configmaps target-0",
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
        woken_time=began + timedelta(seconds=5),
        ended_time=began + timedelta(seconds=6),
    )

    verdict = judged(played, [early, slow, first, late])

    assert verdict.late == [slow, late]
    assert verdict.failover_seconds == 4
