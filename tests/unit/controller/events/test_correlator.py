"""Which events are worth a write."""

from datetime import UTC, datetime, timedelta
from math import inf
from random import Random

import pytest

from steersman.controller.events.correlator import (
    BURST,
    MOST_KEPT,
    MOST_WAITING,
    OVER_KEPT,
    OVER_SHARE,
    OVER_WAITING,
    REFILL_SECONDS,
    REFRESH_SECONDS,
    ROW_SECONDS,
    EventRows,
    Row,
    Said,
)
from steersman.kinds import core_v1

START_TIME = datetime(2026, 1, 1, tzinfo=UTC)


class Book:
    """Rows, and a time that the test moves."""

    def __init__(self) -> None:
        self.rows = EventRows()
        self.now_at = 1000.0

    @property
    def now_time(self) -> datetime:
        return START_TIME + timedelta(seconds=self.now_at)

    def say(self, note: str = "it failed", *, about: str = "uid-1") -> bool:
        said = Said(about, "Warning", "Failed", "Reconcile", note, "")
        now_at, now_time = self.now_at, self.now_time
        if self.rows.repeated(said, now_at=now_at, now_time=now_time):
            return True
        if not self.rows.may_begin(about, now_at=now_at):
            return False
        reference = core_v1.ObjectReference(name="web", namespace="default")
        self.rows.begin(
            Row(
                said,
                regarding=reference,
                related=None,
                name="web.1",
                now_at=now_at,
                now_time=now_time,
            )
        )
        return True

    def write(self) -> int | None:
        """Tell the server of what is due; of how many."""
        row = self.rows.take_due(now_at=self.now_at)
        if row is None:
            return None
        self.rows.was_told(row, row.count, now_at=self.now_at)
        return row.count


def test_an_event_is_due_at_once_and_so_is_its_first_repetition() -> None:
    book = Book()

    book.say()
    assert (book.write(), book.write()) == (1, None)
    book.say()
    assert (book.write(), book.write()) == (2, None)


def test_what_comes_again_before_it_was_written_is_written_once() -> None:
    book = Book()

    for _ in range(7):
        book.say()

    assert (book.write(), book.write()) == (7, None)


def test_further_repetitions_are_told_of_once_a_minute() -> None:
    book = Book()
    for _ in range(2):
        book.say()
        book.write()

    for _ in range(100):
        book.say()
    assert book.write() is None
    assert book.rows.due_seconds(now_at=book.now_at) == REFRESH_SECONDS
    book.now_at += REFRESH_SECONDS

    assert (book.write(), book.write()) == (102, None)


def test_what_comes_again_while_it_is_told_waits_its_minute_too() -> None:
    book = Book()
    for _ in range(2):
        book.say()
        book.write()
    book.say()
    book.now_at += REFRESH_SECONDS
    row = book.rows.take_due(now_at=book.now_at)
    assert row is not None

    book.say()  # the last time that it was told is a minute ago, as yet
    book.rows.was_told(row, 3, now_at=book.now_at)

    assert book.write() is None
    book.now_at += REFRESH_SECONDS
    assert book.write() == 4


def test_after_six_minutes_of_silence_it_is_another_event() -> None:
    book = Book()
    book.say()
    book.write()

    book.now_at += ROW_SECONDS
    book.say()
    assert book.write() == 2
    book.now_at += ROW_SECONDS + 1
    book.say()
    assert book.write() == 1


@pytest.mark.parametrize(
    "other",
    [
        Said("uid-2", "Warning", "Failed", "Reconcile", "it failed", ""),
        Said("uid-1", "Normal", "Failed", "Reconcile", "it failed", ""),
        Said("uid-1", "Warning", "Lost", "Reconcile", "it failed", ""),
        Said("uid-1", "Warning", "Failed", "Finalize", "it failed", ""),
        Said("uid-1", "Warning", "Failed", "Reconcile", "it failed again", ""),
        Said("uid-1", "Warning", "Failed", "Reconcile", "it failed", "uid-2"),
    ],
)
def test_a_row_is_of_events_that_are_alike_in_everything(other: Said) -> None:
    book = Book()
    book.say()

    assert not book.rows.repeated(other, now_at=book.now_at, now_time=book.now_time)


def test_one_object_has_so_many_events_at_once_and_one_more_every_five_minutes() -> None:
    book = Book()

    said = [book.say(f"number {n}") for n in range(BURST + 3)]
    assert said == [True] * BURST + [False] * 3
    assert book.say("another object's", about="uid-2")
    assert book.rows.take_dropped() == {OVER_SHARE: 3}
    book.now_at += REFILL_SECONDS

    assert [book.say(f"later {n}") for n in range(2)] == [True, False]


def test_a_repetition_costs_nothing_of_that() -> None:
    book = Book()

    assert all(book.say() for _ in range(BURST * 10))


def test_no_more_than_so_many_wait_to_be_written() -> None:
    book = Book()

    said = [book.say(about=f"uid-{n}") for n in range(MOST_WAITING + 5)]

    assert said == [True] * MOST_WAITING + [False] * 5
    assert book.rows.take_dropped() == {OVER_WAITING: 5}
    while book.write() is not None:
        pass
    assert book.say(about="uid-new")


def test_no_more_than_so_many_rows_are_kept_and_what_was_not_told_of_them_is_counted() -> None:
    book = Book()
    book.say(about="first")
    book.write()
    book.say(about="first")
    book.write()
    book.say(about="first")  # not told yet
    for number in range(MOST_KEPT + 10):
        book.say(about=f"uid-{number}")
        book.write()

    assert len(book.rows) == MOST_KEPT
    assert book.rows.take_dropped() == {OVER_KEPT: 1}
    book.now_at += REFRESH_SECONDS
    assert book.write() is None


def test_rows_that_are_at_their_end_are_forgotten() -> None:
    book = Book()
    for number in range(100):
        book.say(about=f"uid-{number}")
        book.write()
    book.now_at += ROW_SECONDS + 1

    book.rows.forget_old(now_at=book.now_at)

    assert len(book.rows) == 0


def test_what_could_not_be_written_is_due_again_until_it_is_given_up() -> None:
    book = Book()
    book.say()
    row = book.rows.take_due(now_at=book.now_at)
    assert row is not None

    book.rows.put_back(row, now_at=book.now_at)
    assert book.rows.take_due(now_at=book.now_at) is row
    book.rows.give_up(row, "refused")

    assert book.rows.take_due(now_at=inf) is None
    assert book.rows.take_dropped() == {"refused": 1}
    assert book.rows.take_dropped() == {}


def test_whatever_happens_every_event_is_told_or_dropped() -> None:
    rng = Random(1)
    book = Book()
    said = told = 0
    for _ in range(20_000):
        book.now_at += rng.expovariate(1)
        said += 1
        book.say(f"note {rng.randrange(40)}", about=f"uid-{rng.randrange(30)}")
        if rng.random() < 0.3 and (row := book.rows.take_due(now_at=book.now_at)) is not None:
            before = row.told
            if rng.random() < 0.2:
                book.rows.put_back(row, now_at=book.now_at)
            elif rng.random() < 0.1:
                book.rows.give_up(row, "refused")
            else:
                times = row.count
                if rng.random() < 0.5:
                    said += 1
                    book.say(row.said.note, about=row.said.about)
                told += times - before
                book.rows.was_told(row, times, now_at=book.now_at)
    while (row := book.rows.take_due(now_at=inf)) is not None:
        told += row.count - row.told
        book.rows.was_told(row, row.count, now_at=book.now_at)

    assert told + sum(book.rows.take_dropped().values()) == said
    assert told > 1000
