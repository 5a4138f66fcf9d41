"""``python -m bench``: what steersman costs, with the same work done by others beside it.

Prints tables and verdicts, and keeps them; the exit status is 1 if one of our limits is missed or
could not be found, or if a measure breaks off. A run that is too small to be judged is kept only
in the given directory, and never in place of a complete result.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.harness.effort import PROMISED_ROUNDS, Effort
from bench.harness.report import show_progress
from bench.harness.running import ResultStore, run
from bench.measures import MEASURES, measure

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"


def main(arguments: Sequence[str]) -> int:
    """Measure, show and keep; 0, or 1 if a limit is not kept or a measure breaks off."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure steersman beside controller-runtime and the Python peers.",
        epilog=f"Measures: {', '.join(MEASURES)}; all of them, if none is named.",
    )
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help="what to measure")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="just enough to see that it works; kept only where --results says",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help=f"instead of {PROMISED_ROUNDS}; with fewer, nothing is judged, and it is kept only"
        " where --results says",
    )
    parser.add_argument("--results", type=Path, metavar="DIR", help="keep results there")
    parser.add_argument(
        "--redraw", action="store_true", help="measure nothing, and draw again what was kept"
    )
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.measures if name not in MEASURES]:
        parser.error(f"no such measure: {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    if options.rounds is not None and options.rounds < 1:
        parser.error("there must be at least one round")
    names = [name for name in MEASURES if name in options.measures or not options.measures]
    if options.redraw:
        _store(options.results or RESULTS).redraw(names)
        return 0
    effort = Effort(
        is_full=not options.quick,
        rounds=options.rounds or (1 if options.quick else PROMISED_ROUNDS),
        progress=show_progress,
    )
    if options.results and options.results.resolve() == RESULTS and not effort.is_judged:
        parser.error("only a run that is judged is kept there: name another directory")
    directory = place_for(options.results, effort)
    if directory is None:
        print("Nothing of this run is judged, and nothing is kept: --results DIR would keep it.")
    store = None if directory is None else _store(directory)
    is_well = run(names, load=measure, effort=effort, store=store)
    return 0 if is_well else 1


def place_for(asked: Path | None, effort: Effort) -> Path | None:
    """Where a run is kept: where it is asked to, or with all that was judged, or nowhere."""
    return asked or (RESULTS if effort.is_judged else None)


def _store(directory: Path) -> ResultStore:
    # Results elsewhere have no summary.
    summary_in = HERE / "README.md" if directory.resolve() == RESULTS else None
    return ResultStore(
        directory.resolve(), load=measure, order=list(MEASURES), summary_in=summary_in
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
