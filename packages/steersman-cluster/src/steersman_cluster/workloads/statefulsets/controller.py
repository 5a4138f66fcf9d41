"""The controller that maintains the Pods, claims, revisions and status of StatefulSets."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from steersman.controller import Context, Done, Later, Outcome
from steersman.errors import AlreadyExists, Forbidden, Invalid, SteersmanError
from steersman.kinds import apps_v1, core_v1
from steersman_cluster.workloads.api_errors import is_namespace_terminating
from steersman_cluster.workloads.pods import candidates, claim, claimed, next_available_seconds
from steersman_cluster.workloads.revisions import CurrentRevision, history_of, revision_for, shorten
from steersman_cluster.workloads.statefulsets.identity import (
    Pod,
    StatefulSet,
    is_member,
    replicas_of,
    revision_of,
    spec_of,
)
from steersman_cluster.workloads.statefulsets.plan import members, status_of, steps
from steersman_cluster.workloads.statefulsets.pod_control import StatefulPodControl
from steersman_cluster.workloads.status_writer import put_status

# When a request is retried that a quota or a webhook has rejected: no event reports that they would
# accept it now.
RETRY_SECONDS: Final = 15.0


async def reconcile(owner: StatefulSet, ctx: Context) -> Outcome:
    """Execute the next steps for the Pods of ``owner``, a StatefulSet, and write its status."""
    if owner.deletion_time is not None:
        return await _count(ctx, owner)
    spec = spec_of(owner)
    history = await history_of(ctx, owner, spec.selector)
    is_fit = partial(is_member, owner.name)
    pods = await claim(ctx, owner, spec.selector, core_v1.Pod, is_fit=is_fit)
    before = owner.status.collision_count if owner.status is not None else None
    kept = await revision_for(ctx, owner, spec.template, history, collisions=before or 0)
    current = _current(owner, kept)
    pod_control = StatefulPodControl(owner, ctx, current=current, update=kept.revision)
    now = ctx.now
    error: SteersmanError | None = None
    try:
        for step in steps(owner, members(owner, pods), update=kept.revision.name, now=now):
            await pod_control.execute(step)
    except SteersmanError as caught:
        error = caught  # the status has the steps before that
    pods = _pods(ctx, owner)
    status = status_of(
        owner,
        pods,
        current=current.name,
        update=kept.revision.name,
        collisions=kept.collisions,
        now=now,
    )
    await put_status(ctx, owner, status)
    if error is not None:
        return _retry_seconds(error)
    await _shorten(ctx, spec, kept, pods, status)
    return _outcome(spec, pods, status, ctx)


async def _count(ctx: Context, owner: StatefulSet) -> Outcome:
    """Write the status of a set that is being deleted; the controller does not change its Pods."""
    said = owner.status
    if said is not None:
        status = status_of(
            owner,
            _pods(ctx, owner),
            current=said.current_revision or "",
            update=said.update_revision or "",
            collisions=said.collision_count or 0,
            now=ctx.now,
        )
        await put_status(ctx, owner, status)
    return Later()


def _pods(ctx: Context, owner: StatefulSet) -> list[Pod]:
    """Return the Pods in the cache that the set owns."""
    selector = spec_of(owner).selector
    found = candidates(ctx, owner, selector, core_v1.Pod)
    return [*claimed(owner, selector, found, is_fit=partial(is_member, owner.name)).ours]


def _retry_seconds(error: SteersmanError) -> Outcome:
    """Return the outcome that retries a rejected request; raise any other ``error``."""
    if is_namespace_terminating(error):
        return Later()
    if isinstance(error, AlreadyExists | Forbidden | Invalid):
        # Not raised: an event has reported it already; or a Pod with another owner has the name,
        # whose deletion causes no reconcile.
        return Later(after_seconds=RETRY_SECONDS)
    raise error


def _current(owner: StatefulSet, kept: CurrentRevision) -> apps_v1.ControllerRevision:
    """Return the revision that all Pods had when the last update was complete."""
    name = owner.status.current_revision if owner.status is not None else None
    return next((each for each in kept.history if each.name == name), kept.revision)


async def _shorten(
    ctx: Context,
    spec: apps_v1.StatefulSetSpec,
    kept: CurrentRevision,
    pods: Sequence[Pod],
    status: apps_v1.StatefulSetStatus,
) -> None:
    limit = spec.revision_history_limit
    if limit is None or len(kept.history) <= limit:
        return
    live = {status.current_revision, status.update_revision, *map(revision_of, pods)}
    await shorten(ctx, kept.history, is_live=lambda each: each.name in live, limit=limit)


def _outcome(
    spec: apps_v1.StatefulSetSpec,
    pods: Sequence[Pod],
    status: apps_v1.StatefulSetStatus,
    ctx: Context,
) -> Outcome:
    wait_seconds = next_available_seconds(pods, spec.min_ready_seconds or 0, ctx.now)
    if wait_seconds is not None:
        return Later(after_seconds=wait_seconds)
    wanted = replicas_of(spec)
    is_there = wanted == status.replicas == status.available_replicas
    return Done() if is_there and wanted == (status.updated_replicas or 0) else Later()
