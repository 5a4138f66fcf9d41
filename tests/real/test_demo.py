"""The README's first command does what the README says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(120)
def test_the_demo_prints_what_the_readme_shows() -> None:
    shown = re.search(r"    \$ make demo\n(.*?)\n\n", (ROOT / "README.md").read_text(), re.DOTALL)
    assert shown is not None

    demo = subprocess.run(
        [sys.executable, "-m", "examples.demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert demo.stdout.splitlines() == [line[4:] for line in shown[1].splitlines()]
