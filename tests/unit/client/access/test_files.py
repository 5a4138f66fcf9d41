"""Small configuration files."""

from pathlib import Path

import pytest

from steersman.client.access.files import read_if_exists, read_small_file
from steersman.errors import ConfigError


def test_a_path_that_cannot_be_read_is_an_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_if_exists(tmp_path)
    with pytest.raises(ConfigError, match="cannot be read: the path is invalid"):
        read_if_exists(Path("null\0byte"))


def test_a_missing_file_is_none_or_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert read_if_exists(tmp_path / "missing") is None
    assert read_if_exists(tmp_path / "file" / "inside") is None
    with pytest.raises(ConfigError, match="the file does not exist"):
        read_small_file(tmp_path / "missing")


def test_a_file_may_have_exactly_the_largest_size(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")

    assert read_small_file(file, limit_bytes=5) == b"12345"
    with pytest.raises(ConfigError, match="is larger than 4 bytes"):
        read_small_file(file, limit_bytes=4)
