"""``python -m tests.real.failover``: pause the leader repeatedly, and report late writes.

The exit status is 1 if kube-apiserver accepted a write of the old leader after the new leader's
first.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from typing import TextIO

from tests.real.failover.audit_log import FailoverResult, failover_result
from tests.real.failover.rounds import (
    SHORT_LEASE,
    LeaseTimings,
    ReplicaPair,
    replica_pair,
    running_replicas,
)


async def run_rounds(pair: ReplicaPair, *, rounds: int, rng: Random) -> list[FailoverResult]:
    """The results of this number of rounds."""
    done = []
    async with running_replicas(pair) as client:
        for number in range(rounds):
            done.append(await pair.fail_over(client, rng=rng))
            _print(f"round {number + 1} of {rounds}: {done[-1].old} was paused", to=sys.stderr)
    writes = pair.accepted_writes()
    return [failover_result(each, writes) for each in done]


def main() -> int:
    """Run the rounds, and print the results."""
    parser = argparse.ArgumentParser(prog="python -m tests.real.failover", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lease-seconds", type=int, default=SHORT_LEASE.lease_seconds)
    parser.add_argument("--renew-seconds", type=float, default=SHORT_LEASE.renew_seconds)
    parser.add_argument("--retry-seconds", type=float, default=SHORT_LEASE.retry_seconds)
    given = parser.parse_args()
    timings = LeaseTimings(
        lease_seconds=given.lease_seconds,
        renew_seconds=given.renew_seconds,
        retry_seconds=given.retry_seconds,
    )
    with (
        tempfile.TemporaryDirectory() as directory,
        replica_pair(Path(directory), timings=timings) as pair,
    ):
        rng = Random(given.seed)
        results = asyncio.run(run_rounds(pair, rounds=given.rounds, rng=rng))
        blocked = pair.count_in_logs("another replica may lead")
    waits = sorted(each.failover_seconds for each in results)
    late = [write for each in results for write in each.late]
    _print(f"rounds                     {len(results)}, with a lease of {timings.lease_seconds} s")
    _print(f"writes of new leaders      {sum(each.writes for each in results)}")
    _print(f"writes blocked             {blocked}")
    _print(f"late writes accepted       {len(late)}")
    _print(f"failover, seconds          p50 {median(waits):.2f}, longest {waits[-1]:.2f}")
    for write in late:
        _print(f"  {write}")
    return 1 if late else 0


def _print(line: str, *, to: TextIO = sys.stdout) -> None:
    print(line, flush=True, file=to)


if __name__ == "__main__":
    sys.exit(main())
