"""``python -m tests.real.failover``: many rounds, gaps between writes, and wrong writes.

The exit status is 1 if a write of an old leader was accepted after the new one's first.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from typing import TextIO

from tests.real.failover.audit_log import Verdict, judged
from tests.real.failover.rounds import QUICK, Rhythm, Stage, ready, staged


async def played(stage: Stage, *, rounds: int, rng: Random) -> list[Verdict]:
    """The verdicts of so many rounds."""
    done = []
    async with ready(stage) as client:
        for number in range(rounds):
            done.append(await stage.play(client, rng=rng))
            _print(f"round {number + 1} of {rounds}: {done[-1].old} was stopped", to=sys.stderr)
    writes = stage.accepted()
    return [judged(each, writes) for each in done]


def main() -> int:
    """Play, and say how it went."""
    parser = argparse.ArgumentParser(prog="python -m tests.real.failover", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lease-seconds", type=int, default=QUICK.lease_seconds)
    parser.add_argument("--renew-seconds", type=float, default=QUICK.renew_seconds)
    parser.add_argument("--retry-seconds", type=float, default=QUICK.retry_seconds)
    given = parser.parse_args()
    rhythm = Rhythm(
        lease_seconds=given.lease_seconds,
        renew_seconds=given.renew_seconds,
        retry_seconds=given.retry_seconds,
    )
    with (
        tempfile.TemporaryDirectory() as directory,
        staged(Path(directory), rhythm=rhythm) as stage,
    ):
        rng = Random(given.seed)
        verdicts = asyncio.run(played(stage, rounds=given.rounds, rng=rng))
        held_back = stage.times_said("another replica may lead")
    waits = sorted(each.failover_seconds for each in verdicts)
    late = [write for each in verdicts for write in each.late]
    _print(f"rounds                     {len(verdicts)}, with a lease of {rhythm.lease_seconds} s")
    _print(f"writes of new leaders      {sum(each.writes for each in verdicts)}")
    _print(f"writes held back           {held_back}")
    _print(f"late writes accepted       {len(late)}")
    _print(f"failover, seconds          p50 {median(waits):.2f}, longest {waits[-1]:.2f}")
    for write in late:
        _print(f"  {write}")
    return 1 if late else 0


def _print(line: str, *, to: TextIO = sys.stdout) -> None:
    print(line, flush=True, file=to)


if __name__ == "__main__":
    sys.exit(main())
