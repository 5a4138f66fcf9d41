"""The scaffold and the generated files of the examples are up to date in the repository."""

import shutil
from pathlib import Path

import pytest

from tests.cluster.programs import steersman
from tools.examples import projects, upgrade

GENERATED = list(projects())


def contents_of(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("project", GENERATED, ids=lambda project: project.name)
def test_the_generated_manifests_of_an_example_match_its_types(project: Path) -> None:
    checked = steersman("generate", "--check", directory=project)

    assert (checked.returncode, checked.stderr) == (0, "all generated files are up to date\n")


@pytest.mark.parametrize("project", GENERATED, ids=lambda project: project.name)
def test_a_second_upgrade_of_an_example_changes_nothing(project: Path, tmp_path: Path) -> None:
    directory = tmp_path / project.name
    shutil.copytree(project, directory, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    before = contents_of(directory)

    upgrade(directory)

    # If this fails after a change of the scaffold, run `python -m tools.examples`.
    assert contents_of(directory) == before
