"""Taint eviction and Pod garbage collection.

A Pod is evicted from a tainted node, and a Pod of a node that does not exist is deleted.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from steersman.controller import (
    CacheReader,
    Context,
    Controller,
    Done,
    Later,
    Outcome,
    Watch,
    Writes,
)
from steersman.kinds import core_v1
from steersman.kinds.base import replace
from steersman_cluster.workloads.nodes.node_taints import is_simulated_node
from steersman_cluster.workloads.pods import is_ended
from steersman_cluster.workloads.scheduler.plugins.taint_toleration import NO_EXECUTE, tolerates
from steersman_cluster.workloads.status_writer import put_pod_status

BY_NODE: Final = "node"

# How long a node may be missing before its Pods are deleted.
QUARANTINE_SECONDS: Final = 40.0

# Every Pod tolerates these for a while: the server adds the tolerations.
_USUAL: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


async def reconcile(pod: core_v1.Pod, ctx: Context) -> Outcome:
    """Evict ``pod`` if it does not tolerate its node's taints, or requeue it until it is due.

    A Pod whose node does not exist is deleted.
    """
    node_name = pod.spec.node_name if pod.spec is not None else None
    if pod.spec is None or not node_name:
        return Done()
    # Only the requeue has brought the Pod here: the time is over.
    is_due = all(why.event in ("later", "retry") for why in ctx.reasons)
    node = ctx.get(core_v1.Node, node_name)
    if node is None:
        if not is_due:
            return Later(after_seconds=QUARANTINE_SECONDS)
        await _collect(pod, ctx)
        return Done()
    if not is_simulated_node(node):
        return Done()
    left_seconds = tolerated_seconds(
        pod.spec.tolerations or (), no_execute_taints(node), now=ctx.now
    )
    if left_seconds is None:
        return Done()
    if left_seconds > 0 and not is_due:
        return Later(after_seconds=left_seconds)
    ctx.record("TaintManagerEviction", f"Marking for deletion Pod {pod.namespace}/{pod.name}")
    message = "Taint manager: deleting due to NoExecute taint"
    await put_pod_status(ctx, pod, _disrupted(pod, "DeletionByTaintManager", message, now=ctx.now))
    await ctx.delete(pod)
    return Done()


def tolerated_seconds(
    tolerations: Sequence[core_v1.Toleration],
    taints: Iterable[core_v1.Taint],
    *,
    now: datetime,
) -> float | None:
    """Return how many seconds a Pod with ``tolerations`` still tolerates ``taints``.

    The result is 0 if the Pod has to be evicted now, and ``None`` if it tolerates the taints
    without limit. A taint without ``timeAdded`` counts as added now.
    """
    left_seconds: list[float] = []
    for taint in taints:
        matching = [each for each in tolerations if tolerates(each, taint)]
        if not matching:
            return 0.0
        since = taint.time_added or now
        left_seconds += [
            each.toleration_seconds - (now - since).total_seconds()
            for each in matching
            if each.toleration_seconds is not None
        ]
    return max(0.0, min(left_seconds)) if left_seconds else None


def no_execute_taints(node: core_v1.Node) -> tuple[core_v1.Taint, ...]:
    """Return the taints of ``node`` with the effect ``NoExecute``."""
    taints = node.spec.taints if node.spec is not None else None
    return tuple(each for each in taints or () if each.effect in NO_EXECUTE)


def has_moved(old: core_v1.Pod | None, new: core_v1.Pod) -> bool:
    """Return whether the change from ``old`` to ``new`` can require an eviction of the Pod.

    This is the case for a bound Pod that was not known before. It is also the case for a Pod that
    has just been bound, if the Pod's own tolerations include one with a limited time. The scheduler
    binds no Pod to a node with taints that the Pod does not tolerate at all.
    """
    spec = new.spec
    if spec is None or not spec.node_name:
        return False
    if old is None or old.spec is None or old.uid != new.uid:
        return True
    return old.spec.node_name != spec.node_name and any(
        each.toleration_seconds is not None and each.key not in _USUAL
        for each in spec.tolerations or ()
    )


def taints_changed(old: core_v1.Node | None, new: core_v1.Node) -> bool:
    """Return whether the change from ``old`` to ``new`` can cause or cancel evictions of Pods."""
    return old is None or no_execute_taints(old) != no_execute_taints(new)


def by_node(pod: core_v1.Pod) -> Iterable[str]:
    """Return the index key of ``pod``: the name of its node. A Pod without a node has no key."""
    name = pod.spec.node_name if pod.spec is not None else None
    return (name,) if name else ()


def pods_of(node: core_v1.Node, cached: CacheReader) -> Iterable[core_v1.Pod]:
    """Return the cached Pods that are bound to ``node``."""
    return cached.by_index(core_v1.Pod, BY_NODE, node.name)


async def _collect(pod: core_v1.Pod, ctx: Context) -> None:
    """Delete a Pod whose node no longer exists, without a grace period.

    No kubelet would complete a graceful deletion.
    """
    if not is_ended(pod):
        message = "PodGC: node no longer exists"
        status = _disrupted(pod, "DeletionByPodGC", message, now=ctx.now)
        pod = await put_pod_status(ctx, pod, replace(status, phase="Failed"))
    await ctx.delete(pod, grace_seconds=0)


def _disrupted(pod: core_v1.Pod, reason: str, message: str, *, now: datetime) -> core_v1.PodStatus:
    before = pod.status or core_v1.PodStatus()
    condition = core_v1.PodCondition(
        type="DisruptionTarget",
        status="True",
        reason=reason,
        message=message,
        last_transition_time=now,
        observed_generation=pod.metadata.generation,
    )
    others = (each for each in before.conditions or () if each.type != condition.type)
    return replace(before, conditions=(*others, condition))


#: The taint eviction controller.
EVICTION: Final = Controller(
    core_v1.Pod,
    reconcile=reconcile,
    when=has_moved,
    indexes={BY_NODE: by_node},
    watches=(Watch(core_v1.Node, to=pods_of, when=taints_changed),),
    writes=(Writes(core_v1.Pod, verbs=("delete",)),),
    name="taint-eviction-controller",
    event_source="taint-eviction-controller",
)
