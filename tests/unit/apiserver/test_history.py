"""History is kept for five minutes at least, and for ten at most."""

import pytest

from steersman.apiserver.history import KEPT_SECONDS, History
from steersman.apiserver.storage import Compacted, Key, RevisionLog, View
from tests.clocks import FakeClock

WEB = Key("pods", "default/web")


def write(log: RevisionLog) -> int:
    current = View(log).get(WEB)
    return log.append(WEB, {}, expected=current.revision if current else 0).revision


def test_what_happened_in_the_last_five_minutes_can_be_told() -> None:
    clock, log = FakeClock(), RevisionLog()
    history = History(log, clock=clock)
    first = write(log)
    clock.advance(KEPT_SECONDS - 1)
    history.keep_short()

    write(log)

    assert len(View(log).since(first, "pods")) == 1


def test_what_is_older_than_ten_minutes_is_forgotten() -> None:
    clock, log = FakeClock(), RevisionLog()
    history = History(log, clock=clock)
    first = write(log)
    write(log)

    for _ in range(2):
        clock.advance(KEPT_SECONDS)
        history.keep_short()

    with pytest.raises(Compacted):
        View(log).since(first, "pods")


def test_what_stands_is_never_forgotten() -> None:
    clock, log = FakeClock(), RevisionLog()
    history = History(log, clock=clock)
    write(log)

    for _ in range(3):
        clock.advance(KEPT_SECONDS)
        history.keep_short()
    history.forget()

    assert View(log).get(WEB) is not None
