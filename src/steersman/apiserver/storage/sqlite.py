"""A journal in SQLite: one table of writes, one row about the whole."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from steersman.apiserver.storage.log import Key, Unwritten
from steersman.errors import ClusterError

FILE = "steersman.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS writes (
    revision INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    place    TEXT NOT NULL,
    value    BLOB
);
CREATE INDEX IF NOT EXISTS writes_by_place ON writes (resource, place, revision);
CREATE TABLE IF NOT EXISTS state (
    only_row  INTEGER PRIMARY KEY CHECK (only_row = 1),
    revision  INTEGER NOT NULL,
    compacted INTEGER NOT NULL
);
INSERT OR IGNORE INTO state VALUES (1, 1, 0);
"""

# Of each place, what was replaced at or before a revision, and deletions up to it.
_FORGET = """
DELETE FROM writes WHERE revision <= :revision AND (
    value IS NULL OR EXISTS (
        SELECT 1 FROM writes AS later
        WHERE later.resource = writes.resource AND later.place = writes.place
          AND later.revision > writes.revision AND later.revision <= :revision
    )
)
"""


class SqliteJournal:
    """A directory with a database in it that only its owner may read."""

    def __init__(self, directory: Path) -> None:
        try:
            self._database = _opened(directory)
        except (OSError, sqlite3.DatabaseError) as error:
            raise ClusterError(
                problem=f"the data in {directory} cannot be used: {error}",
                what_now="Stop the cluster that is using it, or name another directory.",
            ) from error

    def load(self) -> tuple[int, int, Iterator[tuple[int, Key, dict[str, Any] | None]]]:
        """The last revision, the compacted one, and what was recorded, in order."""
        revision, compacted = self._database.execute(
            "SELECT revision, compacted FROM state"
        ).fetchone()
        (last,) = self._database.execute("SELECT MAX(revision) FROM writes").fetchone()
        return max(revision, last or 0), compacted, self._recorded()

    def _recorded(self) -> Iterator[tuple[int, Key, dict[str, Any] | None]]:
        rows = self._database.execute(
            "SELECT revision, resource, place, value FROM writes ORDER BY revision"
        )
        for revision, resource, place, value in rows:
            yield (
                revision,
                Key(resource, place),
                None if value is None else msgspec.json.decode(value),
            )

    def record(self, revision: int, key: Key, value: dict[str, Any] | None) -> None:
        """Make it last; ``Unwritten`` if it cannot be done."""
        encoded = None if value is None else msgspec.json.encode(value)
        try:
            self._database.execute(
                "INSERT INTO writes VALUES (?, ?, ?, ?)",
                (revision, key.resource, key.place, encoded),
            )
        except sqlite3.Error as error:
            raise Unwritten(f"{key.resource} {key.place} could not be stored: {error}") from error

    def compact(self, revision: int) -> None:
        """Forget what was replaced at or before ``revision``; ``Unwritten`` if it cannot be."""
        try:
            with self._database:
                self._database.execute("BEGIN")
                self._database.execute(
                    "UPDATE state SET compacted = :revision,"
                    " revision = MAX(revision, (SELECT COALESCE(MAX(revision), 0) FROM writes))",
                    {"revision": revision},
                )
                self._database.execute(_FORGET, {"revision": revision})
        except sqlite3.Error as error:
            raise Unwritten(f"history could not be forgotten: {error}") from error

    def close(self) -> None:
        """Let go of the files."""
        self._database.close()


def _opened(directory: Path) -> sqlite3.Connection:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / FILE
    path.touch(mode=0o600)
    # Autocommit: each write is a transaction of its own, whole in the write-ahead log before it is
    # answered. That log survives this process, however it ends.
    database = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        # Another server on the same data would hand out the same revisions.
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(_SCHEMA)
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database
