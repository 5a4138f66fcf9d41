"""The correlator decides which events are written."""

from datetime import UTC, datetime, timedelta
from math import inf
from random import Random

import pytest

from steersman.controller.events.correlator import (
    BURST,
    MAX_KEPT,
    MAX_QUEUED,
    OVER_KEPT,
    OVER_LIMIT,
    OVER_QUEUED,
    REFILL_SECONDS,
    REFRESH_SECONDS,
    SERIES_SECONDS,
    EventCorrelator,
    EventEntry,
    EventKey,
)
from steersman.kinds import core_v1

START_TIME = datetime(2026, 1, 1, tzinfo=UTC)


class TimedCorrelator:
    """A correlator with a clock that the test advances."""

    def __init__(self) -> None:
        self.correlator = EventCorrelator()
        self.now_at = 1000.0

    @property
    def now_time(self) -> datetime:
        return START_TIME + timedelta(seconds=self.now_at)

    def record(self, note: str = "it failed", *, about: str = "uid-1") -> bool:
        key = EventKey(about, "Warning", "Failed", "Reconcile", note, "")
        now_at, now_time = self.now_at, self.now_time
        if self.correlator.count_repeat(key, now_at=now_at, now_time=now_time):
            return True
        if not self.correlator.allows(about, now_at=now_at):
            return False
        reference = core_v1.ObjectReference(name="web", namespace="default")
        self.correlator.add(
            EventEntry(
                key,
                regarding=reference,
                related=None,
                name="web.1",
                now_at=now_at,
                now_time=now_time,
            )
        )
        return True

    def write(self) -> int | None:
        """Write the entry that is due, and return its count."""
        entry = self.correlator.take_due(now_at=self.now_at)
        if entry is None:
            return None
        self.correlator.mark_written(entry, entry.count, now_at=self.now_at)
        return entry.count


def test_an_event_and_its_first_repetition_are_due_immediately() -> None:
    events = TimedCorrelator()

    events.record()
    assert (events.write(), events.write()) == (1, None)
    events.record()
    assert (events.write(), events.write()) == (2, None)


def test_an_event_that_repeats_before_it_is_written_is_written_once() -> None:
    events = TimedCorrelator()

    for _ in range(7):
        events.record()

    assert (events.write(), events.write()) == (7, None)


def test_further_repetitions_are_written_once_a_minute() -> None:
    events = TimedCorrelator()
    for _ in range(2):
        events.record()
        events.write()

    for _ in range(100):
        events.record()
    assert events.write() is None
    assert events.correlator.due_seconds(now_at=events.now_at) == REFRESH_SECONDS
    events.now_at += REFRESH_SECONDS

    assert (events.write(), events.write()) == (102, None)


def test_a_repetition_during_the_write_waits_for_a_minute_too() -> None:
    events = TimedCorrelator()
    for _ in range(2):
        events.record()
        events.write()
    events.record()
    events.now_at += REFRESH_SECONDS
    entry = events.correlator.take_due(now_at=events.now_at)
    assert entry is not None

    events.record()  # a minute after the last write
    events.correlator.mark_written(entry, 3, now_at=events.now_at)

    assert events.write() is None
    events.now_at += REFRESH_SECONDS
    assert events.write() == 4


def test_after_six_quiet_minutes_a_new_series_starts() -> None:
    events = TimedCorrelator()
    events.record()
    events.write()

    events.now_at += SERIES_SECONDS
    events.record()
    assert events.write() == 2
    events.now_at += SERIES_SECONDS + 1
    events.record()
    assert events.write() == 1


@pytest.mark.parametrize(
    "other",
    [
        EventKey("uid-2", "Warning", "Failed", "Reconcile", "it failed", ""),
        EventKey("uid-1", "Normal", "Failed", "Reconcile", "it failed", ""),
        EventKey("uid-1", "Warning", "Lost", "Reconcile", "it failed", ""),
        EventKey("uid-1", "Warning", "Failed", "Finalize", "it failed", ""),
        EventKey("uid-1", "Warning", "Failed", "Reconcile", "it failed again", ""),
        EventKey("uid-1", "Warning", "Failed", "Reconcile", "it failed", "uid-2"),
    ],
)
def test_a_series_consists_of_equal_events(other: EventKey) -> None:
    events = TimedCorrelator()
    events.record()

    assert not events.correlator.count_repeat(other, now_at=events.now_at, now_time=events.now_time)


def test_events_about_one_object_are_limited_to_a_burst_and_one_more_every_five_minutes() -> None:
    events = TimedCorrelator()

    allowed = [events.record(f"number {n}") for n in range(BURST + 3)]
    assert allowed == [True] * BURST + [False] * 3
    assert events.record("another object's", about="uid-2")
    assert events.correlator.take_dropped() == {OVER_LIMIT: 3}
    events.now_at += REFILL_SECONDS

    assert [events.record(f"later {n}") for n in range(2)] == [True, False]


def test_a_repetition_does_not_count_against_the_limit() -> None:
    events = TimedCorrelator()

    assert all(events.record() for _ in range(BURST * 10))


def test_the_queue_is_bounded() -> None:
    events = TimedCorrelator()

    allowed = [events.record(about=f"uid-{n}") for n in range(MAX_QUEUED + 5)]

    assert allowed == [True] * MAX_QUEUED + [False] * 5
    assert events.correlator.take_dropped() == {OVER_QUEUED: 5}
    while events.write() is not None:
        pass
    assert events.record(about="uid-new")


def test_the_number_of_series_is_bounded_and_unwritten_events_of_dropped_ones_are_counted() -> None:
    events = TimedCorrelator()
    events.record(about="first")
    events.write()
    events.record(about="first")
    events.write()
    events.record(about="first")  # not written yet
    for number in range(MAX_KEPT + 10):
        events.record(about=f"uid-{number}")
        events.write()

    assert len(events.correlator) == MAX_KEPT
    assert events.correlator.take_dropped() == {OVER_KEPT: 1}
    events.now_at += REFRESH_SECONDS
    assert events.write() is None


def test_series_that_have_ended_are_forgotten() -> None:
    events = TimedCorrelator()
    for number in range(100):
        events.record(about=f"uid-{number}")
        events.write()
    events.now_at += SERIES_SECONDS + 1

    events.correlator.forget_old(now_at=events.now_at)

    assert len(events.correlator) == 0


def test_an_entry_that_could_not_be_written_is_due_again_until_the_correlator_gives_up() -> None:
    events = TimedCorrelator()
    events.record()
    entry = events.correlator.take_due(now_at=events.now_at)
    assert entry is not None

    events.correlator.requeue(entry, now_at=events.now_at)
    assert events.correlator.take_due(now_at=events.now_at) is entry
    events.correlator.give_up(entry, "refused")

    assert events.correlator.take_due(now_at=inf) is None
    assert events.correlator.take_dropped() == {"refused": 1}
    assert events.correlator.take_dropped() == {}


def test_every_event_is_written_or_counted_as_dropped() -> None:
    rng = Random(1)
    events = TimedCorrelator()
    key = written = 0
    for _ in range(20_000):
        events.now_at += rng.expovariate(1)
        key += 1
        events.record(f"note {rng.randrange(40)}", about=f"uid-{rng.randrange(30)}")
        if (
            rng.random() < 0.3
            and (entry := events.correlator.take_due(now_at=events.now_at)) is not None
        ):
            before = entry.written
            if rng.random() < 0.2:
                events.correlator.requeue(entry, now_at=events.now_at)
            elif rng.random() < 0.1:
                events.correlator.give_up(entry, "refused")
            else:
                times = entry.count
                if rng.random() < 0.5:
                    key += 1
                    events.record(entry.key.note, about=entry.key.about)
                written += times - before
                events.correlator.mark_written(entry, times, now_at=events.now_at)
    while (entry := events.correlator.take_due(now_at=inf)) is not None:
        written += entry.count - entry.written
        events.correlator.mark_written(entry, entry.count, now_at=events.now_at)

    assert written + sum(events.correlator.take_dropped().values()) == key
    assert written > 1000
