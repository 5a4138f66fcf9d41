"""Compare sessions on two servers: ``python -m tests.real.kubectl_sessions``."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic  # noqa: TID251 - for the printed duration

from tests.real.kubectl_sessions.comparison import differences
from tests.real.kubectl_sessions.pairs import (
    CLUSTERS,
    WORKLOADS,
    Pair,
    embedded,
    real,
    running_pair,
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
    other = real if options.real_twice else embedded
    selected = "workloads" if options.workloads else "controllers"
    differing = 0
    for kind in ("servers", "controllers", "workloads", "clusters"):
        needed = {"workloads": "controllers"}.get(kind, kind)
        sessions = [each for each in wanted if _needs(each) == needed]
        if not sessions or (needed == "controllers" and kind != selected):
            continue
        sides = {"workloads": WORKLOADS, "clusters": CLUSTERS}.get(kind, (real, other))
        with (
            tempfile.TemporaryDirectory(prefix="steersman-sessions-") as directory,
            running_pair(
                *sides,
                directory=Path(directory),
                controllers=kind == "controllers",
                hashes_differ=kind in ("workloads", "clusters"),
            ) as pair,
        ):
            differing += sum(_compare(each, pair, options.transcripts) for each in sessions)
    sys.exit(1 if differing else 0)


def _needs(session: Session) -> str:
    if session.needs_nodes:
        return "clusters"
    return "controllers" if session.needs_controllers else "servers"


def _compare(session: Session, pair: Pair, transcripts: Path | None) -> int:
    started_at = monotonic()
    first, second = pair.run(session)
    if transcripts is not None:
        transcripts.mkdir(parents=True, exist_ok=True)
        for side, outcomes in (("first", first), ("second", second)):
            (transcripts / f"{session.name}.{side}").write_text(_transcript(outcomes))
    found = differences(session, first, second)
    for each in found:
        sys.stdout.write(f"{each}\n\n")
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
