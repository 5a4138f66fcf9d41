"""Compare sessions on two servers: ``python -m tests.real.kubectl_sessions``."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic  # noqa: TID251 - for the printed duration

from tests.real.kubectl_sessions.comparison import differences
from tests.real.kubectl_sessions.pairs import (
    CLUSTERS,
    CONTROLLERS,
    SERVERS,
    WORKLOADS,
    Pair,
    running_pair,
    runs_in,
)
from tests.real.kubectl_sessions.runner import Outcome
from tests.real.kubectl_sessions.scripts import Session, all_sessions, commands


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="tests.real.kubectl_sessions")
    parser.add_argument("names", nargs="*", help="names of sessions; default: all")
    parser.add_argument("--real-twice", action="store_true", help="compare two real servers")
    parser.add_argument(
        "--workloads",
        action="store_true",
        help="use steersman's controllers",
    )
    parser.add_argument("--transcripts", type=Path, help="directory for the transcripts")
    options = parser.parse_args()
    wanted = [each for each in all_sessions() if not options.names or each.name in options.names]
    differing = 0
    for comparison in (SERVERS, WORKLOADS if options.workloads else CONTROLLERS, CLUSTERS):
        sessions = [each for each in wanted if runs_in(each, comparison)]
        if not sessions:
            continue
        chosen = comparison
        if options.real_twice and comparison in (SERVERS, CONTROLLERS):
            # A second real cluster, in place of the embedded one.
            chosen = replace(comparison, embedded=comparison.real)
        with (
            tempfile.TemporaryDirectory(prefix="steersman-sessions-") as directory,
            running_pair(chosen, directory=Path(directory)) as pair,
        ):
            differing += sum(_compare(each, pair, options.transcripts) for each in sessions)
    sys.exit(1 if differing else 0)


def _compare(session: Session, pair: Pair, transcripts: Path | None) -> int:
    started_at = monotonic()
    outcomes = dict(zip(("real", "embedded"), pair.run(session), strict=True))
    if transcripts is not None:
        transcripts.mkdir(parents=True, exist_ok=True)
        for side, each in outcomes.items():
            (transcripts / f"{session.name}.{side}").write_text(_transcript(each))
    found = differences(session, outcomes["real"], outcomes["embedded"])
    for difference in found:
        sys.stdout.write(f"{difference}\n\n")
    took = monotonic() - started_at
    steps = commands(session)
    sys.stdout.write(f"{session.name}: {steps} steps, {len(found)} differ, {took:.1f} s\n")
    sys.stdout.flush()
    return len(found)


def _transcript(outcomes: Sequence[Outcome]) -> str:
    return "".join(
        f"{each.line} $ {' '.join(each.arguments)}\n{each.stdout}{each.stderr}[{each.status}]\n\n"
        for each in outcomes
    )


if __name__ == "__main__":
    main()
