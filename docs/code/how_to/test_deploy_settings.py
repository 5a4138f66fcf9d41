"""Tests of the tables of pyproject.toml in the page about deploying."""

import tomllib
from pathlib import Path

from steersman.scaffold import Project, egress_warnings, init_project

HERE = Path(__file__).parent


def test_the_tables_on_the_page_are_read(tmp_path: Path) -> None:
    init_project(tmp_path / "shop", domain="example.com")
    (tmp_path / "shop" / "icon.svg").write_text("<svg/>")
    text = (tmp_path / "shop" / "pyproject.toml").read_text()
    for name in ("deploy.toml", "bundle.toml"):
        text += "\n" + (HERE / name).read_text()

    project = Project.read(tmp_path / "shop", tomllib.loads(text))

    assert project.deploy.replicas == 3
    assert [each.name for each in project.deploy.settings.env] == [
        *("DATABASE_HOST", "DATABASE_PASSWORD", "REGION", "NODE")
    ]
    assert project.bundle.replaces == "1.1.0"
    assert egress_warnings(project) == ()
