"""Stored files and names of earlier commits are read and used; docs/stored.md lists them.

``samples`` has files as an earlier commit wrote them. They are never written again: a new format
gets a new sample beside the old one.
"""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from steersman.controller import Context, Controller, Done, Outcome
from steersman.errors import ProjectError
from steersman.kinds import apps_v1, core_v1
from steersman.manager.permissions import lease_name
from steersman.manifests.files import RECORD, generated_paths
from steersman.scaffold.base import BASE, read_base
from steersman_cluster.apiserver.storage import RevisionLog, SqliteJournal, View
from steersman_cluster.apiserver.storage.sqlite import FILE

SAMPLES = Path(__file__).with_name("samples")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".steersman").mkdir()
    for name in ("base.json", "generated.json"):
        shutil.copy(SAMPLES / name, tmp_path / ".steersman" / name)
    return tmp_path


def test_the_data_of_an_earlier_commit_is_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.executescript((SAMPLES / "data.sql").read_text(encoding="utf-8"))
    shutil.copy(SAMPLES / "steersman.head", tmp_path)

    with closing(SqliteJournal(tmp_path)) as journal:
        log = RevisionLog(journal)
        entries = View(log).page("configmaps").entries

    assert log.revision == 5
    assert [entry.value["data"] for entry in entries if entry.value] == [{"size": "2"}]


def test_the_records_of_a_project_of_an_earlier_commit_are_read(project: Path) -> None:
    frame = read_base(project)
    paths = generated_paths(project)

    assert frame["tests/test_operator.py"].startswith('"""')
    assert "deploy/install.yaml" in paths


@pytest.mark.parametrize(
    ("name", "read"), [(BASE, read_base), (RECORD, generated_paths)], ids=["base", "record"]
)
def test_a_record_with_a_later_format_is_rejected_with_the_command_to_upgrade(
    project: Path, name: str, read: object
) -> None:
    document = json.loads((project / name).read_text(encoding="utf-8"))
    (project / name).write_text(json.dumps(document | {"format": 2}), encoding="utf-8")

    with pytest.raises(ProjectError, match="Upgrade steersman first: pip install --upgrade"):
        read(project)  # type: ignore[operator]


def test_the_names_that_a_controller_stores_in_a_cluster_are_those_of_earlier_commits() -> None:
    async def reconcile(obj: core_v1.ConfigMap, ctx: Context) -> Outcome:
        return Done()

    async def scale(obj: apps_v1.Deployment, ctx: Context) -> Outcome:
        return Done()

    configmaps = Controller(core_v1.ConfigMap, reconcile=reconcile, name="settings")
    deployments = Controller(apps_v1.Deployment, reconcile=scale, name="scaler")

    stored = [(each.finalizer, each.field_manager) for each in (configmaps, deployments)]

    assert stored == [("core/settings", "settings.core"), ("apps/scaler", "scaler.apps")]
    assert lease_name([deployments, configmaps]) == "scaler.apps"
