"""What somebody installs who installs steersman."""

import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.cluster.cli.test_demo import tells, told
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


@pytest.mark.timeout(120)
def test_a_demo_runs_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    """Of all that is installed here only what steersman needs is lent, and not this source."""
    venv.create(tmp_path / "venv")
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    ZipFile(wheel).extractall(site)
    for each in Path(sys.prefix).glob("lib/python*/site-packages/*"):
        if each.suffix != ".pth" and "steersman" not in each.name and "opdemo" not in each.name:
            (site / each.name).symlink_to(each)
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
