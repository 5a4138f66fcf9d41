"""The work queue: keys of objects to reconcile, each with one worker at a time.

Takes:     keys from triggers, any number of times, immediately, after a delay or rate limited
Gives:     keys to workers, through ``async with queue.take() as key``
Promises:  - a key is never with two workers at once
           - a key added while a worker holds it is delivered once more afterwards
           - a key added many times before its delivery is delivered once
           - keys of one priority are delivered in the order in which they were added
           - one key in ten is the one that has waited longest, whatever its priority
           - of several due times for one key the earliest wins
           - no key is lost when a worker is cancelled
           - keys that fail do not delay keys that succeed
           - nothing is stored for a key that is done and forgotten
           - workers end when the queue is closed
Never:     reads objects, touches the network, starts a task, or uses the reason why a key was added
"""

from steersman.workqueue.queue import LOW_PRIORITY, WorkQueue
from steersman.workqueue.rate_limiters import (
    BackoffPolicy,
    BucketPolicy,
    KeyBackoff,
    MaxOf,
    RateLimiter,
    TokenBucket,
    default_limiter,
)

__all__ = [
    "LOW_PRIORITY",
    "BackoffPolicy",
    "BucketPolicy",
    "KeyBackoff",
    "MaxOf",
    "RateLimiter",
    "TokenBucket",
    "WorkQueue",
    "default_limiter",
]
