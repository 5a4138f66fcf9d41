"""Run pytest, then run the failed tests once more, alone, and record those that pass as flaky.

``python -m tools.rerun FILE ARGUMENT…`` passes the arguments to pytest. Tests that fail run a
second time in one process, with no other test beside them. Those that pass then are appended to
FILE, one node ID a line. The exit status is that of the last run.

It is a plugin of pytest as well, which records the failures. ``--last-failed`` alone forgets a test
that ended its worker: pytest-xdist runs that one again in the next worker, and it may pass there.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

# Failures in pytest's cache: those that this plugin recorded, and those that --last-failed runs.
RECORDED = "rerun/failed"
LAST_FAILED = "cache/lastfailed"

# pytest's own: some tests failed. Any other status is not about single tests.
TESTS_FAILED = 1

# More failures than this have one cause, which a second run only confirms, slowly.
MAX_RERUN = 30


class Failures:
    """A plugin that records in pytest's cache each test that failed, however it ended later."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called in the process that reports, for the tests of all workers."""
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Called once all tests have run."""
        if self._config.cache is not None:
            self._config.cache.set(RECORDED, sorted(self._failed))


def pytest_configure(config: pytest.Config) -> None:
    """Called by pytest in its own process and in each worker; workers report nothing."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(config))


def run_pytest(arguments: Sequence[str], *, cache: Path) -> int:
    """Run pytest, which records the failed tests in ``cache``; returns its exit status."""
    own = ("-p", "tools.rerun", "-o", f"cache_dir={cache}")
    command = [sys.executable, "-m", "pytest", *arguments, *own]
    return subprocess.run(command, check=False).returncode


def failed_tests(cache: Path) -> list[str]:
    """The node IDs of the tests that failed in the last run with this cache."""
    records = [cache / "v" / each for each in (RECORDED, LAST_FAILED)]
    return sorted(
        {test for each in records if each.exists() for test in json.loads(each.read_text("utf-8"))}
    )


def select(tests: Sequence[str], cache: Path) -> None:
    """Have ``--last-failed`` run these tests."""
    record = cache / "v" / LAST_FAILED
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(dict.fromkeys(tests, True)), "utf-8")


def run(arguments: Sequence[str], *, flaky: Path, cache: Path) -> int:
    """Run the tests; ``flaky`` gets those that failed and then passed alone. Returns the exit
    status.
    """
    status = run_pytest(arguments, cache=cache)
    if status != TESTS_FAILED:
        return status
    first = failed_tests(cache)
    if not 0 < len(first) <= MAX_RERUN:
        return status
    sys.stdout.write(f"\nRunning {len(first)} failed tests once more, alone:\n")
    sys.stdout.flush()
    select(first, cache)
    status = run_pytest([*arguments, "--last-failed", "--numprocesses=0"], cache=cache)
    still = set(failed_tests(cache))
    with flaky.open("a", encoding="utf-8") as record:
        record.writelines(f"{test}\n" for test in first if test not in still)
    return status


def main(arguments: Sequence[str]) -> int:
    """Run ``python -m tools.rerun``; returns its exit status."""
    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m tools.rerun FILE [PYTEST-ARGUMENT]…\n")
        return 2
    flaky, *rest = arguments
    with tempfile.TemporaryDirectory() as cache:
        return run(rest, flaky=Path(flaky), cache=Path(cache))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
