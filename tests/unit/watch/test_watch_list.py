"""Streamed initial events (WatchList) become one complete list, or none."""

import asyncio

import pytest

from steersman.errors import SteersmanError
from steersman.observe import Listed, StreamingRefused, WatchFailed
from tests.unit.watch.errors import (
    BAD_REQUEST,
    DROPPED,
    EXPIRED,
    FORBIDDEN,
    REFUSED_OPTION,
    UNAVAILABLE,
)
from tests.unit.watch.scripted import (
    Answer,
    ReflectorRun,
    bookmark,
    listing,
    obj,
    page,
    removed,
    undecodable,
    watching,
    wrote,
)

PAGED = listing(page(obj("a", 3), version=5))


def streamed(*script: Answer) -> ReflectorRun:
    return ReflectorRun(*script, initial="streamed")


async def test_initial_events_become_one_list_and_the_watch_continues() -> None:
    run = streamed(
        watching(wrote("b", 4), wrote("a", 3), bookmark(5, ends=True), wrote("c", 6), DROPPED)
    )

    await run.play()

    assert run.sink.received == ["replace at 5", "c 6"]
    assert run.sink.objects == {"a": "3", "b": "4", "c": "6"}
    assert run.source.requested == ["stream", "probe 6"]
    assert [each.count for each in run.seen(Listed)] == [2]


async def test_changes_during_the_initial_events_are_in_the_list() -> None:
    run = streamed(
        watching(
            wrote("a", 3),
            wrote("b", 4),
            undecodable("x", 2),
            undecodable("y", 2),
            undecodable("b", 6),
            wrote("x", 7),
            removed("a", 8),
            undecodable("y", 9, is_gone=True),
            wrote("c", 10),
            bookmark(10, ends=True),
        )
    )

    await run.play()

    assert run.sink.received == ["replace at 10"]
    assert run.sink.objects == {"x": "7", "c": "10"}
    assert run.sink.decode_failures == ["ConfigMap default/b"]


@pytest.mark.parametrize("error", [DROPPED, EXPIRED, UNAVAILABLE, FORBIDDEN])
async def test_streamed_initial_events_are_never_resumed_in_the_middle(
    error: SteersmanError,
) -> None:
    run = streamed(watching(wrote("a", 3), wrote("b", 4), error), watching(bookmark(9, ends=True)))

    await run.play()

    assert run.requested == ["stream", "stream"]
    assert run.sink.received == ["replace at 9"]
    assert run.sink.objects == {}


async def test_an_expired_version_leads_to_another_stream() -> None:
    whole = watching(wrote("a", 3), bookmark(5, ends=True), EXPIRED)
    run = streamed(whole, watching(wrote("b", 7), bookmark(9, ends=True)))

    await run.play()

    assert run.requested == ["stream", "stream"]
    assert run.sink.objects == {"b": "7"}


@pytest.mark.parametrize("error", [REFUSED_OPTION, BAD_REQUEST])
async def test_a_server_that_rejects_streaming_is_listed_from_then_on(
    error: SteersmanError,
) -> None:
    run = streamed(error, PAGED, watching(EXPIRED), PAGED)

    await run.play()

    assert run.requested == ["stream", "list", "watch 5", "list"]
    assert run.waits[0] == 0
    assert [each.error for each in run.seen(StreamingRefused)] == [error]
    assert [each.error for each in run.seen(WatchFailed)] == [EXPIRED]


@pytest.mark.parametrize("error", [REFUSED_OPTION, BAD_REQUEST])
async def test_a_watch_rejected_after_the_stream_is_an_ordinary_failure(
    error: SteersmanError,
) -> None:
    run = streamed(watching(bookmark(5, ends=True), error), EXPIRED)

    await run.play()

    assert run.source.requested == ["stream", "probe 5", "stream"]
    assert min(run.waits) >= 0.8
    assert run.seen(StreamingRefused) == []


@pytest.mark.parametrize("rest", [(), (bookmark(5),)], ids=["it ends", "an ordinary bookmark"])
async def test_a_server_that_does_not_mark_the_end_is_listed(
    rest: tuple[object, ...],
) -> None:
    run = streamed(watching(wrote("a", 3), *rest), PAGED)  # type: ignore[arg-type]

    await run.play()

    assert run.requested == ["stream", "list"]
    assert run.sink.received == ["replace at 5"]
    assert len(run.seen(StreamingRefused)) == 1


async def test_silent_initial_events_are_replaced_by_a_list() -> None:
    async def silence() -> None:
        await asyncio.Event().wait()

    run = streamed(watching(wrote("a", 3), silence), PAGED)

    async with run.running():
        assert not run.reflector.is_connected
        run.clock.advance(151)
        await run.source.is_finished.wait()

    assert run.requested == ["stream", "list"]
    assert run.sink.received == ["replace at 5"]


async def test_older_initial_events_are_accepted_only_after_repeated_answers() -> None:
    old = watching(wrote("a", 1), bookmark(2, ends=True))
    run = streamed(watching(bookmark(5, ends=True), EXPIRED), old, old, old, old)

    await run.play()

    assert run.sink.received == ["replace at 5", "rewound at 2"]
