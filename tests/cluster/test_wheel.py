"""What somebody installs who installs steersman."""

import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.cluster.commands.test_demo import tells, told
from tests.examples import PROJECTS

ROOT = Path(__file__).parents[2]
HOME = "steersman/demos/examples/"

# What an example is shown and read by; its tests and manifests are for those who work on it.
CARRIED = {"README.md", "artifacts", "demo.py", "pyproject.toml", "samples", "src"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source."""
    home = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            sys.executable,
            *f"-m pip wheel -q --no-build-isolation --no-deps -w {home}".split(),
            ROOT,
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    (made,) = home.glob("*.whl")
    return made


@pytest.mark.timeout(90)
def test_a_wheel_carries_the_examples_without_their_tests(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()

    inside = [each.removeprefix(HOME).split("/") for each in names if each.startswith(HOME)]
    assert {example for example, *_ in inside} == set(PROJECTS)
    assert {part for _, part, *_ in inside} <= CARRIED
    assert {each for each in PROJECTS if f"{HOME}{each}/demo.py" in names} == set(PROJECTS)
    assert [each for each in names if "__pycache__" in each or "/tests/" in each] == []
    assert {each.split("/")[0] for each in names} == {"steersman", dist_info(names)}


def dist_info(names: list[str]) -> str:
    return next(each.split("/")[0] for each in names if ".dist-info/" in each)


def lent(home: Path) -> Path:
    """A virtual environment with what is installed here, but for steersman: its site-packages."""
    venv.create(home)
    (site,) = home.glob("lib/python*/site-packages")
    for each in Path(sys.prefix).glob("lib/python*/site-packages/*"):
        own = ("steersman", "opdemo", *(name.replace("-", "_") for name in PROJECTS))
        if each.suffix != ".pth" and not any(name in each.name for name in own):
            (site / each.name).symlink_to(each)
    (home / "bin" / "ruff").symlink_to(Path(sys.prefix) / "bin" / "ruff")  # a program, not a module
    return site


@pytest.mark.needs_tools
@pytest.mark.timeout(240)
def test_a_project_made_by_a_wheel_tests_and_checks_itself_without_an_index(
    wheel: Path, tmp_path: Path
) -> None:
    """The Makefile's own pip runs, with no index to ask: all but steersman is lent."""
    lent(tmp_path / "venv")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which is how pip spells "without"
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
    ran(python, "-m", "pip", "install", "-q", wheel, directory=tmp_path)
    made = (python, "-P", "-m", "steersman")
    ran(*made, "init", "shop", "--domain=example.com", directory=tmp_path)
    project = tmp_path / "shop"
    kind = ("--group=app", "--version=v1", "--kind=Web")
    ran(*made, "create", "api", *kind, directory=project)
    lent(project / ".venv")

    checked = ran("make", "check", directory=project)
    tested = ran("make", "test", directory=project)
    active = ran("make", "test", directory=project, VIRTUAL_ENV=str(tmp_path / "venv"))

    assert "vendor/steersman-" in checked
    assert "no issues found" in checked
    assert "6 passed" in tested
    assert "6 passed" in active
    settings = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["steersman"]
    assert settings["origin"].startswith(f"{wheel.as_uri()}#sha256=")


@pytest.mark.timeout(120)
def test_a_demo_runs_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    """Of all that is installed here only what steersman needs is lent, and not this source."""
    site = lent(tmp_path / "venv")
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
    assert tells(told(finished.stdout), "appservice")
    assert f"{site.relative_to(tmp_path) / HOME / 'appservice'};" in finished.stderr
