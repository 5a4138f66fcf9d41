"""The generated files of the examples are up to date in the repository."""

import tomllib
from pathlib import Path

import pytest

from tests.cluster.programs import steersman
from tests.examples import PROJECTS

GENERATED = [
    project
    for project in PROJECTS.values()
    if "steersman" in tomllib.loads((project / "pyproject.toml").read_text()).get("tool", {})
]


@pytest.mark.parametrize("project", GENERATED, ids=lambda project: project.name)
def test_the_generated_manifests_of_an_example_match_its_types(project: Path) -> None:
    checked = steersman("generate", "--check", directory=project)

    assert (checked.returncode, checked.stderr) == (0, "all generated files are up to date\n")
