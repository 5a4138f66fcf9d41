"""``python -m tests.mutation``: see the docstring of the package."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from tests.mutation.mutant_process import is_killed
from tests.mutation.rule_mutants import Mutant, mutants
from tests.mutation.selection import ALL, CaseIndex

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "packages/steersman-cluster/src"
BUILTIN = SOURCE / "steersman_cluster/apiserver/builtin"
FORMATS = SOURCE / "steersman_cluster/apiserver/meta/name_validation.py"
NEAREST = 40
# The definition of the rows, and tables of names.
SKIPPED = ("rule.py", "table.py", "go_forms.py")


def all_mutants(only: Sequence[str]) -> Iterator[tuple[Path, Mutant]]:
    """Each mutant of each module, or of the modules whose path contains one of ``only``."""
    formats = FORMATS.read_text(encoding="utf-8")
    for path in sorted(BUILTIN.rglob("*.py")):
        named = str(path.relative_to(BUILTIN))
        if path.name in SKIPPED or (only and not any(each in named for each in only)):
            continue
        for mutant in mutants(path.read_text(encoding="utf-8"), formats):
            yield path, mutant


def survives(path: Path, mutant: Mutant, index: CaseIndex) -> bool:
    """Whether no test kills the mutant."""
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    nearest = index.nearest(mutant.words, limit=NEAREST)
    stages = [nearest, *ALL] if nearest else ALL
    return not any(is_killed(module, mutant.source, stage) for stage in stages)


def main() -> int:
    """Run the mutants; the exit status is 1 if more survive than are permitted."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--sample", type=int, metavar="N", help="run N random mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print the mutants, and run none")
    parser.add_argument("--min-killed", type=float, default=97.0, metavar="PERCENT")
    parser.add_argument("only", nargs="*", metavar="PART", help="modules whose path has this part")
    options = parser.parse_args()
    chosen = list(all_mutants(options.only))
    if options.sample is not None:
        chosen = Random(options.seed).sample(chosen, min(options.sample, len(chosen)))
    if options.list:
        for path, mutant in chosen:
            sys.stdout.write(f"{path.relative_to(BUILTIN)}:{mutant}\n")
        return 0
    os.chdir(ROOT)
    index = CaseIndex(ROOT)
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda each: survives(each[0], each[1], index), chosen)
        survivors = []
        for number, ((path, mutant), is_alive) in enumerate(zip(chosen, results, strict=True), 1):
            if is_alive:
                survivors.append(mutant)
                sys.stdout.write(f"survives: {path.relative_to(BUILTIN)}:{mutant}\n")
            if number % 50 == 0:
                sys.stderr.write(f"{number} of {len(chosen)}, {len(survivors)} survive\n")
    killed = 100 * (1 - len(survivors) / len(chosen))
    sys.stdout.write(f"{len(chosen)} mutants, {len(survivors)} survive, {killed:.1f} % killed\n")
    return 0 if killed >= options.min_killed else 1


if __name__ == "__main__":
    sys.exit(main())
