"""The SQLite journal: acknowledged writes survive, and revisions never decrease."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

import pytest

from steersman_cluster.apiserver.storage import Key, RevisionLog, SqliteJournal, View, WriteFailed
from steersman_cluster.errors import ClusterError

WEB = Key("pods", "default/web")

# Writes until it is killed, and prints each revision after its acknowledgment.
WRITER = """
import sys
from pathlib import Path
from steersman_cluster.apiserver.storage import Key, RevisionLog, SqliteJournal
log = RevisionLog(SqliteJournal(Path(sys.argv[1])))
revision = 0
while True:
    entry = log.append(Key("pods", "default/web"), {"n": revision}, expected=revision)
    revision = entry.revision
    print(revision, flush=True)
"""


Reopen: TypeAlias = Callable[[], RevisionLog]


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Reopen]:
    """Yield a function that opens the journal in ``tmp_path`` until the test ends."""
    with ExitStack() as journals:
        yield lambda: RevisionLog(journals.enter_context(closing(SqliteJournal(tmp_path))))


def test_written_objects_are_read_after_a_restart(reopen: Reopen, tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    log = RevisionLog(journal)
    web = log.append(WEB, {"size": 1}, expected=0)
    log.append(WEB, {"size": 2}, expected=web.revision)
    journal.close()

    again = reopen()

    assert again.revision == log.revision
    assert [entry.value for entry in View(again).page("pods").entries] == [{"size": 2}]
    assert len(View(again).since(web.revision, "pods")) == 1


def test_every_acknowledged_write_survives_a_crash(reopen: Reopen, tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(50)]
    writer.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().splitlines() if line]
    writer.wait()
    writer.stdout.close()

    log = reopen()

    assert log.revision >= acknowledged[-1]
    assert log.latest(WEB) is not None
    entry = log.append(Key("pods", "default/new"), {}, expected=0)
    assert entry.revision > acknowledged[-1]


def test_revisions_increase_after_the_last_one_was_compacted(
    reopen: Reopen, tmp_path: Path
) -> None:
    journal = SqliteJournal(tmp_path)
    log = RevisionLog(journal)
    web = log.append(WEB, {}, expected=0)
    deleted = log.append(WEB, None, expected=web.revision)
    log.compact(log.revision)
    journal.close()

    again = reopen()

    assert again.revision == deleted.revision
    assert again.compacted == deleted.revision
    assert again.append(WEB, {}, expected=0).revision > deleted.revision


def test_only_the_owner_can_read_the_data(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "data")
    RevisionLog(journal).append(WEB, {}, expected=0)

    files = list((tmp_path / "data").iterdir())

    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert files
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)
    journal.close()


def test_a_second_server_cannot_open_the_same_data(tmp_path: Path) -> None:
    first = SqliteJournal(tmp_path)
    RevisionLog(first).append(WEB, {}, expected=0)

    with pytest.raises(ClusterError, match="Stop the cluster that is using it"):
        SqliteJournal(tmp_path)
    first.close()


def test_a_write_to_a_closed_journal_fails_and_changes_nothing(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    log = RevisionLog(journal)
    journal.close()

    with pytest.raises(WriteFailed):
        log.append(WEB, {}, expected=0)

    assert log.latest(WEB) is None


def test_a_write_that_cannot_be_acknowledged_is_rolled_back(
    reopen: Reopen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = SqliteJournal(tmp_path)
    log = RevisionLog(journal)
    log.append(Key("pods", "default/first"), {}, expected=0)

    def fail(descriptor: int, content: bytes, offset: int) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", fail)
        with pytest.raises(WriteFailed, match="Input/output error"):
            log.append(WEB, {}, expected=0)
    next_ = log.append(Key("pods", "default/next"), {}, expected=0)
    journal.close()

    again = reopen()
    assert again.revision == next_.revision
    assert again.latest(WEB) is None
