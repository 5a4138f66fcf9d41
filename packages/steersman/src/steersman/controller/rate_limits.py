"""How often a controller tries again: each object later and later, and all together so many."""

from random import Random
from typing import Any, Final

from steersman.clock import Clock
from steersman.names import ObjectKey
from steersman.observe import Observer
from steersman.workqueue import (
    BackoffPolicy,
    BucketPolicy,
    KeyBackoff,
    MaxOf,
    TokenBucket,
    WorkQueue,
)

# Up to five minutes, where Go's controllers go up to a quarter of an hour: people wait for this.
BACKOFF: Final = BackoffPolicy(longest_seconds=300.0)

# All objects of a controller together are tried again no more often than this. Go's ten a second
# take half an hour for the 20,000 objects that an outage of the server has made fail; a hundred are
# still few for a server, and more than a person reads.
RETRIES: Final = BucketPolicy(per_second=100.0, burst=1000)


def new_queue(
    name: str,
    *,
    backoff: BackoffPolicy,
    bucket: BucketPolicy,
    clock: Clock,
    rng: Random,
    observe: Observer,
) -> WorkQueue[ObjectKey]:
    """The queue of a controller; what fails waits as long as both policies want."""
    limiter: Any = MaxOf(KeyBackoff(backoff, rng=rng), TokenBucket(bucket, clock=clock))
    return WorkQueue(name, limiter=limiter, clock=clock, observe=observe)
