"""The controller that releases orphan Pods of Jobs.

An orphan Pod will never be counted by its Job, so the controller removes the Pod's tracking
finalizer to permit the Pod's deletion.
"""

from collections.abc import Iterable
from typing import Final

from steersman.controller import CacheReader, Context, Done, Outcome, controller_of
from steersman.errors import NotFound
from steersman.kinds import batch_v1, core_v1
from steersman.names import ObjectKey
from steersman_cluster.workloads.jobs.accessors import end_of, is_managed_elsewhere, is_tracked
from steersman_cluster.workloads.jobs.pod_factory import RELEASE

Job = batch_v1.Job
Pod = core_v1.Pod

#: The index of Pods with the finalizer, by the uid of their controller.
TRACKED_INDEX: Final = "tracked"


def by_tracker(pod: Pod) -> Iterable[str]:
    """Return the index key of ``pod``: the uid of its controller.

    A Pod without the tracking finalizer has no key.
    """
    if not is_tracked(pod):
        return ()
    return [owner.uid for owner in pod.metadata.owner_references or () if owner.controller]


def may_be_orphan(old: Pod | None, new: Pod) -> bool:
    """Return whether the change from ``old`` to ``new`` can make the Pod an orphan."""
    if not is_tracked(new):
        return False
    return (
        old is None
        or old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        or old.metadata.owner_references != new.metadata.owner_references
        or not is_tracked(old)
    )


def has_ended(old: Job | None, new: Job) -> bool:
    """Return whether the change from ``old`` to ``new`` finished the Job."""
    return end_of(new) is not None and (old is None or end_of(old) is None)


def pods_of(job: Job, cached: CacheReader) -> Iterable[ObjectKey]:
    """Return the keys of the Pods of ``job`` that have the tracking finalizer."""
    found = cached.by_index(Pod, TRACKED_INDEX, job.uid)
    return [ObjectKey(each.namespace, each.name) for each in found]


async def reconcile(pod: Pod, ctx: Context) -> Outcome:
    """Remove the tracking finalizer of ``pod`` if this Pod is an orphan.

    The Pod is an orphan if its Job does not exist, has finished, or no longer owns the Pod.
    """
    if is_tracked(pod) and await _is_orphan(pod, ctx):
        try:
            await ctx.patch(pod, RELEASE)
        except NotFound:
            return Done()
    return Done()


async def _is_orphan(pod: Pod, ctx: Context) -> bool:
    owner = controller_of(pod)
    if owner is None:
        return True
    if owner.kind != "Job" or owner.api_version != "batch/v1":
        return False
    job = ctx.get(Job, owner.name)
    if job is None or job.uid != owner.uid:
        # The Job may be so new that the cache does not have it.
        try:
            job = await ctx.live.get(Job, owner.name)
        except NotFound:
            return True
    if job.uid != owner.uid:
        return True
    return end_of(job) is not None and not is_managed_elsewhere(job)
