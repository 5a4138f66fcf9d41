"""Failed tests run once more, alone; a test that then passes is recorded as flaky."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.rerun import MAX_RERUN

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[3]

# The first run creates a file, with which the second passes.
FLAKY = """
from pathlib import Path

def test_flaky():
    seen = Path(__file__).with_name("seen")
    before = seen.exists()
    seen.touch()
    assert before
"""
# The same, but the first run ends the process.
CRASHES = """
import os
from pathlib import Path

def test_crashes():
    seen = Path(__file__).with_name("crashed")
    if not seen.exists():
        seen.touch()
        os._exit(1)
"""
PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert False\n"


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run."""

    status: int
    output: str
    flaky: list[str]


def rerun(directory: Path, *tests: str, workers: int = 0, restarts: int = 1) -> RunResult:
    (directory / "suite").mkdir()
    (directory / "suite" / "test_suite.py").write_text("\n".join(tests), "utf-8")
    (directory / "suite" / "pytest.ini").write_text("[pytest]\n", "utf-8")
    flaky = directory / "flaky"
    flaky.write_text("", "utf-8")
    options = ("-q", f"-n{workers}", f"--max-worker-restart={restarts}", "--dist=loadfile")
    command = [sys.executable, "-m", "tools.rerun", str(flaky), *options]
    ended = subprocess.run(
        [*command, str(directory / "suite")],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    return RunResult(
        ended.returncode, ended.stdout + ended.stderr, flaky.read_text("utf-8").splitlines()
    )


def test_a_test_that_fails_and_then_passes_alone_is_recorded_and_the_run_passes(
    tmp_path: Path,
) -> None:
    ran = rerun(tmp_path, FLAKY, PASSES, workers=1)

    assert ran.status == 0, ran.output
    assert ran.flaky == ["test_suite.py::test_flaky"]
    assert "1 failed, 1 passed" in ran.output
    # Only the failed test, and without the workers of the first run.
    _first, second = ran.output.split("once more, alone")
    assert "1 passed in " in second or "1 passed, 1 deselected" in second
    assert "bringing up nodes" not in second


def test_a_test_that_crashes_its_worker_is_run_again(tmp_path: Path) -> None:
    ran = rerun(tmp_path, CRASHES, PASSES, workers=1)

    assert ran.status == 0, ran.output
    assert ran.flaky == ["test_suite.py::test_crashes"]


def test_a_test_that_always_crashes_its_worker_fails_the_run(tmp_path: Path) -> None:
    ran = rerun(tmp_path, "import os\ndef test_crashes(): os._exit(1)\n", workers=1, restarts=0)

    assert ran.status != 0
    assert ran.flaky == []


def test_a_test_that_fails_twice_fails_the_run_and_is_not_recorded(tmp_path: Path) -> None:
    ran = rerun(tmp_path, FLAKY, FAILS)

    assert ran.status == 1, ran.output
    assert ran.flaky == ["test_suite.py::test_flaky"]
    assert ran.output.count("::test_fails") == 2


def test_a_run_without_failures_is_not_repeated(tmp_path: Path) -> None:
    ran = rerun(tmp_path, PASSES)

    assert ran.status == 0
    assert ran.flaky == []
    assert "once more" not in ran.output


def test_a_suite_that_cannot_be_collected_fails(tmp_path: Path) -> None:
    ran = rerun(tmp_path, "import no_such_module")

    assert ran.status != 0
    assert ran.flaky == []


def test_a_suite_with_very_many_failures_is_not_run_again(tmp_path: Path) -> None:
    many = MAX_RERUN + 1
    parametrized = f"import pytest\n@pytest.mark.parametrize('n', range({many}))\n"

    ran = rerun(tmp_path, parametrized + "def test_fails(n): assert False\n")

    assert ran.status == 1
    assert f"{many} failed" in ran.output
    assert "once more" not in ran.output


def test_a_missing_file_name_is_a_usage_error() -> None:
    command = [sys.executable, "-m", "tools.rerun", "-q"]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)

    assert ended.returncode == 2
    assert ended.stderr.startswith("usage: ")
