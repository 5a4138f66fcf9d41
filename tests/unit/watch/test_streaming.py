"""Initial events that are streamed: one list, or none."""

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
from tests.unit.watch.kit import (
    Answer,
    Scene,
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


def streamed(*script: Answer) -> Scene:
    return Scene(*script, initial="streamed")


async def test_initial_events_become_one_list_and_the_watch_continues() -> None:
    scene = streamed(
        watching(wrote("b", 4), wrote("a", 3), bookmark(5, ends=True), wrote("c", 6), DROPPED)
    )

    await scene.play()

    assert scene.mirror.received == ["replace at 5", "c 6"]
    assert scene.mirror.objects == {"a": "3", "b": "4", "c": "6"}
    assert scene.source.asked == ["stream", "probe 6"]
    assert [each.count for each in scene.seen(Listed)] == [2]


async def test_changes_during_the_initial_events_are_in_the_list() -> None:
    scene = streamed(
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

    await scene.play()

    assert scene.mirror.received == ["replace at 10"]
    assert scene.mirror.objects == {"x": "7", "c": "10"}
    assert scene.mirror.decode_failures == ["ConfigMap default/b"]


@pytest.mark.parametrize("error", [DROPPED, EXPIRED, UNAVAILABLE, FORBIDDEN])
async def test_streamed_initial_events_are_never_resumed_in_the_middle(
    error: SteersmanError,
) -> None:
    scene = streamed(
        watching(wrote("a", 3), wrote("b", 4), error), watching(bookmark(9, ends=True))
    )

    await scene.play()

    assert scene.asked == ["stream", "stream"]
    assert scene.mirror.received == ["replace at 9"]
    assert scene.mirror.objects == {}


async def test_an_expired_version_leads_to_another_stream() -> None:
    whole = watching(wrote("a", 3), bookmark(5, ends=True), EXPIRED)
    scene = streamed(whole, watching(wrote("b", 7), bookmark(9, ends=True)))

    await scene.play()

    assert scene.asked == ["stream", "stream"]
    assert scene.mirror.objects == {"b": "7"}


@pytest.mark.parametrize("error", [REFUSED_OPTION, BAD_REQUEST])
async def test_a_server_that_rejects_streaming_is_listed_from_then_on(
    error: SteersmanError,
) -> None:
    scene = streamed(error, PAGED, watching(EXPIRED), PAGED)

    await scene.play()

    assert scene.asked == ["stream", "list", "watch 5", "list"]
    assert scene.waits[0] == 0
    assert [each.error for each in scene.seen(StreamingRefused)] == [error]
    assert [each.error for each in scene.seen(WatchFailed)] == [EXPIRED]


@pytest.mark.parametrize("error", [REFUSED_OPTION, BAD_REQUEST])
async def test_a_watch_rejected_after_the_stream_is_an_ordinary_failure(
    error: SteersmanError,
) -> None:
    scene = streamed(watching(bookmark(5, ends=True), error), EXPIRED)

    await scene.play()

    assert scene.source.asked == ["stream", "probe 5", "stream"]
    assert min(scene.waits) >= 0.8
    assert scene.seen(StreamingRefused) == []


@pytest.mark.parametrize("rest", [(), (bookmark(5),)], ids=["it ends", "an ordinary bookmark"])
async def test_a_server_that_does_not_mark_the_end_is_listed(
    rest: tuple[object, ...],
) -> None:
    scene = streamed(watching(wrote("a", 3), *rest), PAGED)  # type: ignore[arg-type]

    await scene.play()

    assert scene.asked == ["stream", "list"]
    assert scene.mirror.received == ["replace at 5"]
    assert len(scene.seen(StreamingRefused)) == 1


async def test_silent_initial_events_are_replaced_by_a_list() -> None:
    async def silence() -> None:
        await asyncio.Event().wait()

    scene = streamed(watching(wrote("a", 3), silence), PAGED)

    async with scene.running():
        assert not scene.reflector.is_connected
        scene.clock.advance(151)
        await scene.source.played_out.wait()

    assert scene.asked == ["stream", "list"]
    assert scene.mirror.received == ["replace at 5"]


async def test_older_initial_events_are_accepted_only_after_repeated_answers() -> None:
    old = watching(wrote("a", 1), bookmark(2, ends=True))
    scene = streamed(watching(bookmark(5, ends=True), EXPIRED), old, old, old, old)

    await scene.play()

    assert scene.mirror.received == ["replace at 5", "rewound at 2"]
