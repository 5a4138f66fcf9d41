"""A controller with settings for its queue."""

import steersman as sm
from docs.code.concepts.reconcile import Greeting, reconcile
from steersman.kinds import core_v1


def priority(greeting: Greeting) -> int:
    return 10 if greeting.labels.get("tier") == "gold" else 0


controller = sm.Controller(
    Greeting,
    reconcile=reconcile,
    owns=(core_v1.ConfigMap,),
    backoff=sm.BackoffPolicy(first_seconds=1.0, max_seconds=60.0),
    bucket=sm.BucketPolicy(per_second=10.0, burst=100),
    debounce_seconds=0.5,
    priority=priority,
)
