"""Files on disk: all are written, or none."""

from pathlib import Path

import pytest

from steersman.errors import ProjectError
from steersman.scaffold.file_writer import read_text, require_absent, require_room, write_files
from tests.unit.scaffold.projects import files_in


def test_files_are_written_with_their_directories(tmp_path: Path) -> None:
    write_files(tmp_path / "new", {"a": "1\n", "deep/er/b": "größer\r\n"})

    assert files_in(tmp_path) == {"new/a": "1\n", "new/deep/er/b": "größer\r\n"}


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("old")
    script.chmod(0o750)

    write_files(tmp_path, {"script": "new"})

    assert script.read_text() == "new"
    assert script.stat().st_mode & 0o777 == 0o750


def test_removals_and_writes_are_done_together(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")

    write_files(tmp_path, {"new": "new"}, removed=["old"])

    assert files_in(tmp_path) == {"new": "new"}


def test_a_failed_preparation_leaves_no_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ProjectError, match=r"file/.* cannot be written: Not a directory, and"):
        write_files(tmp_path, {"new/a": "1", "file/b": "2"})

    assert files_in(tmp_path) == {"file": "in the way"}
    assert not (tmp_path / "new").exists()


def test_replaced_files_are_restored_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("before")
    (tmp_path / "b").mkdir()

    with pytest.raises(ProjectError, match="nothing was changed"):
        write_files(tmp_path, {"a": "after", "fresh": "new", "b": "a directory is in the way"})

    assert files_in(tmp_path) == {"a": "before"}


def test_removed_files_are_restored_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for path in ("a", "inner/b"):
        (tmp_path / path).write_text("before")

    with pytest.raises(ProjectError, match="nothing was changed"):
        write_files(tmp_path, {"fresh": "new"}, removed=["a", "inner/b", "not there"])

    assert files_in(tmp_path) == {"a": "before", "inner/b": "before"}


def test_a_directory_is_removed_with_its_last_file(tmp_path: Path) -> None:
    for path in ("a/b/c", "a/d/e"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()

    write_files(tmp_path, {}, removed=["a/b/c"])

    assert (tmp_path / "a" / "d").is_dir()
    assert not (tmp_path / "a" / "b").exists()


def test_the_error_for_a_file_that_is_not_text_names_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff")

    with pytest.raises(ProjectError, match="a is not a UTF-8 text file"):
        read_text(tmp_path / "a")


def test_the_error_for_a_nonempty_directory_lists_its_contents(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"file{number}").touch()

    with pytest.raises(ProjectError, match=r"file0, file1, file2, file3, file4 and 2 more\."):
        require_room(tmp_path, besides={".git"})


def test_a_file_instead_of_a_directory_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ProjectError, match="Not a directory"):
        require_room(tmp_path / "file", besides=())


def test_existing_files_are_named(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).touch()

    with pytest.raises(ProjectError, match="a, b already exist, and would be overwritten"):
        require_absent(tmp_path, ["b", "c", "a"])
