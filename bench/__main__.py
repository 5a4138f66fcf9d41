"""``python -m bench``: measure steersman, and other libraries with the same work.

The program prints tables and verdicts, and stores the results. The exit status is 1 if a limit is
exceeded or cannot be checked, or if a measure fails. A run that is too small for the limits is
stored only in ``--results``, and never replaces a complete result.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.harness.report import show_progress
from bench.harness.run_options import LIMIT_ROUNDS, RunOptions
from bench.harness.runner import ResultStore, run
from bench.measures import MEASURES, measure

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"


def main(arguments: Sequence[str]) -> int:
    """Run the measures; return 0, or 1 if a limit is exceeded or a measure fails."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure the same work with steersman and with other libraries.",
        epilog=f"Measures: {', '.join(MEASURES)}. The default is all of them.",
    )
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help="measure to run")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small workloads, one round, no limits; stored only in --results",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help=f"number of rounds (default: {LIMIT_ROUNDS}); with fewer, no limit is enforced, and"
        " the results are stored only in --results",
    )
    parser.add_argument("--results", type=Path, metavar="DIR", help="directory for the results")
    parser.add_argument(
        "--redraw", action="store_true", help="draw charts and pages from the stored results"
    )
    parsed = parser.parse_args(arguments)
    if unknown := [name for name in parsed.measures if name not in MEASURES]:
        parser.error(f"unknown measure: {', '.join(unknown)}; known: {', '.join(MEASURES)}")
    if parsed.rounds is not None and parsed.rounds < 1:
        parser.error("--rounds must be at least 1")
    names = [name for name in MEASURES if name in parsed.measures or not parsed.measures]
    if parsed.redraw:
        _store(parsed.results or RESULTS).redraw(names)
        return 0
    options = RunOptions(
        is_full=not parsed.quick,
        rounds=parsed.rounds or (1 if parsed.quick else LIMIT_ROUNDS),
        progress=show_progress,
    )
    if parsed.results and parsed.results.resolve() == RESULTS and not options.is_enforced:
        parser.error("this directory is for complete runs: use another directory")
    directory = results_directory(parsed.results, options)
    if directory is None:
        print("This run is too small for the limits. To store it, use --results DIR.")
    store = None if directory is None else _store(directory)
    is_well = run(names, load=measure, options=options, store=store)
    return 0 if is_well else 1


def results_directory(given: Path | None, options: RunOptions) -> Path | None:
    """The given directory, the one of complete results, or ``None`` for a run that is too small."""
    return given or (RESULTS if options.is_enforced else None)


def _store(directory: Path) -> ResultStore:
    # Only the directory of complete results has a summary.
    summary_in = HERE / "README.md" if directory.resolve() == RESULTS else None
    return ResultStore(
        directory.resolve(), load=measure, order=list(MEASURES), summary_in=summary_in
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
