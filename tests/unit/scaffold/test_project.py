"""The table ``[tool.steersman]``, and its errors."""

from pathlib import Path

import pytest

from steersman.errors import ProjectError
from steersman.scaffold import Project
from tests.unit.scaffold.projects import edit, new_project

WHOLE = """
[project]
name = "shop-operator"
version = "1.2.3"
description = "Sells things"
authors = [{ name = "Ada", email = "ada@example.com" }]

[tool.steersman]
target = "shop_operator.operator:manager"
name = "shop-operator"
domain = "example.com"
image = "shop-operator:1.2.3"
scaffold = "0.1.0"
namespaces = ["shop"]
"""


def project_of(directory: Path, text: str) -> Project:
    (directory / "pyproject.toml").write_text(text)
    return Project.find(directory)


def test_a_project_is_read_from_its_pyproject(tmp_path: Path) -> None:
    project = project_of(tmp_path, WHOLE)

    assert project == Project(
        directory=tmp_path,
        target="shop_operator.operator:manager",
        name="shop-operator",
        domain="example.com",
        image="shop-operator:1.2.3",
        scaffold="0.1.0",
        namespaces=("shop",),
        version="1.2.3",
        description="Sells things",
        maintainers=(("Ada", "ada@example.com"),),
    )
    assert project.package == "shop_operator"
    assert project.source == tmp_path / "src"


def test_a_project_is_found_from_a_subdirectory(tmp_path: Path) -> None:
    project = new_project(tmp_path)

    assert Project.find(project.source / project.package) == project


def test_a_pyproject_without_the_table_is_skipped(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    inner = project.directory / "docs"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "docs"\n')

    assert Project.find(inner) == project


def test_without_a_project_the_error_says_how_to_create_one(tmp_path: Path) -> None:
    assert Project.maybe(tmp_path) is None
    with pytest.raises(ProjectError, match=r"steersman init DIR --domain example\.com$"):
        Project.find(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('domain = "example.com"\n', "", "'domain' is missing"),
        ('domain = "example.com"', "domain = 7", "'domain' is 7, not a string"),
        ('domain = "example.com"', 'domain = ""', "'domain' is '', not a string"),
        ('domain = "example.com"', 'domain = "no_domain"', "'no_domain' is not a domain"),
        ('name = "shop-operator"\ndomain', 'name = "Shop"\ndomain', "'Shop' is not a project's"),
        ("shop_operator.operator:manager", "src/shop.py", "not MODULE:ATTRIBUTE"),
        (
            "shop_operator.operator:manager",
            "yaml.operator:manager",
            "'yaml' is not the name of a package",
        ),
        ('["shop"]', '"shop"', "'namespaces' is 'shop', not a list of strings"),
        ('["shop"]', '["Shop"]', "'Shop' is not a namespace"),
        ("namespaces =", "namespace =", "'namespace' is unknown (did you mean namespaces?)"),
    ],
)
def test_an_error_in_the_table_is_reported(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in WHOLE

    with pytest.raises(ProjectError) as caught:
        project_of(tmp_path, WHOLE.replace(old, new))

    assert problem in str(caught.value)
    assert str(tmp_path / "pyproject.toml") in str(caught.value)


def test_a_value_that_is_not_a_table_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="it is not a table"):
        project_of(tmp_path, "[tool]\nsteersman = 1\n")


def test_an_invalid_toml_file_is_rejected(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    edit(project, "pyproject.toml", "[tool.steersman]", "[tool.steersman")

    with pytest.raises(ProjectError, match=r"pyproject\.toml is not valid TOML: .* line \d+"):
        Project.find(project.directory)
