"""The Job controller: Pods made and deleted, what they came to counted, and the end told."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from steersman.controller import Context, Done, Later, Outcome
from steersman.errors import ApiError, NotFound, SteersmanError, Unreachable
from steersman.kinds import batch_v1, core_v1
from steersman_cluster.workloads.api_errors import is_namespace_ending, said
from steersman_cluster.workloads.jobs.accessors import (
    TRACKING,
    end_of,
    is_managed_elsewhere,
    is_tracked,
    spec_of,
    status_of,
)
from steersman_cluster.workloads.jobs.backoff import retry_seconds
from steersman_cluster.workloads.jobs.local_state import BATCH_SECONDS, Memory
from steersman_cluster.workloads.jobs.plan import Plan, planned
from steersman_cluster.workloads.jobs.pod_factory import RELEASE, pod_for
from steersman_cluster.workloads.jobs.state import Look, Verdict, completed, is_complete, look_at
from steersman_cluster.workloads.jobs.status import (
    Account,
    account,
    finished,
    released,
    with_counts,
    with_suspension,
    with_verdict,
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
    """How many Pods run after what was done about them, and what could not be done."""

    active: int
    ready: int
    terminating: int
    error: SteersmanError | None = None


async def reconcile(job: Job, ctx: Context, *, memories: PerRun[Memory]) -> Outcome:
    """Go on with a Job that is not over, and do away with one that has been over for long."""
    memory = memories.of(ctx.rng)
    vanished, batches = memory.vanished, memory.batches
    if end_of(job) is not None:
        vanished.forget(job.uid)
        batches.end(job.uid)
        return await expire(job, ctx)
    if is_managed_elsewhere(job):
        return Done()
    if all(why.about is not None and why.about.kind == "Pod" for why in ctx.whys):
        more_seconds = batches.wait_seconds(job.uid, ctx.now)
        if more_seconds > 0:
            return Later(after_seconds=more_seconds)
    batches.end(job.uid)
    pods = await claim(ctx, job, spec_of(job).selector, Pod, finalizers=(TRACKING,))
    # In one order in every process: which Pod a message names must not depend on the cache.
    look = look_at(job, sorted(pods, key=_by_name), ctx.now)
    verdict, plan = look.verdict, Plan()
    if verdict is not None:
        progress = await _delete(ctx, look, look.active, are_counted=True)
        if progress.active:
            verdict = None  # not before all are on their way out
        status = _counted(look, progress)
    else:
        if job.deletion_time is None:
            plan = planned(look, vanished=vanished.of(job.uid))
        progress = await _carry_out(ctx, look, plan)
        status = _counted(look, progress)
        if is_complete(look, progress.active):
            verdict = completed()
        elif job.deletion_time is None:
            status = _told_of_suspension(ctx, look, status)
    counting = account(look, status, verdict)
    vanished.note(job.uid, counting.release, look.now)
    await _track(ctx, look, counting, verdict)
    if progress.error is not None and not isinstance(progress.error, ApiError):
        raise progress.error
    if not counting.is_all:
        return Later(after_seconds=BATCH_SECONDS)
    if verdict is not None:
        return Done()
    # What the server refuses is not raised: it is told already, in the words that people know.
    retry = retry_seconds(look.pods, look.start_time, look.now) if progress.error else None
    return after_first(look.deadline_seconds, plan.wait_seconds, retry)


def pod_matters(old: Pod | None, new: Pod) -> bool:
    """Whether a change of a Pod can be of interest to its Job."""
    return old is None or (
        old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        or phase(old) != phase(new)
        or is_ready(old) != is_ready(new)
        or old.metadata.owner_references != new.metadata.owner_references
        or old.metadata.labels != new.metadata.labels
        or _restarts(old) != _restarts(new)
    )


def job_matters(old: Job | None, new: Job) -> bool:
    """Whether a change of a Job asks for something; what it counts is our own doing."""
    return (
        old is None
        or old.generation != new.generation
        or old.deletion_time != new.deletion_time
        or end_of(old) != end_of(new)
    )


def _counted(look: Look, progress: _Progress) -> Status:
    return with_counts(
        look,
        active=progress.active,
        ready=progress.ready,
        terminating=progress.terminating,
    )


async def _carry_out(ctx: Context, look: Look, plan: Plan) -> _Progress:
    if plan.delete:
        return await _delete(ctx, look, plan.delete, are_counted=False)
    progress = _Progress(active=len(look.active), ready=look.ready, terminating=look.terminating)
    for index in plan.make:
        try:
            made = await ctx.create(pod_for(look.job, index, look.replaced.get(index)))
        except (ApiError, Unreachable) as error:
            if is_namespace_ending(error):
                return progress
            ctx.record("FailedCreate", f"Error creating: {said(error)}", type="Warning")
            # What is wrong with one is wrong with the next: the others are not even tried.
            return replace(progress, error=error)
        ctx.record("SuccessfulCreate", f"Created pod: {made.name}")
        progress = replace(progress, active=progress.active + 1)
    return progress


async def _delete(ctx: Context, look: Look, pods: Iterable[Pod], *, are_counted: bool) -> _Progress:
    """Those that are to be counted keep their finalizers until they are."""
    active, ready, terminating = len(look.active), look.ready, look.terminating
    first: SteersmanError | None = None
    for pod in pods:
        try:
            if is_tracked(pod) and not are_counted:
                pod = await ctx.patch(pod, RELEASE)
            await ctx.delete(pod)
        except NotFound:
            pass  # it is gone, and that is what was wanted
        except (ApiError, Unreachable) as error:
            ctx.record("FailedDelete", f"Error deleting: {said(error)}", type="Warning")
            first = first or error
            continue
        else:
            ctx.record("SuccessfulDelete", f"Deleted pod: {pod.name}")
        active -= 1
        ready -= is_ready(pod)
        terminating += 1
    return _Progress(active=active, ready=ready, terminating=terminating, error=first)


async def _track(ctx: Context, look: Look, counting: Account, verdict: Verdict | None) -> None:
    """Count what has ended, and tell of the end."""
    job = await _put(ctx, look.job, with_verdict(counting.status, verdict, look.now))
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
    after = released(status_of(job), look, gone)
    if failure is not None:
        await _put(ctx, job, after)
        raise failure
    over = finished(after, verdict, look.now) if verdict and counting.is_all else None
    job = await _put(ctx, job, over or after)
    if over is not None and verdict is not None:
        _tell_end(ctx, job, verdict)


async def _put(ctx: Context, job: Job, status: Status) -> Job:
    # What is counted is added to what was read: over a newer status, it would be counted twice.
    return await put_status(ctx, job, status, if_unchanged=True)


def _told_of_suspension(ctx: Context, look: Look, status: Status) -> Status:
    status, is_news = with_suspension(look, status)
    if is_news and look.is_suspended:
        ctx.record("Suspended", "Job suspended")
    elif is_news:
        ctx.record("Resumed", "Job resumed")
    return status


def _tell_end(ctx: Context, job: Job, verdict: Verdict) -> None:
    if not verdict.is_success:
        ctx.record(verdict.reason, verdict.message, type="Warning")
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
