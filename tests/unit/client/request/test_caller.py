"""A call: its deadline, its attempts and its observations."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

import pytest

from steersman.client import Client, ClientSettings, MergePatch
from steersman.errors import (
    DeadlinePassed,
    InvalidResponse,
    NotFound,
    SteersmanError,
    Unavailable,
    Unreachable,
)
from steersman.names import ObjectRef
from steersman.observe import ApiWarned, RequestFinished, RequestRetried, RetriesSpent
from tests.clocks import FakeClock
from tests.transports import FakeResponse, Scripted, error_response, json_response
from tests.unit.client.scripted_client import ScriptedClient, Widget, widget

REF = ObjectRef("Widget", "default", "web")
LOST = Unreachable("connection refused", may_have_happened=False)

Verb = Callable[[Client], Coroutine[None, None, object]]


async def get(client: Client) -> object:
    return await client.get(Widget, "web", namespace="default")


async def patch(client: Client) -> object:
    return await client.patch(Widget, "web", MergePatch({}), namespace="default")


async def watch(client: Client) -> object:
    async with client.watch(Widget, namespace="default") as events:
        return [event async for event in events]


@pytest.mark.parametrize(
    ("verb", "where"),
    [
        (get, "before the answer"),
        (get, "in the body"),
        (get, "in the body of an error"),
        (patch, "before the answer"),
        (patch, "in the body"),
        (patch, "in the body of an error"),
        (watch, "before the answer"),
        # The body of a watch has no deadline.
        (watch, "in the body of an error"),
    ],
)
async def test_a_call_ends_by_its_deadline(verb: Verb, where: str) -> None:
    clock = FakeClock()
    started_at = clock.monotonic()

    def hang() -> Awaitable[None]:
        return clock.sleep(1_000_000)

    answers = {
        "before the answer": FakeResponse(after=hang),
        "in the body": FakeResponse(body=[b"{", hang]),
        "in the body of an error": FakeResponse(status=500, body=[b"{", hang]),
    }
    fixture = ScriptedClient(
        answers[where], clock=clock, settings=ClientSettings(deadline_seconds=7.0)
    )

    with pytest.raises(DeadlinePassed, match="no response within 7 s") as caught:
        await verb(fixture.client)

    assert clock.monotonic() - started_at == 7.0
    assert fixture.server.open_responses == 0
    (finished,) = fixture.observed
    assert isinstance(finished, RequestFinished)
    assert (finished.error, finished.took_seconds) == (caught.value, 7.0)


async def test_a_write_that_times_out_may_have_been_carried_out() -> None:
    clock = FakeClock()
    fixture = ScriptedClient(FakeResponse(after=lambda: clock.sleep(1000)), clock=clock)

    with pytest.raises(DeadlinePassed, match="The write may have happened") as caught:
        await patch(fixture.client)

    assert caught.value.may_have_happened


async def test_no_retry_is_scheduled_after_the_deadline() -> None:
    shed = error_response(503, headers={"retry-after": "25"})
    fixture = ScriptedClient(respond=lambda _: shed)
    started_at = fixture.clock.monotonic()

    with pytest.raises(Unavailable):
        await get(fixture.client)

    assert len(fixture.server.requests) == 3
    assert 50 <= fixture.clock.monotonic() - started_at < 60


async def test_attempts_share_one_deadline() -> None:
    clock = FakeClock()
    slow_and_lost = FakeResponse(after=lambda: clock.sleep(25), body=[LOST])
    fixture = ScriptedClient(respond=lambda _: slow_and_lost, clock=clock)
    started_at = clock.monotonic()

    with pytest.raises(DeadlinePassed):
        await get(fixture.client)

    assert len(fixture.server.requests) == 3
    assert clock.monotonic() - started_at == 60


async def test_a_call_that_succeeds_after_retries_is_observed_as_one_request() -> None:
    fixture = ScriptedClient(
        LOST, error_response(429, headers={"retry-after": "2"}), json_response(widget())
    )
    started_at = fixture.clock.monotonic()

    await get(fixture.client)

    lost, shed, finished = fixture.observed
    assert isinstance(lost, RequestRetried)
    assert (lost.verb, lost.resource, lost.ref) == ("get", "widgets", REF)
    assert (lost.attempt, lost.error) == (1, LOST)
    assert isinstance(shed, RequestRetried)
    assert shed.attempt == 2
    assert shed.wait_seconds >= 2
    took_seconds = fixture.clock.monotonic() - started_at
    assert took_seconds == pytest.approx(lost.wait_seconds + shed.wait_seconds)
    assert finished == RequestFinished(
        verb="get",
        resource="widgets",
        ref=REF,
        code=200,
        took_seconds=took_seconds,
        attempts=3,
        error=None,
    )


async def test_the_last_of_several_errors_is_raised() -> None:
    fixture = ScriptedClient(LOST, error_response(404, "NotFound"))

    with pytest.raises(NotFound) as caught:
        await get(fixture.client)

    finished = fixture.observed[-1]
    assert isinstance(finished, RequestFinished)
    assert (finished.code, finished.attempts) == (404, 2)
    assert finished.error is caught.value


async def test_a_success_is_observed_with_its_status_code() -> None:
    fixture = ScriptedClient(json_response(widget(), status=201))

    await patch(fixture.client)

    (finished,) = fixture.observed
    assert isinstance(finished, RequestFinished)
    assert finished.code == 201


async def test_a_missing_response_is_observed_without_a_status_code() -> None:
    fixture = ScriptedClient(Unreachable("connection reset"))

    with pytest.raises(Unreachable):
        await patch(fixture.client)

    (finished,) = fixture.observed
    assert isinstance(finished, RequestFinished)
    assert finished.code is None


async def test_a_retry_that_the_budget_does_not_allow_is_observed() -> None:
    fixture = ScriptedClient(respond=lambda _: LOST)
    for _ in range(2):  # Each call retries five times, and the reserve is ten retries.
        with pytest.raises(Unreachable):
            await get(fixture.client)
    fixture.observed.clear()

    with pytest.raises(Unreachable):
        await get(fixture.client)

    spent, finished = fixture.observed
    assert spent == RetriesSpent(verb="get", resource="widgets", ref=REF, error=LOST)
    assert isinstance(finished, RequestFinished)
    assert finished.attempts == 1


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ('299 - "v1 Widget is deprecated"', "v1 Widget is deprecated"),
        (r'299 - "unknown field \"spec.x\" in C:\\"', 'unknown field "spec.x" in C:\\'),
        ("299 - something else", "299 - something else"),
        ('299 - ""', '299 - ""'),
    ],
)
@pytest.mark.parametrize("verb", [get, watch])
async def test_a_warning_from_the_server_is_passed_on(verb: Verb, header: str, text: str) -> None:
    body = json_response(widget()).body if verb is get else b""
    fixture = ScriptedClient(FakeResponse(warnings=(header,), body=body))

    await verb(fixture.client)

    first = fixture.observed[0]
    assert isinstance(first, ApiWarned)
    assert (first.resource, first.text) == ("widgets", text)


async def test_a_warning_in_an_error_response_is_passed_on() -> None:
    fixture = ScriptedClient(error_response(404, warnings=('299 - "old"',)))

    with pytest.raises(NotFound):
        await get(fixture.client)

    assert isinstance(fixture.observed[0], ApiWarned)


@pytest.mark.parametrize(
    "failure",
    [
        LOST,
        Unreachable("reset"),
        error_response(503),
        error_response(429, headers={"retry-after": "1"}),
    ],
)
async def test_a_stream_is_never_retried(failure: Scripted) -> None:
    fixture = ScriptedClient(failure)

    with pytest.raises(SteersmanError):
        await watch(fixture.client)

    assert len(fixture.server.requests) == 1
    (finished,) = fixture.observed
    assert isinstance(finished, RequestFinished)
    assert finished.attempts == 1


async def test_a_stream_is_observed_when_it_starts() -> None:
    fixture = ScriptedClient(FakeResponse(body=[Unreachable("cut off")]))

    async with fixture.client.watch(Widget) as events:
        (finished,) = fixture.observed
        with pytest.raises(Unreachable):
            await anext(events)

    assert isinstance(finished, RequestFinished)
    assert (finished.verb, finished.code, finished.error) == ("watch", 200, None)
    assert fixture.observed == [finished]


@pytest.mark.parametrize("verb", [get, watch])
async def test_a_cancelled_request_leaves_no_response_open(verb: Verb) -> None:
    began = asyncio.Event()

    async def hang() -> None:
        began.set()
        await asyncio.Event().wait()

    fixture = ScriptedClient(FakeResponse(body=[hang]))

    async with asyncio.TaskGroup() as group:
        task = group.create_task(verb(fixture.client))
        await began.wait()
        held = fixture.server.open_responses
        task.cancel()

    assert (held, fixture.server.open_responses) == (1, 0)
    assert task.cancelled()


async def test_a_response_is_closed_when_its_reader_fails() -> None:
    fixture = ScriptedClient(FakeResponse(body=b'{"type":"NONSENSE","object":{}}\n'))

    with pytest.raises(InvalidResponse):
        await watch(fixture.client)

    assert fixture.server.open_responses == 0


async def test_a_long_error_page_is_read_only_in_part() -> None:
    fixture = ScriptedClient(
        FakeResponse(status=500, body=[b"x" * 2_000_000, AssertionError("read on")])
    )

    with pytest.raises(SteersmanError, match="no explanation"):
        await patch(fixture.client)
