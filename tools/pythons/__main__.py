"""``python -m tools.pythons``: run the tests on each supported Python.

The versions are those of the classifiers in pyproject.toml; arguments select some of them. The
exit status is 0 if all tests passed on each Python that was found, and at least one was found.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import rmtree

from steersman.clock import SystemClock
from tools.pythons import debian
from tools.pythons.interpreters import Interpreter, NotPython, about, find
from tools.pythons.results import Run, counts_in, table, updated

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "docs" / "versions" / "pythons.json"
ENVIRONMENTS = Path(".venv-pythons")
TESTS = ("tests/unit", "tests/cluster", "examples/appservice")

_CLASSIFIER = "Programming Language :: Python :: "


def supported(pyproject: Path) -> list[str]:
    """The minor versions in the classifiers of a project."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return [
        each.removeprefix(_CLASSIFIER)
        for each in project["classifiers"]
        if each.startswith(_CLASSIFIER)
    ]


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
    clock = SystemClock()
    environment = ENVIRONMENTS / interpreter.minor
    python = environment / "bin" / "python"
    if not _is_of(ROOT / python, interpreter):
        rmtree(ROOT / environment, ignore_errors=True)
    made = _run("make", "-s", str(environment / ".ready"), f"INTERPRETER={interpreter.program}")
    counts = None
    status = made
    started, used = clock.monotonic(), _cpu_seconds()
    if made == 0:
        with tempfile.TemporaryDirectory(prefix="steersman-pythons-") as directory:
            report = Path(directory) / "report.xml"
            spread = ("-n", str(workers), "--dist", "loadfile")
            selected = ("-m", "not needs_tools and not deep", *TESTS)
            files = ("-o", f"cache_dir={directory}/cache", "--junit-xml", str(report))
            status = _run(str(python), "-m", "pytest", "-q", *spread, *files, *selected)
            if report.exists():
                counts = counts_in(report.read_text(encoding="utf-8"))
    return Run(
        interpreter=interpreter,
        counts=counts,
        status=status,
        cpu_seconds=_cpu_seconds() - used,
        seconds=clock.monotonic() - started,
    )


def _is_of(python: Path, interpreter: Interpreter) -> bool:
    """Whether a virtual environment exists, and has the version of the interpreter."""
    try:
        return about(str(python)).version == interpreter.version
    except NotPython:
        return False


def _run(*command: str) -> int:
    """Run a command in the root of the repository; returns its exit status."""
    # The packages under test are those in the virtual environment.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode


def _cpu_seconds() -> float:
    """The CPU time of all processes that were started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def write_record(runs: Iterable[Run]) -> None:
    """Write the results of these runs to the repository."""
    dated = ("git", "log", "-1", "--format=%cs")
    finished = subprocess.run(dated, cwd=ROOT, check=True, capture_output=True, text=True)
    recorded = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    text = updated(recorded, runs, committed=finished.stdout.strip())
    RECORD.write_text(text, encoding="utf-8")


def main() -> int:
    """Run ``python -m tools.pythons``; returns its exit status."""
    minors = supported(ROOT / "packages" / "steersman" / "pyproject.toml")
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
    write_record(runs)
    sys.stdout.write(f"\n{table(runs, missing)}")
    return 0 if runs and all(run.status == 0 for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
