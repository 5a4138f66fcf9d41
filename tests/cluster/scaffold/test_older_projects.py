"""Projects for an older steersman, whose tests pass after an upgrade.

They are in ``older_projects``. Each file name ends in ``.before``, so that no linter, no type
checker and no test run treats them as current code.
"""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from steersman.scaffold import Project, upgrade_project
from steersman.scaffold.upgrade.project_names import ProjectNames, other_texts

pytestmark = pytest.mark.programs

OLDER = Path(__file__).parent / "older_projects"
PROJECTS = sorted(each.name for each in OLDER.iterdir())
# The tests of the others take longer, and run in `make test-deep`.
QUICK = "podwatch"

PATH = str(Path(which("git") or "").parent)


def older_project(name: str, directory: Path) -> Path:
    for path in (OLDER / name).rglob("*.before"):
        target = directory / path.relative_to(OLDER / name).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return directory


def renamed(directory: Path, package: str) -> dict[str, str]:
    """Rename old names in the files of a project; the changed files."""
    names = ProjectNames.of(directory, package)
    files = {
        path: today
        for path, text in other_texts(directory, besides={})
        if (today := names.renamed(path, text)) != text
    }
    for path, text in files.items():
        (directory / path).write_bytes(text.encode("utf-8"))
    return files


def python(directory: Path, *arguments: str) -> str:
    finished = subprocess.run(
        (sys.executable, *arguments),
        cwd=directory,
        env={**os.environ, "PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def output_of_tests(directory: Path) -> str:
    if (directory / ".steersman/generated.json").exists():
        python(directory, "-m", "steersman", "generate")
    return python(directory, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-x")


def test_a_project_of_an_older_steersman_has_the_names_of_this_one_after_an_upgrade(
    tmp_path: Path,
) -> None:
    directory = older_project("appservice", tmp_path)

    done = upgrade_project(Project.find(directory), search_path=PATH)

    assert "demo.py" in done.renamed
    assert "tests/test_appservice.py" in done.renamed
    assert ("steersman.demos", "steersman_cluster.demos") in done.names
    # The author and the template have both changed the README.
    assert done.conflicts == ("README.md",)
    (directory / "README.md").write_bytes((OLDER / "appservice/README.md.before").read_bytes())
    assert "steersman[tls]" in (directory / "pyproject.toml").read_text()
    assert "-m steersman_cluster.testing.binaries" in (directory / "Makefile").read_text()
    assert " passed in " in output_of_tests(directory)
    again = upgrade_project(Project.find(directory), search_path=PATH)
    assert (again.renamed, again.replaced, again.merged, again.names) == ((), (), (), ())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=() if each == QUICK else pytest.mark.deep)
        for each in PROJECTS
        if each != "appservice"
    ],
)
def test_the_tests_of_an_older_project_pass_with_the_current_names(
    name: str, tmp_path: Path
) -> None:
    directory = older_project(name, tmp_path)
    package = next(each.name for each in (directory / "src").iterdir())

    changed = renamed(directory, package)

    assert changed
    assert renamed(directory, package) == {}
    assert " passed in " in output_of_tests(directory)
