"""A handler runs again until it has all the webhook responses that it needs."""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.request.resources import WebhookResponses
from steersman_cluster.apiserver.webhooks.request_runner import (
    MAX_RUNS,
    NeedsWebhook,
    NoWebhookTransport,
    RequestRunner,
    WebhookTransport,
    WebhookUnreachable,
)
from tests.clocks import FakeClock


@dataclass(frozen=True, slots=True)
class FakeCall:
    """A call that returns ``answer`` after it awaited ``meanwhile``."""

    answer: Mapping[Hashable, Any]
    uids: list[str] = field(default_factory=list[str])
    meanwhile: Any = None

    async def send(self, outbound: WebhookTransport, *, uid: str) -> Mapping[Hashable, Any]:
        self.uids.append(uid)
        if self.meanwhile is not None:
            await self.meanwhile()
        return self.answer


def runner(clock: FakeClock | None = None) -> RequestRunner:
    return RequestRunner(NoWebhookTransport(), clock=clock or FakeClock(), rng=Random(7))


async def run_again(runner: RequestRunner, handler: Callable[[WebhookResponses], Any]) -> Any:
    """Return the final result of a handler."""
    answers = runner.begin()
    try:
        return handler(answers)
    except NeedsWebhook as missing:
        return await runner.run_again(handler, missing, answers)


def answers_to(answers: WebhookResponses, *calls: FakeCall) -> list[Any]:
    missing = [each for each in calls if not each.answer.keys() <= answers.keys()]
    if missing:
        raise NeedsWebhook(missing)
    return [answers[key] for each in calls for key in each.answer]


async def test_a_handler_without_webhooks_runs_once() -> None:
    runs: list[WebhookResponses] = []

    def handler(answers: WebhookResponses) -> str:
        runs.append(answers)
        return "done"

    assert await run_again(runner(), handler) == "done"
    assert runs == [{}]


async def test_a_handler_is_run_again_with_the_responses_that_it_needs() -> None:
    first, second = FakeCall({"a": 1}), FakeCall({"b": 2})

    def handler(answers: WebhookResponses) -> list[Any]:
        return [*answers_to(answers, first), *answers_to(answers, second)]

    assert await run_again(runner(), handler) == [1, 2]
    assert (len(first.uids), len(second.uids)) == (1, 1)


async def test_calls_that_one_run_needs_are_sent_concurrently() -> None:
    both = asyncio.Barrier(2)
    first, second = FakeCall({"a": 1}, meanwhile=both.wait), FakeCall({"b": 2}, meanwhile=both.wait)

    answers = await run_again(runner(), lambda answers: answers_to(answers, first, second))

    assert answers == [1, 2]
    assert first.uids != second.uids


async def test_every_run_draws_the_same_random_numbers_which_no_other_request_draws() -> None:
    request_runner = runner()
    numbers: list[int] = []
    other_numbers: list[int] = []

    def another(_: WebhookResponses) -> None:
        other_numbers.append(request_runner.rng.getrandbits(64))

    call = FakeCall({"a": 1}, meanwhile=lambda: run_again(request_runner, another))

    def handler(answers: WebhookResponses) -> None:
        numbers.append(request_runner.rng.getrandbits(64))
        answers_to(answers, call)

    await run_again(request_runner, handler)
    await run_again(request_runner, another)

    first, second = numbers
    assert first == second
    assert len({first, *other_numbers}) == 3


async def test_a_run_that_diverges_draws_new_random_numbers() -> None:
    request_runner = runner()
    call = FakeCall({"a": 1})
    numbers: list[int] = []

    def handler(answers: WebhookResponses) -> None:
        numbers.append(request_runner.rng.getrandbits(128 if answers else 8))
        answers_to(answers, call)

    await run_again(request_runner, handler)

    assert numbers[1].bit_length() > 64


async def test_every_run_reads_the_time_of_the_first_run() -> None:
    clock = FakeClock()
    request_runner = runner(clock)
    times: list[Any] = []

    async def slowly() -> None:
        clock.advance(20)

    call = FakeCall({"a": 1}, meanwhile=slowly)

    def handler(answers: WebhookResponses) -> None:
        times.append(request_runner.clock.now())
        answers_to(answers, call)

    await run_again(request_runner, handler)
    later = request_runner.clock.now()

    assert times[0] == times[1]
    assert (later - times[0]).total_seconds() == 20


async def test_a_handler_that_never_has_all_responses_fails_with_a_timeout() -> None:
    runs = 0

    def handler(answers: WebhookResponses) -> None:
        nonlocal runs
        runs += 1
        answers_to(answers, FakeCall({runs: "again"}))

    with pytest.raises(StatusError) as raised:
        await run_again(runner(), handler)

    assert raised.value.code == 504
    assert runs == MAX_RUNS + 1


async def test_a_server_without_an_outbound_transport_reports_this() -> None:
    with pytest.raises(WebhookUnreachable, match="need an outbound transport"):
        await NoWebhookTransport().post(
            "https://x", b"", ca_bundle=b"", server_name="", connect_to="", timeout_seconds=1.0
        )
