"""Rate limiters: how long a key waits before it is reconciled again after a failure.

No I/O, except that the clock and the random numbers are objects that the caller passes.
"""

from collections.abc import Hashable
from random import Random
from typing import Generic, Protocol, TypeVar

import msgspec

from steersman.clock import Clock
from steersman.errors import BadValue
from steersman.workqueue.priority_fifo import K

KContra = TypeVar("KContra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[KContra]):
    """A policy that decides how long a key waits each time it is requeued."""

    def wait_seconds(self, key: KContra) -> float:
        """Record a failure of ``key``, and return the seconds to wait before its retry."""
        ...

    def forget(self, key: KContra) -> None:
        """Reset the failures of ``key``."""
        ...

    def num_requeues(self, key: KContra) -> int:
        """Return how often ``key`` was requeued since its last ``forget``."""
        ...


class BackoffPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A wait that doubles with each failure, from ``first_seconds`` up to ``max_seconds``.

    The fraction ``jitter`` of each wait is random, so that keys that failed together are not
    retried together. The default waits are those of client-go, which has no jitter.
    """

    first_seconds: float = 0.005
    max_seconds: float = 1000.0
    jitter: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.first_seconds <= self.max_seconds < float("inf"):
            raise BadValue(
                wanted="a backoff",
                value=self.first_seconds,
                rule=f"backoff must satisfy 0 < first_seconds <= max_seconds < inf,"
                f" got first_seconds={self.first_seconds} max_seconds={self.max_seconds}",
            )
        if not 0 <= self.jitter <= 1:
            raise BadValue(
                wanted="a backoff",
                value=self.jitter,
                rule=f"backoff must satisfy 0 <= jitter <= 1, got jitter={self.jitter}",
            )

    def wait_seconds(self, failures: int, *, rng: Random) -> float:
        """Return the wait after ``failures`` consecutive failures; ``failures`` is at least 1."""
        # 2.0 ** 1024 overflows; long before that the wait has stopped growing.
        doublings = min(failures - 1, 64)
        ceiling = min(self.first_seconds * 2.0**doublings, self.max_seconds)
        return ceiling * (1 - self.jitter * rng.random()) if self.jitter else ceiling


class BucketPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a token bucket, and how many tokens it regains per second.

    The defaults, 100 and 10, are those of client-go.
    """

    per_second: float = 10.0
    burst: int = 100

    def __post_init__(self) -> None:
        if not 0 < self.per_second < float("inf") or self.burst < 1:
            raise BadValue(
                wanted="a bucket",
                value=self.per_second,
                rule=f"a bucket must satisfy 0 < per_second < inf and burst >= 1,"
                f" got per_second={self.per_second} burst={self.burst}",
            )


class KeyBackoff(Generic[K]):
    """A rate limiter whose wait grows with each failure of a key, until the key is forgotten."""

    def __init__(self, policy: BackoffPolicy, *, rng: Random) -> None:
        self._policy = policy
        self._rng = rng
        self._failures: dict[K, int] = {}

    def wait_seconds(self, key: K) -> float:
        """Record a failure of ``key``, and return the seconds to wait before its retry."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return self._policy.wait_seconds(failures, rng=self._rng)

    def forget(self, key: K) -> None:
        """Reset the failures of ``key``."""
        if self._failures.pop(key, None) is not None and not self._failures:
            # A dict that was large keeps its memory until it is cleared.
            self._failures.clear()

    def num_requeues(self, key: K) -> int:
        """Return how often ``key`` failed since its last ``forget``."""
        return self._failures.get(key, 0)

    def __repr__(self) -> str:
        return f"<KeyBackoff {len(self._failures)} failing>"


class TokenBucket:
    """A rate limiter for all keys together: each requeue takes a token from one bucket.

    If the bucket is empty, the requeue takes a future token, and the key waits for that token.
    """

    def __init__(self, policy: BucketPolicy, *, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._tokens = float(policy.burst)
        self._counted_at = clock.monotonic()

    def wait_seconds(self, key: Hashable) -> float:  # noqa: ARG002 - all keys are alike here
        """Take a token from the bucket that all keys share, and return the wait for that token."""
        now_at = self._clock.monotonic()
        gained = (now_at - self._counted_at) * self._policy.per_second
        self._counted_at = now_at
        self._tokens = min(self._tokens + gained, float(self._policy.burst)) - 1
        return max(0.0, -self._tokens / self._policy.per_second)

    def forget(self, key: Hashable) -> None:
        """Do nothing: the bucket does not count the failures of single keys."""

    def num_requeues(self, key: Hashable) -> int:  # noqa: ARG002 - all keys are alike here
        """Return 0: the bucket does not count the failures of single keys."""
        return 0

    def __repr__(self) -> str:
        return f"<TokenBucket {self._tokens:.1f} of {self._policy.burst}>"


class MaxOf(Generic[K]):
    """A rate limiter that consists of several rate limiters, and returns their longest wait."""

    def __init__(self, *limiters: RateLimiter[K]) -> None:
        self._limiters = limiters

    def wait_seconds(self, key: K) -> float:
        """Apply all limiters to ``key``, and return the longest of their waits."""
        return max((each.wait_seconds(key) for each in self._limiters), default=0.0)

    def forget(self, key: K) -> None:
        """Reset the failures of ``key`` in all limiters."""
        for each in self._limiters:
            each.forget(key)

    def num_requeues(self, key: K) -> int:
        """Return the highest ``num_requeues`` of all limiters."""
        most = 0
        for each in self._limiters:
            # max() would cost more than the rest of this method, which runs for every reconcile.
            count = each.num_requeues(key)
            if count > most:
                most = count
        return most

    def __repr__(self) -> str:
        return f"<MaxOf {', '.join(map(repr, self._limiters))}>"


def default_limiter(*, clock: Clock, rng: Random) -> RateLimiter[Hashable]:
    """Return a rate limiter with the defaults of controllers in client-go.

    It combines a backoff for each key and a token bucket for all keys.
    """
    backoff: KeyBackoff[Hashable] = KeyBackoff(BackoffPolicy(), rng=rng)
    return MaxOf(backoff, TokenBucket(BucketPolicy(), clock=clock))
