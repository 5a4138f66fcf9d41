"""The log of a container, line by line."""

from datetime import UTC, datetime

import pytest

from steersman.client import ClientSettings, LogOptions
from steersman.errors import BadName, BadRequest, DeadlinePassed, InvalidResponse, Unreachable
from tests.clocks import FakeClock
from tests.transports import FakeResponse, Piece, error_response
from tests.unit.client.scripted_client import ScriptedClient


async def lines(fixture: ScriptedClient, options: LogOptions | None = None) -> list[str]:
    async with fixture.client.logs("web", namespace="default", options=options) as log:
        return [line async for line in log]


async def test_the_whole_log_is_requested_by_default() -> None:
    fixture = ScriptedClient(FakeResponse(body=b"one\n"))

    await lines(fixture)

    assert fixture.server.sent == ["GET /api/v1/namespaces/default/pods/web/log"]


async def test_every_option_is_sent() -> None:
    fixture = ScriptedClient(FakeResponse())
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

    await lines(fixture, options)

    assert fixture.server.requests[0].query == (
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
    assert await lines(ScriptedClient(FakeResponse(body=pieces))) == expected


async def test_lines_of_a_followed_log_are_yielded_as_they_are_written() -> None:
    fixture = ScriptedClient(FakeResponse(body=[b"one\n", Unreachable("cut off")]))

    async with fixture.client.logs("web", namespace="default") as log:
        first = await anext(log)
        with pytest.raises(Unreachable):
            await anext(log)

    assert first == "one"
    assert fixture.server.open_responses == 0


async def test_a_stalled_log_fails_at_the_deadline_unless_followed() -> None:
    clock = FakeClock()
    pieces: list[Piece] = [b"one\n", lambda: clock.sleep(100), b"two\n"]
    whole = ScriptedClient(FakeResponse(body=pieces), clock=clock)
    followed = ScriptedClient(FakeResponse(body=pieces), clock=clock)

    with pytest.raises(DeadlinePassed, match="log of Pod default/web: no data arrived within 60"):
        await lines(whole)

    assert whole.server.open_responses == 0
    assert await lines(followed, LogOptions(follow=True)) == ["one", "two"]


async def test_the_lines_end_when_the_block_is_left() -> None:
    fixture = ScriptedClient(FakeResponse(body=b"one\ntwo\n"))

    async with fixture.client.logs("web", namespace="default") as log:
        await anext(log)

    assert [line async for line in log] == []


async def test_an_oversized_line_is_rejected_before_it_is_complete() -> None:
    fixture = ScriptedClient(
        FakeResponse(body=[b"x" * 11, AssertionError("read on")]),
        settings=ClientSettings(object_limit_bytes=10),
    )

    with pytest.raises(InvalidResponse, match="longer than 10 bytes"):
        await lines(fixture)


async def test_a_log_that_is_not_available_yet_is_an_error() -> None:
    fixture = ScriptedClient(error_response(400, "BadRequest", "container is waiting to start"))

    with pytest.raises(BadRequest, match="could not get the log of Pod default/web"):
        await lines(fixture)


@pytest.mark.parametrize(("pod", "namespace"), [("a/../b", "default"), ("web", "a/b"), ("", "a")])
async def test_no_name_can_reach_another_log(pod: str, namespace: str) -> None:
    fixture = ScriptedClient()

    with pytest.raises(BadName):
        async with fixture.client.logs(pod, namespace=namespace):
            pass

    assert fixture.server.requests == []
