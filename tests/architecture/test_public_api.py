"""The public API is recorded in a file, so that a review sees each change of it."""

import subprocess
import sys
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.architecture.public_api import snapshot
from tests.architecture.tree import ROOT


def test_the_recorded_public_api_is_current(tmp_path: Path) -> None:
    # In a process of its own: other tests define observations, and click caches its options.
    subprocess.run(
        [sys.executable, "-m", snapshot.__name__, tmp_path / "current"], cwd=ROOT, check=True
    )
    recorded, current = (
        path.read_text(encoding="utf-8").splitlines()
        for path in (snapshot.SNAPSHOT, tmp_path / "current")
    )
    difference = "\n".join(unified_diff(recorded, current, "recorded", "current", lineterm="", n=0))

    if difference:
        pytest.fail(
            f"the public API has changed:\n{difference}\nIf this is intended, run `make "
            "api-snapshot`, and describe the change in changes/.",
            pytrace=False,
        )
