"""Go test suites pass on the embedded server as on the real one."""

import os
from pathlib import Path

import pytest

from steersman_cluster.commands.launchers.assets import write_assets
from steersman_cluster.testing.control_plane.programs import find_binaries
from tests.real.foreign.go_suites import OURS, QUICK, GoSuite

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def real() -> Path:
    """Where the real programs are."""
    return find_binaries(environ=os.environ).directory


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the launchers are that pass for them."""
    directory = tmp_path_factory.mktemp("assets")
    return write_assets(directory, search_path=os.environ.get("PATH")).directory


@pytest.mark.parametrize("suite", [OURS, *QUICK], ids=str)
def test_suites_that_pass_on_the_real_server_pass_on_the_embedded_one(
    suite: GoSuite, real: Path, embedded: Path, tmp_path: Path
) -> None:
    there = suite.run(real, temporary=tmp_path)
    if not there.passed:
        # One that listens on a port which its last server has not yet left ends in a panic.
        there = suite.run(real, temporary=tmp_path)
    here = suite.run(embedded, temporary=tmp_path)
    if there.passed - here.passed:
        # They are full of deadlines, and a busy machine misses one now and then.
        here |= suite.run(embedded, temporary=tmp_path)

    assert there.passed, there.log
    # What is ours must be right about the real server; what is not may need what is not here.
    assert suite is not OURS or not there.failed, there.failed
    missing = there.passed - here.passed
    assert not missing, here.failed
