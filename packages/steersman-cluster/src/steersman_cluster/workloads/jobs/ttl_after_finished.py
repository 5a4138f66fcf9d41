"""The TTL-after-finished controller, which deletes finished Jobs.

A Job is deleted when ``ttlSecondsAfterFinished`` seconds have passed since its end.
"""

from datetime import datetime, timedelta

from steersman.controller import Context, Done, Later, Outcome
from steersman.errors import NotFound
from steersman.kinds import batch_v1
from steersman_cluster.workloads.jobs.accessors import end_of, spec_of

Job = batch_v1.Job


def expires(job: Job) -> datetime | None:
    """Return when to delete ``job``, or ``None`` if it has no TTL or is not finished."""
    end, ttl_seconds = end_of(job), spec_of(job).ttl_seconds_after_finished
    if end is None or end.last_transition_time is None or ttl_seconds is None:
        return None
    return end.last_transition_time + timedelta(seconds=ttl_seconds)


async def expire(job: Job, ctx: Context) -> Outcome:
    """Delete ``job`` and its Pods if its TTL has expired."""
    left_seconds = _left_seconds(job, ctx.now)
    if left_seconds is not None and left_seconds <= 0:
        # Read the live Job: its TTL may have been raised just now, and a deletion is final.
        try:
            job = await ctx.live.get(Job, job.name)
        except NotFound:
            return Done()
        left_seconds = _left_seconds(job, ctx.now)
    if left_seconds is None:
        return Done()
    if left_seconds > 0:
        return Later(after_seconds=left_seconds)
    await ctx.delete(job, propagation="Foreground")
    return Done()


def _left_seconds(job: Job, now: datetime) -> float | None:
    expiry = expires(job) if job.deletion_time is None else None
    return None if expiry is None else (expiry - now).total_seconds()
