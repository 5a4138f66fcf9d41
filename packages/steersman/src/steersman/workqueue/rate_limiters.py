"""Rate limiters: how long a failed key has to wait. No I/O, except for clock and randomness."""

from collections.abc import Hashable
from random import Random
from typing import Generic, Protocol, TypeVar

import msgspec

from steersman.clock import Clock
from steersman.errors import BadValue
from steersman.workqueue.priority_fifo import K

KContra = TypeVar("KContra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[KContra]):
    """A policy that decides how long a key waits, each time the key is requeued."""

    def wait_seconds(self, key: KContra) -> float:
        """Return how long this key waits this time; each call counts as a failure."""
        ...

    def forget(self, key: KContra) -> None:
        """Reset the failures of this key."""
        ...

    def num_requeues(self, key: KContra) -> int:
        """Return how often this key was requeued since it was last forgotten."""
        ...


class BackoffPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Doubling waits, from ``first_seconds`` up to ``longest_seconds``.

    Up to ``jitter`` of each wait is random, so that keys that failed together are not retried
    together. The defaults of the waits are those of client-go, which has no jitter.
    """

    first_seconds: float = 0.005
    longest_seconds: float = 1000.0
    jitter: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.first_seconds <= self.longest_seconds < float("inf"):
            raise BadValue(
                wanted="a backoff",
                value=self.first_seconds,
                rule=f"backoff must satisfy 0 < first_seconds <= longest_seconds < inf,"
                f" got first_seconds={self.first_seconds} longest_seconds={self.longest_seconds}",
            )
        if not 0 <= self.jitter <= 1:
            raise BadValue(
                wanted="a backoff",
                value=self.jitter,
                rule=f"backoff must satisfy 0 <= jitter <= 1, got jitter={self.jitter}",
            )

    def wait_seconds(self, failures: int, *, rng: Random) -> float:
        """Return the wait after ``failures`` consecutive failures, at least one."""
        # 2.0 ** 1024 overflows; long before that the wait has stopped growing.
        doublings = min(failures - 1, 64)
        ceiling = min(self.first_seconds * 2.0**doublings, self.longest_seconds)
        return ceiling * (1 - self.jitter * rng.random()) if self.jitter else ceiling


class BucketPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a token bucket and its refill rate per second: 100 and 10, as in client-go."""

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
    """A delay for each key that grows with each failure, until the key is forgotten."""

    def __init__(self, policy: BackoffPolicy, *, rng: Random) -> None:
        self._policy = policy
        self._rng = rng
        self._failures: dict[K, int] = {}

    def wait_seconds(self, key: K) -> float:
        """Count another failure of this key, and return how long the key waits."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return self._policy.wait_seconds(failures, rng=self._rng)

    def forget(self, key: K) -> None:
        """Reset the failures of this key."""
        if self._failures.pop(key, None) is not None and not self._failures:
            # A dict that was large keeps its memory until it is cleared.
            self._failures.clear()

    def num_requeues(self, key: K) -> int:
        """Return how often this key failed since it was last forgotten."""
        return self._failures.get(key, 0)

    def __repr__(self) -> str:
        return f"<KeyBackoff {len(self._failures)} failing>"


class TokenBucket:
    """A limit of the rate at which all keys together are requeued.

    When the bucket is empty, a caller reserves a future token, and waits for that token.
    """

    def __init__(self, policy: BucketPolicy, *, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._tokens = float(policy.burst)
        self._counted_at = clock.monotonic()

    def wait_seconds(self, key: Hashable) -> float:  # noqa: ARG002 - all keys are alike here
        """Take a token, and return how long the key waits for it; all keys share the bucket."""
        now_at = self._clock.monotonic()
        gained = (now_at - self._counted_at) * self._policy.per_second
        self._counted_at = now_at
        self._tokens = min(self._tokens + gained, float(self._policy.burst)) - 1
        return max(0.0, -self._tokens / self._policy.per_second)

    def forget(self, key: Hashable) -> None:
        """Do nothing: the bucket does not count single keys."""

    def num_requeues(self, key: Hashable) -> int:  # noqa: ARG002 - all keys are alike here
        """Return 0: the bucket does not count single keys."""
        return 0

    def __repr__(self) -> str:
        return f"<TokenBucket {self._tokens:.1f} of {self._policy.burst}>"


class MaxOf(Generic[K]):
    """A rate limiter that applies the longest wait of several rate limiters."""

    def __init__(self, *limiters: RateLimiter[K]) -> None:
        self._limiters = limiters

    def wait_seconds(self, key: K) -> float:
        """Return the longest wait of all limiters."""
        return max((each.wait_seconds(key) for each in self._limiters), default=0.0)

    def forget(self, key: K) -> None:
        """Reset the key in all limiters."""
        for each in self._limiters:
            each.forget(key)

    def num_requeues(self, key: K) -> int:
        """Return the highest count of all limiters."""
        most = 0
        for each in self._limiters:
            # Not max(), which costs more than the rest of this, and runs for each reconcile.
            count = each.num_requeues(key)
            if count > most:
                most = count
        return most

    def __repr__(self) -> str:
        return f"<MaxOf {', '.join(map(repr, self._limiters))}>"


def default_limiter(*, clock: Clock, rng: Random) -> RateLimiter[Hashable]:
    """Return a backoff for each key and a bucket for all keys, the default of Go's controllers."""
    backoff: KeyBackoff[Hashable] = KeyBackoff(BackoffPolicy(), rng=rng)
    return MaxOf(backoff, TokenBucket(BucketPolicy(), clock=clock))
