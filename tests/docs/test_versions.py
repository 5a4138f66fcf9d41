"""The tables of supported versions come from recorded runs."""

import json
import tomllib
from pathlib import Path

import pytest

from tools.versions import NO_RUN, RECORDS, ROOT, supported_pythons, versions_table

FIELDS = {"version", "committed", "passed", "failed", "skipped"}


def test_a_row_has_the_counts_of_the_recorded_run(tmp_path: Path) -> None:
    run = {
        "version": "1.36.2",
        "committed": "2026-11-19",
        "passed": 120,
        "failed": 0,
        "skipped": {"needs nodes": 3},
    }
    (tmp_path / "kubernetes.json").write_text(json.dumps({"1.36": run, "1.9": None}))

    rows = versions_table("kubernetes", records=tmp_path).splitlines()[2:]

    assert rows == [
        f"| 1.9 | {NO_RUN} | | | | |",
        "| 1.36 | 1.36.2 | 2026-11-19 | 120 | 0 | 3: needs nodes |",
    ]


def test_every_supported_python_has_a_row_even_without_a_recorded_run(tmp_path: Path) -> None:
    rows = versions_table("pythons", records=tmp_path).splitlines()[2:]

    assert rows == [f"| {minor} | {NO_RUN} | | | | |" for minor in supported_pythons()]


def test_every_supported_python_has_a_recorded_run_and_no_other_has_one() -> None:
    recorded = json.loads((RECORDS / "pythons.json").read_text(encoding="utf-8"))

    assert [*recorded] == supported_pythons()


def test_the_oldest_supported_python_is_that_of_the_package() -> None:
    text = (ROOT / "packages/steersman/pyproject.toml").read_text(encoding="utf-8")

    assert tomllib.loads(text)["project"]["requires-python"] == f">={supported_pythons()[0]}"


@pytest.mark.parametrize("file", sorted(RECORDS.glob("*.json")), ids=lambda each: each.name)
def test_a_recorded_run_has_all_fields_and_no_failure(file: Path) -> None:
    for minor, run in json.loads(file.read_text(encoding="utf-8")).items():
        if run is not None:
            assert set(run) >= FIELDS
            assert run["version"].startswith(f"{minor}.")
            assert run["failed"] == 0
