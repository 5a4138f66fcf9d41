"""A container's log, line by line."""

from datetime import UTC, datetime

import pytest

from steersman.client import ClientSettings, LogOptions
from steersman.errors import BadName, BadRequest, DeadlinePassed, InvalidResponse, Unreachable
from tests.clocks import FakeClock
from tests.transports import Answer, Piece, refusing
from tests.unit.client.kit import Fixture


async def lines(world: Fixture, options: LogOptions | None = None) -> list[str]:
    async with world.client.logs("web", namespace="default", options=options) as log:
        return [line async for line in log]


async def test_the_whole_log_is_requested_by_default() -> None:
    world = Fixture(Answer(body=b"one\n"))

    await lines(world)

    assert world.server.sent == ["GET /api/v1/namespaces/default/pods/web/log"]


async def test_every_option_is_sent() -> None:
    world = Fixture(Answer())
    options = LogOptions(
        container="app",
        follow=True,
        previous=True,
        timestamps=True,
        since_seconds=60,
        since_time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        tail_lines=0,
        limit_bytes=10,
    )

    await lines(world, options)

    assert world.server.requests[0].query == (
        ("container", "app"),
        ("follow", "true"),
        ("previous", "true"),
        ("timestamps", "true"),
        ("sinceSeconds", "60"),
        ("sinceTime", "2026-01-02T03:04:05Z"),
        ("tailLines", "0"),
        ("limitBytes", "10"),
    )


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([], []),
        ([b"one\ntwo\n"], ["one", "two"]),
        ([b"on", b"e\ntw", b"o\n"], ["one", "two"]),
        ([b"one\ntwo"], ["one", "two"]),
        ([b"one\n\n\ntwo\n"], ["one", "", "", "two"]),
        ([b"caf\xc3", b"\xa9\n"], ["café"]),
        ([b"\xff\xfe\n"], ["\ufffd\ufffd"]),
    ],
)
async def test_each_line_of_the_log_is_yielded(pieces: list[Piece], expected: list[str]) -> None:
    assert await lines(Fixture(Answer(body=pieces))) == expected


async def test_lines_of_a_followed_log_are_yielded_as_they_are_written() -> None:
    world = Fixture(Answer(body=[b"one\n", Unreachable("cut off")]))

    async with world.client.logs("web", namespace="default") as log:
        first = await anext(log)
        with pytest.raises(Unreachable):
            await anext(log)

    assert first == "one"
    assert world.server.open_answers == 0


async def test_a_stalled_log_fails_at_the_deadline_unless_followed() -> None:
    clock = FakeClock()
    pieces: list[Piece] = [b"one\n", lambda: clock.sleep(100), b"two\n"]
    whole = Fixture(Answer(body=pieces), clock=clock)
    followed = Fixture(Answer(body=pieces), clock=clock)

    with pytest.raises(DeadlinePassed, match="log of Pod default/web: no data arrived within 60"):
        await lines(whole)

    assert whole.server.open_answers == 0
    assert await lines(followed, LogOptions(follow=True)) == ["one", "two"]


async def test_the_lines_end_when_the_block_is_left() -> None:
    world = Fixture(Answer(body=b"one\ntwo\n"))

    async with world.client.logs("web", namespace="default") as log:
        await anext(log)

    assert [line async for line in log] == []


async def test_an_oversized_line_is_refused_before_it_is_complete() -> None:
    world = Fixture(
        Answer(body=[b"x" * 11, AssertionError("read on")]),
        settings=ClientSettings(object_limit_bytes=10),
    )

    with pytest.raises(InvalidResponse, match="longer than 10 bytes"):
        await lines(world)


async def test_a_log_that_is_not_available_yet_is_an_error() -> None:
    world = Fixture(refusing(400, "BadRequest", "container is waiting to start"))

    with pytest.raises(BadRequest, match="could not get the log of Pod default/web"):
        await lines(world)


@pytest.mark.parametrize(("pod", "namespace"), [("a/../b", "default"), ("web", "a/b"), ("", "a")])
async def test_no_name_can_reach_another_log(pod: str, namespace: str) -> None:
    world = Fixture()

    with pytest.raises(BadName):
        async with world.client.logs(pod, namespace=namespace):
            pass

    assert world.server.requests == []
