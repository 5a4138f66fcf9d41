"""Go test suites pass on the embedded server as on the real one."""

import os
from pathlib import Path

import pytest

from steersman_cluster.commands.launchers.assets import write_assets
from steersman_cluster.testing.control_plane.programs import find_binaries
from tests.real.foreign.go_suites import ENVTEST_SUITE, QUICK, GoSuite

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def real() -> Path:
    """The directory of the real programs."""
    return find_binaries(environ=os.environ).directory


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the launchers that replace them."""
    directory = tmp_path_factory.mktemp("assets")
    return write_assets(directory, search_path=os.environ.get("PATH")).directory


@pytest.mark.parametrize("suite", [ENVTEST_SUITE, *QUICK], ids=str)
def test_suites_that_pass_on_the_real_server_pass_on_the_embedded_one(
    suite: GoSuite, real: Path, embedded: Path, tmp_path: Path
) -> None:
    on_real = suite.run(real, temporary=tmp_path)
    if not on_real.passed:
        # A suite panics if its previous server still listens on the port.
        on_real = suite.run(real, temporary=tmp_path)
    on_embedded = suite.run(embedded, temporary=tmp_path)
    if on_real.passed - on_embedded.passed:
        # The suites have many deadlines, and a busy machine sometimes misses one.
        on_embedded |= suite.run(embedded, temporary=tmp_path)

    assert on_real.passed, on_real.log
    # All of envtest_suite must pass on the real server; other suites may need missing programs.
    assert suite is not ENVTEST_SUITE or not on_real.failed, on_real.failed
    missing = on_real.passed - on_embedded.passed
    assert not missing, on_embedded.failed
