"""The work queue: keys of objects to reconcile, each with one worker at a time.

Takes:     keys from triggers, any number of times, at once, after a delay or rate limited
Gives:     keys to workers, through ``async with queue.take() as key``
Promises:  - a key is never with two workers at once
           - a key added while a worker holds it is given out once more afterwards
           - a key added many times before it is given out is given out once
           - keys of one priority come out in the order in which they went in
           - one key in ten is the one that has waited longest, whatever its priority
           - of several moments for one key the earliest wins
           - no key is lost when a worker is cancelled
           - keys that fail do not hold up those that do not
           - nothing is kept of a key that is done and forgotten
           - workers end when the queue is closed
Never:     reads objects, touches the network, starts a task, or knows why a key was added
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
