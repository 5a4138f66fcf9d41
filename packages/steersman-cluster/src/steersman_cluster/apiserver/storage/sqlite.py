"""A journal in SQLite: one table of writes, and one row of totals.

Changed and missing writes are detected. Each row has a checksum. For the writes up to the last
compaction, the totals contain their number and the sum of their checksums. After the last
compaction, no revision may be missing. A file beside the database stores the last acknowledged
revision. A journal that fails a check is rejected.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import msgspec

from steersman_cluster.apiserver.storage.acknowledged import AcknowledgedRevision, accept_hint
from steersman_cluster.apiserver.storage.log import FIRST_REVISION, Key, WriteFailed
from steersman_cluster.errors import ClusterError

FILE: Final = "steersman.db"

# The version of the tables; version 0 has no checksums.
FORMAT: Final = 1

# Checksums precede the values, so that SQLite adds them up without reading the values.
_SCHEMA: Final = """
CREATE TABLE writes (
    revision INTEGER PRIMARY KEY,
    checksum INTEGER NOT NULL,
    resource TEXT NOT NULL,
    place    TEXT NOT NULL,
    value    BLOB
);
CREATE INDEX writes_by_place ON writes (resource, place, revision);
CREATE TABLE state (
    only_row  INTEGER PRIMARY KEY CHECK (only_row = 1),
    revision  INTEGER NOT NULL,
    compacted INTEGER NOT NULL,
    rows      INTEGER NOT NULL,
    sum       INTEGER NOT NULL,
    checksum  INTEGER NOT NULL
);
"""

# Deletes entries of a place that were replaced at or before a revision, and deletions up to it.
_COMPACT: Final = """
DELETE FROM writes WHERE revision <= :revision AND (
    value IS NULL OR EXISTS (
        SELECT 1 FROM writes AS later
        WHERE later.resource = writes.resource AND later.place = writes.place
          AND later.revision > writes.revision AND later.revision <= :revision
    )
)
"""


class SqliteJournal:
    """A journal in an SQLite database that only the owner of its file can read."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._acknowledged = AcknowledgedRevision(directory)
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._last_known = self._checked_files()
            self._database = _opened(directory / FILE)
        except (OSError, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.DatabaseError) and not _is_not_damage(error):
                raise self._damaged(str(error)) from error
            raise ClusterError(
                problem=f"the data in {directory} cannot be used: {error}",
                what_now="Stop the cluster that is using it, or name another directory.",
            ) from error
        try:
            self._check_format()
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise self._damaged(str(error)) from error
        except ClusterError:
            self._database.close()
            raise

    def load(self) -> tuple[int, int, Iterator[tuple[int, Key, dict[str, Any] | None]]]:
        """Return the last revision, the last compacted revision, and the recorded writes.

        The writes are sorted by revision. Raises ``ClusterError`` if data is missing or was
        changed.
        """
        try:
            state = self._database.execute(
                "SELECT revision, compacted, rows, sum, checksum FROM state"
            ).fetchone()
            (last,) = self._database.execute("SELECT MAX(revision) FROM writes").fetchone()
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error
        if state is None or not _is_whole(state):
            raise self._damaged("the row of totals has a wrong checksum")
        base, compacted, rows, total, _ = state
        revision = max(base, last or 0)
        if self._last_known is not None and revision < self._last_known:
            raise self._cut_short(revision, self._last_known)
        self._acknowledged.open(revision)
        return revision, compacted, self._recorded(base, rows, total)

    def _recorded(
        self, base: int, rows: int, total: int
    ) -> Iterator[tuple[int, Key, dict[str, Any] | None]]:
        found = sum_found = 0
        expected = base
        try:
            for revision, checksum, resource, place, value in self._database.execute(
                "SELECT revision, checksum, resource, place, value FROM writes ORDER BY revision"
            ):
                # In a damaged row, even the types may differ.
                is_value = value is None or isinstance(value, bytes)
                if not is_value or checksum != _checksum(revision, resource, place, value):
                    raise self._damaged(f"revision {revision} has a wrong checksum")
                if revision <= base:
                    found += 1
                    sum_found += checksum
                else:
                    expected += 1
                    if revision != expected:
                        raise self._damaged(f"revision {expected} is missing")
                yield (
                    revision,
                    Key(resource, place),
                    None if value is None else msgspec.json.decode(value),
                )
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error
        if (found, sum_found) != (rows, total):
            raise self._damaged(
                f"the writes up to revision {base} differ from the totals: {found} of {rows}"
            )

    def record(self, revision: int, key: Key, value: dict[str, Any] | None) -> None:
        """Persist the write of ``value`` to ``key`` at ``revision``.

        Raises ``WriteFailed`` if that is not possible.
        """
        resource, place = key
        encoded = None if value is None else msgspec.json.encode(value)
        try:
            self._database.execute(
                "INSERT INTO writes VALUES (?, ?, ?, ?, ?)",
                (revision, _checksum(revision, resource, place, encoded), resource, place, encoded),
            )
            self._acknowledge(revision)
        except (sqlite3.Error, OSError) as error:
            raise WriteFailed(f"{resource} {place} could not be stored: {error}") from error

    def _acknowledge(self, revision: int) -> None:
        try:
            self._acknowledged.write(revision)
        except OSError:
            # A rejected write must not exist after a restart, nor block the next write.
            self._database.execute("DELETE FROM writes WHERE revision = ?", (revision,))
            raise

    def compact(self, revision: int) -> None:
        """Delete entries that were replaced at or before ``revision``.

        Raises ``WriteFailed`` if that is not possible.
        """
        database = self._database
        try:
            with database:
                database.execute("BEGIN")
                (last,) = database.execute(
                    "SELECT MAX((SELECT revision FROM state),"
                    " (SELECT COALESCE(MAX(revision), 0) FROM writes))"
                ).fetchone()
                database.execute(_COMPACT, {"revision": revision})
                self._account(last, revision)
        except sqlite3.Error as error:
            raise WriteFailed(f"the history could not be compacted: {error}") from error

    def close(self) -> None:
        """Close the database and the file beside it."""
        self._acknowledged.close()
        self._database.close()

    def _account(self, last: int, compacted: int) -> None:
        """Write the row of totals for all writes up to the last revision."""
        rows, total = self._database.execute(
            "SELECT COUNT(*), COALESCE(SUM(checksum), 0) FROM writes"
        ).fetchone()
        self._database.execute(
            "INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?)",
            (last, compacted, rows, total, _state_checksum(last, compacted, rows, total)),
        )

    def _checked_files(self) -> int | None:
        """Return the last acknowledged revision, or None; raise an error for a missing database."""
        path = self._directory / FILE
        size = path.stat().st_size if path.exists() else None
        known = self._acknowledged.read()
        if not size and (known is None or known > FIRST_REVISION) and (known, size) != (None, None):
            what = "is empty" if size == 0 else "is missing"
            raise ClusterError(
                problem=f"{path} {what}, although {self._directory} contained data",
                what_now=accept_hint(self._acknowledged.path),
            )
        if known is None and size is None:
            # Created before the database: a database without this file is of an older version.
            self._acknowledged.open()
            self._acknowledged.close()
            return FIRST_REVISION
        path.touch(mode=0o600)
        return known

    def _check_format(self) -> None:
        """Create the tables, or check the existing ones and upgrade an old format."""
        database = self._database
        (version,) = database.execute("PRAGMA user_version").fetchone()
        has_tables = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() != (0,)
        if version > FORMAT:
            raise ClusterError(
                problem=f"a later version of steersman wrote the data in {self._directory}",
                what_now="Use that version, or name another directory.",
            )
        if has_tables:
            problems = [each for (each,) in database.execute("PRAGMA integrity_check(1)")]
            if problems != ["ok"]:
                raise self._damaged(" ".join(problems[0].split()))
            if version == FORMAT:
                if self._last_known is None:
                    raise ClusterError(
                        problem=f"{self._acknowledged.path}, the file of the last acknowledged"
                        " revision, is missing",
                        what_now=accept_hint(self._acknowledged.path),
                    )
                return
        elif (self._last_known or 0) > FIRST_REVISION:
            raise self._cut_short(FIRST_REVISION, self._last_known)
        with database:
            database.execute("BEGIN IMMEDIATE")
            if has_tables:
                self._upgrade()
            else:
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                self._account(FIRST_REVISION, 0)
            database.execute(f"PRAGMA user_version = {FORMAT}")

    def _upgrade(self) -> None:
        """Add checksums to the writes in a database whose format has no checksums."""
        database = self._database
        columns = [name for _, name, *_ in database.execute("PRAGMA table_info(writes)")]
        if columns != ["revision", "resource", "place", "value"]:
            raise self._damaged("its tables do not belong to the format that it declares")
        revision, compacted = database.execute("SELECT revision, compacted FROM state").fetchone()
        old = database.execute("SELECT * FROM writes ORDER BY revision").fetchall()
        database.execute("DROP TABLE writes")
        database.execute("DROP TABLE state")
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        for number, resource, place, value in old:
            try:
                if value is not None:
                    msgspec.json.decode(value)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise self._damaged(
                    f"the value of revision {number} is not valid JSON: {error}"
                ) from error
            database.execute(
                "INSERT INTO writes VALUES (?, ?, ?, ?, ?)",
                (number, _checksum(number, resource, place, value), resource, place, value),
            )
        last = max([revision, *(number for number, *_ in old[-1:])])
        after = [number for number, *_ in old if number > revision]
        if after != list(range(revision + 1, last + 1)):
            raise self._damaged("revisions are missing")
        self._account(last, compacted)

    def _cut_short(self, revision: int, known: int | None) -> ClusterError:
        return ClusterError(
            problem=f"the data in {self._directory} is incomplete: it ends at revision {revision},"
            f" and revision {known} was acknowledged",
            what_now=accept_hint(self._acknowledged.path),
        )

    def _damaged(self, what: str) -> ClusterError:
        return ClusterError(
            problem=f"the data in {self._directory} is damaged: {what}",
            what_now="Restore the directory from a copy, or move it away to begin with an empty"
            " cluster.",
        )


def _opened(path: Path) -> sqlite3.Connection:
    path.touch(mode=0o600)
    # Autocommit: each write is one transaction, and is in the write-ahead log before the server
    # replies. The write-ahead log survives a crash of this process.
    database = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        # Two servers on the same data would assign the same revisions.
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        database.execute("COMMIT")
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database


def _is_not_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the error has a cause other than damaged data, such as a lock."""
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_READONLY"))


def _checksum(revision: int, resource: str, place: str, value: bytes | None) -> int:
    about = crc32(f"{revision}\n{resource}\n{place}\n{value is None}".encode())
    return about if value is None else crc32(value, about)


def _state_checksum(*numbers: int) -> int:
    return crc32(" ".join(map(str, numbers)).encode())


def _is_whole(state: tuple[Any, ...]) -> bool:
    *numbers, checksum = state
    return all(isinstance(each, int) for each in state) and checksum == _state_checksum(*numbers)
