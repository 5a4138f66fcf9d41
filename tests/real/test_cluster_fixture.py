"""The fixture ``cluster`` works with a real control plane."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BOTH = "tests/cluster/test_cluster_fixture.py"


def test_tests_with_the_cluster_fixture_pass_on_a_real_control_plane() -> None:
    program = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", BOTH]

    finished = subprocess.run(
        [*program, "--cluster=real"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200"},
    )

    assert finished.returncode == 0, finished.stdout
    assert "5 passed, 1 skipped" in finished.stdout
    assert "only on the embedded cluster: it waits for an hour" in finished.stdout
