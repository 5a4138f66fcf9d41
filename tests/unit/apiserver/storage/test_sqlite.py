"""The journal: what was acknowledged is there again, and numbers go on rising."""

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

# Writes until it is killed, and says each revision once it is acknowledged.
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
    """Opens what was recorded in ``tmp_path``; closed when the test ends."""
    with ExitStack() as journals:
        yield lambda: RevisionLog(journals.enter_context(closing(SqliteJournal(tmp_path))))


def test_what_was_written_is_there_again(reopen: Reopen, tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    log = RevisionLog(journal)
    web = log.append(WEB, {"size": 1}, expected=0)
    log.append(WEB, {"size": 2}, expected=web.revision)
    journal.close()

    again = reopen()

    assert again.revision == log.revision
    assert [entry.value for entry in View(again).page("pods").entries] == [{"size": 2}]
    assert len(View(again).since(web.revision, "pods")) == 1


@pytest.mark.timeout(20)  # another Python has to start
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


def test_numbers_go_on_rising_although_the_last_of_them_was_forgotten(
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


def test_only_the_owner_may_read_the_data(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "data")
    RevisionLog(journal).append(WEB, {}, expected=0)

    files = list((tmp_path / "data").iterdir())

    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert files
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)
    journal.close()


def test_two_servers_cannot_have_the_same_data(tmp_path: Path) -> None:
    first = SqliteJournal(tmp_path)
    RevisionLog(first).append(WEB, {}, expected=0)

    with pytest.raises(ClusterError, match="Stop the cluster that is using it"):
        SqliteJournal(tmp_path)
    first.close()


def test_what_cannot_be_made_to_last_is_not_written(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    log = RevisionLog(journal)
    journal.close()

    with pytest.raises(WriteFailed):
        log.append(WEB, {}, expected=0)

    assert log.latest(WEB) is None


def test_what_cannot_be_acknowledged_is_not_written_nor_in_the_way_of_the_next_write(
    reopen: Reopen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = SqliteJournal(tmp_path)
    log = RevisionLog(journal)
    log.append(Key("pods", "default/first"), {}, expected=0)

    def refuse(descriptor: int, content: bytes, offset: int) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", refuse)
        with pytest.raises(WriteFailed, match="Input/output error"):
            log.append(WEB, {}, expected=0)
    next_ = log.append(Key("pods", "default/next"), {}, expected=0)
    journal.close()

    again = reopen()
    assert again.revision == next_.revision
    assert again.latest(WEB) is None
