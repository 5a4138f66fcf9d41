"""Run pytest, then run the failed tests once more, alone, and record those that pass as flaky.

``python -m tools.rerun FILE ARGUMENT…`` passes the arguments to pytest. Tests that fail run a
second time in one process, with no other test beside them. Those that pass then are appended to
FILE, one node ID a line. The exit status is that of the last run.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

# pytest's own: some tests failed. Any other status is not about single tests.
TESTS_FAILED = 1

# More failures than this have one cause, which a second run only confirms, slowly.
MOST_RERUN = 30


def run_pytest(arguments: Sequence[str], *, cache: Path) -> int:
    """The exit status of pytest, which records in ``cache`` which tests failed."""
    command = [sys.executable, "-m", "pytest", *arguments, "-o", f"cache_dir={cache}"]
    return subprocess.run(command, check=False).returncode


def failed_tests(cache: Path) -> list[str]:
    """The node IDs of the tests that failed in the last run with this cache."""
    record = cache / "v" / "cache" / "lastfailed"
    return sorted(json.loads(record.read_text("utf-8"))) if record.exists() else []


def run(arguments: Sequence[str], *, flaky: Path, cache: Path) -> int:
    """The exit status; ``flaky`` gets the tests that failed and then passed alone."""
    status = run_pytest(arguments, cache=cache)
    if status != TESTS_FAILED:
        return status
    first = failed_tests(cache)
    if not 0 < len(first) <= MOST_RERUN:
        return status
    sys.stdout.write(f"\nRunning {len(first)} failed tests once more, alone:\n")
    sys.stdout.flush()
    status = run_pytest([*arguments, "--last-failed", "--numprocesses=0"], cache=cache)
    still = set(failed_tests(cache))
    with flaky.open("a", encoding="utf-8") as record:
        record.writelines(f"{test}\n" for test in first if test not in still)
    return status


def main(arguments: Sequence[str]) -> int:
    """The exit status of ``python -m tools.rerun``."""
    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m tools.rerun FILE [PYTEST-ARGUMENT]…\n")
        return 2
    flaky, *rest = arguments
    with tempfile.TemporaryDirectory() as cache:
        return run(rest, flaky=Path(flaky), cache=Path(cache))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
