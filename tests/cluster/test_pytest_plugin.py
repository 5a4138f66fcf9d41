"""The pytest plugin: coroutine tests on the event loop of their cluster, with other plugins."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[2]


# pytest-asyncio: not installed, and in both of its modes.
SCOPE = ("-o", "asyncio_default_fixture_loop_scope=function")
ALONE = ("-p", "no:asyncio")
AUTO = ("-o", "asyncio_mode=auto", *SCOPE)
STRICT = ("-o", "asyncio_mode=strict", *SCOPE)

TESTS = """
import asyncio

import pytest

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.simulation import VirtualLoop
from steersman_cluster.workloads import WorkloadSettings

NOTE = core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="note"))


@pytest.fixture
def cluster_settings():
    return WorkloadSettings(parts=())


@pytest.fixture
async def note(cluster):
    yield await cluster.apply(NOTE)
    await cluster.delete(core_v1.ConfigMap, "note")


@pytest.mark.parametrize("times", [1, 2])
async def test_a_coroutine_runs_on_the_loop_of_its_cluster(cluster, times):
    assert isinstance(asyncio.get_running_loop(), VirtualLoop)


async def test_so_do_its_fixtures(cluster, note):
    assert (await cluster.get(core_v1.ConfigMap, "note")).uid == note.uid


class TestInAClass:
    @pytest.fixture
    async def mine(self, cluster):
        return self

    async def test_a_method_is_a_test_too(self, cluster, mine):
        assert mine is self


def test_a_plain_function_has_the_cluster_and_does_not_run_it(cluster):
    assert cluster.namespace == "default"
"""

FAILING = """
import pytest

from steersman.kinds import core_v1, meta_v1
from steersman_cluster.workloads import WorkloadSettings


@pytest.fixture
def cluster_settings():
    return WorkloadSettings(parts=())


async def test_it(cluster):
    await cluster.apply(core_v1.ConfigMap(metadata=meta_v1.ObjectMeta(name="note")))
    assert False
"""

STUCK = """
import asyncio

import pytest

from steersman_cluster.workloads import WorkloadSettings


@pytest.fixture
def cluster_settings():
    return WorkloadSettings(parts=())


async def test_it(cluster):
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.Event().wait(), name="the other")
"""

FOREIGN = """
import pytest


@pytest.fixture
def cluster():
    return "another fixture"


async def test_it(cluster):
    assert cluster == "another fixture"
"""


# A plugin of another distribution, which is loaded before or after steersman's.
OTHER_PLUGIN = """
import pytest


def pytest_addoption(parser):
    parser.addoption("--cluster", action="store", default="theirs", choices=["theirs", "real"])
    parser.addoption("--cluster-seed", action="store_true")


@pytest.fixture
def cluster(request):
    return request.config.getoption("--cluster")


@pytest.fixture
def cluster_settings():
    return "settings of another plugin"
"""

OF_OTHER_PLUGIN = """
import sys


def test_it(cluster, cluster_settings):
    assert cluster == "real"
    assert cluster_settings == "settings of another plugin"


async def test_a_coroutine(cluster):
    assert cluster == "real"


def test_nothing_of_a_cluster_was_loaded():
    ours = {name for name in sys.modules if name.startswith("steersman")}
    assert ours == {
        *("steersman", "steersman._lazy", "steersman_cluster", "steersman_cluster.testing"),
        "steersman_cluster.testing.plugin",
    }
"""

CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--cluster", default="theirs")
"""

REWRITTEN = """
import steersman_cluster.errors
import steersman_cluster.testing.plugin


def is_rewritten(module):
    return type(module.__spec__.loader).__name__ == "AssertionRewritingHook"


def test_it():
    assert not is_rewritten(steersman_cluster.errors)
    assert is_rewritten(steersman_cluster.testing.plugin)
"""


# Features that pytest 7 and pluggy 1.0 lack; Debian 12 has these versions.
OLD_PYTEST = """
import pluggy
import pytest

mark = pluggy.HookimplMarker.__call__


def old_mark(
    self, function=None, hookwrapper=False, optionalhook=False, tryfirst=False, trylast=False,
    specname=None,
):
    return mark(self, function, hookwrapper, optionalhook, tryfirst, trylast, specname)


pluggy.HookimplMarker.__call__ = old_mark
del pytest.FixtureDef

import steersman_cluster.testing.plugin
"""


def install(directory: Path, name: str, plugin: str, *files: str) -> None:
    """A distribution with a pytest plugin, as pip installs it."""
    about = directory / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[pytest11]\n{name} = {plugin}\n")
    (about / "RECORD").write_text("".join(f"{each},,\n" for each in files))


def run_pytest(
    directory: Path, tests: str, *options: str, path: Sequence[Path] = ()
) -> tuple[int, str]:
    """Run pytest on these tests; the exit status and the output."""
    (directory / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (directory / "test_it.py").write_text(tests)
    program = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    paths = os.pathsep.join(map(str, (*path, ROOT)))
    environ = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "200"}
    finished = subprocess.run(
        program, check=False, capture_output=True, text=True, cwd=directory, env=environ
    )
    return finished.returncode, finished.stdout + finished.stderr


@pytest.mark.parametrize("others", [ALONE, AUTO, STRICT], ids=["alone", "auto", "strict"])
def test_coroutine_tests_run_on_the_loop_of_their_cluster_beside_any_other_plugin(
    tmp_path: Path, others: tuple[str, ...]
) -> None:
    status, said = run_pytest(tmp_path, TESTS, *others)

    assert status == 0, said
    assert "5 passed" in said


def test_a_failure_report_lists_the_writes_and_the_replay_command(tmp_path: Path) -> None:
    status, said = run_pytest(tmp_path, FAILING, *ALONE, "--cluster-seed=12")

    assert status == 1
    assert "what was written on the cluster, with seed 12" in said
    assert re.search(r"0\.\d{3} s  user  PATCH configmaps/note", said)
    assert "replay: pytest 'test_it.py::test_it' --steersman-seed=12" in said


def test_a_test_that_waits_for_ever_fails_alone(tmp_path: Path) -> None:
    status, said = run_pytest(tmp_path, STUCK, *ALONE)

    assert status == 1
    assert "main (test_it, test_it.py line 15, in TaskGroup." in said
    assert "the other (Event.wait" in said
    assert re.search(r"= 1 failed in", said)


def test_a_foreign_fixture_with_the_same_name_is_left_alone(tmp_path: Path) -> None:
    status, said = run_pytest(tmp_path, FOREIGN, *AUTO)

    assert status == 0, said


@pytest.mark.parametrize("name", ["aaa", "zzz"])
def test_another_plugin_may_have_options_and_fixtures_of_the_same_names(
    tmp_path: Path, name: str
) -> None:
    site = tmp_path / "site"
    install(site, name, "another_plugin", "another_plugin.py")
    (site / "another_plugin.py").write_text(OTHER_PLUGIN)

    status, said = run_pytest(tmp_path, OF_OTHER_PLUGIN, *AUTO, "--cluster=real", path=[site])

    assert status == 0, said
    assert "3 passed" in said


def test_a_suite_may_have_an_option_of_the_same_name_wherever_it_is_added(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "conftest.py").write_text(CONFTEST)

    status, said = run_pytest(tmp_path, FOREIGN, *AUTO)

    assert status == 0, said


def test_an_option_has_a_short_name_unless_another_plugin_uses_it(tmp_path: Path) -> None:
    status, said = run_pytest(tmp_path, FOREIGN, *AUTO, "--cluster=imaginary")

    assert status == 4
    assert "argument --cluster: invalid choice: 'imaginary'" in said


def test_assertions_of_other_modules_are_not_rewritten(tmp_path: Path) -> None:
    source = ROOT / "packages" / "steersman-cluster" / "src"
    files = [str(each.relative_to(source)) for each in source.rglob("*.py")]
    install(tmp_path / "site", "steersman", "steersman_cluster.testing.plugin", *files)

    status, said = run_pytest(tmp_path, REWRITTEN, *ALONE, path=[tmp_path / "site"])

    assert status == 0, said


def test_no_module_of_a_cluster_is_imported_before_a_test_requests_one() -> None:
    program = "import sys, steersman_cluster.testing.plugin; print(*sorted(sys.modules))"

    finished = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )

    loaded = {name for name in finished.stdout.split() if name.startswith("steersman")}
    assert loaded == {
        *("steersman", "steersman._lazy", "steersman_cluster", "steersman_cluster.testing"),
        "steersman_cluster.testing.plugin",
    }


def test_the_plugin_loads_with_an_older_pytest() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", OLD_PYTEST], check=False, capture_output=True, text=True
    )

    assert finished.returncode == 0, finished.stderr
