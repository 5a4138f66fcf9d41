"""The Job controller: it creates and deletes Pods, counts ended Pods, and finishes the Job."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from steersman.controller import Context, Done, Later, Outcome
from steersman.errors import ApiError, NotFound, SteersmanError, Unreachable
from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.api_errors import error_message, is_namespace_terminating
from steersman_cluster.workloads.jobs.accessors import (
    TRACKING,
    end_of,
    is_managed_elsewhere,
    is_tracked,
    spec_of,
    status_of,
)
from steersman_cluster.workloads.jobs.backoff import retry_seconds
from steersman_cluster.workloads.jobs.local_state import BATCH_SECONDS, LocalState
from steersman_cluster.workloads.jobs.plan import JobPlan, make_plan
from steersman_cluster.workloads.jobs.pod_factory import RELEASE, pod_for
from steersman_cluster.workloads.jobs.state import (
    FinishReason,
    JobState,
    completed,
    compute_state,
    is_complete,
)
from steersman_cluster.workloads.jobs.status import (
    CountedStatus,
    count_ended,
    finished,
    released,
    with_counts,
    with_finish_reason,
    with_suspension,
)
from steersman_cluster.workloads.jobs.ttl_after_finished import expire
from steersman_cluster.workloads.pods import claim, is_ready, phase
from steersman_cluster.workloads.requeue import after_first
from steersman_cluster.workloads.run_state import PerRun
from steersman_cluster.workloads.status_writer import put_status

Job = batch_v1.Job
Pod = core_v1.Pod
Status = batch_v1.JobStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class _Progress:
    """The number of running Pods after this reconcile, and the error of a rejected request."""

    active: int
    ready: int
    terminating: int
    error: SteersmanError | None = None


async def reconcile(job: Job, ctx: Context, *, local_states: PerRun[LocalState]) -> Outcome:
    """Reconcile ``job`` once; if it is finished and its TTL has expired, delete it."""
    local_state = local_states.of(ctx.rng)
    vanished, batches = local_state.vanished, local_state.batches
    if end_of(job) is not None:
        vanished.forget(job.uid)
        batches.end(job.uid)
        return await expire(job, ctx)
    if is_managed_elsewhere(job):
        return Done()
    if all(why.about is not None and why.about.kind == "Pod" for why in ctx.reasons):
        more_seconds = batches.wait_seconds(job.uid, ctx.now)
        if more_seconds > 0:
            return Later(after_seconds=more_seconds)
    batches.end(job.uid)
    pods = await claim(ctx, job, spec_of(job).selector, Pod, finalizers=(TRACKING,))
    # Sorted: which Pod a message names must not depend on the order of the cache.
    job_state = compute_state(job, sorted(pods, key=_by_name), ctx.now)
    finish_reason, plan = job_state.finish_reason, JobPlan()
    if finish_reason is not None:
        progress = await _delete(ctx, job_state, job_state.active, are_counted=True)
        if progress.active:
            finish_reason = None  # not before all are terminating
        status = _counted(job_state, progress)
    else:
        if job.deletion_time is None:
            plan = make_plan(job_state, vanished=vanished.of(job.uid))
        progress = await _execute_plan(ctx, job_state, plan)
        status = _counted(job_state, progress)
        if is_complete(job_state, progress.active):
            finish_reason = completed()
        elif job.deletion_time is None:
            status = _with_suspension(ctx, job_state, status)
    counting = count_ended(job_state, status, finish_reason)
    vanished.note(job.uid, counting.release, job_state.now)
    await _track(ctx, job_state, counting, finish_reason)
    if progress.error is not None and not isinstance(progress.error, ApiError):
        raise progress.error
    if not counting.is_all:
        return Later(after_seconds=BATCH_SECONDS)
    if finish_reason is not None:
        return Done()
    # A rejection is not raised: an event has reported it already, in the server's words.
    retry = (
        retry_seconds(job_state.pods, job_state.start_time, job_state.now)
        if progress.error
        else None
    )
    return after_first(job_state.deadline_seconds, plan.wait_seconds, retry)


def pod_matters(old: Pod | None, new: Pod) -> bool:
    """Return whether the change of a Pod from ``old`` to ``new`` can affect its Job."""
    return old is None or (
        old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        or phase(old) != phase(new)
        or is_ready(old) != is_ready(new)
        or old.metadata.owner_references != new.metadata.owner_references
        or old.metadata.labels != new.metadata.labels
        or _restarts(old) != _restarts(new)
    )


def job_matters(old: Job | None, new: Job) -> bool:
    """Return whether a Job must be reconciled after the change from ``old`` to ``new``.

    Changes of the counters in the status need no reconcile, because only this controller writes
    them.
    """
    return (
        old is None
        or old.generation != new.generation
        or old.deletion_time != new.deletion_time
        or end_of(old) != end_of(new)
    )


def _counted(job_state: JobState, progress: _Progress) -> Status:
    return with_counts(
        job_state,
        active=progress.active,
        ready=progress.ready,
        terminating=progress.terminating,
    )


async def _execute_plan(ctx: Context, job_state: JobState, plan: JobPlan) -> _Progress:
    if plan.delete:
        return await _delete(ctx, job_state, plan.delete, are_counted=False)
    progress = _Progress(
        active=len(job_state.active), ready=job_state.ready, terminating=job_state.terminating
    )
    for index in plan.make:
        try:
            made = await ctx.create(pod_for(job_state.job, index, job_state.replaced.get(index)))
        except (ApiError, Unreachable) as error:
            if is_namespace_terminating(error):
                return progress
            ctx.record("FailedCreate", f"Error creating: {error_message(error)}", type="Warning")
            # What fails for one Pod fails for the next: do not even try.
            return replace(progress, error=error)
        ctx.record("SuccessfulCreate", f"Created pod: {made.name}")
        progress = replace(progress, active=progress.active + 1)
    return progress


async def _delete(
    ctx: Context, job_state: JobState, pods: Iterable[Pod], *, are_counted: bool
) -> _Progress:
    """Delete Pods; with ``are_counted``, the Pods keep their finalizer until they are counted."""
    active, ready, terminating = len(job_state.active), job_state.ready, job_state.terminating
    first: SteersmanError | None = None
    for pod in pods:
        try:
            if is_tracked(pod) and not are_counted:
                pod = await ctx.patch(pod, RELEASE)
            await ctx.delete(pod)
        except NotFound:
            pass  # it is gone already
        except (ApiError, Unreachable) as error:
            ctx.record("FailedDelete", f"Error deleting: {error_message(error)}", type="Warning")
            first = first or error
            continue
        else:
            ctx.record("SuccessfulDelete", f"Deleted pod: {pod.name}")
        active -= 1
        ready -= is_ready(pod)
        terminating += 1
    return _Progress(active=active, ready=ready, terminating=terminating, error=first)


async def _track(
    ctx: Context, job_state: JobState, counting: CountedStatus, finish_reason: FinishReason | None
) -> None:
    """Count the Pods that have ended, and finish the Job."""
    job = await _put(
        ctx, job_state.job, with_finish_reason(counting.status, finish_reason, job_state.now)
    )
    gone: dict[str, None] = {}
    failure: SteersmanError | None = None
    for pod in counting.release:
        try:
            await ctx.patch(pod, RELEASE)
        except NotFound:
            pass
        except (ApiError, Unreachable) as error:
            failure = failure or error
            continue
        gone[pod.uid] = None
    after = released(status_of(job), job_state, gone)
    if failure is not None:
        await _put(ctx, job, after)
        raise failure
    over = (
        finished(after, finish_reason, job_state.now) if finish_reason and counting.is_all else None
    )
    job = await _put(ctx, job, over or after)
    if over is not None and finish_reason is not None:
        _record_finished(ctx, job, finish_reason)


async def _put(ctx: Context, job: Job, status: Status) -> Job:
    # Counters are added to those that were read: with a newer status, a Pod would be counted twice.
    return await put_status(ctx, job, status, if_unchanged=True)


def _with_suspension(ctx: Context, job_state: JobState, status: Status) -> Status:
    status, is_news = with_suspension(job_state, status)
    if is_news and job_state.is_suspended:
        ctx.record("Suspended", "Job suspended")
    elif is_news:
        ctx.record("Resumed", "Job resumed")
    return status


def _record_finished(ctx: Context, job: Job, finish_reason: FinishReason) -> None:
    if not finish_reason.is_success:
        ctx.record(finish_reason.reason, finish_reason.message, type="Warning")
        return
    completions = spec_of(job).completions
    if completions is not None and (status_of(job).succeeded or 0) > completions:
        ctx.record(
            "TooManySucceededPods",
            "Too many succeeded pods running after completion count reached",
            type="Warning",
        )
    ctx.record("Completed", "Job completed")


def _by_name(pod: Pod) -> str:
    return pod.name


def _restarts(pod: Pod) -> int:
    status = pod.status
    if status is None:
        return 0
    containers = (*(status.init_container_statuses or ()), *(status.container_statuses or ()))
    return sum(each.restart_count for each in containers)
