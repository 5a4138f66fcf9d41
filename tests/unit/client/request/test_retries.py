"""Which requests are retried, and after how long."""

from collections.abc import Awaitable, Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.client import Client, ClientSettings, JsonPatch, MergePatch, RetryPolicy
from steersman.client.request.retries import RetryBudget
from steersman.errors import SteersmanError, TooManyRequests, Unreachable
from steersman.observe import RetriesSpent
from tests.transports import FakeResponse, Scripted, error_response
from tests.unit.client.scripted_client import TYPED, LooseWidget, ScriptedClient, Widget, widget

LOOSE = LooseWidget(widget())

Verb = Callable[[Client], Awaitable[object]]

READS: dict[str, Verb] = {
    "get": lambda client: client.get(Widget, "web", namespace="default"),
    "list": lambda client: client.list(Widget, namespace="default"),
    "get status": lambda client: client.status(Widget, "web", namespace="default").get(),
    "discover": lambda client: client.discover(),
}
WRITES: dict[str, Verb] = {
    "create": lambda client: client.create(TYPED),
    "update": lambda client: client.update(LOOSE),
    "merge patch": lambda client: client.patch(
        Widget, "web", MergePatch({"spec": {"size": 4}}), namespace="default"
    ),
    "json patch": lambda client: client.patch(
        Widget, "web", JsonPatch(JsonPatch.add("/spec/colours/-", "red")), namespace="default"
    ),
    "apply": lambda client: client.apply(TYPED, field_manager="me"),
    "delete": lambda client: client.delete(Widget, "web", namespace="default"),
    "delete all": lambda client: client.delete_all(Widget, namespace="default"),
    "create subresource": lambda client: client.status(Widget, "web", namespace="default").create(
        TYPED
    ),
    "patch status": lambda client: client.status(Widget, "web", namespace="default").patch(
        MergePatch({})
    ),
    "apply status": lambda client: client.status(Widget, "web", namespace="default").apply(
        TYPED, field_manager="me"
    ),
    "a dry run": lambda client: client.create(TYPED, dry_run=True),
}

# The failure, and whether the server has certainly not processed the request.
NOT_CARRIED_OUT: dict[str, Scripted] = {
    "never arrived": Unreachable("connection refused", may_have_happened=False),
    "shed, with a time to come back": error_response(
        429, "TooManyRequests", headers={"retry-after": "1"}
    ),
}
MAYBE_CARRIED_OUT: dict[str, Scripted] = {
    "no answer": Unreachable("connection reset"),
    "answer cut off": FakeResponse(body=[b'{"kind"', Unreachable("connection reset")]),
    "500": error_response(500, "InternalError"),
    "500 with a time to come back": error_response(500, headers={"retry-after": "1"}),
    "502": FakeResponse(status=502, body=b"<html>"),
    "503": error_response(503, "ServiceUnavailable", headers={"retry-after": "1"}),
    "504": error_response(504, "Timeout"),
}
# A retry would get the same response, or is for the caller to decide.
ANSWERED: dict[str, Scripted] = {
    "a no without a time to come back": error_response(429, "TooManyRequests"),
    "a disruption budget's no": error_response(
        429,
        "TooManyRequests",
        headers={"retry-after": "10"},
        details={"causes": [{"reason": "DisruptionBudget"}]},
    ),
    "a server that is behind": error_response(
        504, "Timeout", details={"causes": [{"reason": "ResourceVersionTooLarge"}]}
    ),
    "a redirect": FakeResponse(status=307),
    "too large": FakeResponse(body=[ValueError("the body is longer than its limit")]),
    **{str(code): error_response(code) for code in (400, 401, 403, 404, 405, 409, 410, 413, 422)},
}


async def times_sent(verb: Verb, failure: Scripted) -> int:
    settings = ClientSettings(retry=RetryPolicy(attempts=2))
    fixture = ScriptedClient(respond=lambda _: failure, settings=settings)
    with pytest.raises(SteersmanError):
        await verb(fixture.client)
    return len(fixture.server.requests)


@pytest.mark.parametrize("verb", WRITES)
@pytest.mark.parametrize("failure", [*MAYBE_CARRIED_OUT, *ANSWERED])
async def test_no_request_that_could_write_twice_is_sent_again(verb: str, failure: str) -> None:
    script = {**MAYBE_CARRIED_OUT, **ANSWERED}

    assert await times_sent(WRITES[verb], script[failure]) == 1


@pytest.mark.parametrize("verb", [*READS, *WRITES])
@pytest.mark.parametrize("failure", NOT_CARRIED_OUT)
async def test_a_request_that_was_certainly_not_carried_out_is_retried(
    verb: str, failure: str
) -> None:
    verbs = {**READS, **WRITES}

    assert await times_sent(verbs[verb], NOT_CARRIED_OUT[failure]) == 2


@pytest.mark.parametrize("verb", READS)
@pytest.mark.parametrize("failure", MAYBE_CARRIED_OUT)
async def test_a_read_without_a_response_is_retried(verb: str, failure: str) -> None:
    assert await times_sent(READS[verb], MAYBE_CARRIED_OUT[failure]) == 2


@pytest.mark.parametrize("verb", READS)
@pytest.mark.parametrize("failure", ANSWERED)
async def test_a_read_with_a_response_is_not_retried(verb: str, failure: str) -> None:
    assert await times_sent(READS[verb], ANSWERED[failure]) == 1


async def test_retries_add_at_most_a_tenth_to_the_load() -> None:
    fixture = ScriptedClient(respond=lambda _: error_response(503))
    requests = 500

    for _ in range(requests):
        with pytest.raises(SteersmanError):
            await fixture.client.get(Widget, "web", namespace="default")

    # A client starts with a reserve beside the tenth.
    retries = len(fixture.server.requests) - requests
    assert requests * 0.1 <= retries <= requests * 0.1 + 10
    assert any(isinstance(each, RetriesSpent) for each in fixture.observed)


def test_a_budget_that_was_not_used_does_not_grow_beyond_its_reserve() -> None:
    budget = RetryBudget(share=0.5, reserve=2.0)
    for _ in range(100):
        budget.request()

    assert [budget.withdraw() for _ in range(3)] == [True, True, False]


def test_a_spent_budget_is_refilled_by_requests() -> None:
    budget = RetryBudget(share=0.5, reserve=1.0)
    budget.withdraw()

    budget.request()
    first = budget.withdraw()
    budget.request()
    second = budget.withdraw()

    assert (first, second) == (False, True)


@given(attempt=st.integers(1, 5000), seed=st.integers(0, 99))
def test_delays_double_up_to_the_maximum_with_half_as_jitter(attempt: int, seed: int) -> None:
    policy = RetryPolicy(attempts=9999, first_seconds=0.1, max_seconds=10.0)

    pause = policy.pause_seconds(attempt, rng=Random(seed))

    whole = min(0.1 * 2 ** min(attempt - 1, 99), 10.0)
    assert whole / 2 <= pause <= whole


def test_two_clients_that_fail_together_retry_at_different_times() -> None:
    policy = RetryPolicy()

    assert len({policy.pause_seconds(1, rng=Random(seed)) for seed in range(20)}) == 20


@given(seconds=st.floats(0, 1000), seed=st.integers(0, 99))
def test_no_retry_is_sent_before_the_time_in_retry_after(seconds: float, seed: int) -> None:
    shed = TooManyRequests(wanted="x", code=429, reason="", message="", retry_after_seconds=seconds)

    wait = RetryPolicy().wait_seconds(shed, reads=False, attempt=1, rng=Random(seed))

    assert wait is not None
    assert seconds <= wait <= seconds + 0.1


def test_there_is_no_retry_after_the_last_attempt() -> None:
    lost = Unreachable("x", may_have_happened=False)
    policy = RetryPolicy(attempts=3)

    waits = [policy.wait_seconds(lost, reads=True, attempt=n, rng=Random(0)) for n in (1, 2, 3)]

    assert [wait is None for wait in waits] == [False, False, True]


@pytest.mark.parametrize(
    "wrong",
    [
        {"attempts": 0},
        {"first_seconds": 0.0},
        {"first_seconds": 2.0, "max_seconds": 1.0},
    ],
)
def test_an_invalid_retry_policy_cannot_be_created(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="retries must satisfy"):
        RetryPolicy(**wrong)  # type: ignore[arg-type]
