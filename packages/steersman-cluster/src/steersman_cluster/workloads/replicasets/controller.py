"""The ReplicaSet controller: it creates and deletes Pods, and writes the status.

The same function reconciles ReplicationControllers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from steersman.controller import Context, Done, Later, Outcome, controller_of
from steersman.errors import ApiError, SteersmanError, Unreachable
from steersman.kinds import core_v1
from steersman_cluster.workloads.api_errors import error_message, is_namespace_terminating
from steersman_cluster.workloads.pods import (
    CONTROLLER_INDEX,
    candidates,
    claim_among,
    deletion_order,
    is_active,
    is_terminating,
    next_available_seconds,
    pod_from,
    selector_of,
    selects,
)
from steersman_cluster.workloads.replicasets.plan import (
    Replicated,
    batches,
    difference,
    failing_since,
    retry_seconds,
    status_of,
    wanted_replicas,
)
from steersman_cluster.workloads.status_writer import put_status

Pod = core_v1.Pod

#: The index of ReplicaSets by the uid of their controller.
SIBLING_INDEX = "sibling"


async def reconcile(rs: Replicated, ctx: Context) -> Outcome:
    """Create or delete Pods toward ``spec.replicas`` of ``rs``, and write its status."""
    if rs.spec is None:
        return Done()
    selector, min_ready_seconds = selector_of(rs), rs.spec.min_ready_seconds or 0
    found = candidates(ctx, rs, selector, Pod)
    active = await claim_among(ctx, rs, selector, [pod for pod in found if is_active(pod)])
    error: SteersmanError | None = None
    missing = difference(rs, len(active)) if rs.deletion_time is None else 0
    if missing:
        if missing > 0:
            error = await _create(ctx, rs, missing)
        else:
            error = await _delete(ctx, _surplus(ctx, rs, active, -missing))
        found = ctx.by_index(Pod, CONTROLLER_INDEX, rs.uid)
        active = [pod for pod in found if is_active(pod) and selects(selector, pod.labels)]
    now = ctx.now
    status = status_of(
        rs,
        active=active,
        terminating=sum(is_terminating(pod) and _is_held(pod, rs) for pod in found),
        failure=_failure(rs, error, len(active)),
        now=now,
    )
    rs = await put_status(ctx, rs, status)
    if error is not None:
        # Not raised: an event has reported it already, in the server's words.
        return Later(after_seconds=retry_seconds(failing_since(rs), now))
    wait_seconds = next_available_seconds(active, min_ready_seconds, now)
    return Later(after_seconds=wait_seconds) if wait_seconds else Done()


async def _create(ctx: Context, rs: Replicated, count: int) -> SteersmanError | None:
    """Create ``count`` Pods, and return the first error, if any."""
    template = rs.spec.template if rs.spec is not None else None
    pod = pod_from(template or core_v1.PodTemplateSpec(), owner=rs)

    async def create() -> SteersmanError | None:
        try:
            made = await ctx.create(pod)
        except (ApiError, Unreachable) as error:
            if is_namespace_terminating(error):
                return None
            ctx.record("FailedCreate", f"Error creating: {error_message(error)}", type="Warning")
            return error
        ctx.record("SuccessfulCreate", f"Created pod: {made.name}")
        return None

    for size in batches(count):
        error = await _first_error([create] * size)
        if error is not None:
            return error
    return None


async def _delete(ctx: Context, pods: Sequence[Pod]) -> SteersmanError | None:
    def deletion_of(pod: Pod) -> Callable[[], Awaitable[SteersmanError | None]]:
        async def delete() -> SteersmanError | None:
            try:
                await ctx.delete(pod)
            except (ApiError, Unreachable) as error:
                ctx.record(
                    "FailedDelete", f"Error deleting: {error_message(error)}", type="Warning"
                )
                return error
            ctx.record("SuccessfulDelete", f"Deleted pod: {pod.name}")
            return None

        return delete

    return await _first_error([deletion_of(pod) for pod in pods])


async def _first_error(
    work: Sequence[Callable[[], Awaitable[SteersmanError | None]]],
) -> SteersmanError | None:
    """Run all requests, and return the first error after all of them have finished."""
    if len(work) == 1:
        return await work[0]()
    errors: list[SteersmanError | None] = [None] * len(work)

    async def put(place: int) -> None:
        errors[place] = await work[place]()

    try:
        async with asyncio.TaskGroup() as group:
            for place in range(len(work)):
                group.create_task(put(place))
    except ExceptionGroup as several:
        # An unexpected error is the same for all, such as lost leadership.
        raise several.exceptions[0] from None
    return next((error for error in errors if error is not None), None)


def _surplus(ctx: Context, rs: Replicated, active: list[Pod], count: int) -> list[Pod]:
    if count >= len(active):
        return active
    # The Pods of all ReplicaSets of one Deployment: during a rolling update they share the nodes.
    owner = controller_of(rs)
    siblings: Sequence[Replicated] = ()
    if owner is not None:
        siblings = ctx.by_index(type(rs), SIBLING_INDEX, owner.uid)
    related = [pod for each in siblings for pod in ctx.by_index(Pod, CONTROLLER_INDEX, each.uid)]
    return deletion_order(active, ctx.now, related=related)[:count]


def _failure(rs: Replicated, error: SteersmanError | None, active: int) -> tuple[str, str] | None:
    if error is None:
        return None
    reason = "FailedCreate" if active < wanted_replicas(rs) else "FailedDelete"
    return reason, error_message(error)


def _is_held(pod: Pod, rs: Replicated) -> bool:
    owner = controller_of(pod)
    return owner is not None and owner.uid == rs.uid and selects(selector_of(rs), pod.labels)
