"""The reflector joins a list and a watch without a gap, whatever the server does."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest

from steersman.errors import Forbidden, InvalidResponse, SteersmanError, Unreachable
from steersman.kinds import Resource
from steersman.observe import (
    HistoryRewound,
    KindMissing,
    Listed,
    OutOfOrder,
    ReflectorStopped,
    WatchEnded,
    WatchEventsReceived,
    WatchFailed,
    WatchSilent,
    WatchStarted,
)
from steersman.watch.reflector import BATCH_EVENTS
from tests.clocks import FakeClock
from tests.embedded import turns
from tests.unit.watch.errors import (
    BUSY,
    DROPPED,
    EXPIRED,
    FORBIDDEN,
    MISSING,
    TOO_LARGE,
    UNAUTHORIZED,
    UNAVAILABLE,
)
from tests.unit.watch.scripted import (
    Answer,
    Piece,
    Probing,
    RecordingSink,
    ReflectorRun,
    bookmark,
    ended,
    listing,
    obj,
    page,
    removed,
    undecodable,
    watching,
    wrote,
)

A_AND_B = listing(page(obj("a", 3), obj("b", 4), version=5))
NOTHING = listing(page(version=5))
UP_TO_DATE = Probing()
BEHIND = Probing(TOO_LARGE)

# Long enough for a watch to count as steady, and as silent.
MINUTE = 60.0
DAY = 86400.0


def passes(clock: FakeClock, seconds: float) -> Callable[[], None]:
    """Advance the clock."""
    return lambda: clock.advance(seconds)


async def silence() -> None:
    """Send no event."""
    await asyncio.Event().wait()


# Order


async def test_the_first_of_two_entries_of_an_object_counts() -> None:
    pages = (page(obj("a", 4), obj("a", 3), version=5), page(obj("a", 2), obj("b", 1), version=5))
    run = ReflectorRun(listing(*pages))

    await run.play()

    assert run.sink.objects == {"a": "4", "b": "1"}


async def test_existing_objects_come_first_and_then_events_in_order() -> None:
    run = ReflectorRun(
        A_AND_B, watching(wrote("c", 6), removed("a", 7), wrote("b", 8), bookmark(20), DROPPED)
    )

    await run.play()

    assert run.requested == ["list", "watch 5"]
    assert run.sink.received == ["replace at 5", "c 6", "a gone 7", "b 8", "reached 20"]
    assert run.sink.objects == {"b": "8", "c": "6"}


async def test_many_events_at_once_yield_to_other_tasks() -> None:
    others_turns = 0
    received_in_turn: Counter[int] = Counter()

    class Counting(RecordingSink):
        def upsert(self, obj: Resource) -> None:
            received_in_turn[others_turns] += 1
            super().upsert(obj)

    async def work() -> None:
        nonlocal others_turns
        while True:
            others_turns += 1
            await asyncio.sleep(0)  # noqa: TID251 - one turn of the loop

    inputs = [wrote("a", version) for version in range(6, 6 + 3 * BATCH_EVENTS)]
    run = ReflectorRun(A_AND_B, watching(*inputs, silence), sink=Counting())
    async with asyncio.TaskGroup() as others:
        worker = others.create_task(work())
        async with run.running():
            worker.cancel()

    assert received_in_turn.total() == len(inputs)
    assert max(received_in_turn.values()) == BATCH_EVENTS


async def test_pages_become_one_list_with_decode_failures_beside_it() -> None:
    run = ReflectorRun(
        listing(
            page(obj("a", 3), version=5, decode_failures=["x"]),
            page(obj("b", 4), version=5),
            page(version=5, decode_failures=["y"]),
        ),
    )

    await run.play()

    assert run.sink.received == ["replace at 5"]
    assert run.sink.objects == {"a": "3", "b": "4"}
    assert run.sink.decode_failures == ["ConfigMap default/x", "ConfigMap default/y"]
    assert [(each.count, each.decode_failures, each.reason) for each in run.seen(Listed)] == [
        (2, 2, "start")
    ]


async def test_the_watch_starts_at_the_version_of_the_first_page() -> None:
    run = ReflectorRun(listing(page(obj("a", 3), version=5), page(obj("b", 8), version=9)))

    await run.play()

    assert run.source.requested[-1] == "watch 5"


async def test_pages_have_the_requested_size() -> None:
    run = ReflectorRun(NOTHING, page_size=17)

    await run.play()

    assert run.requested == ["list by 17"]


async def test_a_list_without_a_version_is_rejected() -> None:
    run = ReflectorRun(listing(page(obj("a", 3), version="")), listing(page(version=0)), A_AND_B)

    await run.play()

    assert run.requested == ["list", "list", "list"]
    assert run.sink.received == ["replace at 5"]
    assert all(isinstance(each.error, InvalidResponse) for each in run.seen(WatchFailed))


async def test_an_undecodable_event_moves_the_position_too() -> None:
    run = ReflectorRun(
        NOTHING, watching(undecodable("x", 6), undecodable("x", 7, is_gone=True), DROPPED)
    )

    await run.play()

    assert run.sink.received[1:] == ["ConfigMap default/x odd 6", "ConfigMap default/x gone 7"]
    assert run.source.requested[-1] == "probe 7"


async def test_watches_that_begin_together_do_not_end_together() -> None:
    clock = FakeClock()
    script = ended(passes(clock, MINUTE)) * 20
    run = ReflectorRun(NOTHING, *script, clock=clock, watch_seconds=100)

    await run.play()

    assert len(set(run.source.timeouts)) == 21
    assert all(100 <= each <= 200 for each in run.source.timeouts)


# Ended and broken watches


async def test_a_watch_that_ends_normally_is_resumed_at_once() -> None:
    clock = FakeClock()
    run = ReflectorRun(
        A_AND_B,
        *ended(wrote("c", 6), passes(clock, MINUTE)),
        *ended(bookmark(9), passes(clock, MINUTE)),
        clock=clock,
    )

    await run.play()

    assert run.source.requested == ["list", "watch 5", "probe 6", "watch 6", "probe 9", "watch 9"]
    assert run.waits == [0.0, MINUTE, 0.0, MINUTE, 0.0]
    assert run.seen(WatchFailed) == []


async def test_a_broken_watch_is_resumed_once_the_server_has_reached_the_position() -> None:
    run = ReflectorRun(
        A_AND_B, watching(wrote("c", 6), DROPPED), UP_TO_DATE, watching(wrote("d", 7))
    )

    await run.play()

    assert run.requested == ["list", "watch 5", "probe 6", "watch 6"]
    assert run.sink.received == ["replace at 5", "c 6", "d 7"]


async def test_a_watch_that_ends_at_once_again_and_again_is_a_failure() -> None:
    run = ReflectorRun(A_AND_B, *ended() * 8)

    await run.play()

    assert run.requested == ["list", *["watch 5", "probe 5"] * 8]
    waits = run.waits[1::2]
    assert all(wait >= least for wait, least in zip(waits, [0.8, 1.6, 3.2, 6.4], strict=False))
    assert waits[-1] >= 30
    assert "the server ended the watch after 0.0 s" in str(run.reflector.last_error)


async def test_a_watch_that_lasts_resets_the_failures() -> None:
    clock = FakeClock()
    run = ReflectorRun(
        A_AND_B,
        *ended() * 5,
        watching(passes(clock, MINUTE), DROPPED),
        UP_TO_DATE,
        clock=clock,
    )

    await run.play()

    assert [each.failures for each in run.seen(WatchFailed)] == [1, 2, 3, 4, 5, 1]
    assert [each.failures for each in run.seen(WatchStarted)] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "error", [DROPPED, EXPIRED, MISSING, FORBIDDEN, UNAUTHORIZED, UNAVAILABLE, TOO_LARGE, BUSY]
)
async def test_no_failure_is_retried_without_a_wait(error: SteersmanError) -> None:
    whole = listing(page(obj("a", 9), version=9))
    run = ReflectorRun(error, whole, error, error, error, error, error, error)

    await run.play()

    first, after_the_list, *rest = run.waits
    assert after_the_list == 0
    assert min(first, *rest) >= 0.8


async def test_retry_after_can_lengthen_a_wait() -> None:
    run = ReflectorRun(BUSY, A_AND_B)

    await run.play()

    assert run.waits[0] >= 17


async def test_a_watch_with_a_short_timeout_may_be_short() -> None:
    clock = FakeClock()
    script = ended(passes(clock, 1.0)) * 5
    run = ReflectorRun(NOTHING, *script, clock=clock, watch_seconds=1)

    await run.play()

    assert run.seen(WatchFailed) == []


# 410 Gone


@pytest.mark.parametrize(
    "forms",
    [
        [watching(EXPIRED)],
        [watching(wrote("b", 9), EXPIRED)],
        [EXPIRED],
        [watching(DROPPED), Probing(EXPIRED)],
        [EXPIRED, EXPIRED],
        [EXPIRED, listing(page(obj("z", 1), version=10), EXPIRED)],
    ],
    ids=["in the stream", "after events", "as status", "of a probe", "of the list", "mid-paging"],
)
async def test_an_expired_version_leads_to_a_complete_list(
    forms: list[Answer],
) -> None:
    run = ReflectorRun(A_AND_B, *forms, listing(page(obj("b", 9), version=11)))

    await run.play()

    assert run.sink.objects == {"b": "9"}
    assert run.sink.received[-1] == "replace at 11"
    assert run.source.requested[-2:] == ["list", "watch 11"]
    assert [each.reason for each in run.seen(Listed)] == ["start", "expired"]


# A server that is behind


async def test_a_server_that_is_behind_is_waited_for() -> None:
    run = ReflectorRun(
        A_AND_B, watching(DROPPED), BEHIND, BEHIND, UP_TO_DATE, watching(wrote("c", 6))
    )

    await run.play()

    assert run.requested == ["list", "watch 5", "probe 5", "probe 5", "probe 5", "watch 5"]
    assert run.sink.received == ["replace at 5", "c 6"]


async def test_a_rewound_history_replaces_the_old_one_and_is_observed() -> None:
    restored = listing(page(obj("a", 1), version=2))
    run = ReflectorRun(A_AND_B, watching(DROPPED), BEHIND, BEHIND, BEHIND, restored)

    await run.play()

    assert run.sink.received == ["replace at 5", "rewound at 2"]
    assert run.sink.objects == {"a": "1"}
    assert run.source.requested[-1] == "watch 2"
    assert [(each.reached_version, each.version) for each in run.seen(HistoryRewound)] == [
        ("5", "2")
    ]


async def test_an_older_list_is_accepted_only_after_repeated_answers() -> None:
    old = listing(page(obj("a", 1), version=2))
    run = ReflectorRun(A_AND_B, watching(EXPIRED), old, old, old, old)

    await run.play()

    assert run.requested == ["list", "watch 5", "list", "list", "list", "list"]
    assert run.sink.received == ["replace at 5", "rewound at 2"]


async def test_only_one_page_of_an_older_list_is_read() -> None:
    old = listing(page(obj("a", 1), version=2), DROPPED)
    run = ReflectorRun(A_AND_B, watching(EXPIRED), old, listing(page(version=6)))

    await run.play()

    assert [type(each.error) for each in run.seen(WatchFailed)] == [
        type(EXPIRED),
        InvalidResponse,
    ]


async def test_a_server_that_has_caught_up_was_not_rewound() -> None:
    run = ReflectorRun(A_AND_B, watching(DROPPED), BEHIND, BEHIND, BEHIND, listing(page(version=9)))

    await run.play()

    assert run.sink.received == ["replace at 5", "replace at 9"]
    assert run.seen(HistoryRewound) == []


# Silence


async def test_a_silent_watch_is_closed_and_resumed() -> None:
    run = ReflectorRun(
        A_AND_B, watching(wrote("c", 6), silence), UP_TO_DATE, watching(wrote("d", 7))
    )

    async with run.running():
        for _ in range(149):
            run.clock.advance(1)
            await turns()
        before = list(run.source.requested)
        run.clock.advance(2)
        await run.source.is_finished.wait()

    assert before == ["list", "watch 5"]
    assert run.requested == ["list", "watch 5", "probe 6", "watch 6"]
    assert run.sink.received == ["replace at 5", "c 6", "d 7"]
    assert [each.silent_seconds for each in run.seen(WatchSilent)] == [151.0]
    assert run.source.open_watches == 0


async def test_a_watch_with_occasional_events_is_not_silent() -> None:
    clock = FakeClock()
    words: list[Piece] = []
    for version in range(6, 30):
        words += [passes(clock, 100.0), turns, bookmark(version), turns]
    run = ReflectorRun(A_AND_B, watching(*words), clock=clock)

    await run.play()

    assert run.seen(WatchSilent) == []
    assert run.sink.reached_version == "29"


async def test_a_watch_that_never_starts_is_closed_too() -> None:
    run = ReflectorRun(A_AND_B)

    async with run.running():
        await run.source.is_finished.wait()
        run.clock.advance(151)
        await turns()

    assert run.source.requested == ["list", "watch 5", "probe 5"]
    assert isinstance(run.reflector.last_error, Unreachable)


async def test_the_silence_of_one_watch_does_not_count_for_the_next() -> None:
    clock = FakeClock()
    run = ReflectorRun(A_AND_B, *ended(passes(clock, 149)), clock=clock)

    async with run.running():
        await run.source.is_finished.wait()
        clock.advance(149)
        await turns()

    assert run.source.requested == ["list", "watch 5", "probe 5", "watch 5"]
    assert run.seen(WatchSilent) == []


async def test_after_a_day_without_a_connection_the_watch_resumes_at_its_position() -> None:
    run = ReflectorRun(A_AND_B, watching(wrote("c", 6), silence), UP_TO_DATE)

    async with run.running():
        run.clock.advance(DAY)
        await run.source.is_finished.wait()

    assert run.source.requested == ["list", "watch 5", "probe 6", "watch 6"]


async def test_the_end_of_the_reflector_is_observed_last() -> None:
    run = ReflectorRun(A_AND_B, watching(wrote("c", 6), silence))

    async with run.running():
        assert run.seen(ReflectorStopped) == []

    assert [type(each) for each in run.observed][-2:] == [WatchEnded, ReflectorStopped]


# A kind that is missing


async def test_a_missing_kind_is_listed_again_until_it_exists() -> None:
    run = ReflectorRun(
        A_AND_B, watching(DROPPED), *[MISSING] * 20, listing(page(obj("c", 50), version=60))
    )

    await run.play()

    assert run.sink.received == ["replace at 5", "replace at 5", "replace at 60"]
    assert run.sink.objects == {"c": "50"}
    assert len(run.seen(KindMissing)) == 1
    assert run.seen(Listed)[-1].reason == "missing"
    assert max(run.waits) <= 20


async def test_a_kind_that_is_missing_twice_keeps_its_objects() -> None:
    run = ReflectorRun(A_AND_B, MISSING, MISSING, UNAVAILABLE, MISSING, MISSING)

    await run.play()

    assert run.sink.objects == {"a": "3", "b": "4"}
    assert run.seen(KindMissing) == []


async def test_objects_of_a_kind_that_is_missing_three_times_are_removed() -> None:
    run = ReflectorRun(A_AND_B, MISSING, MISSING, MISSING)

    await run.play()

    assert run.sink.objects == {}
    assert len(run.seen(KindMissing)) == 1
    assert run.clock.monotonic() >= 1000 + 2 + 4


async def test_a_kind_that_never_existed_gives_no_events() -> None:
    run = ReflectorRun(*[MISSING] * 10)

    await run.play()

    assert run.sink.received == []
    assert len(run.seen(KindMissing)) == 1


# Other failures


async def test_a_forbidden_list_succeeds_once_it_is_allowed() -> None:
    run = ReflectorRun(FORBIDDEN, FORBIDDEN, FORBIDDEN, A_AND_B, watching(wrote("c", 6)))

    await run.play()

    assert run.sink.received == ["replace at 5", "c 6"]
    news = [each for each in run.seen(WatchFailed) if each.is_news]
    assert isinstance(news[0].error, Forbidden)
    assert 'cannot list resource "configmaps"' in str(news[0].error)
    assert "Role" in str(news[0].error)


@pytest.mark.parametrize("error", [UNAUTHORIZED, FORBIDDEN, UNAVAILABLE, DROPPED, BUSY])
async def test_known_objects_stay_while_the_server_is_unreachable(
    error: SteersmanError,
) -> None:
    run = ReflectorRun(A_AND_B, error, error, error, error, UP_TO_DATE, watching(wrote("c", 6)))

    await run.play()

    assert run.sink.received == ["replace at 5", "c 6"]


async def test_repeated_failures_are_reported_less_and_less_often() -> None:
    run = ReflectorRun(*[DROPPED] * 20, FORBIDDEN)

    await run.play()

    news = [number for number, each in enumerate(run.seen(WatchFailed), 1) if each.is_news]
    assert news == [1, 2, 4, 8, 16, 21]


async def test_its_connection_state_is_public() -> None:
    run = ReflectorRun(DROPPED, FORBIDDEN, A_AND_B, watching(silence))
    reflector = run.reflector
    assert (reflector.is_connected, reflector.last_contact_at) == (False, None)

    async with run.running():
        connected = reflector.is_connected, reflector.failing_since_at, reflector.last_error
        connected_at = run.clock.monotonic()
        run.clock.advance(151)
        await run.source.is_finished.wait()
        failing = reflector.is_connected, reflector.failing_since_at, type(reflector.last_error)

    assert connected == (True, None, None)
    assert reflector.last_contact_at == connected_at
    assert failing == (False, connected_at + 151, Unreachable)


async def test_a_failed_request_does_not_count_as_contact_with_the_server() -> None:
    run = ReflectorRun(A_AND_B, *[DROPPED] * 10)

    await run.play()

    assert run.reflector.last_contact_at == 1000.0
    assert run.reflector.failing_since_at == 1000.0


# Protocol violations


async def test_a_late_event_is_dropped_and_leads_to_a_list() -> None:
    run = ReflectorRun(
        A_AND_B,
        watching(removed("a", 8), wrote("a", 7), wrote("c", 9)),
        listing(page(obj("b", 4), version=10)),
    )

    await run.play()

    assert run.sink.received == ["replace at 5", "a gone 8", "replace at 10"]
    assert [(each.version, each.reached_version) for each in run.seen(OutOfOrder)] == [("7", "8")]
    assert run.seen(Listed)[-1].reason == "out of order"


async def test_an_older_bookmark_is_out_of_order_too() -> None:
    run = ReflectorRun(A_AND_B, watching(bookmark(4)), listing(page(version=6)))

    await run.play()

    assert run.sink.received == ["replace at 5", "replace at 6"]


async def test_a_duplicate_event_is_passed_on_and_observed_once() -> None:
    run = ReflectorRun(
        A_AND_B,
        watching(wrote("c", 6), wrote("c", 6), bookmark(6), wrote("d", 7), wrote("d", 7), DROPPED),
    )

    await run.play()

    assert run.sink.received == ["replace at 5", "c 6", "c 6", "reached 6", "d 7", "d 7"]
    assert [each.version for each in run.seen(OutOfOrder)] == ["6"]
    assert run.source.requested[-1] == "probe 7"


async def test_an_event_without_a_version_does_not_move_the_position() -> None:
    run = ReflectorRun(A_AND_B, watching(wrote("c", ""), DROPPED))

    await run.play()

    assert run.source.requested[-1] == "probe 5"


# Observations, and the end of the reflector


async def test_events_are_counted_at_bookmarks_and_at_the_end_of_a_watch() -> None:
    run = ReflectorRun(
        A_AND_B, watching(wrote("c", 6), bookmark(7), bookmark(8), wrote("d", 9), DROPPED)
    )

    await run.play()

    assert [each.events for each in run.seen(WatchEventsReceived)] == [1, 1]


async def test_a_cancelled_reflector_leaves_nothing_open() -> None:
    run = ReflectorRun(A_AND_B, watching(wrote("c", 6), silence))

    async with run.running():
        assert run.source.open_watches == 1
        assert run.reflector.is_connected

    assert run.source.open_watches == 0
    assert not run.reflector.is_connected
    assert len(run.seen(WatchEnded)) == len(run.seen(WatchStarted)) == 1


async def test_a_sink_that_fails_ends_the_reflector() -> None:
    class Failing(RecordingSink):
        def upsert(self, obj: Resource) -> None:
            raise KeyError("a bug")

    run = ReflectorRun(A_AND_B, watching(wrote("c", 6)), sink=Failing())

    with pytest.raises(ExceptionGroup) as raised:
        await run.reflector.run()

    assert raised.group_contains(KeyError)


async def test_the_repr_has_the_position() -> None:
    run = ReflectorRun(A_AND_B, watching(wrote("c", 6), silence))

    async with run.running():
        shown = repr(run.reflector)

    assert "ConfigMap default/* connected" in shown
    assert "'6'" in shown
