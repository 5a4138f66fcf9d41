"""The delay of a key by each rate limiter, and by several together."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.workqueue import (
    BackoffPolicy,
    BucketPolicy,
    KeyBackoff,
    MaxOf,
    TokenBucket,
    default_limiter,
)
from tests.clocks import FakeClock


def backoff(**changes: float) -> KeyBackoff[str]:
    return KeyBackoff(BackoffPolicy(**{"jitter": 0.0} | changes), rng=Random(0))


def test_each_failure_doubles_the_wait_of_its_key_up_to_the_maximum() -> None:
    limiter = backoff(first_seconds=0.005, max_seconds=0.03)

    assert [limiter.wait_seconds("web") for _ in range(5)] == [0.005, 0.01, 0.02, 0.03, 0.03]
    assert limiter.wait_seconds("db") == 0.005


def test_the_default_backoff_is_that_of_client_go() -> None:
    limiter = backoff()

    waits = [limiter.wait_seconds("web") for _ in range(2000)]

    assert waits[:3] == [0.005, 0.01, 0.02]
    assert waits[-1] == 1000


def test_a_forgotten_key_starts_with_the_initial_wait() -> None:
    limiter = backoff()
    for _ in range(3):
        limiter.wait_seconds("web")
    assert limiter.num_requeues("web") == 3

    limiter.forget("web")
    limiter.forget("never seen")

    assert limiter.num_requeues("web") == 0
    assert limiter.wait_seconds("web") == 0.005


@given(seed=st.integers(), jitter=st.floats(0, 1), failures=st.integers(1, 10**6))
def test_jitter_shortens_a_wait_by_its_share_at_most(
    seed: int, jitter: float, failures: int
) -> None:
    whole = BackoffPolicy(jitter=0).wait_seconds(failures, rng=Random(seed))

    wait = BackoffPolicy(jitter=jitter).wait_seconds(failures, rng=Random(seed))

    assert whole * (1 - jitter) <= wait <= whole


def test_keys_that_fail_together_are_retried_at_different_times() -> None:
    limiter = KeyBackoff[int](BackoffPolicy(), rng=Random(0))

    assert len({limiter.wait_seconds(key) for key in range(100)}) == 100


def test_the_same_seed_gives_the_same_waits() -> None:
    first, second = (KeyBackoff[int](BackoffPolicy(), rng=Random(7)) for _ in range(2))

    assert [first.wait_seconds(n) for n in range(9)] == [second.wait_seconds(n) for n in range(9)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"first_seconds": 0},
        {"first_seconds": -1},
        {"first_seconds": 2, "max_seconds": 1},
        {"max_seconds": float("inf")},
        {"first_seconds": float("nan")},
        {"jitter": -0.1},
        {"jitter": 1.1},
        {"jitter": float("nan")},
    ],
)
def test_an_invalid_backoff_is_rejected(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="backoff must satisfy"):
        BackoffPolicy(**wrong)


@pytest.mark.parametrize(
    ("per_second", "burst"), [(0, 1), (-1, 1), (float("inf"), 1), (float("nan"), 1), (1, 0)]
)
def test_an_invalid_bucket_is_rejected(per_second: float, burst: int) -> None:
    with pytest.raises(ValueError, match="a bucket must satisfy"):
        BucketPolicy(per_second=per_second, burst=burst)


def test_a_bucket_allows_a_burst_and_then_its_rate_per_second() -> None:
    bucket = TokenBucket(BucketPolicy(per_second=10, burst=3), clock=FakeClock())

    waits = [bucket.wait_seconds(key) for key in "abcdef"]

    assert waits == pytest.approx([0, 0, 0, 0.1, 0.2, 0.3])


def test_a_bucket_fills_over_time_up_to_its_burst() -> None:
    clock = FakeClock()
    bucket = TokenBucket(BucketPolicy(per_second=10, burst=3), clock=clock)
    for key in "abcde":
        bucket.wait_seconds(key)

    clock.advance(0.2)
    assert bucket.wait_seconds("f") == pytest.approx(0.1)

    clock.advance(1000)
    assert [bucket.wait_seconds(key) for key in "abcd"] == pytest.approx([0, 0, 0, 0.1])


def test_a_bucket_does_not_distinguish_keys() -> None:
    bucket = TokenBucket(BucketPolicy(), clock=FakeClock())
    bucket.wait_seconds("web")

    bucket.forget("web")

    assert bucket.num_requeues("web") == 0


def test_of_several_limiters_the_longest_wait_wins() -> None:
    bucket = TokenBucket(BucketPolicy(per_second=1, burst=2), clock=FakeClock())
    limiter = MaxOf[str](backoff(first_seconds=0.75), bucket)

    waits = [limiter.wait_seconds("web") for _ in range(4)]

    assert waits == pytest.approx([0.75, 1.5, 3, 6])
    assert limiter.wait_seconds("db") == pytest.approx(3)
    assert limiter.num_requeues("web") == 4


def test_a_forgotten_key_is_forgotten_by_all_limiters() -> None:
    one, other = backoff(), backoff()
    limiter = MaxOf(one, other)
    limiter.wait_seconds("web")

    limiter.forget("web")

    assert (one.num_requeues("web"), other.num_requeues("web")) == (0, 0)


def test_without_a_limiter_there_is_no_wait() -> None:
    assert MaxOf[str]().wait_seconds("web") == 0
    assert MaxOf[str]().num_requeues("web") == 0


def test_the_default_limits_each_key_and_all_keys_together() -> None:
    limiter = default_limiter(clock=FakeClock(), rng=Random(0))

    waits = [limiter.wait_seconds(f"app-{n}") for n in range(200)]

    assert max(waits[:100]) <= 0.005
    assert waits[-1] == pytest.approx(10)
    assert limiter.wait_seconds("app-0") == pytest.approx(10.1)


def test_the_repr_of_a_limiter_has_its_state() -> None:
    limiter = default_limiter(clock=FakeClock(), rng=Random(0))
    limiter.wait_seconds("web")

    assert repr(limiter) == "<MaxOf <KeyBackoff 1 failing>, <TokenBucket 99.0 of 100>>"
