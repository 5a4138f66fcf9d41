"""The limit of a test's CPU time, in a process with this plugin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

def work():
    return sum(range(200_000))

@pytest.fixture
def prepared():
    return work()

@pytest.mark.cpu_seconds(0)
def test_above_its_limit():
    work()

@pytest.mark.cpu_seconds(0)
def test_with_a_slow_fixture(prepared):
    pass

def test_below_the_usual_limit():
    work()
"""


@pytest.mark.programs
def test_a_test_that_uses_more_cpu_time_than_its_limit_fails(tmp_path: Path) -> None:
    (tmp_path / "test_work.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = cpu_seconds\n")

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.cpu_limits", "test_work.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "2 failed, 1 passed" in run.stdout
    assert run.stdout.count("s of CPU time, and its limit is 0 s") >= 2
