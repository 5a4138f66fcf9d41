"""A damaged journal is rejected, unless it still contains every write."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from steersman_cluster.apiserver.storage import Key, RevisionLog, SqliteJournal
from steersman_cluster.errors import ClusterError

DATABASE, WAL, HEAD = "steersman.db", "steersman.db-wal", "steersman.head"
FLIPS = 60

# The tables of a format without checksums.
OLD = """
CREATE TABLE writes (
    revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, place TEXT NOT NULL, value BLOB
);
CREATE INDEX writes_by_place ON writes (resource, place, revision);
CREATE TABLE state (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), revision INTEGER NOT NULL,
    compacted INTEGER NOT NULL
);
INSERT INTO state VALUES (1, 1, 0);
"""


def written(directory: Path) -> SqliteJournal:
    """Write a journal with small and large objects before and after a compaction."""
    journal = SqliteJournal(directory)
    log = RevisionLog(journal)
    for number in range(40):
        key = Key("pods", f"default/pod-{number:02}")
        entry = log.append(key, {"n": number, "text": "x" * (number * 200)}, expected=0)
        if number % 3 == 0:
            log.append(key, None, expected=entry.revision)
    log.compact(log.revision)
    for number in range(20):
        log.append(Key("maps", f"default/map-{number:02}"), {"n": number}, expected=0)
    return journal


def content(directory: Path) -> dict[Key, Any]:
    journal = SqliteJournal(directory)
    try:
        return {entry.key: entry.value for entry in RevisionLog(journal).current_entries()}
    finally:
        journal.close()


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory after a clean close: all data is in the database."""
    directory = tmp_path_factory.mktemp("closed")
    written(directory).close()
    assert not (directory / WAL).exists()
    return directory


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a killed process: some data is only in the write-ahead log."""
    directory, there = tmp_path_factory.mktemp("killed"), tmp_path_factory.mktemp("there")
    journal = written(there)
    shutil.copytree(there, directory, dirs_exist_ok=True)
    journal.close()
    assert (directory / WAL).stat().st_size > 0
    return directory


@pytest.fixture(scope="module")
def whole(closed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[Key, Any]:
    copy = tmp_path_factory.mktemp("whole")
    shutil.copytree(closed, copy, dirs_exist_ok=True)
    found = content(copy)
    assert len(found) == 46
    return found


def damaged_copies(source: Path, tmp_path: Path, name: str, *, cut: bool) -> Iterator[Path]:
    """Yield copies with one byte flipped, or truncated, at many positions."""
    rng, copy = Random(f"{name} {cut}"), tmp_path / "copy"
    size = (source / name).stat().st_size
    some = rng.sample(range(size), min(size, FLIPS))
    places = {0, 1, 18, 24, 28, 60, 63, 99, 100, size // 2, size - 1, *some}
    for place in sorted(each for each in places if 0 <= each < size):
        shutil.copytree(source, copy)
        with (copy / name).open("r+b") as file:
            if cut:
                file.truncate(place)
            else:
                file.seek(place)
                byte = file.read(1)[0]
                file.seek(place)
                file.write(bytes([byte ^ (1 << rng.randrange(8))]))
        yield copy
        shutil.rmtree(copy)


# A clean close leaves no write-ahead log.
@pytest.mark.parametrize(
    ("state", "name"),
    [
        ("closed", DATABASE),
        ("closed", HEAD),
        ("killed", DATABASE),
        ("killed", WAL),
        ("killed", HEAD),
    ],
)
@pytest.mark.parametrize("how", ["flipped", "truncated"])
def test_damaged_data_is_rejected_unless_it_still_contains_every_write(
    name: str,
    how: str,
    state: str,
    closed: Path,
    killed: Path,
    whole: dict[Key, Any],
    tmp_path: Path,
) -> None:
    source = {"closed": closed, "killed": killed}[state]
    refusals = []
    for copy in damaged_copies(source, tmp_path, name, cut=how == "truncated"):
        try:
            found = content(copy)
        except ClusterError as error:
            refusals.append(str(error))
        else:
            assert found == whole
    if (name, how, state) != (DATABASE, "flipped", "killed"):  # the log contains all of it
        assert refusals
    assert [each for each in refusals if "from a copy" not in each and "later" not in each] == []


@pytest.mark.parametrize("name", [DATABASE, WAL, HEAD])
def test_a_missing_file_is_detected(name: str, killed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(killed, copy)
    (copy / name).unlink()

    with pytest.raises(ClusterError, match="Restore the directory from a copy"):
        content(copy)


def test_incomplete_data_can_be_accepted(
    killed: Path, whole: dict[Key, Any], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(killed, copy)
    with (copy / WAL).open("r+b") as file:
        file.truncate((copy / WAL).stat().st_size - 1)
    with pytest.raises(ClusterError, match=r"was acknowledged. Restore .* echo accept > .*head"):
        content(copy)

    (copy / HEAD).write_text("accept\n", encoding="utf-8")
    found = content(copy)

    assert found.items() < whole.items()
    assert content(copy) == found


def test_a_killed_process_leaves_complete_data(
    killed: Path, whole: dict[Key, Any], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(killed, copy)

    assert content(copy) == whole


def old_directory(directory: Path, *, rows: int = 3) -> None:
    directory.mkdir()
    database = sqlite3.connect(directory / DATABASE)
    with database:
        database.executescript(OLD)
        for number in range(rows):
            value = b'{"n": %d}' % number
            place = f"default/{number}"
            database.execute(
                "INSERT INTO writes VALUES (?, ?, ?, ?)", (number + 2, "pods", place, value)
            )
    database.close()


def test_data_without_checksums_is_read_and_upgraded(tmp_path: Path) -> None:
    old_directory(tmp_path / "old")

    first, second = content(tmp_path / "old"), content(tmp_path / "old")

    assert first == {Key("pods", f"default/{number}"): {"n": number} for number in range(3)}
    assert second == first
    assert (tmp_path / "old" / HEAD).exists()


def test_data_without_checksums_is_rejected_if_revisions_are_missing(tmp_path: Path) -> None:
    old_directory(tmp_path / "old")
    database = sqlite3.connect(tmp_path / "old" / DATABASE)
    with database:
        database.execute("DELETE FROM writes WHERE revision = 3")
    database.close()

    with pytest.raises(ClusterError, match="revisions are missing"):
        content(tmp_path / "old")


def test_a_deleted_row_is_detected(closed: Path, tmp_path: Path) -> None:
    for revision in (3, 60):
        copy = tmp_path / str(revision)
        shutil.copytree(closed, copy)
        database = sqlite3.connect(copy / DATABASE)
        with database:
            database.execute(
                "DELETE FROM writes WHERE revision ="
                " (SELECT MIN(revision) FROM writes WHERE revision >= ?)",
                (revision,),
            )
        database.close()

        with pytest.raises(ClusterError, match="is damaged"):
            content(copy)


def test_data_of_a_later_version_is_rejected(closed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(closed, copy)
    database = sqlite3.connect(copy / DATABASE)
    database.execute("PRAGMA user_version = 99")
    database.close()

    with pytest.raises(ClusterError, match="a later version of steersman wrote"):
        content(copy)


def test_all_files_are_accessible_only_to_their_owner(closed: Path) -> None:
    modes = {each.name: each.stat().st_mode & 0o777 for each in closed.iterdir()}

    assert modes == {DATABASE: 0o600, HEAD: 0o600}
    assert os.access(closed, os.R_OK)
