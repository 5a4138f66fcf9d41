"""The Deployment controller: from a template to ReplicaSets of the right sizes, step by step.

    claim ──▶ sync the revision ──▶ one of  being deleted   nothing but the status
                                            paused, scaled  sizes in proportion
                                            Recreate        all old ones go, then the new one comes
                                            RollingUpdate   one step  ──▶ the status

Each look takes one step. What a step has led to is seen in the statuses of the ReplicaSets, whose
changes lead to the next look.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from steersman.client import MergePatch
from steersman.controller import Context, Done, Later, Outcome, controller_of
from steersman.errors import AlreadyExists, ApiError, SteersmanError, Unreachable
from steersman.kinds import core_v1, replace
from steersman_cluster.workloads.api_errors import is_namespace_ending, said
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
    new_and_old,
    spec_of,
    terms_of,
)
from steersman_cluster.workloads.deployments.revisions import (
    changed_annotations,
    cleanable,
    new_replica_set,
    next_revision,
    sizing_annotations,
)
from steersman_cluster.workloads.deployments.rollout import (
    Resize,
    Terms,
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
from steersman_cluster.workloads.pods import HOLDER_INDEX, claim, is_ended
from steersman_cluster.workloads.replicasets import retry_seconds
from steersman_cluster.workloads.status_writer import put_status

Pod = core_v1.Pod

_CREATED = "NewReplicaSetCreated"
_CREATE_FAILED = "ReplicaSetCreateError"


@dataclass(slots=True, kw_only=True)
class _Look:
    """What is known of a Deployment in one look at it, and what its status will say."""

    deployment: Deployment
    terms: Terms
    status: Status
    revision: str | None
    new: ReplicaSet | None
    olds: list[ReplicaSet]

    def put(self, changed: ReplicaSet) -> None:
        """Know this ReplicaSet as it is now."""
        if self.new is not None and self.new.uid == changed.uid:
            self.new = changed
        self.olds = [changed if old.uid == changed.uid else old for old in self.olds]

    @property
    def numbered(self) -> dict[str, str]:
        """The annotation with the newest template's number, if that is known."""
        return {} if self.revision is None else {REVISION: self.revision}

    @property
    def all(self) -> list[ReplicaSet]:
        """All ReplicaSets, the new one last."""
        return [*self.olds, *((self.new,) if self.new is not None else ())]


class _Failed(Exception):
    """A ReplicaSet could not be made, which is told already; try again after so long, if at all."""

    def __init__(self, after_seconds: float | None) -> None:
        self.after_seconds = after_seconds
        super().__init__(after_seconds)


async def reconcile(deployment: Deployment, ctx: Context) -> Outcome:
    """One step towards what is wanted, and a status that says how far it has come."""
    if deployment.spec is None:
        return Done()
    status = deployment.status or Status()
    sets = await claim(ctx, deployment, deployment.spec.selector, ReplicaSet)
    new, olds = new_and_old(deployment, sets)
    look = _Look(
        deployment=deployment,
        terms=terms_of(deployment),
        status=status,
        revision=None,
        new=new,
        olds=olds,
    )
    if deployment.deletion_time is None:
        look.status = paused_or_resumed(deployment, status, ctx.now)
    await _sync_revision(ctx, look)
    try:
        is_rollout = await _step(ctx, look)
    except _Failed as failed:
        await put_status(ctx, deployment, look.status, annotations=look.numbered)
        return Later(after_seconds=failed.after_seconds)
    now = ctx.now
    final = counted(deployment, look.terms, look.status, look.new, look.olds, now)
    if is_rollout:
        final = progressed(deployment, look.terms, look.status, final, look.new, look.olds, now)
    await put_status(ctx, deployment, final, annotations=look.numbered)
    if deployment.deletion_time is None and (
        is_complete(deployment, look.terms, final) if is_rollout else spec_of(deployment).paused
    ):
        await _clean_up(ctx, look)
    wait_seconds = overdue_in_seconds(deployment, look.terms, final, now) if is_rollout else None
    return Later(after_seconds=wait_seconds) if wait_seconds is not None else Done()


async def _step(ctx: Context, look: _Look) -> bool:
    """Do what is next; whether it is part of a rollout."""
    deployment = look.deployment
    if deployment.deletion_time is not None:
        return False
    if spec_of(deployment).paused or is_scaled(look.terms, map(group_of, look.all)):
        await _scale(ctx, look)
        return False
    step = _roll if is_rolling(deployment) else _recreate
    await step(ctx, look)
    return True


async def _roll(ctx: Context, look: _Look) -> None:
    new = look.new or await _create(ctx, look)
    olds = [group_of(old) for old in look.olds]
    resizes = rolling_step(look.terms, group_of(new), olds)
    await _resize(ctx, look, resizes)


async def _recreate(ctx: Context, look: _Look) -> None:
    resizes = recreate_step(group_of(old) for old in look.olds)
    if resizes:
        await _resize(ctx, look, resizes)
        return
    if _has_old_pods(ctx, look):
        return
    new = look.new or await _create(ctx, look)
    wanted, size = look.terms.replicas, group_of(new).size
    if size != wanted:
        await _resize(ctx, look, [Resize(name=new.name, before=size, after=wanted)])


def _has_old_pods(ctx: Context, look: _Look) -> bool:
    """Whether anything of an old template may still run."""
    return any(
        (old.status is not None and old.status.replicas > 0)
        or any(not is_ended(pod) for pod in ctx.by_index(Pod, HOLDER_INDEX, old.uid))
        for old in look.olds
    )


async def _scale(ctx: Context, look: _Look) -> None:
    deployment = look.deployment
    resizes = scaling_step(
        look.terms,
        group_of(look.new) if look.new is not None else None,
        [group_of(old) for old in look.olds],
        is_rolling=is_rolling(deployment),
        pods=look.status.replicas or 0,
    )
    await _resize(ctx, look, resizes)


async def _resize(ctx: Context, look: _Look, resizes: Sequence[Resize]) -> None:
    told = sizing_annotations(look.terms)
    for each in resizes:
        rs = next(rs for rs in look.all if rs.name == each.name)
        news = {key: value for key, value in told.items() if rs.annotations.get(key) != value}
        if each.before == each.after and not news:
            continue
        patch: dict[str, object] = {}
        if news:
            patch["metadata"] = {"annotations": news}
        if each.before != each.after:
            patch["spec"] = {"replicas": each.after}
        look.put(await ctx.patch(rs, MergePatch(patch)))
        if each.before != each.after:
            way = "up" if each.before < each.after else "down"
            note = f"Scaled {way} replica set {each.name} from {each.before} to {each.after}"
            ctx.record("ScalingReplicaSet", note)


async def _sync_revision(ctx: Context, look: _Look) -> None:
    """The newest template's ReplicaSet has the highest number, and the Deployment the same."""
    new, deployment = look.new, look.deployment
    if new is None:
        return
    news = changed_annotations(deployment, new.annotations, next_revision(look.olds))
    wanted = spec_of(deployment).min_ready_seconds or 0
    patch: dict[str, object] = {}
    if news:
        patch["metadata"] = {"annotations": news}
    if new.spec is not None and (new.spec.min_ready_seconds or 0) != wanted:
        patch["spec"] = {"minReadySeconds": wanted}
    if patch:
        new = await ctx.patch(new, MergePatch(patch))
        look.put(new)
    look.revision = new.annotations.get(REVISION)
    if deadline_seconds(deployment) is None:
        return
    if condition_in(look.status, PROGRESSING) is None:
        reason, message = "FoundNewReplicaSet", f'Found new replica set "{new.name}"'
    elif (
        look.revision != deployment.annotations.get(REVISION)
        and REVISION not in news
        and HISTORY not in new.annotations
    ):
        # It was made, and whoever made it did not live to tell.
        reason, message = _CREATED, f'Created new replica set "{new.name}"'
    else:
        return
    look.status = with_condition(look.status, PROGRESSING, "True", reason, message, ctx.now)


async def _create(ctx: Context, look: _Look) -> ReplicaSet:
    """The ReplicaSet of the newest template."""
    deployment, terms = look.deployment, look.terms
    revision = next_revision(look.olds)
    size = first_size(terms, map(group_of, look.olds), is_rolling=is_rolling(deployment))
    wanted = new_replica_set(deployment, revision=revision, size=size, terms=terms)
    is_there = False
    try:
        look.new = await ctx.create(wanted)
    except AlreadyExists:
        is_there = True
        look.new = await _found(ctx, look, wanted.name)
    except (ApiError, Unreachable) as error:
        raise _Failed(_tell_failed(ctx, look, wanted.name, error)) from error
    look.revision = str(revision)
    if not is_there:
        if size > 0:
            note = f"Scaled up replica set {wanted.name} from 0 to {size}"
            ctx.record("ScalingReplicaSet", note)
        if deadline_seconds(deployment) is not None:
            message = f'Created new replica set "{wanted.name}"'
            look.status = with_condition(
                look.status, PROGRESSING, "True", _CREATED, message, ctx.now
            )
    return look.new


async def _found(ctx: Context, look: _Look, name: str) -> ReplicaSet:
    """The ReplicaSet of this name, if it is the wanted one: else another name must be found."""
    there = await ctx.live.get(ReplicaSet, name)
    owner = controller_of(there)
    template = spec_of(look.deployment).template
    if owner is not None and owner.uid == look.deployment.uid and is_same_template(template, there):
        return there
    collisions = (look.status.collision_count or 0) + 1
    look.status = replace(look.status, collision_count=collisions)
    raise _Failed(retry_seconds(None, ctx.now))


def _tell_failed(ctx: Context, look: _Look, name: str, error: SteersmanError) -> float | None:
    """Say why there is no new ReplicaSet; when to try again, if there is any point in it."""
    if is_namespace_ending(error):
        return None
    message = f'Failed to create new replica set "{name}": {said(error)}'
    if deadline_seconds(look.deployment) is not None:
        look.status = with_condition(
            look.status, PROGRESSING, "False", _CREATE_FAILED, message, ctx.now
        )
    ctx.record(_CREATE_FAILED, message, type="Warning")
    failing = condition_in(look.status, PROGRESSING)
    return retry_seconds(failing.last_transition_time if failing is not None else None, ctx.now)


async def _clean_up(ctx: Context, look: _Look) -> None:
    for rs in cleanable(look.olds, history_limit(look.deployment)):
        await ctx.delete(rs)
