"""How long the reflector waits after failures, and which failures it reports."""

from random import Random

import pytest

from steersman.errors import SteersmanError, TooManyRequests
from steersman.watch.backoff import FailureStreak, wait_seconds
from tests.unit.watch.errors import BUSY, DROPPED, FORBIDDEN, MISSING, UNAVAILABLE


class NoJitter(Random):
    """No jitter."""

    def random(self) -> float:
        return 0.0


class FullJitter(Random):
    """The maximum of jitter."""

    def random(self) -> float:
        return 1.0


def waited(failures: int, error: SteersmanError, rng: Random) -> float:
    return wait_seconds(failures, error, rng=rng, max_retry_after_seconds=60.0)


def waits(error: SteersmanError, rng: Random) -> list[float]:
    return [waited(failures, error, rng) for failures in range(1, 9)]


def test_waits_double_up_to_half_a_minute() -> None:
    assert waits(DROPPED, NoJitter()) == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_jitter_at_most_doubles_a_wait() -> None:
    assert waits(DROPPED, FullJitter())[:3] == [1.6, 3.2, 6.4]


def test_the_wait_after_many_failures_is_finite() -> None:
    assert waited(10**9, DROPPED, NoJitter()) == 30.0


def test_a_missing_kind_is_listed_every_few_seconds() -> None:
    assert waits(MISSING, NoJitter()) == [2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0, 10.0]


def test_retry_after_is_the_shortest_wait() -> None:
    assert waits(BUSY, NoJitter())[:2] == [17.0, 17.0]
    assert waits(BUSY, FullJitter())[0] == 17.8
    assert waits(BUSY, NoJitter())[6] == 30.0


@pytest.mark.parametrize("asked_seconds", [3600.0, 1e300, float("inf")])
def test_retry_after_is_followed_for_a_minute_at_most(asked_seconds: float) -> None:
    error = TooManyRequests(
        wanted="list Pod *", code=429, reason="", message="", retry_after_seconds=asked_seconds
    )

    assert waited(1, error, NoJitter()) == 60.0
    assert waited(1, error, FullJitter()) == 60.8


def reported_in(errors: list[SteersmanError]) -> list[int]:
    streak = FailureStreak()
    return [number for number, error in enumerate(errors, start=1) if streak.add(error)]


def test_repeated_failures_are_reported_less_and_less_often() -> None:
    assert reported_in([DROPPED] * 40) == [1, 2, 4, 8, 16, 32]


def test_another_kind_of_failure_is_reported() -> None:
    assert reported_in([DROPPED, DROPPED, DROPPED, FORBIDDEN, FORBIDDEN, FORBIDDEN]) == [1, 2, 4, 5]


@pytest.mark.parametrize("error", [DROPPED, UNAVAILABLE])
def test_a_success_resets_the_streak(error: SteersmanError) -> None:
    streak = FailureStreak()
    for _ in range(3):
        streak.add(error)

    streak.end()

    assert streak.add(error)
    assert streak.failures == 1
