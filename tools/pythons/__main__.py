"""``python -m tools.pythons``: run the tests on each supported Python.

The versions are those of the classifiers in pyproject.toml; arguments select some of them. The
exit status is 0 if all tests passed on each Python that was found, and at least one was found.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree

from tools.pythons import debian
from tools.pythons.interpreters import Interpreter, NotPython, about, find
from tools.results import ROOT, Run, run_command, run_pytest, table, write_record
from tools.versions import supported_pythons

RECORD = ROOT / "docs" / "versions" / "pythons.json"
ENVIRONMENTS = Path(".venv-pythons")
TESTS = ("tests/unit", "tests/cluster", "examples/appservice")


def find_or_provide(minors: Sequence[str]) -> tuple[list[Interpreter], dict[str, str]]:
    """The interpreters of these versions, and the reason of each one that is missing."""
    found = find(minors, environ=os.environ)
    reason = ""
    if any(minor not in found for minor in debian.MINORS if minor in minors):
        try:
            debian.provide(os.environ)
        except debian.DebianFailure as failure:
            reason = f"; {failure}"
        found = find(minors, environ=os.environ)
    missing = {
        minor: f"not on the PATH and not in pyenv{reason if minor in debian.MINORS else ''}"
        for minor in minors
        if minor not in found
    }
    return [found[minor] for minor in minors if minor in found], missing


def run_tests(interpreter: Interpreter, *, workers: int) -> Run:
    """Run the tests in a virtual environment of one Python, which is kept for the next run."""
    environment = ENVIRONMENTS / interpreter.minor
    python = environment / "bin" / "python"
    if not _is_of(ROOT / python, interpreter):
        rmtree(ROOT / environment, ignore_errors=True)
    used = f"INTERPRETER={interpreter.program}"
    status = run_command("make", "-s", str(environment / ".ready"), used)
    if status != 0:
        return Run(version=interpreter.version, counts=None, status=status)
    return run_pytest(
        *("-m", "not needs_tools and not deep"),
        *TESTS,
        version=interpreter.version,
        python=str(python),
        workers=workers,
        environ=os.environ,
        facts={"implementation": interpreter.implementation},
    )


def _is_of(python: Path, interpreter: Interpreter) -> bool:
    """Whether a virtual environment exists, and has the version of the interpreter."""
    try:
        return about(str(python)).version == interpreter.version
    except NotPython:
        return False


def main() -> int:
    """Run ``python -m tools.pythons``; returns its exit status."""
    minors = supported_pythons()
    parser = argparse.ArgumentParser(prog="python -m tools.pythons")
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"of {', '.join(minors)}")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests")
    arguments = parser.parse_args()
    unknown = [each for each in arguments.versions if each not in minors]
    if unknown:
        parser.error(f"{unknown[0]} is not supported; the classifiers list {', '.join(minors)}")
    found, missing = find_or_provide(arguments.versions or minors)
    runs: list[Run] = []
    for interpreter in found:
        sys.stderr.write(f"\nPython {interpreter.version}: {interpreter.program}\n")
        runs.append(run_tests(interpreter, workers=arguments.workers))
        # Now, so that an interrupted command keeps the finished runs.
        write_record(RECORD, runs[-1:])
    sys.stdout.write(f"\n{table('Python', runs, missing)}")
    return 0 if runs and all(run.status == 0 for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
