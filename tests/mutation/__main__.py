"""``python -m tests.mutation``: see the docstring of the package."""

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

import pytest

from tests.mutation.instrumented_modules import InstrumentedModules
from tests.mutation.mutant_runner import MutantRunner, Verdict

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "packages/steersman-cluster/src"
BUILTIN: Final = SOURCE / "steersman_cluster/apiserver/builtin"
# The definition of the rows, and tables of names.
SKIPPED: Final = ("rule.py", "table.py", "go_forms.py")
# Those of ``make test`` that reach rules.
TESTS: Final = ("tests/unit/apiserver", "tests/recorded")
# They are about schemas, and take long to collect.
IGNORED: Final = ("test_discovery_documents.py", "test_structural_schemas.py")


def main() -> int:
    """Run the mutants; the exit status is 1 if more survive than are permitted."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--sample", type=int, metavar="N", help="run N random mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print the mutants, and run none")
    parser.add_argument("--min-killed", type=float, default=97.0, metavar="PERCENT")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("only", nargs="*", metavar="PART", help="modules whose path has this part")
    options = parser.parse_args()
    paths = [each for each in sorted(BUILTIN.rglob("*.py")) if each.name not in SKIPPED]
    modules = InstrumentedModules(SOURCE, paths)
    names = [f"{path.relative_to(BUILTIN)}:{mutant}" for path, mutant in modules.mutants]
    chosen = [
        number
        for number, (path, _) in enumerate(modules.mutants)
        if not options.only or any(each in str(path.relative_to(BUILTIN)) for each in options.only)
    ]
    if options.sample is not None:
        chosen = Random(options.seed).sample(chosen, min(options.sample, len(chosen)))
    if options.list:
        sys.stdout.writelines(f"{names[number]}\n" for number in chosen)
        return 0
    # pytest replaces the standard output while the tests run.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    verdicts: Counter[Verdict] = Counter()

    def report(number: int, verdict: Verdict) -> None:
        verdicts[verdict] += 1
        output.write(f"{verdict}: {names[number]}\n")

    modules.install()
    os.chdir(ROOT)
    ignored = [f"--ignore-glob=*/{each}" for each in IGNORED]
    marks = ["-m", "not needs_tools and not deep"]
    plugins = ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist"]
    runner = MutantRunner(chosen, report, workers=options.workers)
    status = pytest.main([*plugins, *marks, *ignored, *TESTS], plugins=[runner])
    if status != pytest.ExitCode.OK:
        sys.stderr.write(f"{runner.problem}\n")
        return 2
    killed = 100 * (1 - sum(verdicts[each] for each in Verdict if each.is_alive) / len(chosen))
    shown = ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
    output.write(f"{len(chosen)} mutants: {shown}; {killed:.1f} % killed\n")
    return 0 if killed >= options.min_killed else 1


if __name__ == "__main__":
    sys.exit(main())
