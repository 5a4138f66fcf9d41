"""Compaction keeps the history for five to ten minutes."""

from collections.abc import Iterator
from typing import Any

import pytest

from steersman_cluster.apiserver.server.compaction import KEPT_SECONDS, Compactor
from steersman_cluster.apiserver.storage import Compacted, Key, RevisionLog, View, WriteFailed
from tests.clocks import FakeClock

WEB = Key("pods", "default/web")


def write(log: RevisionLog) -> int:
    current = View(log).get(WEB)
    return log.append(WEB, {}, expected=current.revision if current else 0).revision


def test_changes_of_the_last_five_minutes_can_be_watched() -> None:
    clock, log = FakeClock(), RevisionLog()
    history = Compactor(log, clock=clock)
    first = write(log)
    clock.advance(KEPT_SECONDS - 1)
    history.compact()

    write(log)

    assert len(View(log).since(first, "pods")) == 1


def test_changes_older_than_ten_minutes_are_compacted() -> None:
    clock, log = FakeClock(), RevisionLog()
    history = Compactor(log, clock=clock)
    first = write(log)
    write(log)

    for _ in range(2):
        clock.advance(KEPT_SECONDS)
        history.compact()

    with pytest.raises(Compacted):
        View(log).since(first, "pods")


def test_current_objects_are_never_compacted() -> None:
    clock, log = FakeClock(), RevisionLog()
    history = Compactor(log, clock=clock)
    write(log)

    for _ in range(3):
        clock.advance(KEPT_SECONDS)
        history.compact()
    history.compact_all()

    assert View(log).get(WEB) is not None


def test_excess_writes_are_compacted_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steersman_cluster.apiserver.server.compaction.MAX_WRITES", 10)
    log = RevisionLog()
    history = Compactor(log, clock=FakeClock())

    for _ in range(30):
        write(log)
        history.compact()

    assert log.revision - log.compacted <= 10
    assert len(View(log).since(log.revision - 5, "pods")) == 5


class FullDisk:
    """Fails every compaction."""

    def load(self) -> tuple[int, int, Iterator[tuple[int, Key, dict[str, Any] | None]]]:
        return 1, 0, iter(())

    def record(self, revision: int, key: Key, value: dict[str, Any] | None) -> None:
        pass

    def compact(self, revision: int) -> None:
        raise WriteFailed("history could not be forgotten")


def test_a_failed_compaction_is_retried_after_five_minutes() -> None:
    clock, log = FakeClock(), RevisionLog(FullDisk())
    history = Compactor(log, clock=clock)
    write(log)
    clock.advance(KEPT_SECONDS)
    history.compact()
    clock.advance(KEPT_SECONDS)

    with pytest.raises(WriteFailed):
        history.compact()
    history.compact()
    clock.advance(KEPT_SECONDS)
    with pytest.raises(WriteFailed):
        history.compact()
