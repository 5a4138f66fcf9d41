"""The two wheels, installed without the source tree."""

import asyncio
import os
import subprocess
import sys
import tomllib
import venv
from asyncio.subprocess import PIPE
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from random import Random
from zipfile import ZipFile

import pytest

from steersman.clock import SystemClock
from steersman.observe import ignore
from steersman_cluster.apiserver import ClusterSettings, running_cluster
from tests.cluster.commands.test_demo import events_in, has_exactly_the_steps_of
from tests.examples import PROJECTS

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[2]
HOME = "steersman_cluster/demos/examples/"

# The files that a demo of an example uses; its tests and manifests are only for development.
CARRIED = {"README.md", "artifacts", "demo.py", "pyproject.toml", "samples", "src"}


# Not part of the base wheel, which is in every operator's image.
FOR_DEVELOPMENT = ("apiserver", "account_tokens", "plugin.py", "pytest", "workloads", "simulation")


@dataclass(frozen=True)
class Wheels:
    """The wheels built from this source."""

    base: Path
    cluster: Path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    home = tmp_path_factory.mktemp("wheels")
    for name in ("steersman", "steersman-cluster"):
        subprocess.run(
            [
                sys.executable,
                *f"-m pip wheel -q --no-build-isolation --no-deps -w {home}".split(),
                ROOT / "packages" / name,
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )
    cluster, base = sorted(home.glob("*.whl"), key=lambda each: each.name.startswith("steersman-"))
    return Wheels(base, cluster)


def test_the_base_wheel_is_smaller_and_has_no_development_code(
    wheels: Wheels,
) -> None:
    names = ZipFile(wheels.base).namelist()
    base, cluster = (each.stat().st_size for each in (wheels.base, wheels.cluster))

    assert base <= 0.4 * (base + cluster)
    assert {each.split("/")[0] for each in names} == {"steersman", dist_info(names)}
    assert "steersman/py.typed" in names
    assert "steersman_cluster/py.typed" in ZipFile(wheels.cluster).namelist()
    assert [each for each in names for part in FOR_DEVELOPMENT if part in each.split("/")] == []


OPERATOR = """
import os
import signal
from importlib.util import find_spec

import steersman as sm
from steersman.kinds import core_v1


async def reconcile(found: core_v1.Namespace, ctx: sm.Context) -> sm.Outcome:
    if found.name == "default":
        print("reconciled", found.name, "with", find_spec("steersman_cluster"))
        os.kill(os.getpid(), signal.SIGTERM)
    return sm.Done()


sm.Manager(controllers=[sm.Controller(core_v1.Namespace, reconcile=reconcile, name="once")]).run()
"""

# The dependencies that `pip install steersman` installs.
DEPENDENCIES = ("_yaml", "httptools", "msgspec", "prometheus_client", "yaml")


async def test_the_base_wheel_runs_an_operator_without_the_other(
    wheels: Wheels, tmp_path: Path
) -> None:
    site = virtual_environment(tmp_path / "venv", only=DEPENDENCIES)
    ZipFile(wheels.base).extractall(site)
    (tmp_path / "once.py").write_text(OPERATOR)
    settings = ClusterSettings(kubeconfig=tmp_path / "kubeconfig")

    async with running_cluster(
        settings, clock=SystemClock(), rng=Random(0), observe=ignore, environ={}
    ) as cluster:
        operator = await asyncio.create_subprocess_exec(
            *(tmp_path / "venv" / "bin" / "python", "once.py"),
            cwd=tmp_path,
            env={"KUBECONFIG": str(cluster.kubeconfig), "HOME": str(tmp_path)},
            stdout=PIPE,
            stderr=PIPE,
        )
        said, complaints = await operator.communicate()

    assert operator.returncode == 0, complaints.decode()
    assert b"reconciled default with None" in said


def test_a_wheel_contains_the_examples_without_their_tests(wheels: Wheels) -> None:
    names = ZipFile(wheels.cluster).namelist()

    inside = [each.removeprefix(HOME).split("/") for each in names if each.startswith(HOME)]
    assert {example for example, *_ in inside} == set(PROJECTS)
    assert {part for _, part, *_ in inside} <= CARRIED
    assert {each for each in PROJECTS if f"{HOME}{each}/demo.py" in names} == set(PROJECTS)
    assert [each for each in names if "__pycache__" in each or "/tests/" in each] == []
    assert {each.split("/")[0] for each in names} == {"steersman_cluster", dist_info(names)}


def dist_info(names: list[str]) -> str:
    return next(each.split("/")[0] for each in names if ".dist-info/" in each)


def virtual_environment(home: Path, *, only: Collection[str] = ()) -> Path:
    """The site-packages of a new virtual environment, with all packages but steersman.

    With ``only``, just these packages.
    """
    venv.create(home)
    (site,) = home.glob("lib/python*/site-packages")
    for each in Path(sys.prefix).glob("lib/python*/site-packages/*"):
        own = ("steersman", "opdemo", *(name.replace("-", "_") for name in PROJECTS))
        is_other = each.suffix != ".pth" and not any(name in each.name for name in own)
        if is_other and (not only or each.name in only):
            (site / each.name).symlink_to(each)
    (home / "bin" / "ruff").symlink_to(
        Path(sys.prefix) / "bin" / "ruff"
    )  # an executable, not a module
    return site


@pytest.mark.needs_tools
def test_a_project_created_from_a_wheel_passes_its_checks_without_an_index(
    wheels: Wheels, tmp_path: Path
) -> None:
    """The Makefile's pip runs without an index: only steersman is not installed yet."""
    virtual_environment(tmp_path / "venv")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads 0 as "without"
    }

    def ran(*command: str | Path, directory: Path, **more: str) -> str:
        finished = subprocess.run(
            command,
            cwd=directory,
            env={**environ, **more},
            check=False,
            capture_output=True,
            text=True,
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished.stdout + finished.stderr

    python = tmp_path / "venv" / "bin" / "python"
    ran(python, "-m", "pip", "install", "-q", wheels.base, wheels.cluster, directory=tmp_path)
    made = (python, "-P", "-m", "steersman")
    ran(*made, "init", "shop", "--domain=example.com", directory=tmp_path)
    project = tmp_path / "shop"
    kind = ("--group=app", "--version=v1", "--kind=Web")
    ran(*made, "create", "api", *kind, directory=project)
    virtual_environment(project / ".venv")

    checked = ran("make", "check", directory=project)
    tested = ran("make", "test", directory=project)
    active = ran("make", "test", directory=project, VIRTUAL_ENV=str(tmp_path / "venv"))

    assert "vendor/steersman-" in checked
    assert "vendor/steersman_cluster-" in checked
    assert "no issues found" in checked
    assert "6 passed" in tested
    assert "6 passed" in active
    settings = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["steersman"]
    assert settings["origin"].startswith(f"{wheels.base.as_uri()}#sha256=")


def test_a_demo_runs_from_a_wheel(wheels: Wheels, tmp_path: Path) -> None:
    """The environment has only the dependencies of steersman, and not this source."""
    site = virtual_environment(tmp_path / "venv")
    for wheel in (wheels.base, wheels.cluster):
        ZipFile(wheel).extractall(site)
    python = tmp_path / "venv" / "bin" / "python"

    finished = subprocess.run(
        [python, "-P", "-m", "steersman", "demo", "--pause=0"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert finished.returncode == 0, finished.stderr
    assert has_exactly_the_steps_of(events_in(finished.stdout), "appservice")
    assert f"{site.relative_to(tmp_path) / HOME / 'appservice'};" in finished.stderr
