"""The last acknowledged revision, in a separate file beside the SQLite database.

From a database alone, SQLite cannot detect that the end of its write-ahead log is missing: the last
writes could just as well never have happened. With this file, steersman can: if the database ends
before the acknowledged revision, acknowledged writes are missing.
"""

import os
from pathlib import Path
from typing import Final
from zlib import crc32

from steersman_cluster.apiserver.storage.log import FIRST_REVISION
from steersman_cluster.errors import ClusterError

FILE: Final = "steersman.head"

#: The content of the file with which a user accepts the loss.
ACCEPT: Final = b"accept"

_LENGTH: Final = 32


class AcknowledgedRevision:
    """The file of the last acknowledged revision: read at the start, updated at each write."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._file: int | None = None

    def read(self) -> int | None:
        """Return the last acknowledged revision; None if the file does not exist.

        A user who accepts that writes are missing can write this decision into the file. The result
        is then 0, so that any database is valid.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        if content.strip() == ACCEPT:
            return 0
        number = content.partition(b" ")[0]
        if len(content) != _LENGTH or not number.isdigit() or _line(int(number)) != content:
            raise ClusterError(
                problem=f"{self._path}, the file of the last acknowledged revision, is damaged",
                what_now=accept_hint(self._path),
            )
        return int(number)

    def open(self, revision: int = FIRST_REVISION) -> None:
        """Open the file for writing, with ``revision`` as the last acknowledged revision."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(self._path, flags, 0o600)
        self.write(revision)
        os.ftruncate(self._file, _LENGTH)

    def write(self, revision: int) -> None:
        """Record ``revision`` as the last acknowledged revision."""
        if self._file is not None:
            os.pwrite(self._file, _line(revision), 0)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    def __repr__(self) -> str:
        return f"<AcknowledgedRevision in {self._path}>"


def accept_hint(path: Path) -> str:
    """Return the advice in the error about missing writes; ``path`` is the file's path."""
    return (
        "Restore the directory from a copy, move it away to begin with an empty cluster, or accept"
        f" the loss: echo {ACCEPT.decode()} > {path}"
    )


def _line(revision: int) -> bytes:
    number = b"%020d" % revision
    return b"%b %010d\n" % (number, crc32(number))
