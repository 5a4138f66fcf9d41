"""``python -m tests.mutation.runtime``: see the docstring of the package."""

import argparse
import ast
import importlib
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

import pytest

from tests.mutation.runtime.code_mutants import Mutant, mutants
from tests.mutation.runtime.coverage_map import CoverageMap, covered_lines
from tests.mutation.runtime.mutant_session import Candidate, MutantSession, Result

ROOT: Final = Path(__file__).parents[3]
SOURCE: Final = ROOT / "packages/steersman/src"
PACKAGES: Final = ("wire", "client", "watch", "cache", "workqueue", "controller", "manager")
DATA: Final = ROOT / ".coverage-map"
PLUGIN: Final = "tests.mutation.runtime.coverage_plugin"
# Each runs in this process, where the mutants are.
TESTS: Final = ("tests/unit", "tests/cluster", "tests/simulation", "examples")
OPTIONS: Final = ("-q", "-p", "no:cacheprovider", "-m", "not (needs_tools or programs or deep)")


def measure() -> None:
    """Run all tests once, and store which lines each of them runs."""
    shutil.rmtree(DATA, ignore_errors=True)
    command = [sys.executable, "-m", "pytest", *OPTIONS, "-n", "2", "--dist", "loadfile"]
    subprocess.run([*command, "-p", PLUGIN, *TESTS], check=False)


def files() -> list[Path]:
    """The modules of the packages."""
    return sorted(file for each in PACKAGES for file in (SOURCE / "steersman" / each).rglob("*.py"))


def random_mutants(seed: int) -> Iterator[tuple[Path, Mutant]]:
    """The mutants in an order that depends on ``seed``: each line is equally probable."""
    rng = Random(seed)
    errors = frozenset(_error_classes())
    lines: dict[tuple[Path, int], list[Mutant]] = defaultdict(list)
    for file in files():
        for mutant in mutants(file.read_text(encoding="utf-8"), errors):
            lines[file, mutant.line].append(mutant)
    for (file, _), choices in rng.sample(list(lines.items()), len(lines)):
        yield file, rng.choice(choices)


def _error_classes() -> Iterator[str]:
    for file in (SOURCE / "steersman/errors").rglob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield node.name


def candidates(seed: int, only: Sequence[str]) -> Iterator[Candidate]:
    """The mutants with the tests that cover them."""
    coverage = CoverageMap(covered_lines(DATA, files()))
    for file, mutant in random_mutants(seed):
        relative = file.relative_to(SOURCE / "steersman")
        name = f"{relative}:{mutant}"
        if not only or any(each in name for each in only):
            yield Candidate(
                name=name,
                module=compile(mutant.module, str(file), "exec", dont_inherit=True),
                mutant=mutant.compiled(str(file)),
                tests=coverage.tests(
                    file, mutant.lines, nearest=(f"tests/unit/{relative.parts[0]}/",)
                ),
            )


def import_all() -> None:
    """Import each module: one that a test imports later would have no mutant."""
    for file in files():
        module = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
        importlib.import_module(module.removesuffix(".__init__"))


def main() -> int:
    """Run the mutants; the exit status is 1 if more survive than are permitted."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.runtime")
    parser.add_argument("--sample", type=int, default=200, metavar="N", help="run N mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measure", action="store_true", help="measure again which tests run what")
    parser.add_argument("--list", action="store_true", help="print the mutants, and run none")
    parser.add_argument("--min-killed", type=float, default=90.0, metavar="PERCENT")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="CPU time for one mutant")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="PATH")
    parser.add_argument("only", nargs="*", metavar="PART", help="mutants with this text")
    options = parser.parse_args()
    os.chdir(ROOT)
    if options.measure or not DATA.exists():
        measure()
    chosen = candidates(options.seed, options.only)
    if options.list:
        for each in islice(chosen, options.sample):
            sys.stdout.write(f"{each.name} ({len(each.tests)} tests)\n")
        return 0
    import_all()
    outcomes: list[Result] = []

    def report(candidate: Candidate, result: Result) -> None:
        outcomes.append(result)
        number = f"{len(outcomes)}: {result.how}"
        by = result.killed_by or f"{result.ran} of {len(candidate.tests)} tests"
        sys.stdout.write(f"{number}: {candidate.name}\n    {by}\n")
        sys.stdout.flush()

    session = MutantSession(
        chosen,
        number=options.sample,
        workers=options.workers,
        seconds=options.seconds,
        report=report,
    )
    # `-s`: two forks would share the file in which pytest captures output.
    status = pytest.main([*OPTIONS, "-s", "-p", "no:xdist", *options.tests], plugins=[session])
    survivors = [each for each in outcomes if each.killed_by is None]
    killed = 100 * (1 - len(survivors) / max(1, len(outcomes)))
    sys.stdout.write(f"{len(outcomes)} mutants, {len(survivors)} survive, {killed:.1f} % killed\n")
    return 0 if status == pytest.ExitCode.OK and killed >= options.min_killed else 1


if __name__ == "__main__":
    sys.exit(main())
