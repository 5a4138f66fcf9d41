"""Generated files: all are written or none, and edited files are kept."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from steersman.errors import EditedByHand, OutOfDate, ProjectError
from steersman.manifests import FileChanges, check_trees, in_folder, write_trees

RECORD = ".steersman/generated.json"
UNPRIVILEGED = 65534  # a user id without permissions


def files_in(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != "generated.json"
    }


def test_a_tree_is_written_with_its_directories(tmp_path: Path) -> None:
    changes = write_trees(tmp_path, {"crd": {"crd/a.yaml": "a: ä\n"}, "rbac": {"role.yaml": "r\n"}})

    assert changes == FileChanges(written=("crd/a.yaml", "role.yaml"))
    assert files_in(tmp_path) == {"crd/a.yaml": "a: ä\n", "role.yaml": "r\n"}


def test_an_up_to_date_file_is_not_written(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}})
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}

    changes = write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}})

    assert changes == FileChanges(unchanged=("a.yaml",))
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_unedited_file_is_replaced(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "old\n"}})

    changes = write_trees(tmp_path, {"crd": {"a.yaml": "new\n"}})

    assert changes.written == ("a.yaml",)
    assert files_in(tmp_path) == {"a.yaml": "new\n"}


def test_an_edited_file_is_kept_and_then_no_file_is_written(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "size: 1\n", "b.yaml": "old\n"}})
    (tmp_path / "a.yaml").write_text("size: 7\n")
    record = (tmp_path / RECORD).read_text()

    with pytest.raises(EditedByHand) as caught:
        write_trees(tmp_path, {"crd": {"a.yaml": "size: 2\n", "b.yaml": "new\n", "c/c.yaml": ""}})

    assert caught.value.paths == ("a.yaml",)
    assert caught.value.diff == (
        "--- a.yaml (generated)\n+++ a.yaml (on disk)\n@@ -1 +1 @@\n-size: 2\n+size: 7\n"
    )
    assert files_in(tmp_path) == {"a.yaml": "size: 7\n", "b.yaml": "old\n"}
    assert (tmp_path / RECORD).read_text() == record
    assert not (tmp_path / "c").exists()


def test_a_file_that_was_never_generated_counts_as_edited(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff no text\n")

    with pytest.raises(EditedByHand):
        write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}})

    assert (tmp_path / "a.yaml").read_bytes() == b"\xff no text\n"


def test_a_file_that_equals_the_generated_one_does_not_count_as_edited(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "1\n"}})
    (tmp_path / "a.yaml").write_text("2\n")

    changes = write_trees(tmp_path, {"crd": {"a.yaml": "2\n"}})

    assert changes == FileChanges(unchanged=("a.yaml",))
    assert write_trees(tmp_path, {"crd": {"a.yaml": "3\n"}}).written == ("a.yaml",)


def test_different_line_endings_do_not_count_as_an_edit(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "a\nb\n"}})
    (tmp_path / "a.yaml").write_bytes(b"a\r\nb\r\n")

    check_trees(tmp_path, {"crd": {"a.yaml": "a\nb\n"}})

    assert write_trees(tmp_path, {"crd": {"a.yaml": "c\n"}}).written == ("a.yaml",)


def test_with_force_an_edited_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("mine\n")

    changes = write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}}, force=True)

    assert changes.written == ("a.yaml",)
    assert files_in(tmp_path) == {"a.yaml": "a\n"}


def test_a_file_that_is_no_longer_generated_is_removed_with_its_empty_directories(
    tmp_path: Path,
) -> None:
    write_trees(tmp_path, {"crd": {"deep/er/a.yaml": "a\n", "deep/b.yaml": "b\n"}})

    changes = write_trees(tmp_path, {"crd": {"deep/b.yaml": "b\n"}})

    assert changes == FileChanges(unchanged=("deep/b.yaml",), removed=("deep/er/a.yaml",))
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["b.yaml"]


def test_an_edited_file_that_is_no_longer_generated_is_kept(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}})
    (tmp_path / "a.yaml").write_text("mine\n")

    changes = write_trees(tmp_path, {"crd": {}})

    assert changes == FileChanges(left=("a.yaml",))
    assert write_trees(tmp_path, {"crd": {}}) == FileChanges()
    assert files_in(tmp_path) == {"a.yaml": "mine\n"}


def test_generating_one_part_removes_no_file_of_another(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}, "docs": {"api.md": "b\n"}})

    changes = write_trees(tmp_path, {"crd": {}})

    assert changes.removed == ("a.yaml",)
    assert files_in(tmp_path) == {"api.md": "b\n"}
    assert list(json.loads((tmp_path / RECORD).read_text())["parts"]) == ["docs"]


def test_a_file_that_another_part_generates_now_stays(tmp_path: Path) -> None:
    write_trees(tmp_path, {"deploy": {"crd/a.yaml": "a\n"}})
    write_trees(tmp_path, {"crd": {"crd/a.yaml": "a\n"}})

    assert write_trees(tmp_path, {"deploy": {}}) == FileChanges()
    assert write_trees(tmp_path, {"crd": {}}).removed == ("crd/a.yaml",)


def test_a_file_of_two_parts_stays_until_neither_generates_it(tmp_path: Path) -> None:
    both = {"crd": {"a.yaml": "a\n"}, "deploy": {"a.yaml": "a\n"}}
    write_trees(tmp_path, both)

    assert write_trees(tmp_path, {"deploy": {}}) == FileChanges()
    write_trees(tmp_path, both)
    assert write_trees(tmp_path, {"crd": {}, "deploy": {}}).removed == ("a.yaml",)


def test_a_file_deleted_by_hand_is_generated_again(tmp_path: Path) -> None:
    write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}})
    (tmp_path / "a.yaml").unlink()

    assert write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}}).written == ("a.yaml",)


def test_a_check_names_missing_stale_edited_and_extra_files(tmp_path: Path) -> None:
    old = {"stale": "1\n", "edited": "1\n", "gone": "1\n", "same": "1\n"}
    write_trees(tmp_path, {"crd": old})
    (tmp_path / "edited").write_text("mine\n")
    before = files_in(tmp_path)

    with pytest.raises(OutOfDate) as caught:
        check_trees(
            tmp_path, {"crd": {"stale": "2\n", "edited": "1\n", "same": "1\n", "missing": "1\n"}}
        )

    assert caught.value.paths == ("edited", "gone", "missing", "stale")
    assert files_in(tmp_path) == before


def test_a_check_of_new_files_is_silent_even_without_a_record(tmp_path: Path) -> None:
    parts = {"crd": {"crd/a.yaml": "a\n"}}
    write_trees(tmp_path, parts)

    check_trees(tmp_path, parts)
    (tmp_path / RECORD).unlink()

    check_trees(tmp_path, parts)


def test_a_failed_write_leaves_no_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way\n")

    with pytest.raises(ProjectError, match="cannot be written: Not a directory, and no file was"):
        write_trees(tmp_path, {"crd": {"new/folder/a.yaml": "a\n", "file/b.yaml": "b\n"}})

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_directory_instead_of_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").mkdir()

    with pytest.raises(ProjectError, match="is a directory, but must be a generated file"):
        write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}})


@contextmanager
def without_root() -> Iterator[None]:
    """Run the block as an ordinary user; root may read every file."""
    user = os.geteuid()
    os.seteuid(user or UNPRIVILEGED)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_that_cannot_be_read_is_reported() -> None:
    # Not in tmp_path, whose parents are closed to other users.
    with TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        (directory / "a.yaml").touch(mode=0o000)

        with (
            without_root(),
            pytest.raises(ProjectError, match=r"a\.yaml cannot be read: Permission denied"),
        ):
            write_trees(directory, {"crd": {"a.yaml": "a\n"}})


@pytest.mark.parametrize(
    "record",
    [
        "<<<<<<< ours\n",
        "[]",
        '{"parts": {"crd": ["a.yaml"]}}',
        '{"parts": {"crd": {"../other": "sha256:0"}}}',
        '{"parts": {"crd": {"a.yaml": 1}}}',
    ],
)
def test_an_invalid_record_is_an_error_and_nothing_is_written(tmp_path: Path, record: str) -> None:
    (tmp_path / ".steersman").mkdir()
    (tmp_path / RECORD).write_text(record)

    with pytest.raises(ProjectError, match=r"cannot be used: .*Restore it from the repository"):
        write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}})

    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("path", ["/etc/passwd", "../other", "a/../../b", ""])
def test_a_tree_cannot_write_outside_of_its_directory(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="paths below its directory"):
        write_trees(tmp_path, {"crd": {path: "a\n"}})


def test_two_parts_cannot_generate_one_file_differently(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"two parts make a\.yaml"):
        write_trees(tmp_path, {"crd": {"a.yaml": "a\n"}, "rbac": {"a.yaml": "b\n"}})


def test_a_tree_can_be_moved_into_a_directory() -> None:
    assert in_folder("deploy/chart", {"a/b.yaml": "b\n"}) == {"deploy/chart/a/b.yaml": "b\n"}
