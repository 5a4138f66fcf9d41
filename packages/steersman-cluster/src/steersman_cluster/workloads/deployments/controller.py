"""The Deployment controller: it creates a ReplicaSet for each template and scales it step by step.

    claim ──▶ sync the revision ──▶ one of  being deleted   only the status
                                            paused, scaled  proportional scaling
                                            Recreate        scale down all old ones, then create
                                            RollingUpdate   one step  ──▶ the status

Each reconcile takes one step. The statuses of the ReplicaSets show the effect of the step, and
changes of these statuses trigger the next reconcile.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from steersman.client import MergePatch
from steersman.controller import Context, Done, Later, Outcome, controller_of
from steersman.errors import AlreadyExists, ApiError, SteersmanError, Unreachable
from steersman.kinds import core_v1, replace
from steersman_cluster.workloads.api_errors import error_message, is_namespace_terminating
from steersman_cluster.workloads.deployments.accessors import (
    HISTORY,
    REVISION,
    Deployment,
    ReplicaSet,
    deadline_seconds,
    group_of,
    history_limit,
    is_rolling,
    is_same_template,
    limits_of,
    new_and_old,
    spec_of,
)
from steersman_cluster.workloads.deployments.revisions import (
    changed_annotations,
    cleanable,
    new_replica_set,
    next_revision,
    sizing_annotations,
)
from steersman_cluster.workloads.deployments.rollout import (
    ReplicaLimits,
    Resize,
    first_size,
    is_scaled,
    recreate_step,
    rolling_step,
    scaling_step,
)
from steersman_cluster.workloads.deployments.status import (
    PROGRESSING,
    Status,
    condition_in,
    counted,
    is_complete,
    overdue_in_seconds,
    paused_or_resumed,
    progressed,
    with_condition,
)
from steersman_cluster.workloads.pods import CONTROLLER_INDEX, claim, is_ended
from steersman_cluster.workloads.replicasets import retry_seconds
from steersman_cluster.workloads.status_writer import put_status

Pod = core_v1.Pod

_CREATED = "NewReplicaSetCreated"
_CREATE_FAILED = "ReplicaSetCreateError"


@dataclass(slots=True, kw_only=True)
class _RolloutState:
    """A Deployment and its ReplicaSets in one reconcile, and the status to write."""

    deployment: Deployment
    limits: ReplicaLimits
    status: Status
    revision: str | None
    new: ReplicaSet | None
    olds: list[ReplicaSet]

    def put(self, changed: ReplicaSet) -> None:
        """Replace a ReplicaSet with the version that a write returned."""
        if self.new is not None and self.new.uid == changed.uid:
            self.new = changed
        self.olds = [changed if old.uid == changed.uid else old for old in self.olds]

    @property
    def revision_annotation(self) -> dict[str, str]:
        """Return the revision annotation of the new template;
        empty if the revision is not known.
        """
        return {} if self.revision is None else {REVISION: self.revision}

    @property
    def all(self) -> list[ReplicaSet]:
        """Return all ReplicaSets, the new one last."""
        return [*self.olds, *((self.new,) if self.new is not None else ())]


class _Failed(Exception):
    """A ReplicaSet could not be created, and an event has reported this.

    ``after_seconds`` is the delay until the retry, or ``None`` for no retry.
    """

    def __init__(self, after_seconds: float | None) -> None:
        self.after_seconds = after_seconds
        super().__init__(after_seconds)


async def reconcile(deployment: Deployment, ctx: Context) -> Outcome:
    """Take one step of the rollout of ``deployment``, and write the resulting status."""
    if deployment.spec is None:
        return Done()
    status = deployment.status or Status()
    sets = await claim(ctx, deployment, deployment.spec.selector, ReplicaSet)
    new, olds = new_and_old(deployment, sets)
    state = _RolloutState(
        deployment=deployment,
        limits=limits_of(deployment),
        status=status,
        revision=None,
        new=new,
        olds=olds,
    )
    if deployment.deletion_time is None:
        state.status = paused_or_resumed(deployment, status, ctx.now)
    await _sync_revision(ctx, state)
    try:
        is_rollout = await _step(ctx, state)
    except _Failed as failed:
        await put_status(ctx, deployment, state.status, annotations=state.revision_annotation)
        return Later(after_seconds=failed.after_seconds)
    now = ctx.now
    final = counted(deployment, state.limits, state.status, state.new, state.olds, now)
    if is_rollout:
        final = progressed(
            deployment, state.limits, state.status, final, state.new, state.olds, now
        )
    await put_status(ctx, deployment, final, annotations=state.revision_annotation)
    if deployment.deletion_time is None and (
        is_complete(deployment, state.limits, final) if is_rollout else spec_of(deployment).paused
    ):
        await _clean_up(ctx, state)
    wait_seconds = overdue_in_seconds(deployment, state.limits, final, now) if is_rollout else None
    return Later(after_seconds=wait_seconds) if wait_seconds is not None else Done()


async def _step(ctx: Context, state: _RolloutState) -> bool:
    """Take the next step, and return whether the step is part of a rollout."""
    deployment = state.deployment
    if deployment.deletion_time is not None:
        return False
    if spec_of(deployment).paused or is_scaled(state.limits, map(group_of, state.all)):
        await _scale(ctx, state)
        return False
    step = _roll if is_rolling(deployment) else _recreate
    await step(ctx, state)
    return True


async def _roll(ctx: Context, state: _RolloutState) -> None:
    new = state.new or await _create(ctx, state)
    olds = [group_of(old) for old in state.olds]
    resizes = rolling_step(state.limits, group_of(new), olds)
    await _resize(ctx, state, resizes)


async def _recreate(ctx: Context, state: _RolloutState) -> None:
    resizes = recreate_step(group_of(old) for old in state.olds)
    if resizes:
        await _resize(ctx, state, resizes)
        return
    if _has_old_pods(ctx, state):
        return
    new = state.new or await _create(ctx, state)
    wanted, size = state.limits.replicas, group_of(new).size
    if size != wanted:
        await _resize(ctx, state, [Resize(name=new.name, before=size, after=wanted)])


def _has_old_pods(ctx: Context, state: _RolloutState) -> bool:
    """Return whether a Pod of an old template may still run."""
    return any(
        (old.status is not None and old.status.replicas > 0)
        or any(not is_ended(pod) for pod in ctx.by_index(Pod, CONTROLLER_INDEX, old.uid))
        for old in state.olds
    )


async def _scale(ctx: Context, state: _RolloutState) -> None:
    deployment = state.deployment
    resizes = scaling_step(
        state.limits,
        group_of(state.new) if state.new is not None else None,
        [group_of(old) for old in state.olds],
        is_rolling=is_rolling(deployment),
        pods=state.status.replicas or 0,
    )
    await _resize(ctx, state, resizes)


async def _resize(ctx: Context, state: _RolloutState, resizes: Sequence[Resize]) -> None:
    annotations = sizing_annotations(state.limits)
    for each in resizes:
        rs = next(rs for rs in state.all if rs.name == each.name)
        news = {
            key: value for key, value in annotations.items() if rs.annotations.get(key) != value
        }
        if each.before == each.after and not news:
            continue
        patch: dict[str, object] = {}
        if news:
            patch["metadata"] = {"annotations": news}
        if each.before != each.after:
            patch["spec"] = {"replicas": each.after}
        state.put(await ctx.patch(rs, MergePatch(patch)))
        if each.before != each.after:
            way = "up" if each.before < each.after else "down"
            note = f"Scaled {way} replica set {each.name} from {each.before} to {each.after}"
            ctx.record("ScalingReplicaSet", note)


async def _sync_revision(ctx: Context, state: _RolloutState) -> None:
    """Set the highest revision on the new ReplicaSet and on the Deployment."""
    new, deployment = state.new, state.deployment
    if new is None:
        return
    news = changed_annotations(deployment, new.annotations, next_revision(state.olds))
    wanted = spec_of(deployment).min_ready_seconds or 0
    patch: dict[str, object] = {}
    if news:
        patch["metadata"] = {"annotations": news}
    if new.spec is not None and (new.spec.min_ready_seconds or 0) != wanted:
        patch["spec"] = {"minReadySeconds": wanted}
    if patch:
        new = await ctx.patch(new, MergePatch(patch))
        state.put(new)
    state.revision = new.annotations.get(REVISION)
    if deadline_seconds(deployment) is None:
        return
    if condition_in(state.status, PROGRESSING) is None:
        reason, message = "FoundNewReplicaSet", f'Found new replica set "{new.name}"'
    elif (
        state.revision != deployment.annotations.get(REVISION)
        and REVISION not in news
        and HISTORY not in new.annotations
    ):
        # It was created before a crash of the controller.
        reason, message = _CREATED, f'Created new replica set "{new.name}"'
    else:
        return
    state.status = with_condition(state.status, PROGRESSING, "True", reason, message, ctx.now)


async def _create(ctx: Context, state: _RolloutState) -> ReplicaSet:
    """Create the ReplicaSet of the new template."""
    deployment, limits = state.deployment, state.limits
    revision = next_revision(state.olds)
    size = first_size(limits, map(group_of, state.olds), is_rolling=is_rolling(deployment))
    wanted = new_replica_set(deployment, revision=revision, size=size, limits=limits)
    is_there = False
    try:
        state.new = await ctx.create(wanted)
    except AlreadyExists:
        is_there = True
        state.new = await _found(ctx, state, wanted.name)
    except (ApiError, Unreachable) as error:
        raise _Failed(_record_failure(ctx, state, wanted.name, error)) from error
    state.revision = str(revision)
    if not is_there:
        if size > 0:
            note = f"Scaled up replica set {wanted.name} from 0 to {size}"
            ctx.record("ScalingReplicaSet", note)
        if deadline_seconds(deployment) is not None:
            message = f'Created new replica set "{wanted.name}"'
            state.status = with_condition(
                state.status, PROGRESSING, "True", _CREATED, message, ctx.now
            )
    return state.new


async def _found(ctx: Context, state: _RolloutState, name: str) -> ReplicaSet:
    """Return the existing ReplicaSet of this name, if it belongs to the Deployment and has the
    Deployment's template.

    Otherwise increment the collision count, so that the next attempt uses another name, and raise
    ``_Failed``.
    """
    there = await ctx.live.get(ReplicaSet, name)
    owner = controller_of(there)
    template = spec_of(state.deployment).template
    if (
        owner is not None
        and owner.uid == state.deployment.uid
        and is_same_template(template, there)
    ):
        return there
    collisions = (state.status.collision_count or 0) + 1
    state.status = replace(state.status, collision_count=collisions)
    raise _Failed(retry_seconds(None, ctx.now))


def _record_failure(
    ctx: Context, state: _RolloutState, name: str, error: SteersmanError
) -> float | None:
    """Report why the new ReplicaSet could not be created.

    Return the delay until the retry, or ``None`` for no retry.
    """
    if is_namespace_terminating(error):
        return None
    message = f'Failed to create new replica set "{name}": {error_message(error)}'
    if deadline_seconds(state.deployment) is not None:
        state.status = with_condition(
            state.status, PROGRESSING, "False", _CREATE_FAILED, message, ctx.now
        )
    ctx.record(_CREATE_FAILED, message, type="Warning")
    failing = condition_in(state.status, PROGRESSING)
    return retry_seconds(failing.last_transition_time if failing is not None else None, ctx.now)


async def _clean_up(ctx: Context, state: _RolloutState) -> None:
    for rs in cleanable(state.olds, history_limit(state.deployment)):
        await ctx.delete(rs)
